//! The contracts of `contracts/`, compiled once for each run of the tests, and calls of them.

use std::{collections::BTreeMap, path::PathBuf, process::Command, sync::LazyLock};

use alloy_primitives::hex;
use bankroll_chains_evm::{Address, Bytes, U256};
use serde_json::Value;

const VERSION: &str = "0.8.37";

static COMPILED: LazyLock<Value> = LazyLock::new(compile);

/// What a call passes on: all parameters of our contracts have one word.
#[derive(Clone, Copy)]
pub struct Word(U256);

impl From<Address> for Word {
    fn from(address: Address) -> Self {
        Self(U256::from_be_slice(&address.0))
    }
}

impl From<u64> for Word {
    fn from(number: u64) -> Self {
        Self(U256::from(number))
    }
}

/// The code that creates a contract.
pub fn creation(contract: &str, arguments: &[Word]) -> Bytes {
    with_words(bytes(&COMPILED[contract]["creation"]), arguments)
}

/// The code that it has then.
pub fn runtime(contract: &str) -> Bytes {
    bytes(&COMPILED[contract]["runtime"]).into()
}

/// A call of a function, as `pay(address,uint256)`, of any contract that has it.
pub fn call(function: &str, arguments: &[Word]) -> Bytes {
    let contracts = COMPILED.as_object().unwrap();
    let selector = contracts.values().find_map(|contract| contract["selectors"].get(function));
    let selector = selector.unwrap_or_else(|| panic!("no contract has {function}"));
    with_words(bytes(selector), arguments)
}

fn bytes(hex: &Value) -> Vec<u8> {
    hex::decode(hex.as_str().expect("the contract is in a file of the folder")).unwrap()
}

fn with_words(mut bytes: Vec<u8>, arguments: &[Word]) -> Bytes {
    for Word(argument) in arguments {
        bytes.extend(argument.to_be_bytes::<32>());
    }
    bytes.into()
}

fn compile() -> Value {
    let crate_folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("run the tests with cargo"));
    let modules = crate_folder.join("../../.tools/solc/node_modules");
    let package = std::fs::read_to_string(modules.join("solc/package.json")).unwrap_or_default();
    let package: BTreeMap<String, Value> = serde_json::from_str(&package).unwrap_or_default();
    assert_eq!(
        package.get("version").and_then(Value::as_str),
        Some(VERSION),
        "solc is missing: run `cargo xtask test`, or `npm install --prefix .tools/solc solc@{VERSION}`"
    );
    let folder = crate_folder.join("tests/it/anvil");
    let mut node = Command::new("node");
    node.arg(folder.join("compile.cjs")).arg(folder.join("contracts")).env("NODE_PATH", modules);
    let output = node.output().expect("solc runs in node, which cannot be started: install Node 20");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
