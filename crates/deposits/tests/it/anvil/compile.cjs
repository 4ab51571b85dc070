// Compiles every contract of a folder, and prints for each its code and the selectors of its functions.
const fs = require("fs");
const path = require("path");
const solc = require("solc");

const folder = process.argv[2];
const files = fs.readdirSync(folder).filter((file) => file.endsWith(".sol"));
const sources = Object.fromEntries(
  files.map((file) => [file, { content: fs.readFileSync(path.join(folder, file), "utf8") }]),
);
const outputSelection = { "*": { "*": ["evm.bytecode.object", "evm.deployedBytecode.object", "evm.methodIdentifiers"] } };
// No newer instructions than those of the oldest chain that is meant.
const settings = { evmVersion: "shanghai", optimizer: { enabled: false }, outputSelection };
const output = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
const errors = (output.errors ?? []).filter((error) => error.severity === "error");
if (errors.length > 0) {
  console.error(errors.map((error) => error.formattedMessage).join("\n"));
  process.exit(1);
}
const contracts = {};
for (const [name, { evm }] of Object.values(output.contracts).flatMap(Object.entries)) {
  contracts[name] = {
    creation: evm.bytecode.object,
    runtime: evm.deployedBytecode.object,
    selectors: evm.methodIdentifiers,
  };
}
console.log(JSON.stringify(contracts));
