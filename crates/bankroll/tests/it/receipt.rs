//! `bankroll receipt`: made with the books, checked without them.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    casino,
    program::{folder, run},
};

/// A folder with a receipt of the record under `credit-1` and nothing else, and the head to check it with.
fn receipt() -> (TempDir, String) {
    let (books, elsewhere) = (folder(), folder());
    casino::open(books.path());
    let file = elsewhere.path().join("receipt.json");
    let written = run(books.path(), &["receipt", "credit-1", "--out", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(written["seq"], 5);
    (elsewhere, written["head"].as_str().unwrap().to_owned())
}

#[test]
fn a_receipt_is_proven_without_any_books() {
    let (elsewhere, head) = receipt();
    let text = run(elsewhere.path(), &["receipt", "check", "receipt.json", "--head", &head]).ok();
    for what in [
        "proven:",
        "#5 2026-11-15T08:00:00.000000Z  credit-1 (deposits of arena) by indexer: applied",
        "1500000 base units",
        &head,
    ] {
        assert!(text.contains(what), "{what:?} is not in: {text}");
    }
    let json = run(elsewhere.path(), &["receipt", "check", "receipt.json", "--head", &head, "--json"]).json();
    assert_eq!((&json["proven"], &json["verdict"]), (&true.into(), &"proven".into()));
}

#[test]
fn without_a_head_nothing_is_proven() {
    let (elsewhere, head) = receipt();
    let run = run(elsewhere.path(), &["receipt", "check", "receipt.json"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stdout.contains("not proven: the file is internally consistent but unverified")
            && run.stdout.contains("--head HASH")
            && run.stdout.contains(&head),
        "{}",
        run.stdout
    );
}

#[test]
fn another_head_and_every_edit_are_refused() {
    let (elsewhere, head) = receipt();
    let check = |head: &str| {
        let run = run(elsewhere.path(), &["receipt", "check", "receipt.json", "--json", "--head", head]);
        (run.code, serde_json::from_str::<Value>(&run.stdout).map_or(Value::Null, |value| value["verdict"].clone()))
    };
    assert_eq!(check(&"0".repeat(64)), (4, "another_head".into()));
    assert_eq!(check("abc").0, 2, "not a hash");
    let path = elsewhere.path().join("receipt.json");
    let sound: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut value = sound.clone();
        edit(&mut value);
        fs::write(&path, value.to_string()).unwrap();
        check(&head)
    };
    let record = sound["record"].as_str().unwrap().to_owned();
    // The last byte of the record: the balance after it, a hundred-thousandth more.
    let forged = format!("{}01", &record[..record.len() - 2]);
    assert_eq!(edited(&|value| value["seq"] = 6.into()), (4, "broken".into()));
    assert_eq!(edited(&|value| value["batch"]["at"] = 7.into()), (4, "broken".into()));
    assert_eq!(edited(&|value| value["batch"]["root"] = "11".repeat(32).into()), (4, "broken".into()));
    assert_eq!(edited(&|value| value["head"] = "11".repeat(32).into()), (4, "broken".into()));
    assert_ne!(edited(&|value| value["record"] = forged.clone().into()).0, 0);
    assert_eq!(edited(&|value| value["format"] = "bankroll receipt 2".into()).0, 1);
    assert_eq!(edited(&|value| value["record"] = "xyz".into()).0, 1);
    assert_eq!(edited(&|value| value["readable"] = "lies, which no check reads".into()), (0, "proven".into()));
}

#[test]
fn receipts_are_of_places_and_keys_and_never_written_over_a_file() {
    let books = folder();
    casino::open(books.path());
    let by_place = run(books.path(), &["receipt", "5"]).json();
    let by_key = run(books.path(), &["receipt", "credit-1", "--namespace", "deposits"]).json();
    assert_eq!(by_place, by_key);
    run(books.path(), &["receipt", "10"])
        .fails(3, &["no match for \"10\"; give a key, or the number of a record (1 to 9)"]);
    run(books.path(), &["receipt"]).fails(2, &["SEQ|KEY"]);
    run(books.path(), &["receipt", "5", "--out", "books.db"]).fails(1, &["cannot write books.db"]);
}
