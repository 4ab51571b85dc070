//! The `standardwebhooks` package, the reference implementation, verifies deliveries as they come over the wire.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use bankroll_ledger::Time;
use bankroll_notify::{AttemptOutcome, DeliveryAttempt, WebhookSecret};
use bankroll_store::Clock;
use serde_json::{Value, json};

use crate::receiver::{LocalReceiver, WireRequest, attempt};

/// `cargo xtask test` installs the same version.
const VERSION: &str = "1.1.1";

fn secret(byte: u8) -> WebhookSecret {
    WebhookSecret::new([byte; 32])
}

/// Sends a delivery that is signed with these secrets, and returns the request as it came over the wire.
fn deliver(receiver: &LocalReceiver, secrets: &[u8], now: Time) -> WireRequest {
    let url = format!("http://127.0.0.1:{}/", receiver.port);
    // Letters that a careless encoder changes.
    let body = r#"{"id":"evt_81_0","type":"deposit.credited","data":{"note":"a/b \\ \"é\" \u0007 €"}}"#.into();
    let secrets = secrets.iter().map(|byte| secret(*byte)).collect();
    let sent = DeliveryAttempt { body, secrets, ..attempt(&url) };
    assert!(matches!(receiver.client().send(&sent, now), AttemptOutcome::Answered { status: 200, .. }));
    receiver.requests.recv().unwrap()
}

fn line(request: &WireRequest, secret: &WebhookSecret) -> Value {
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), request.header(name).into())).collect();
    json!({ "secret": secret.reveal(), "headers": headers, "body": request.body })
}

#[test]
fn the_reference_implementation_verifies_deliveries_and_refuses_changed_ones() {
    let receiver = LocalReceiver::start(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    // The package compares the time with its own clock.
    let now = Clock::machine().now();
    let (one, both) = (deliver(&receiver, &[1], now), deliver(&receiver, &[2, 1], now));
    let old = deliver(&receiver, &[1], Time(now.0 - 3_600_000_000));
    let changed = |change: fn(&mut Value)| {
        let mut line = line(&one, &secret(1));
        change(&mut line);
        line
    };
    let cases = [
        (line(&one, &secret(1)), true),
        // During a rotation either secret verifies.
        (line(&both, &secret(1)), true),
        (line(&both, &secret(2)), true),
        (line(&one, &secret(2)), false),
        (line(&old, &secret(1)), false),
        (changed(|line| line["body"] = r#"{"id":"evt_81_0","type":"deposit.reversed"}"#.into()), false),
        (changed(|line| line["headers"]["webhook-id"] = "evt_82_0".into()), false),
        (changed(|line| line["headers"]["webhook-timestamp"] = "1".into()), false),
    ];
    let lines: Vec<String> = cases.iter().map(|(line, _)| line.to_string()).collect();
    for ((answer, (_, is_verified)), place) in verify(&lines).iter().zip(&cases).zip(0..) {
        let expected = is_verified.then(|| json!("evt_81_0")).unwrap_or_default();
        assert_eq!(answer["verified"], expected, "case {place}: {answer}");
    }
}

fn verify(lines: &[String]) -> Vec<Value> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = root.join(".tools/standardwebhooks/node_modules");
    let package = std::fs::read_to_string(modules.join("standardwebhooks/package.json")).unwrap_or_default();
    let found = serde_json::from_str::<Value>(&package).ok();
    let found = found.and_then(|package| package["version"].as_str().map(str::to_owned));
    let install = format!("npm install --prefix .tools/standardwebhooks standardwebhooks@{VERSION}");
    assert_eq!(found.as_deref(), Some(VERSION), "the referee is missing: run `cargo xtask test`, or `{install}`");
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/referee.cjs");
    let mut node = Command::new("node");
    let node = node.arg(script).env("NODE_PATH", modules).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().unwrap();
    node.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
