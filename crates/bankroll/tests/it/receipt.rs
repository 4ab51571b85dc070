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
        "#5 2026-11-15 08:00:00  applied  credit-1",
        "1500000 base units: debit account 1, credit account 2",
        &head,
    ] {
        assert!(text.contains(what), "{what:?} is not in: {text}");
    }
    let json = run(elsewhere.path(), &["receipt", "check", "receipt.json", "--head", &head, "--json"]).json();
    assert_eq!((&json["proven"], &json["verdict"]), (&true.into(), &"proven".into()));
    run(elsewhere.path(), &["receipt", "check", "receipt.json", "--head", &format!("0x{head}")]).ok();
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
    assert_eq!(edited(&|value| value["record"] = forged.clone().into()), (4, "broken".into()));
    assert_eq!(edited(&|value| value["record"] = "00".into()), (4, "broken".into()), "bytes that are no record");
    assert_eq!(edited(&|value| value["format"] = "bankroll receipt 2".into()).0, 1);
    assert_eq!(edited(&|value| value["record"] = "xyz".into()).0, 1);
}

#[test]
fn a_readable_part_that_lies_is_refused_and_the_lie_is_named() {
    let (elsewhere, head) = receipt();
    let path = elsewhere.path().join("receipt.json");
    let sound: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let check = |edit: &dyn Fn(&mut Value), code: i32, says: &str| {
        let mut value = sound.clone();
        edit(&mut value);
        fs::write(&path, value.to_string()).unwrap();
        let run = run(elsewhere.path(), &["receipt", "check", "receipt.json", "--head", &head]);
        assert!(run.code == code && run.stdout.contains(says), "{says:?}: {} {}", run.code, run.stdout);
    };
    let amount = "  readable.postings[0].amount\n    the file says    \"999\"\n    the record says  \"1500000\"\n";
    check(&|value| value["readable"]["postings"][0]["amount"] = "999".into(), 4, amount);
    let added = "  readable.to\n    the file says    \"me\"\n    the record says  nothing\n";
    check(&|value| value["readable"]["to"] = "me".into(), 4, added);
    check(&|value| value["paid_to"] = "me".into(), 4, "  paid_to\n    the file says    something\n");
    check(&|value| value["readable"] = "lies".into(), 4, "altered: the file says what its record does not");
    // Without a readable part the file says nothing that could be wrong.
    check(&|value| drop(value.as_object_mut().unwrap().remove("readable")), 0, "proven:");
    // Of two values under one key, people may see the one that the check does not.
    let text = sound.to_string();
    for (before, lie, says) in [
        ("{", "\"readable\":\"lies\",", "a key is there twice (line 1, column "),
        ("\"postings\":[{", "\"amount\":\"999\",", "a key is there twice (line 1, column "),
        ("\"batch\":{", "\"paid_to\":\"me\",", "its batch has an unknown key"),
    ] {
        fs::write(&path, text.replacen(before, &format!("{before}{lie}"), 1)).unwrap();
        run(elsewhere.path(), &["receipt", "check", "receipt.json", "--head", &head]).fails(1, &[says]);
    }
}

#[test]
fn a_file_that_is_no_receipt_is_refused_in_plain_words() {
    let folder = folder();
    let check = |content: &[u8], says: &str| {
        fs::write(folder.path().join("file"), content).unwrap();
        run(folder.path(), &["receipt", "check", "file"]).fails(1, &[says]);
    };
    check(b"", "it is not JSON (line 1, column 0)");
    check(b"[1]", "a key of a receipt is missing or has a value of a wrong kind");
    check(b"{\"format\": \"bankroll receipt 3\"}", "a key of a receipt is missing");
    check(b"\xff\xfe", "file is not a receipt: it is not text");
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
