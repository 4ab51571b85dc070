//! `operators`, `proposals`, `audit-log` and `players` of people: clients of the Funds API.

use std::path::Path;

use serde_json::Value;

use crate::program::{Run, folder, run};

const PLAYER: &str = "0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";

fn program(folder: &Path, args: &str) -> Run {
    run(folder, &args.split_whitespace().collect::<Vec<_>>())
}

/// The name of the one open proposal.
fn open(at: &Path) -> String {
    let open = program(at, "proposals list --status open --json").json()["proposals"].clone();
    assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
    open[0]["proposal"].as_str().unwrap().to_owned()
}

#[test]
fn two_people_run_a_deployment_and_the_log_says_who_did_what() {
    let folder = folder();
    let at = folder.path();
    program(at, "init").ok();
    let address = |file: &str| program(at, &format!("keys auth {file} --json")).json()["address"].clone();
    let (omar, sam) = (address("omar.key"), address("sam.key"));
    let added = program(at, &format!("operators add omar --address {} --role owner", omar.as_str().unwrap())).ok();
    assert!(added.starts_with("confirmed prp_") && added.contains("add omar as owner with the key 0x"), "{added}");

    let proposed = program(at, &format!("operators add sam --address {} --role support", sam.as_str().unwrap())).ok();
    assert!(proposed.starts_with("proposed prp_") && proposed.contains("Next, as another person:"), "{proposed}");
    let proposal = open(at);
    program(at, &format!("proposals confirm {proposal} --yes")).fails(1, &["already_signed"]);
    program(at, &format!("proposals confirm {proposal} --key omar.key")).fails(2, &["add --yes"]);
    let shown = program(at, &format!("proposals show {proposal}")).ok();
    assert!(shown.contains("what    add sam as support with the key 0x") && shown.contains("(2 needed)"), "{shown}");
    program(at, &format!("proposals confirm {proposal} --key omar.key --yes")).ok();
    assert!(program(at, "operators list").ok().contains("2 must sign a proposal"));

    program(at, &format!("players freeze {PLAYER} --reason stolen --key sam.key")).fails(1, &["may not do this"]);
    program(at, &format!("players freeze {PLAYER} --reason stolen")).ok();
    let seen = program(at, &format!("players show {PLAYER} --key sam.key")).ok();
    assert!(seen.contains("player   0x9c36...d09e\n") && seen.contains("frozen: stolen"), "{seen}");
    program(at, &format!("players unfreeze {PLAYER}")).ok();
    program(at, &format!("proposals reject {} --key omar.key", open(at))).ok();

    let made = program(at, "operators program-keys create reports --right read-money --json").json();
    assert!(made["key"].as_str().unwrap().starts_with("bkp_"), "{made}");
    let id = made["program_key"]["id"].as_str().unwrap();
    assert_eq!(program(at, &format!("operators program-keys revoke {id}")).ok(), format!("revoked {id}\n"));
    assert!(program(at, "operators program-keys list").ok().contains("revoked"));
    assert_eq!(program(at, "operators sessions").ok(), "no session is open\n");
    program(at, "operators suspend sam").ok();
    program(at, &format!("players show {PLAYER} --key sam.key")).fails(1, &["the registry knows no valid key"]);

    let log = program(at, "audit-log list --person sam").ok();
    assert!(log.contains(&format!("read player {PLAYER}")), "{log}");
    let sound = program(at, "audit-log verify --json").json();
    assert_eq!((&sound["entries"], &sound["people"]), (&Value::from(11), &Value::from(3)));
    program(at, "audit").ok();
}
