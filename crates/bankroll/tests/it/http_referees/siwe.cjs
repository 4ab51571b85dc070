// Signs in with messages of the `siwe` package, in each form that it writes, and with messages that must be refused.
const { Wallet } = require('ethers')
const { SiweMessage } = require('siwe')
const { service, outcome, main } = require('./wallet.cjs')

main(async ({ url, domain, chain, playerKey }) => {
  const { post, call } = service(url)
  const wallet = new Wallet(playerKey)
  const at = (seconds) => new Date(Date.now() + seconds * 1000).toISOString()

  // Signs a message with these parts, and sends it. What the package itself says about it is part of the result.
  async function signIn(parts, { signer = wallet, change = (text) => text, message } = {}) {
    const { nonce } = (await post('/v1/sign-in/nonce')).body
    const uri = `https://${domain}`
    const made = message || new SiweMessage({ address: wallet.address, domain, uri, version: '1', chainId: chain, nonce, issuedAt: at(0), ...parts })
    const text = made.prepareMessage()
    const signature = await signer.signMessage(text)
    const verified = await made.verify({ signature }, { suppressExceptions: true })
    const answer = await post('/v1/sign-in', { message: change(text), signature })
    return { answer, made, found: [verified.success, outcome(answer)] }
  }

  const forms = [
    ['without a statement', {}],
    ['with a statement', { statement: 'Sign in to play.' }],
    ['with resources', { statement: 'Sign in to play.', resources: [`https://${domain}/terms`, 'ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/'] }],
    ['with resources, without a statement', { resources: [`https://${domain}/terms`] }],
    ['with all times', { expirationTime: at(300), notBefore: at(-30) }],
    ['with a time zone', { issuedAt: at(0).replace('Z', '+00:00') }],
    ['with whole seconds', { issuedAt: at(0).replace(/\.\d+Z/, 'Z') }],
    ['at a page of the site', { uri: `https://${domain}/play?table=1#top` }],
  ]
  const wrong = [
    ['another domain', { domain: 'evil.example' }],
    ['another site', { uri: 'https://evil.example' }],
    ['another chain', { chainId: 1 }],
    ['a nonce of its own', { nonce: 'abcdefgh12345678' }],
    ['expired', { expirationTime: at(-5) }],
    ['issued an hour ago', { issuedAt: at(-3600) }],
    ['not valid yet', { notBefore: at(3600) }],
    ['issued in an hour', { issuedAt: at(3600) }],
    ['a request id', { requestId: 'link:0x01' }],
  ]
  const [accepted, refused] = [{}, {}]
  for (const [name, parts] of forms) {
    const { answer, found } = await signIn(parts)
    const me = await call('GET', '/v1/me', { token: answer.body.token })
    accepted[name] = [...found, me.body.player]
  }
  for (const [name, parts] of wrong) refused[name] = (await signIn(parts)).found
  const other = Wallet.createRandom()
  refused['signed by another wallet'] = (await signIn({}, { signer: other })).found
  refused['another statement than signed'] = (await signIn({ statement: 'Play.' }, { change: (text) => text.replace('Play.', 'Pay.') })).found
  refused['a line too much'] = (await signIn({}, { change: (text) => `${text}\n` })).found
  const { made } = await signIn({})
  refused['used before'] = (await signIn({}, { message: made })).found
  return { accepted, refused }
})
