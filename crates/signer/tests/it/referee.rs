//! ethers, an independent library with its own curve, reads what was signed, signs the same, and opens our key files.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use bankroll_money::Amount;
use bankroll_orders::{Address, ChainId, Gas, Meaning, Order, Price, Slot};
use bankroll_signer::{
    evm,
    keystore::{self, KeystoreCost},
};
use fastrand::Rng;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::world::{SECRET, key, pay, print_line, seed, wallet};

/// `cargo xtask test` installs the same version.
const VERSION: &str = "6.17.0";

#[test]
fn ethers_reads_what_was_signed_and_would_have_signed_the_same() {
    let mut rng = Rng::with_seed(seed());
    let orders: Vec<Order> = (0..200).map(|_| order(&mut rng)).collect();
    let lines: Vec<String> = orders.iter().map(line).collect();
    let answers = ethers(&lines);
    assert_eq!(answers[0], json!({ "opened": wallet().to_string(), "same": true }));
    assert_eq!(answers.len(), orders.len() + 1);
    for (order, read) in orders.iter().zip(&answers[1..]) {
        let what = format!("seed {}\n{order:?}\n{read}", seed());
        let raw = evm::sign(order, &key()).unwrap();
        assert_eq!(read["from"], json!(wallet()), "{what}");
        assert_eq!(read["hash"], json!(format!("0x{}", hex::encode(raw.hash))), "{what}");
        assert_eq!(read["chain"], json!(order.slot.chain.0.to_string()), "{what}");
        assert_eq!(read["nonce"], json!(order.slot.nonce), "{what}");
        assert_eq!(read["gas"], json!(order.gas.limit.to_string()), "{what}");
        assert_eq!(read["max"], json!(order.gas.price.max().to_string()), "{what}");
        assert_eq!(read["priority"], json!(order.gas.price.priority().to_string()), "{what}");
        assert_eq!(read["accesses"], json!(0), "{what}");
        assert_eq!(read["same"], json!(true), "{what}");
        // The low half of the group's order begins with 7.
        assert!(read["s"].as_str().unwrap().as_bytes()[2] <= b'7', "{what}");
        let (to, value, data) = match order.meaning {
            Meaning::NativePayout { to, amount } => (to, amount.units(), "0x".to_owned()),
            Meaning::Cancel => (wallet(), 0, "0x".to_owned()),
            Meaning::TokenPayout { token, to, amount } => {
                let (to, amount) = (hex::encode(to.0), amount.units());
                (token, 0, format!("0xa9059cbb{to:0>64}{amount:064x}"))
            }
        };
        assert_eq!(read["to"], json!(to), "{what}");
        assert_eq!(read["value"], json!(value.to_string()), "{what}");
        assert_eq!(read["data"], json!(data), "{what}");
    }
    print_line(&format!("referee: ethers {VERSION} agrees on {} transactions (seed {})", orders.len(), seed()));
}

fn order(rng: &mut Rng) -> Order {
    let mut address = || Address(std::array::from_fn(|_| rng.u8(..)));
    let (to, token) = (address(), address());
    let amount = Amount::new(rng.u128(1..) >> rng.u32(0..127));
    let meaning = match rng.u8(0..5) {
        0 => Meaning::Cancel,
        1 | 2 => Meaning::TokenPayout { token, to, amount },
        _ => Meaning::NativePayout { to, amount },
    };
    let max = rng.u128(..) >> rng.u32(0..128);
    let price =
        if rng.bool() { Price::Dynamic { max, priority: max >> rng.u32(0..9) } } else { Price::Legacy { price: max } };
    // ethers reads nonces and chain ids of legacy transactions into doubles.
    let chain = ChainId(rng.u64(1..1 << 40));
    let slot = Slot { chain, wallet: wallet(), nonce: rng.u64(0..1 << 50) >> rng.u32(0..50) };
    Order { slot, meaning, gas: Gas { limit: rng.u64(21_000..10_000_000), price }, ..pay("wd-1", 0, 1) }
}

/// The bytes, and the fields from which ethers builds the same transaction.
fn line(order: &Order) -> String {
    let raw = format!("0x{}", hex::encode(evm::sign(order, &key()).unwrap().raw));
    let (to, value, data) = match order.meaning {
        Meaning::NativePayout { to, amount } => (to, amount.units(), String::from("0x")),
        Meaning::Cancel => (wallet(), 0, String::from("0x")),
        Meaning::TokenPayout { token, to, amount } => {
            let words = [&[0; 12][..], &to.0, &[0; 16], &amount.units().to_be_bytes()].concat();
            (token, 0, format!("0xa9059cbb{}", hex::encode(words)))
        }
    };
    let mut fields = json!({
        "chainId": order.slot.chain.0, "nonce": order.slot.nonce, "gasLimit": order.gas.limit,
        "to": to, "value": value.to_string(), "data": data,
    });
    match order.gas.price {
        Price::Dynamic { max, priority } => {
            fields["type"] = json!(2);
            fields["maxFeePerGas"] = json!(max.to_string());
            fields["maxPriorityFeePerGas"] = json!(priority.to_string());
        }
        Price::Legacy { price } => {
            fields["type"] = json!(0);
            fields["gasPrice"] = json!(price.to_string());
        }
    }
    json!({ "raw": raw, "fields": fields }).to_string()
}

fn ethers(lines: &[String]) -> Vec<Value> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = root.join(".tools/ethers/node_modules");
    let package = std::fs::read_to_string(modules.join("ethers/package.json")).unwrap_or_default();
    let found =
        serde_json::from_str::<Value>(&package).ok().and_then(|package| package["version"].as_str().map(str::to_owned));
    assert_eq!(
        found.as_deref(),
        Some(VERSION),
        "ethers is missing: run `cargo xtask test`, or `npm install --prefix .tools/ethers ethers@{VERSION}`"
    );
    let folder = tempfile::tempdir().unwrap();
    let keystore = folder.path().join("wallet.json");
    std::fs::write(&keystore, keystore::encrypt(&Zeroizing::new(SECRET), b"secret", KeystoreCost::Light).unwrap())
        .unwrap();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/referee.cjs");
    let mut node = Command::new("node")
        .arg(script)
        .arg(format!("0x{}", hex::encode(SECRET)))
        .arg(&keystore)
        .arg("secret")
        .env("NODE_PATH", modules)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = node.stdin.take().unwrap();
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
