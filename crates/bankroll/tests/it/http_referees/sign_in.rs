//! siwe, the package of the authors of EIP-4361: its messages sign a player in, in each form that it writes, and each
//! message that must be refused has a reason of its own.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
};

use bankroll_orders::ChainId;
use bankroll_roles::{
    AuthKey,
    requests::{FundsClient, FundsUrl},
};
use serde_json::{Value, json};

use super::{AUDIENCE, CHAIN, PLAYER, RefereedNode};

const VERSION: &str = "3.0.0";

#[test]
fn messages_of_the_siwe_package_sign_a_player_in() {
    let node = RefereedNode::start();
    let found = node.script("siwe.cjs", "siwe", VERSION);
    // Valid to the package, what the service answers, and who is signed in.
    let signed_in = json!([true, "200", PLAYER.address.to_lowercase()]);
    let forms = [
        "without a statement",
        "with a statement",
        "with resources",
        "with resources, without a statement",
        "with all times",
        "with a time zone",
        "with whole seconds",
        "at a page of the site",
    ];
    let accepted: Value = forms.iter().map(|form| ((*form).to_owned(), signed_in.clone())).collect();
    assert_eq!(found["accepted"], accepted);
    // The package knows the message and the time, but not the site, the chain and the nonces.
    assert_eq!(
        found["refused"],
        json!({
            "another domain": [true, "401 audience_wrong"],
            "another site": [true, "401 audience_wrong"],
            "another chain": [true, "401 chain_wrong"],
            "a nonce of its own": [true, "401 nonce_unknown"],
            "expired": [false, "401 signature_expired"],
            "issued an hour ago": [true, "401 signature_expired"],
            "not valid yet": [false, "401 signature_not_yet_valid"],
            "issued in an hour": [true, "401 signature_not_yet_valid"],
            "a request id": [true, "400 sign_in_invalid"],
            "signed by another wallet": [false, "401 signature_invalid"],
            "another statement than signed": [true, "401 signature_invalid"],
            "a line too much": [true, "400 sign_in_invalid"],
            "used before": [true, "409 nonce_used"],
        })
    );
}

/// Between our own client and the service the package reads what the client signed.
#[test]
fn the_siwe_package_verifies_what_our_client_signs() {
    let node = RefereedNode::start();
    let mut relay =
        Relay(node.script_command("siwe_relay.cjs", "siwe", VERSION).stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(relay.0.stdout.take().unwrap()).lines();
    let mut line = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let key = AuthKey::create(&node.folder.path().join("player.key")).unwrap();
    let address = key.address().to_string();
    let url = FundsUrl::new(line()["url"].as_str().unwrap());
    let client = FundsClient::at(&url, key, AUDIENCE, ChainId(CHAIN));
    let session = client.sign_in(&format!("http://{AUDIENCE}")).unwrap();
    assert!(session["token"].is_string());
    let found = json!({ "verified": true, "unchanged": true, "address": address, "answer": "200" });
    assert_eq!(line(), found);
}

/// Ends with the test, also with one that fails.
struct Relay(Child);

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
