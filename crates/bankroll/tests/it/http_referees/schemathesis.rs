//! Schemathesis reads `/openapi.json` of a running node and sends what the document allows and what it forbids, as each
//! kind of caller. It must find no 5xx, no undocumented status, no answer that its schema does not describe, nothing
//! accepted that the document forbids, and no operation that forgets to ask for a session.
//!
//! The requests of a usual run are always the same ones. In a soak (`BANKROLL_SOAK_SECONDS`) they follow from
//! `BANKROLL_TEST_SEED`, and there are as many as the time allows.

use std::process::Command;

use serde_json::{Value, json};

use super::{AUDIENCE, CHAIN, DEVELOPER, FUNDS, HOT, PLAYER, RefereedNode, SERVER, program, scripts, tools};

const VERSION: &str = "4.32.5";
/// Requests that fit the document and are refused with 400 are no failure: the document does not say which addresses
/// have a right checksum, or which accounts exist.
const EXCEPT: &str = "positive_data_acceptance";
/// Random requests for each operation, next to those that cover each rule of the document.
const EXAMPLES: &str = "20";
/// Requests that are made from answers would differ from run to run: answers have ids of sessions and spawns.
const SAME_REQUESTS: &str = "[phases.coverage]\nextra-data-sources.responses = false\n\
    [phases.fuzzing]\nextra-data-sources.responses = false\nerror-feedback.enabled = false\n";
/// How many callers share the time of a soak.
const CALLERS: u64 = 4;

struct Caller {
    node: RefereedNode,
    token: Option<String>,
    /// A session that may be closed.
    spare: Option<String>,
    /// The operations that are for this caller, as a regular expression: the matrix in the tests of the API has the
    /// others.
    paths: &'static str,
    /// Real resources, to be mixed with made-up ones.
    settings: String,
}

#[test]
fn schemathesis_finds_nothing_as_a_game_server() {
    let node = RefereedNode::start();
    let [known, spare] = sessions(&node);
    let (token, spare) = (text(&known["server"]), text(&spare["server"]));
    let paths = "^/v1/(servers/.server.(/(?!developer|pauses)|$)|sessions/current)";
    Caller { token, spare, paths, settings: resources(&known) + &own_path(), node }.check();
}

#[test]
fn schemathesis_finds_nothing_as_a_player_and_developer() {
    let node = RefereedNode::start();
    let [known, spare] = sessions(&node);
    let (token, spare) = (text(&known["player"]), text(&spare["player"]));
    let paths = "^/v1/(me|sessions/current|servers/.server./developer)";
    Caller { token, spare, paths, settings: resources(&known) + &own_path(), node }.check();
}

#[test]
fn schemathesis_finds_nothing_as_the_owner() {
    let node = RefereedNode::start();
    let [known, _] = sessions(&node);
    let session = || program(node.folder.path(), "servers session owner --owner --key owner.key --json").json();
    let (token, spare) = (text(&session()["token"]), text(&session()["token"]));
    let paths = "^/v1/(registry|servers$|servers/.server./pauses|sessions/current)";
    Caller { token, spare, paths, settings: resources(&known) + &own_path(), node }.check();
}

#[test]
fn schemathesis_finds_nothing_without_a_session() {
    let node = RefereedNode::start();
    let [known, _] = sessions(&node);
    // For the other operations the runs above repeat requests without their session, and expect 401.
    let paths = "^/v1/(register|sessions$|sign-in|time)";
    Caller { token: None, spare: None, paths, settings: resources(&known), node }.check();
}

/// A registered server with one of everything, and two sessions of each caller. What is made the second time is made
/// already.
fn sessions(node: &RefereedNode) -> [Value; 2] {
    [(); 2].map(|()| node.script("resources.cjs", "viem", super::wallets::VERSION))
}

/// Every path is that of the arena, and of an account of it: a made-up one would only be not found.
fn own_path() -> String {
    format!("\"path.server\" = \"arena\"\n\"path.account\" = \"{}\"\n", FUNDS.replace('/', "%2F"))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Values that name something, and where they are used, most of the time.
fn resources(known: &Value) -> String {
    let values = [
        ("servers", json!(["arena"])),
        ("accounts", json!([FUNDS, "arena/world/1", "arena/ecosystem/1", "arena/developer/1", PLAYER.address])),
        ("wallets", json!([PLAYER.address, SERVER.address, HOT, DEVELOPER])),
        ("amounts", json!(["1", "3", "0", "340282366920938463463374607431768211455"])),
        ("times", json!(["2026-11-16T00:00:00Z", "2100-01-01T00:00:00Z", 4_102_444_800_u64])),
        ("chains", json!(["eip155:31337"])),
        ("custody_keys", json!(["main"])),
        // A symbol in signed messages, a number in the registry.
        ("assets", json!(["ETH", "USD", 1])),
        ("chain_ids", json!([CHAIN])),
        ("audiences", json!([AUDIENCE])),
        ("kinds", json!(["funds", "world"])),
        ("roles", json!(["hot", "cold", "server", "owner"])),
        ("holds", json!([known["hold"]])),
        ("records", json!([known["record"]])),
        ("spawns", known["spawns"].clone()),
        ("exits", json!([known["exit"]])),
        ("withdrawals", known["withdrawals"].clone()),
        ("messages", json!([known["message"]])),
        ("signatures", json!([known["signature"]])),
    ];
    let values = values.map(|(name, values)| format!("[dictionaries.{name}]\nvalues = {values}\n")).concat();
    let place = |(name, places): &(&str, &[&str])| {
        let binding = format!("{{ dictionary = \"{name}\", probability = 0.8 }}");
        places.iter().map(|place| format!("\"{place}\" = {binding}\n")).collect::<String>()
    };
    let places: String = PLACES.iter().map(place).collect();
    values + "[parameters]\n" + &places
}

#[rustfmt::skip]
const PLACES: &[(&str, &[&str])] = &[
    ("servers", &["query.server", "body.server", "body.subject"]),
    ("accounts", &["query.account", "body.account", "body.counter", "body.from", "body.to", "body.operations[*].account",
        "body.operations[*].from", "body.operations[*].to"]),
    ("wallets", &["path.wallet", "path.address", "query.owner", "body.player", "body.wallet", "body.address",
        "body.payout_address", "body.developer"]),
    ("amounts", &["body.amount", "body.operations[*].amount", "body.fee_cap", "body.buy_in", "body.buy_in_min",
        "body.buy_in_max", "body.spend_limit", "body.mass_per_coin"]),
    ("times", &["query.from", "query.to", "query.before", "body.until", "body.expires", "body.valid_until"]),
    ("chains", &["body.chain"]),
    ("custody_keys", &["body.custody_key"]),
    ("assets", &["body.asset", "body.symbol"]),
    ("chain_ids", &["body.chain_id"]),
    ("audiences", &["body.audience"]),
    ("kinds", &["query.kind"]),
    ("roles", &["body.role"]),
    ("holds", &["path.hold", "body.operations[*].hold"]),
    ("records", &["path.record"]),
    ("spawns", &["path.spawn", "body.spawn"]),
    ("exits", &["path.exit"]),
    ("withdrawals", &["path.id"]),
    ("messages", &["body.message"]),
    ("signatures", &["body.signature"]),
];

impl Caller {
    fn check(self) {
        let settings = self.node.folder.path().join("schemathesis.toml");
        std::fs::write(&settings, self.all_settings()).unwrap();
        let mut python = Command::new(tools().join("schemathesis/bin/python3"));
        python
            .env_clear()
            .env("PYTHONUTF8", "1")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(self.node.folder.path());
        python.args(["-m", "schemathesis.cli", "--config-file"]).arg(settings);
        python.arg("run").arg(format!("{}/openapi.json", self.node.url));
        python.args(["--include-path-regex", self.paths]);
        python.args(["--exclude-checks", EXCEPT, "--no-color"]);
        // They ask whether this machine is slow, and whether a form is hard to guess.
        python.args(["--suppress-health-check", "all", "--request-timeout", "60"]);
        match soak() {
            None => python.args(["--phases", "examples,coverage,fuzzing"]).args([
                "--generation-deterministic",
                "--max-examples",
                EXAMPLES,
            ]),
            Some((seed, seconds)) => {
                python.args(["--generation-database", "none", "--seed", &seed, "--max-time", &seconds])
            }
        };
        let output = python.output().unwrap();
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(report.contains(&format!("Schemathesis v{VERSION}")), "run `cargo xtask test`: {report}{errors}");
        assert!(output.status.success(), "{report}{errors}");
        let sent = report.lines().find(|line| line.contains(" generated, ")).unwrap_or_default();
        println!("{}", sent.trim());
        let count: u64 = sent.split_whitespace().next().and_then(|count| count.parse().ok()).unwrap_or(0);
        assert!(count > 200, "only {count} requests: {report}");
    }

    fn all_settings(&self) -> String {
        let bearer = |token: &String| format!("headers = {{ Authorization = \"Bearer {token}\" }}\n");
        let own = self.token.as_ref().map(bearer).unwrap_or_default();
        // Closing the session of the run would end the run.
        let closing = |token| format!("[[operations]]\ninclude-path = \"/v1/sessions/current\"\n{}", bearer(token));
        let closing = self.spare.as_ref().map(closing).unwrap_or_default();
        let hooks = format!("hooks = \"{}\"\n", scripts().join("hooks.py").display());
        format!("{hooks}{own}{}{closing}{}", self.settings, if soak().is_some() { "" } else { SAME_REQUESTS })
    }
}

/// In a soak, its seed and this caller's seconds.
fn soak() -> Option<(String, String)> {
    let seconds: u64 = std::env::var("BANKROLL_SOAK_SECONDS").ok()?.parse().unwrap();
    let seed = std::env::var("BANKROLL_TEST_SEED").unwrap_or_else(|_| "1".into());
    // In less time it would send too few requests to say anything.
    Some((seed, (seconds / CALLERS).max(15).to_string()))
}
