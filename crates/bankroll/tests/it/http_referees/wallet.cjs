// What the scripts of this folder share: calls of the service, and the typed messages as the documentation has them.
const { randomBytes } = require('crypto')

const fields = (text) => text.split(',').map((field) => ({ type: field.split(' ')[0], name: field.split(' ')[1] }))
const TYPES = {
  Registration: fields('string server,string audience,address payoutAddress,address developer,uint256 buyIn,uint32 developerFeeBps,uint32 worldFeeBps,uint256 massPerCoin,uint64 exitHoldMs,bytes32 nonce,uint64 expires'),
  OpenSession: fields('string role,string subject,string audience,bytes32 nonce,uint64 expires'),
  Payout: fields('string server,string requestId,string audience,address wallet,address to,string asset,uint256 amount,uint256 feeCap,uint64 expires'),
  ApiRequest: fields('string method,string path,string audience,string idempotencyKey,bytes32 bodyHash,uint64 expires'),
}

// A service at this address. Each call returns status, headers and body.
function service(url) {
  async function call(method, path, { token, key, body, headers = {} } = {}) {
    const all = { ...headers }
    if (token) all.authorization = `Bearer ${token}`
    if (key) all['idempotency-key'] = key
    if (body !== undefined) all['content-type'] = 'application/json'
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(url + path, { method, headers: all, body: text })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  return { call, post: (path, body, options) => call('POST', path, { body, ...options }) }
}

// What the test compares: the status, and the code of an error.
const outcome = (answer) => (answer.body.code ? `${answer.status} ${answer.body.code}` : `${answer.status}`)

// The typed message of an account of viem, signed for a chain.
const sign = (account, type, chainId, message) =>
  account.signTypedData({ domain: { name: 'Bankroll', version: '1', chainId }, types: { [type]: TYPES[type] }, primaryType: type, message })

const newNonce = () => `0x${randomBytes(32).toString('hex')}`
const inSeconds = (seconds) => Math.floor(Date.now() / 1000) + seconds

// Runs a script: its input is its only argument, its output is one line of JSON.
function main(story) {
  story(JSON.parse(process.argv[2])).then(
    (result) => console.log(JSON.stringify(result)),
    (error) => {
      console.error(error)
      process.exitCode = 1
    },
  )
}

module.exports = { service, outcome, sign, newNonce, inSeconds, main }
