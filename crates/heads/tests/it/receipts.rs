//! Receipts under published heads, with names from proven bytes.

use bankroll_heads::{receipts, views};
use bankroll_ledger::Seq;

use crate::world::World;

#[test]
fn a_record_is_proven_under_every_later_head_with_the_names_of_its_accounts() {
    let world = World::new();
    let early = world.give(30);
    assert_eq!(receipts::newest_receipt(&world.reader(), early).unwrap(), None, "no head covers it yet");
    let first = world.published();
    world.grow_to(300);
    let second = world.published();
    let last = world.give(1);
    let reader = world.reader();
    assert_eq!(receipts::receipt_under(&reader, last, &second).unwrap(), None, "it is newer than the head");
    assert_eq!(receipts::receipt_under(&reader, Seq(last.0 + 1), &second).unwrap(), None, "there is no such record");
    for head in [&first, &second] {
        let receipt = receipts::receipt_under(&reader, early, head).unwrap().unwrap();
        assert!(receipt.named.proves_under(head.batch, &head.root));
        let names: Vec<String> = receipt.named.names().unwrap().values().map(ToString::to_string).collect();
        assert_eq!(names, ["@house/custody/1/hot", "arena/funds/1/alice"]);
    }
    let newest = receipts::newest_receipt(&reader, early).unwrap().unwrap();
    assert_eq!(Some(&newest.published), views::latest(&reader).unwrap().as_ref());
    let opening = receipts::receipt_under(&reader, Seq(2), &second).unwrap().unwrap();
    assert_eq!(opening.named.openings, [], "a record that opens an account names it itself");
}

#[test]
fn the_form_of_a_receipt_has_the_proof_of_each_name() {
    let world = World::new();
    let seq = world.give(30);
    let (plain, head) = world.reader().receipt(seq).unwrap().unwrap();
    let value = receipts::to_json(&plain, &head, None);
    assert_eq!((value.get("published"), value.get("accounts")), (None, None));
    world.published();
    let proof = receipts::newest_receipt(&world.reader(), seq).unwrap().unwrap();
    let value = receipts::to_json(&plain, &head, Some(&proof));
    assert_eq!(value["format"], "bankroll receipt 3");
    assert_eq!((&value["published"]["batch"], value["accounts"].as_array().unwrap().len()), (&3.into(), 2));
    assert_eq!(value["accounts"][0]["seq"], 2);
    assert_eq!(value["path"].as_array().unwrap().len(), 1, "the third of three heads has one sibling");
}
