// Reads orders as JSON lines, decodes what was signed for each, signs the same fields with the same key, and opens the key file.
const { Transaction, Wallet } = require("ethers");
const { createInterface } = require("node:readline");

(async () => {
  const [, , secret, keystore, password] = process.argv;
  const own = new Wallet(secret);
  const opened = Wallet.fromEncryptedJsonSync(require("node:fs").readFileSync(keystore, "utf8"), password);
  console.log(JSON.stringify({ opened: opened.address, same: opened.privateKey === own.privateKey }));
  for await (const line of createInterface({ input: process.stdin })) {
    const { raw, fields } = JSON.parse(line);
    const read = Transaction.from(raw);
    const signed = await own.signTransaction(fields);
    console.log(JSON.stringify({
      from: read.from, to: read.to, value: String(read.value), data: read.data, nonce: read.nonce,
      chain: String(read.chainId), gas: String(read.gasLimit), type: read.type, hash: read.hash,
      max: String(read.type === 2 ? read.maxFeePerGas : read.gasPrice),
      priority: String(read.type === 2 ? read.maxPriorityFeePerGas : read.gasPrice),
      accesses: (read.accessList ?? []).length, s: read.signature.s, same: signed === raw,
    }));
  }
})();
