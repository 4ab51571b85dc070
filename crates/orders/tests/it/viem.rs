//! viem, a library that games use, hashes and signs all six messages as we do.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use alloy_sol_types::SolStruct;
use bankroll_orders::{
    Address, ChainId,
    typed_data::{
        self, ApiRequest, Approval, B256, OpenSession, Payout, PublishedHead, Registration, U256, WalletSignature,
    },
};
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};

/// `cargo xtask test` installs the same version.
const VERSION: &str = "2.56.9";
const KEY: &str = "0x4242424242424242424242424242424242424242424242424242424242424242";
const WALLET: Address = Address([0x11; 20]);
const DEVELOPER: Address = Address([0xab; 20]);
const EXPIRES: u64 = 1_794_744_600;

#[test]
fn viem_signs_what_we_recover() {
    let nonce = B256::repeat_byte(7);
    let large = U256::from(u128::MAX);
    let registration = Registration {
        server: "arena".into(),
        audience: "funds.example".into(),
        payoutAddress: WALLET.into(),
        developer: DEVELOPER.into(),
        buyIn: U256::from(5_000_000),
        developerFeeBps: 250,
        worldFeeBps: 1_000,
        massPerCoin: large,
        exitHoldMs: u64::MAX,
        nonce,
        expires: EXPIRES,
    };
    let registration = case(
        1,
        &json!({
            "server": "arena", "audience": "funds.example", "payoutAddress": WALLET, "developer": DEVELOPER,
            "buyIn": "5000000", "developerFeeBps": 250, "worldFeeBps": 1000, "massPerCoin": large.to_string(),
            "exitHoldMs": u64::MAX.to_string(), "nonce": nonce.to_string(), "expires": EXPIRES,
        }),
        &registration,
    );
    let session =
        OpenSession { role: "owner".into(), subject: "Zoë".into(), audience: String::new(), nonce, expires: EXPIRES };
    let text = json!({
        "role": "owner", "subject": "Zoë", "audience": "", "nonce": nonce.to_string(), "expires": EXPIRES,
    });
    let session = case(31337, &text, &session);
    let payout = Payout {
        server: "arena".into(),
        requestId: "cash-out-1".into(),
        audience: "funds.example".into(),
        wallet: WALLET.into(),
        account: "arena/funds/1/alice".into(),
        to: DEVELOPER.into(),
        asset: "USDC".into(),
        amount: large,
        feeCap: U256::ZERO,
        expires: EXPIRES,
    };
    let payout = case(
        8453,
        &json!({
            "server": "arena", "requestId": "cash-out-1", "audience": "funds.example", "wallet": WALLET,
            "account": "arena/funds/1/alice", "to": DEVELOPER, "asset": "USDC", "amount": large.to_string(),
            "feeCap": "0", "expires": EXPIRES,
        }),
        &payout,
    );
    let approval = Approval {
        intent: "wd-81".into(),
        audience: "funds.example".into(),
        to: DEVELOPER.into(),
        asset: "USDC".into(),
        amount: U256::from(12),
        expires: EXPIRES,
    };
    let text = json!({
        "intent": "wd-81", "audience": "funds.example", "to": DEVELOPER, "asset": "USDC", "amount": "12",
        "expires": EXPIRES,
    });
    let approval = case(1, &text, &approval);
    let request = ApiRequest {
        method: "POST".into(),
        path: "/v1/servers/arena/transfer?dry=1".into(),
        audience: "funds.example".into(),
        idempotencyKey: "round-7".into(),
        bodyHash: nonce,
        expires: EXPIRES,
    };
    let text = json!({
        "method": "POST", "path": "/v1/servers/arena/transfer?dry=1", "audience": "funds.example",
        "idempotencyKey": "round-7", "bodyHash": nonce.to_string(), "expires": EXPIRES,
    });
    let request = case(1, &text, &request);

    let (hash, root) = (B256::repeat_byte(0xe1), B256::repeat_byte(0x0f));
    let head = PublishedHead { audience: "funds.example".into(), batch: u64::MAX, head: hash, root, time: EXPIRES };
    let text = json!({
        "audience": "funds.example", "batch": u64::MAX.to_string(), "head": hash.to_string(),
        "root": root.to_string(), "time": EXPIRES,
    });
    let head = case(31337, &text, &head);

    let cases = [registration, session, payout, approval, request, head];
    let answers = viem(&cases.each_ref().map(|(line, _)| line.to_string()));
    assert_eq!(answers.len(), cases.len());
    let key = SigningKey::from_slice(&[0x42; 32]).unwrap();
    for ((line, digest), answer) in cases.iter().zip(&answers) {
        assert_eq!(answer["digest"], json!(B256::from(*digest).to_string()), "{line}");
        assert_eq!(answer["address"], json!(Address::of(key.verifying_key())), "{line}");
        let signature: WalletSignature = answer["signature"].as_str().unwrap().parse().unwrap();
        assert_eq!(typed_data::recover(digest, &signature), Ok(Address::of(key.verifying_key())), "{line}");
        assert_eq!(WalletSignature::by(&key, digest), Some(signature), "{line}");
    }
}

/// What viem is asked, and our digest of the same message.
fn case<T: SolStruct>(chain: u64, message: &Value, ours: &T) -> (Value, [u8; 32]) {
    let line = json!({ "type": T::NAME, "chain": chain, "key": KEY, "message": message });
    (line, typed_data::digest(ours, ChainId(chain)))
}

fn viem(lines: &[String]) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let modules = folder.join("../../.tools/viem/node_modules");
    let package = std::fs::read_to_string(modules.join("viem/package.json")).unwrap_or_default();
    assert!(
        package.contains(&format!("\"version\": \"{VERSION}\"")),
        "viem is missing: run `cargo xtask test`, or `npm install --prefix .tools/viem viem@{VERSION}`"
    );
    let mut node = Command::new("node")
        .arg(folder.join("tests/it/viem.cjs"))
        .env("NODE_PATH", modules)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    node.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
