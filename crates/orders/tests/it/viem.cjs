// Signs each line's message as a wallet does: {"type", "chain", "key", "message"} in, {"address", "digest", "signature"} out.
const { hashTypedData } = require('viem')
const { privateKeyToAccount } = require('viem/accounts')

const fields = (text) => text.split(',').map((field) => ({ type: field.split(' ')[0], name: field.split(' ')[1] }))
// Written again from the documentation: the names, types and order of the fields are what is compared.
const types = {
  Registration: fields('string server,string audience,address payoutAddress,address developer,uint256 buyIn,uint32 developerFeeBps,uint32 worldFeeBps,uint256 massPerCoin,uint64 exitHoldMs,bytes32 nonce,uint64 expires'),
  OpenSession: fields('string role,string subject,string audience,bytes32 nonce,uint64 expires'),
  Payout: fields('string server,string requestId,string audience,address wallet,string account,address to,string asset,uint256 amount,uint256 feeCap,uint64 expires'),
  Approval: fields('string intent,string audience,address to,string asset,uint256 amount,uint64 expires'),
  ApiRequest: fields('string method,string path,string audience,string idempotencyKey,bytes32 bodyHash,uint64 expires'),
  PublishedHead: fields('string audience,uint64 batch,bytes32 head,bytes32 root,uint64 time'),
}

async function answer(line) {
  const { type, chain, key, message } = JSON.parse(line)
  const account = privateKeyToAccount(key)
  const domain = { name: 'Bankroll', version: '1', chainId: chain }
  const data = { domain, types: { [type]: types[type] }, primaryType: type, message }
  return { address: account.address, digest: hashTypedData(data), signature: await account.signTypedData(data) }
}

async function main() {
  const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter(Boolean)
  for (const line of lines) console.log(JSON.stringify(await answer(line)))
}

main()
