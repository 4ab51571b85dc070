//! Schemathesis reads `/openapi.json` of a running node and sends what the document allows and what it forbids, as each
//! kind of caller. It must find no 5xx, no undocumented status, no answer that its schema does not describe, nothing
//! accepted that the document forbids, and no operation that forgets to ask for a session.
//!
//! The requests of a usual run are always the same ones. In a soak (`BANKROLL_SOAK_SECONDS`) they follow from
//! `BANKROLL_TEST_SEED`, and there are as many as the time allows.

use std::process::Command;

use serde_json::Value;

use super::{FUNDS, PLAYER, RefereedNode, program, tools};

const VERSION: &str = "4.32.5";
/// Requests that fit the document and are refused with 400 are no failure: the document does not say which addresses
/// have a right checksum, or which accounts exist.
const EXCEPT: &str = "positive_data_acceptance";
/// Random requests for each operation, next to those that cover each rule of the document.
const EXAMPLES: &str = "10";
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
    /// Real resources, to be mixed with made-up ones.
    settings: String,
}

#[test]
fn schemathesis_finds_nothing_as_a_game_server() {
    let node = RefereedNode::start();
    let [known, spare] = sessions(&node);
    // A slash in a path would be another path, so this one is not made up.
    let account = format!("\"path.account\" = \"{}\"\n", FUNDS.replace('/', "%2F"));
    let settings = resources(&known, 0.8) + &account;
    Caller { token: text(&known["server"]), spare: text(&spare["server"]), settings, node }.check();
}

#[test]
fn schemathesis_finds_nothing_as_a_player_and_developer() {
    let node = RefereedNode::start();
    let [known, spare] = sessions(&node);
    let settings = resources(&known, 0.8);
    Caller { token: text(&known["player"]), spare: text(&spare["player"]), settings, node }.check();
}

#[test]
fn schemathesis_finds_nothing_as_the_owner() {
    let node = RefereedNode::start();
    let [known, _] = sessions(&node);
    let session = || program(node.folder.path(), "servers session owner --owner --key owner.key --json").json();
    let (token, spare) = (text(&session()["token"]), text(&session()["token"]));
    Caller { token, spare, settings: resources(&known, 0.5), node }.check();
}

#[test]
fn schemathesis_finds_nothing_without_a_session() {
    let node = RefereedNode::start();
    let [known, _] = sessions(&node);
    Caller { token: None, spare: None, settings: resources(&known, 0.5), node }.check();
}

/// A registered server with one of everything, and two sessions of each caller. What is made the second time is made
/// already.
fn sessions(node: &RefereedNode) -> [Value; 2] {
    [(); 2].map(|()| node.script("resources.cjs", "viem", super::wallets::VERSION))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Values that name something, and where they are used with this probability.
fn resources(known: &Value, probability: f64) -> String {
    let values = [
        ("servers", "[\"arena\"]".to_owned()),
        ("accounts", format!("[\"{FUNDS}\", \"arena/world/1\", \"arena/ecosystem/1\"]")),
        ("wallets", format!("[\"{}\"]", PLAYER.address.to_lowercase())),
        ("amounts", "[\"1\", \"3\", \"0\", \"340282366920938463463374607431768211455\"]".to_owned()),
        ("times", "[\"2026-11-16T00:00:00Z\", \"2100-01-01T00:00:00Z\"]".to_owned()),
        ("holds", format!("[{}]", known["hold"])),
        ("records", format!("[{}]", known["record"])),
        ("spawns", format!("[{}]", known["spawn"])),
        ("exits", format!("[{}]", known["exit"])),
        ("withdrawals", known["withdrawals"].to_string()),
    ];
    let places = [
        ("path.server", "servers"),
        ("path.wallet", "wallets"),
        ("path.hold", "holds"),
        ("path.record", "records"),
        ("path.spawn", "spawns"),
        ("path.exit", "exits"),
        ("path.id", "withdrawals"),
        ("query.server", "servers"),
        ("query.account", "accounts"),
        ("query.from", "times"),
        ("query.to", "times"),
        ("query.before", "times"),
        ("body.account", "accounts"),
        ("body.from", "accounts"),
        ("body.to", "accounts"),
        ("body.player", "wallets"),
        ("body.amount", "amounts"),
        ("body.until", "times"),
        ("body.expires", "times"),
        ("body.operations[*].account", "accounts"),
        ("body.operations[*].from", "accounts"),
        ("body.operations[*].to", "accounts"),
        ("body.operations[*].amount", "amounts"),
        ("body.operations[*].hold", "holds"),
    ];
    let values = values.map(|(name, values)| format!("[dictionaries.{name}]\nvalues = {values}\n")).concat();
    let place = |(place, name)| format!("\"{place}\" = {{ dictionary = \"{name}\", probability = {probability} }}\n");
    values + "[parameters]\n" + &places.map(place).concat()
}

impl Caller {
    fn check(self) {
        let settings = self.node.folder.path().join("schemathesis.toml");
        std::fs::write(&settings, self.all_settings()).unwrap();
        let mut python = Command::new(tools().join("schemathesis/bin/python3"));
        python.env_clear().env("PYTHONUTF8", "1").current_dir(self.node.folder.path());
        python.args(["-m", "schemathesis.cli", "--config-file"]).arg(settings);
        python.arg("run").arg(format!("{}/openapi.json", self.node.url));
        python.args(["--phases", "examples,coverage,fuzzing", "--exclude-checks", EXCEPT, "--no-color"]);
        // They ask whether this machine is slow, and whether a form is hard to guess.
        python.args(["--suppress-health-check", "all"]);
        match soak() {
            None => python.args(["--generation-deterministic", "--max-examples", EXAMPLES]),
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
        assert!(count > 1_000, "only {count} requests: {report}");
    }

    fn all_settings(&self) -> String {
        let bearer = |token: &String| format!("headers = {{ Authorization = \"Bearer {token}\" }}\n");
        let own = self.token.as_ref().map(bearer).unwrap_or_default();
        // Closing the session of the run would end the run.
        let closing = |token| format!("[[operations]]\ninclude-path = \"/v1/sessions/current\"\n{}", bearer(token));
        let closing = self.spare.as_ref().map(closing).unwrap_or_default();
        format!("{own}{}{closing}{}", self.settings, if soak().is_some() { "" } else { SAME_REQUESTS })
    }
}

/// In a soak, its seed and this caller's seconds.
fn soak() -> Option<(String, String)> {
    let seconds: u64 = std::env::var("BANKROLL_SOAK_SECONDS").ok()?.parse().unwrap();
    let seed = std::env::var("BANKROLL_TEST_SEED").unwrap_or_else(|_| "1".into());
    Some((seed, (seconds / CALLERS).max(1).to_string()))
}
