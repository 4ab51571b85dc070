//! `bankroll hand`: hands are played, their files checked, and one changed byte is found.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{folder, run};

/// A folder with two hands of three seats and two shufflers in `hands`, and the report about them.
fn played() -> (TempDir, Value) {
    let folder = folder();
    let args =
        ["hand", "play", "--seats", "3", "--shufflers", "2", "--hands", "2", "--seed", "7", "--out", "hands", "--json"];
    let report = run(folder.path(), &args).json();
    (folder, report)
}

#[test]
fn hands_are_played_verified_shown_and_replayed() {
    let (folder, report) = played();
    let at = folder.path();
    assert_eq!((&report["seed"], report["hands"].as_array().unwrap().len()), (&7.into(), 2));
    let file = "hands/hand-7-1.hand";
    assert_eq!(report["hands"][0]["file"], file);
    assert!(fs::read_to_string(at.join("hands/hand-7-1.phh")).unwrap().contains("variant = \"NT\""));

    let verified = run(at, &["hand", "verify", file, "--json"]).json();
    assert_eq!(verified["sound"], true);
    assert_eq!(verified["state"], report["hands"][0]["state"]);
    assert_eq!(verified["checked"]["shuffles"], 2);
    let chips = |stacks: &Value| -> u64 {
        let chips = |entry: &Value| entry[1].as_str().unwrap().parse::<u64>().unwrap();
        stacks.as_array().unwrap().iter().map(chips).sum()
    };
    let rake: u64 = verified["rake"].as_str().unwrap().parse().unwrap();
    assert_eq!(chips(&verified["stacks"]) + rake, 3_000);

    let operator = verified["config"]["operator"].as_str().unwrap();
    assert!(run(at, &["hand", "verify", file, "--operator", operator]).ok().contains("all is sound"));
    let shown = run(at, &["hand", "show", file]).ok();
    for part in ["preflop", "player 1", "shuffler 1", "who proved what", "BLINDED", "pots"] {
        assert!(shown.contains(part), "{part:?} is not in: {shown}");
    }
    let preflop = "\npreflop\n  seat 2 posts the small blind 5\n  seat 3 posts the big blind 10\n  seat 1 calls 10\n";
    let flop = "\nflop Kd 5s 7s\n  seat 2 bets 10\n  seat 1 calls 10\n";
    assert!(shown.contains(preflop) && shown.contains(flop), "{shown}");
    assert!(shown.contains("\n shuffler 1  shuffler 1 ") && shown.contains("\n shuffler 2  shuffler 2 "), "{shown}");
    assert!(!shown.contains("shuffler 0") && shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    assert_eq!(run(at, &["hand", "show", file, "--json"]).json()["format"], "bankroll hand 1");
    let replayed = run(at, &["hand", "replay", file, "--json"]).json();
    let events = replayed["events"].as_array().unwrap();
    assert_eq!(events.last().unwrap()["state"], verified["state"]);
    assert_eq!(events.len() as u64 + 1, verified["checked"]["events"].as_u64().unwrap());
    assert!(run(at, &["hand", "replay", file]).ok().contains("hole cards dealt"));
    // The same seed plays the same hand, and nothing is overwritten.
    let again = ["hand", "play", "--seats", "3", "--shufflers", "2", "--seed", "7", "--out"];
    let other = run(at, &[&again[..], &["other", "--json"]].concat()).json();
    assert_eq!(other["hands"][0]["state"], verified["state"]);
    run(at, &[&again[..], &["hands", "--json"]].concat()).fails(1, &["hands/hand-7-1.hand exists", "--seed or --out"]);
}

#[test]
fn both_files_of_a_hand_are_mentioned() {
    let folder = folder();
    let args = ["hand", "play", "--seats", "2", "--shufflers", "1", "--seed", "7", "--out", "hands"];
    let text = run(folder.path(), &args).ok();
    assert!(text.starts_with("bankroll hand play  2 seats, 1 shuffler, seed 7\n  hands/hand-7-1.hand  "), "{text}");
    assert!(text.contains("\n  hands/hand-7-1.phh\nthe .phh files are hand histories"), "{text}");
    // Heads-up the button posts the small blind.
    let shown = run(folder.path(), &["hand", "show", "hands/hand-7-1.hand"]).ok();
    let preflop = "\npreflop\n  seat 1 posts the small blind 5\n  seat 2 posts the big blind 10\n  seat 1 ";
    assert!(shown.contains(preflop), "{shown}");
}

#[test]
fn a_changed_file_is_unsound_and_says_where() {
    let (folder, _) = played();
    let at = folder.path();
    let mut bytes = fs::read(at.join("hands/hand-7-1.hand")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(at.join("changed.hand"), &bytes).unwrap();
    run(at, &["hand", "verify", "changed.hand"]).fails(4, &["event ", "is responsible"]);
    let verdict = run(at, &["hand", "verify", "changed.hand", "--json"]);
    assert_eq!(verdict.code, 4);
    let verdict: Value = serde_json::from_str(&verdict.stdout).unwrap();
    assert_eq!((&verdict["sound"], &verdict["author"]), (&false.into(), &"operator".into()));
    assert!(verdict["event"].as_u64().unwrap() > 0);
    for command in ["show", "replay"] {
        run(at, &["hand", command, "changed.hand"]).fails(4, &["event "]);
    }
    fs::write(at.join("no.hand"), b"something else").unwrap();
    run(at, &["hand", "verify", "no.hand"]).fails(4, &["no.hand is not a hand", "not a hand bundle of version 1"]);
    run(at, &["hand", "verify", "gone.hand"]).fails(3, &["there is no file gone.hand"]);
    run(at, &["hand", "verify", "no.hand", "--operator", "02"]).fails(2, &["is not a key"]);
    let stranger = format!("02{}", "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    run(at, &["hand", "verify", "hands/hand-7-1.hand", "--operator", &stranger]).fails(4, &["another operator"]);
    run(at, &["hand", "play", "--seats", "11"]).fails(2, &["the number of seats is a whole number from 2 to 10"]);
}
