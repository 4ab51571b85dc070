// A registered game server, whose developer is the player, with one of everything that an operation can name: a hold, a
// spawn, an exit, withdrawals. Prints the sessions, the names, and a signed message.
const { privateKeyToAccount } = require('viem/accounts')
const { createSiweMessage } = require('viem/siwe')
const { service, newNonce, inSeconds, main } = require('./wallet.cjs')

main(async ({ url, audience, chain, serverKey, playerKey, hot }) => {
  const { call, sign } = service(url)
  const [server, player] = [privateKeyToAccount(serverKey), privateKeyToAccount(playerKey)]
  const wallet = player.address.toLowerCase()
  const post = async (path, body, token, key) => {
    const answer = await call('POST', path, { body, token, key })
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  const terms = { server: 'arena', audience, payoutAddress: hot, developer: player.address, buyIn: 100n, developerFeeBps: 100, worldFeeBps: 250, massPerCoin: 1000n, exitHoldMs: 3000n, nonce: newNonce(), expires: BigInt(inSeconds(300)) }
  const registered = await post('/v1/register', {
    server: 'arena', audience, chain_id: chain, payout_address: hot, developer: player.address, buy_in: '100',
    developer_fee_bps: 100, world_fee_bps: 250, mass_per_coin: '1000', exit_hold_ms: 3000, nonce: terms.nonce,
    expires: Number(terms.expires), signature: await sign(server, 'Registration', chain, terms),
  })
  const ofServer = (path, body, key) => post(`/v1/servers/arena/${path}`, body, registered.token, key)

  const { nonce } = await post('/v1/sign-in/nonce')
  const message = createSiweMessage({ address: player.address, chainId: chain, domain: audience, nonce, uri: `https://${audience}`, version: '1' })
  const signature = await player.signMessage({ message })
  const signedIn = await post('/v1/sign-in', { message, signature })

  await ofServer('accounts', { player: wallet }, 'accounts')
  const account = `arena/funds/1/${wallet}`
  await ofServer('withdraw', { account, amount: '300' }, 'stake')
  await ofServer('recycle', { amount: '100' }, 'budget')
  const held = await ofServer('holds', { account, amount: '50' }, 'hold')
  const spawns = [await ofServer('spawns', { player: wallet }, 'spawn-1'), await ofServer('spawns', { player: wallet }, 'spawn-2')]
  const exit = await ofServer('exits', { exit_id: 'exit-1', player: wallet, amount: '20', payout: 'auto' }, 'exit')
  const payout = { server: 'arena', requestId: 'cash-out-1', audience, wallet, account, to: wallet, asset: 'ETH', amount: 30n, feeCap: 5n, expires: BigInt(inSeconds(300)) }
  const paid = await post('/v1/me/withdrawals', {
    server: 'arena', request_id: 'cash-out-1', account, wallet, to: wallet, asset: 'ETH', amount: '30',
    fee_cap: '5', expires: Number(payout.expires), signature: await sign(player, 'Payout', chain, payout),
  }, signedIn.token, 'payout')
  return {
    server: registered.token, player: signedIn.token, hold: held.holds[0].id, record: held.record,
    spawns: spawns.map(({ spawn }) => spawn),
    exit: 'exit-1', withdrawals: [exit.withdrawal, paid.withdrawal], message, signature,
  }
})
