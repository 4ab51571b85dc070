// What the scripts of this folder share: calls of the service, and messages signed as its document describes them.
const { randomBytes } = require('crypto')

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
  // Signs a typed message with an account of viem. The types are those of the service's own document.
  async function sign(account, type, chainId, message) {
    const { domain, types } = (await (await fetch(`${url}/openapi.json`)).json())['x-eip712']
    return account.signTypedData({ domain: { ...domain, chainId }, types, primaryType: type, message })
  }
  return { call, sign, post: (path, body, options) => call('POST', path, { body, ...options }) }
}

// What the test compares: the status, and the code of an error.
const outcome = (answer) => (answer.body.code ? `${answer.status} ${answer.body.code}` : `${answer.status}`)

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

module.exports = { service, outcome, newNonce, inSeconds, main }
