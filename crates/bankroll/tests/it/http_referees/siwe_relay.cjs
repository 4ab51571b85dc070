// Relays requests to the service, and reads each sign-in with the `siwe` package on its way. Prints its own address first,
// then for each sign-in what the package says about it and what the service answers.
const http = require('http')
const { SiweMessage } = require('siwe')
const { outcome } = require('./wallet.cjs')

const { url, domain } = JSON.parse(process.argv[2])
const print = (line) => console.log(JSON.stringify(line))

async function relay(request, response) {
  let text = ''
  for await (const part of request) text += part
  const answer = await fetch(url + request.url, { method: request.method, headers: { 'content-type': 'application/json' }, body: text || undefined })
  const body = await answer.json()
  if (request.url === '/v1/sign-in') {
    const { message, signature } = JSON.parse(text)
    const read = new SiweMessage(message)
    const verified = await read.verify({ signature, domain, nonce: read.nonce }, { suppressExceptions: true })
    print({ verified: verified.success, unchanged: read.prepareMessage() === message, address: read.address, answer: outcome({ status: answer.status, body }) })
  }
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const server = http.createServer((request, response) => relay(request, response).catch((error) => response.destroy(error)))
server.listen(0, '127.0.0.1', () => print({ url: `http://127.0.0.1:${server.address().port}` }))
