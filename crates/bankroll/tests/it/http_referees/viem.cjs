// A game server and a player with viem: registration, session, sign-in, payout and signed requests, each also tampered
// with. Prints what each call was answered.
const { keccak256, stringToBytes } = require('viem')
const { privateKeyToAccount } = require('viem/accounts')
const { createSiweMessage } = require('viem/siwe')
const { service, outcome, newNonce, inSeconds, main } = require('./wallet.cjs')

main(async ({ url, audience, chain, serverKey, playerKey, hot, developer }) => {
  const { call, post, sign } = service(url)
  const [server, player] = [privateKeyToAccount(serverKey), privateKeyToAccount(playerKey)]
  const found = {}

  // Registration. `terms` are signed, `sent` replaces what is sent.
  async function register(terms = {}, sent = {}, chainId = chain) {
    const message = {
      server: 'arena', audience, payoutAddress: hot, developer, buyIn: 100n, developerFeeBps: 100, worldFeeBps: 250,
      massPerCoin: 1000n, exitHoldMs: 3000n, nonce: newNonce(), expires: BigInt(inSeconds(300)), ...terms,
    }
    const signature = await sign(server, 'Registration', chainId, message)
    return {
      server: message.server, audience: message.audience, chain_id: chainId, payout_address: message.payoutAddress,
      developer: message.developer, buy_in: `${message.buyIn}`, developer_fee_bps: message.developerFeeBps,
      world_fee_bps: message.worldFeeBps, mass_per_coin: `${message.massPerCoin}`,
      exit_hold_ms: Number(message.exitHoldMs), nonce: message.nonce, expires: Number(message.expires), signature, ...sent,
    }
  }
  const body = await register()
  const registered = await post('/v1/register', body)
  const registrations = [
    ['sent again', body],
    ['another buy-in than signed', await register({}, { buy_in: '99' })],
    ['another developer than signed', await register({}, { developer: hot })],
    ['for another service', await register({ audience: 'funds.example' })],
    ['for another chain', await register({}, {}, 1)],
    ['expired', await register({ expires: BigInt(inSeconds(-300)) })],
    ['expires in a day', await register({ expires: BigInt(inSeconds(86400)) })],
    ['buy-in above its bound', await register({ buyIn: 1001n })],
    ['unregistered payout address', await register({ payoutAddress: developer })],
    ['signature cut off', await register({}, { signature: body.signature.slice(0, -2) })],
  ]
  found.registration = { 'as signed': outcome(registered), 'pays to': registered.body.server.deposit_address }
  for (const [name, body] of registrations) found.registration[name] = outcome(await post('/v1/register', body))

  // A session, renewed by signature.
  async function openSession(sent = {}) {
    const message = { role: 'server', subject: 'arena', audience, nonce: newNonce(), expires: BigInt(inSeconds(300)) }
    const signature = await sign(server, 'OpenSession', chain, message)
    return post('/v1/sessions', { ...message, expires: Number(message.expires), chain_id: chain, signature, ...sent })
  }
  const session = await openSession()
  found.session = { 'as signed': outcome(session), 'for another server than signed': outcome(await openSession({ subject: 'rival' })) }
  const opened = await post('/v1/servers/arena/accounts', { player: player.address }, { token: session.body.token, key: 'open' })
  found.session.accounts = opened.body.accounts

  // Sign-in with a message of viem. `change` tampers with what was signed.
  async function signIn(change = (text) => text) {
    const { nonce } = (await post('/v1/sign-in/nonce')).body
    const uri = `https://${audience}`
    const parts = { address: player.address, chainId: chain, domain: audience, nonce, uri, version: '1' }
    const message = createSiweMessage({ ...parts, statement: 'Sign in to play.', issuedAt: new Date() })
    const signature = await player.signMessage({ message })
    return post('/v1/sign-in', { message: change(message), signature })
  }
  const signedIn = await signIn()
  const token = signedIn.body.token
  found.signIn = {
    'as signed': outcome(signedIn),
    'another statement than signed': outcome(await signIn((text) => text.replace('to play', 'to pay'))),
    'player': (await call('GET', '/v1/me', { token })).body.player,
  }

  // A payout of the player's own money.
  const account = `arena/funds/1/${player.address.toLowerCase()}`
  async function payout(terms = {}, sent = {}) {
    const message = {
      server: 'arena', requestId: 'cash-out-1', audience, wallet: player.address, account, to: player.address,
      asset: 'ETH', amount: 250n, feeCap: 10n, expires: BigInt(inSeconds(300)), ...terms,
    }
    const signature = await sign(player, 'Payout', chain, message)
    const body = {
      server: message.server, request_id: message.requestId, account: message.account, wallet: message.wallet, to: message.to,
      asset: message.asset, amount: `${message.amount}`, fee_cap: `${message.feeCap}`, expires: Number(message.expires),
      signature, ...sent,
    }
    return post('/v1/me/withdrawals', body, { token, key: `payout-${newNonce()}` })
  }
  const paid = await payout()
  const again = await payout()
  found.payout = {
    'as signed': outcome(paid), 'amount': paid.body.amount, 'fee cap': paid.body.fee_cap,
    'requested again': [outcome(again), again.headers.get('idempotent-replayed'), again.body.withdrawal === paid.body.withdrawal],
    'same id, more': outcome(await payout({ amount: 251n })),
    'more than signed': outcome(await payout({ requestId: 'cash-out-2' }, { amount: '251' })),
    'to another wallet than signed': outcome(await payout({ requestId: 'cash-out-2' }, { to: developer })),
    'from another account than signed': outcome(await payout({ requestId: 'cash-out-2' }, { account: account.replace('funds', 'unallocated') })),
    'for another service': outcome(await payout({ requestId: 'cash-out-2', audience: 'funds.example' })),
    'expired': outcome(await payout({ requestId: 'cash-out-2', expires: BigInt(inSeconds(-300)) })),
    'without gas': outcome(await payout({ requestId: 'cash-out-2', feeCap: 0n })),
    'more than there is': outcome(await payout({ requestId: 'cash-out-2', amount: 5000n })),
  }

  // Requests that are signed one by one, without a session.
  async function signed(account, method, path, body, sent = {}, expires = inSeconds(60)) {
    const text = body === undefined ? '' : JSON.stringify(body)
    const key = body === undefined ? '' : `signed-${newNonce()}`
    const message = { method, path, audience, idempotencyKey: key, bodyHash: keccak256(stringToBytes(text)), expires: BigInt(expires) }
    const headers = {
      'x-bankroll-signature': await sign(account, 'ApiRequest', chain, message), 'x-bankroll-address': account.address,
      'x-bankroll-expires': `${expires}`, ...sent.headers,
    }
    return call(method, sent.path || path, { key: sent.key || key || undefined, body: sent.body || (text || undefined), headers })
  }
  const transfer = { from: account, to: 'arena/world/1', amount: '40' }
  const moved = await signed(server, 'POST', '/v1/servers/arena/transfer', transfer)
  const path = '/v1/servers/arena/transfer'
  found.signedRequest = {
    'as signed': outcome(moved), 'player has': moved.body.postings[0].from_balance,
    'more than signed': outcome(await signed(server, 'POST', path, transfer, { body: { ...transfer, amount: '41' } })),
    'another key than signed': outcome(await signed(server, 'POST', path, transfer, { key: 'other' })),
    'another path than signed': outcome(await signed(server, 'POST', path, transfer, { path: '/v1/servers/arena/deposit' })),
    'another address than signed': outcome(await signed(server, 'POST', path, transfer, { headers: { 'x-bankroll-address': player.address } })),
    'expired': outcome(await signed(server, 'POST', path, transfer, {}, inSeconds(-300))),
    'expires in an hour': outcome(await signed(server, 'POST', path, transfer, {}, inSeconds(3600))),
    'as a player': outcome(await signed(player, 'GET', '/v1/me/balances')),
    'as a player, a server': outcome(await signed(player, 'GET', '/v1/servers/arena')),
  }
  return found
})
