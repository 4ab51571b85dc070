//! Receipts under published heads: the names of accounts from proven bytes, and forgeries.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{FUNDS, casino, keep, publish, text};
use crate::program::{credit, folder, run};

/// A folder without books: a receipt of the credit, the head it is under, and an earlier one.
fn kept() -> (TempDir, Value) {
    let casino = casino();
    let at = casino.path();
    publish(at);
    keep(at, "early.json");
    credit(at, FUNDS, 100);
    publish(at);
    let head = keep(at, "head.json");
    run(at, &["registry", "chains", "add", "eip155:1", "--label", "Ethereum"]).ok();
    publish(at);
    keep(at, "late.json");
    let elsewhere = folder();
    let out = |name: &str| elsewhere.path().join(name);
    let written = run(at, &["receipt", "credit-1", "--out", text(&out("late-receipt.json"))]).ok();
    assert!(written.contains("\npublished head of batch "), "{written}");
    let batch = head["batch"].to_string();
    run(at, &["receipt", "credit-1", "--under", &batch, "--out", text(&out("receipt.json"))]).ok();
    run(at, &["receipt", "credit-1", "--under", "1"]).fails(3, &["no head was published after batch 1"]);
    let early: Value = serde_json::from_str(&fs::read_to_string(at.join("early.json")).unwrap()).unwrap();
    let under = early["batch"].to_string();
    run(at, &["receipt", "credit-1", "--under", &under]).fails(2, &["is older than record"]);
    for file in ["early.json", "head.json", "late.json"] {
        fs::copy(at.join(file), out(file)).unwrap();
    }
    (elsewhere, head)
}

fn check(at: &Path, args: &str) -> (i32, Value) {
    let checked = run(at, &format!("receipt check {args} --json").split(' ').collect::<Vec<_>>());
    (checked.code, serde_json::from_str(&checked.stdout).unwrap_or(Value::Null))
}

#[test]
fn a_receipt_proves_its_record_and_its_names_under_the_head_that_a_reader_kept() {
    let (elsewhere, head) = kept();
    let at = elsewhere.path();
    let text = run(at, &["receipt", "check", "receipt.json", "--head", "head.json"]).ok();
    let address = head["address"].as_str().unwrap();
    for what in ["proven: this record and these names", FUNDS, "is @house/custody/1/hot\n", address] {
        assert!(text.contains(what), "{what:?} is not in: {text}");
    }
    let (code, json) = check(at, "receipt.json --head head.json");
    assert_eq!((code, &json["verdict"], &json["names_proven"]), (0, &"proven".into(), &true.into()));
    assert_eq!(json["record"]["postings"][0]["credit"]["name"], FUNDS);
    assert_eq!(check(at, "late-receipt.json --head late.json").0, 0, "a later head proves it as well");
    assert_eq!(check(at, &format!("receipt.json --signed-by {address}")).0, 0, "the head in the file is enough then");
    assert_eq!(check(at, &format!("receipt.json --head head.json --signed-by {address}")).0, 0);

    let (code, json) = check(at, "receipt.json --head late.json");
    assert_eq!((code, &json["verdict"]), (4, &"another_head".into()));
    let hint = run(at, &["receipt", "check", "receipt.json", "--head", "late.json"]).stdout;
    assert!(hint.contains("Ask for the receipt under yours: `bankroll receipt "), "{hint}");
    assert_eq!(check(at, "receipt.json --head early.json").0, 4, "the record is newer than that head");
    let stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    let (code, json) = check(at, &format!("receipt.json --signed-by {stranger}"));
    assert_eq!((code, &json["verdict"]), (4, &"another_signer".into()));
    assert_eq!(check(at, &format!("receipt.json --head head.json --signed-by {stranger}")).0, 4);
}

#[test]
fn the_head_of_the_batch_alone_proves_the_record_and_not_the_names() {
    let (elsewhere, _) = kept();
    let at = elsewhere.path();
    let receipt: Value = serde_json::from_str(&fs::read_to_string(at.join("receipt.json")).unwrap()).unwrap();
    let own = receipt["head"].as_str().unwrap();
    let (code, json) = check(at, &format!("receipt.json --head {own}"));
    assert_eq!((code, &json["verdict"], &json["names_proven"]), (0, &"proven".into(), &false.into()));
    assert_eq!(json["record"]["postings"][0]["credit"].get("name"), None);
    let text = run(at, &["receipt", "check", "receipt.json", "--head", own]).ok();
    assert!(text.contains("The names of accounts are not proven by that head") && !text.contains(FUNDS), "{text}");
}

#[test]
fn names_that_lie_are_refused() {
    let (elsewhere, _) = kept();
    let at = elsewhere.path();
    let sound: Value = serde_json::from_str(&fs::read_to_string(at.join("receipt.json")).unwrap()).unwrap();
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut value = sound.clone();
        edit(&mut value);
        fs::write(at.join("edited.json"), value.to_string()).unwrap();
        let (code, json) = check(at, "edited.json --head head.json");
        (code, json["verdict"].as_str().unwrap_or_default().to_owned())
    };
    let refused = |verdict: &str| (4, verdict.to_owned());
    let mallory = "arena/funds/1/mallory";
    assert_eq!(edited(&|one| one["readable"]["postings"][0]["credit"]["name"] = mallory.into()), refused("altered"));
    assert_eq!(
        edited(&|one| one["accounts"].as_array_mut().unwrap().swap(0, 1)),
        (0, "proven".into()),
        "order is nothing"
    );
    assert_eq!(edited(&|one| drop(one["accounts"].as_array_mut().unwrap().pop())), refused("broken"));
    assert_eq!(edited(&|one| one["accounts"][0] = one["accounts"][1].clone()), refused("broken"));
    assert_eq!(edited(&|one| one["accounts"] = json!([])), refused("broken"));
    assert_eq!(edited(&|one| one["path"] = json!([])), refused("broken"));
    assert_eq!(edited(&|one| one["published"]["batch"] = 1.into()), refused("broken"));
    // Without the proof, the record is proven by its own batch's head alone, and this head is of that batch.
    let bare = edited(&|one| {
        let fields = one.as_object_mut().unwrap();
        for key in ["path", "published", "accounts", "readable"] {
            fields.remove(key);
        }
    });
    assert_eq!(bare.0, 0, "{bare:?}");
    assert_eq!(edited(&|one| drop(one.as_object_mut().unwrap().remove("accounts"))).0, 1, "all three or none");
}

/// Every text of digits in the file, each with one digit changed; and every list, shortened and turned around.
#[test]
fn no_changed_digit_and_no_changed_list_is_proven() {
    let (elsewhere, _) = kept();
    let at = elsewhere.path();
    let sound: Value = serde_json::from_str(&fs::read_to_string(at.join("receipt.json")).unwrap()).unwrap();
    let (mut forged, mut chance) = (Vec::new(), fastrand::Rng::with_seed(15));
    let mut visit = Vec::from([String::new()]);
    while let Some(pointer) = visit.pop() {
        match sound.pointer(&pointer).unwrap() {
            Value::Object(fields) => visit.extend(fields.keys().map(|key| format!("{pointer}/{key}"))),
            Value::Array(items) => {
                visit.extend((0..items.len()).map(|place| format!("{pointer}/{place}")));
                if !items.is_empty() && !pointer.ends_with("events") {
                    forged.push((pointer, Value::Array(items[1..].to_vec())));
                }
            }
            Value::String(text) => {
                let digits: Vec<usize> =
                    text.char_indices().filter(|(_, c)| c.is_ascii_hexdigit()).map(|(at, _)| at).collect();
                let Some(place) = chance.choice(&digits) else { continue };
                let digit = if &text[*place..=*place] == "0" { "1" } else { "0" };
                forged.push((pointer, format!("{}{digit}{}", &text[..*place], &text[place + 1..]).into()));
            }
            Value::Number(number) => forged.push((pointer, (number.as_u64().unwrap() + 1).into())),
            _ => {}
        }
    }
    assert!(forged.len() > 50, "{}", forged.len());
    for (pointer, value) in forged {
        let mut file = sound.clone();
        *file.pointer_mut(&pointer).unwrap() = value.clone();
        fs::write(at.join("forged.json"), file.to_string()).unwrap();
        let checked = run(at, &["receipt", "check", "forged.json", "--head", "head.json"]);
        assert!(matches!(checked.code, 1 | 4), "{pointer} as {value}: {} {}", checked.code, checked.stdout);
    }
}

#[test]
fn the_owner_and_no_stranger_gets_a_receipt_by_the_funds_api() {
    let casino = casino();
    let at = casino.path();
    credit(at, FUNDS, 100);
    publish(at);
    keep(at, "head.json");
    let seq = run(at, &["receipt", "credit-1"]).json()["seq"].to_string();
    let written = run(at, &["receipt", &seq, "--key", "owner.key", "--out", "receipt.json"]).ok();
    assert!(written.contains("written receipt.json"), "{written}");
    let local = run(at, &["receipt", &seq]).json();
    let by_api: Value = serde_json::from_str(&fs::read_to_string(at.join("receipt.json")).unwrap()).unwrap();
    assert_eq!(by_api, local);
    assert_eq!(check(at, "receipt.json --head head.json").0, 0);
    run(at, &["keys", "auth", "stranger.key"]).ok();
    run(at, &["receipt", &seq, "--key", "stranger.key"]).fails(1, &["the registry knows no valid key"]);
    run(at, &["receipt", "999999", "--key", "owner.key"]).fails(3, &["not_found"]);
}
