//! Facts: rows that are checked and written with the money, or not at all.

use super::story::{Story, check};
use crate::{
    Amount, BlockRef, ColumnValue, EXTRAS_BYTES_MAX, Event, FACTS_MAX, Fact, Guard, GuardFailure, References, Request,
    Row, RowKey,
};

#[test]
fn a_row_is_made_once() {
    check(
        "d1 indexer: move vault -> alice 100, make deposits/x1 state=credited  applied
         d2 indexer: move vault -> alice 100, make deposits/x1 state=credited  guard_failed
         d3 indexer: move vault -> alice 100, make deposits/x2 state=credited  applied",
        "vault 200, alice 200",
    );
}

#[test]
fn a_row_moves_from_state_to_state_with_the_money() {
    check(
        "d1 indexer: move vault -> alice 100, make deposits/x1 state=credited                  applied
         r1 indexer: reverse d1, turn deposits/x1 state=seen into state=orphaned               guard_failed
         r2 indexer: reverse d1, turn deposits/x9 state=credited into state=orphaned           guard_failed
         r3 indexer: reverse d1, turn deposits/x1 owner=alice into state=orphaned              guard_failed
         r4 indexer: reverse d1, turn deposits/x1 state=credited into state=orphaned           applied
         d2 indexer: move vault -> alice 100, turn deposits/x1 state=orphaned into state=back  applied",
        "vault 100, alice 100",
    );
}

#[test]
fn one_failed_guard_of_several_rejects_the_request_and_writes_nothing() {
    check(
        "d1 indexer: move vault -> alice 1, make deposits/x1 state=seen                               applied
         d2 indexer: move vault -> alice 1, make deposits/x2 state=seen, make deposits/x1 state=seen  guard_failed
         d3 indexer: move vault -> alice 1, make deposits/x2 state=seen                               applied",
        "vault 2, alice 2",
    );
}

#[test]
fn a_rejected_request_writes_no_row() {
    check(
        "k1 game_server: move alice -> world 1, make spawns/s1 state=live  insufficient_funds
         deposit d1 1 -> alice
         k2 game_server: move alice -> world 1, make spawns/s1 state=live  applied",
        "vault 1, world 1",
    );
}

/// A conflict is final; a pause may be over the next time.
#[test]
fn a_pause_is_forgotten_and_a_conflict_is_remembered() {
    check(
        "deposit d1 100 -> alice
         s1 system: move alice -> vault 1, make servers/arena spawns=paused                   applied
         k1 game_server: move alice -> world 1, need servers/arena spawns=open                server_paused
         k2 game_server: move alice -> world 1, turn servers/arena spawns=open into x=y       guard_failed
         s2 system: move alice -> vault 1, turn servers/arena spawns=paused into spawns=open  applied
         k1 game_server: move alice -> world 1, need servers/arena spawns=open                applied
         k2 game_server: move alice -> world 1, turn servers/arena spawns=open into x=y       guard_failed again",
        "vault 98, world 1, alice 97",
    );
}

#[test]
fn a_pause_is_seen_before_the_accounts_and_a_conflict_after_them() {
    check(
        "k1 game_server: move alice -> #99 1, need servers/arena spawns=open, turn a/b c=d into c=e  server_paused
         k2 game_server: move alice -> #99 1, turn a/b c=d into c=e                                  account_not_found
         k3 game_server: move alice -> world 1, turn a/b c=d into c=e                                guard_failed",
        "",
    );
}

fn text(value: &str) -> ColumnValue {
    ColumnValue::Text(value.to_owned())
}

fn fact(table: &str, key: &str, guard: Guard, set: &[&str]) -> Fact {
    let row = RowKey { table: table.to_owned(), columns: vec![(key.to_owned(), text("x1"))] };
    let set = set.iter().map(|name| ((*name).to_owned(), text("v"))).collect();
    Fact { row, guard, otherwise: GuardFailure::Conflict, set }
}

#[test]
fn tables_and_columns_are_plain_identifiers() {
    let is = |name: &str| Guard::Is(vec![(name.to_owned(), ColumnValue::Null)]);
    for legal in ["a", "deposits", "table_2", &"x".repeat(63)] {
        assert!(fact(legal, legal, is(legal), &["state"]).is_well_formed(), "{legal}");
        assert!(fact("t", "id", is("c"), &["c", legal]).is_well_formed(), "{legal}");
    }
    let too_long = "x".repeat(64);
    for illegal in ["", "A", "2a", "_a", "a-b", "a b", "a;--", "a\"", "a.b", "é", "a\0", too_long.as_str()] {
        assert!(!fact(illegal, "id", is("c"), &["c"]).is_well_formed(), "table {illegal:?}");
        assert!(!fact("t", illegal, is("c"), &["c"]).is_well_formed(), "key {illegal:?}");
        assert!(!fact("t", "id", is(illegal), &["c"]).is_well_formed(), "guard {illegal:?}");
        assert!(!fact("t", "id", is("c"), &["c", illegal]).is_well_formed(), "set {illegal:?}");
    }
}

#[test]
fn a_fact_names_its_row_and_does_something() {
    let no_key =
        Fact { row: RowKey { table: "t".to_owned(), columns: Vec::new() }, ..fact("t", "id", Guard::Absent, &["c"]) };
    assert!(!no_key.is_well_formed());
    assert!(!fact("t", "id", Guard::Absent, &[]).is_well_formed(), "a row of nothing but its key");
    assert!(fact("t", "id", Guard::Is(Vec::new()), &[]).is_well_formed(), "only checks that the row is there");
}

/// A row keeps its key: renamed, it would have the old name in memory and the new one in its table.
#[test]
fn a_fact_does_not_set_its_own_key() {
    check(
        "d1 indexer: move vault -> alice 1, make deposits/x1 id=x2                      fact_malformed
         d1 indexer: move vault -> alice 1, make deposits/x1 id=x1                      fact_malformed
         d1 indexer: move vault -> alice 1, make deposits/x1 state=seen                 applied
         d2 indexer: move vault -> alice 1, turn deposits/x1 state=seen into id=x2      fact_malformed
         d2 indexer: move vault -> alice 1, turn deposits/x1 id=x1 into state=credited  applied",
        "vault 2, alice 2",
    );
    let named = |set: &[&str]| {
        let columns = vec![("server".to_owned(), text("arena")), ("id".to_owned(), text("x1"))];
        let row = RowKey { table: "spawns".to_owned(), columns };
        Fact { row, ..fact("spawns", "id", Guard::Absent, set) }.is_well_formed()
    };
    assert!(named(&["state", "ids"]));
    assert!(!named(&["server"]));
    assert!(!named(&["state", "id"]));
    assert!(!named(&["state", "state"]), "nor the same column twice");
}

#[test]
fn guards_look_at_the_row_as_it_stands() {
    let row: Row =
        [("state".to_owned(), text("credited")), ("paid".to_owned(), ColumnValue::Amount(Amount::new(5)))].into();
    let is = |columns: &[(&str, ColumnValue)]| {
        let columns = columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Guard::Is(columns).holds(Some(&row))
    };
    assert!(is(&[]));
    assert!(is(&[("state", text("credited")), ("paid", ColumnValue::Amount(Amount::new(5)))]));
    assert!(!is(&[("state", text("credited")), ("paid", ColumnValue::Int(5))]), "an amount is not an integer");
    assert!(!is(&[("state", text("Credited"))]));
    assert!(!is(&[("other", text("credited"))]));
    assert!(!Guard::Is(Vec::new()).holds(None));
    assert!(Guard::Absent.holds(None) && !Guard::Absent.holds(Some(&row)));
}

#[test]
fn a_row_after_its_fact_has_key_old_columns_and_new_ones() {
    let made = fact("deposits", "id", Guard::Absent, &["state"]).apply(None);
    assert_eq!(made, Row::from([("id".to_owned(), text("x1")), ("state".to_owned(), text("v"))]));
    let before = Row::from([
        ("id".to_owned(), text("x1")),
        ("state".to_owned(), text("old")),
        ("n".to_owned(), ColumnValue::Int(1)),
    ]);
    let after = fact("deposits", "id", Guard::Is(Vec::new()), &["state"]).apply(Some(&before));
    assert_eq!(after["state"], text("v"));
    assert_eq!(after["n"], ColumnValue::Int(1));
}

fn checked(change: impl FnOnce(&mut Request)) -> &'static str {
    let mut request = Story::new().read("k1 indexer: move vault -> alice 1");
    change(&mut request);
    request.check().map_or_else(crate::Rejection::code, |()| "ok")
}

fn event(resource: &str, bytes: usize) -> Event {
    Event { kind: "deposit.credited".parse().unwrap(), resource: resource.to_owned(), body: "x".repeat(bytes) }
}

#[test]
fn facts_and_events_are_limited_in_number_and_size() {
    let fact = |place: usize| fact("deposits", "id", Guard::Absent, &[&format!("c{place}")]);
    assert_eq!(checked(|request| request.facts = (0..FACTS_MAX).map(fact).collect()), "ok");
    assert_eq!(checked(|request| request.facts = (0..=FACTS_MAX).map(fact).collect()), "fact_malformed");
    assert_eq!(checked(|request| request.events = vec![event("d1", 2); FACTS_MAX]), "ok");
    assert_eq!(checked(|request| request.events = vec![event("d1", 2); FACTS_MAX + 1]), "fact_malformed");
    // In addition to the body: two lengths of the lists, kind and its length, resource and its length, length of the
    // body.
    let around = 2 + 17 + 3 + 2;
    assert_eq!(checked(|request| request.events = vec![event("d1", EXTRAS_BYTES_MAX - around)]), "ok");
    assert_eq!(checked(|request| request.events = vec![event("d1", EXTRAS_BYTES_MAX - around + 1)]), "fact_malformed");
}

#[test]
fn references_and_resources_are_short_and_printable() {
    let refer = |text: &str| {
        let text = text.to_owned();
        let block = Some(BlockRef { number: 7, hash: text.clone() });
        let one = |references: References| checked(|request| request.references = references);
        let answers = [
            one(References { deposit: Some(text.clone()), ..References::default() }),
            one(References { intent: Some(text.clone()), ..References::default() }),
            one(References { tx_hash: Some(text.clone()), ..References::default() }),
            one(References { hand: Some(text.clone()), ..References::default() }),
            one(References { block, ..References::default() }),
            checked(|request| request.events = vec![event(&text, 2)]),
        ];
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        answers[0]
    };
    assert_eq!(refer("0xfeed"), "ok");
    assert_eq!(refer(&"x".repeat(255)), "ok");
    assert_eq!(refer(&"x".repeat(256)), "fact_malformed");
    assert_eq!(refer(""), "fact_malformed");
    assert_eq!(refer("a\nb"), "fact_malformed");
}

#[test]
fn a_text_that_a_store_cannot_keep_is_malformed() {
    let zero = || ColumnValue::Text("a\0b".into());
    let with_fact = |fact: Fact| checked(|request| request.facts = vec![fact]);
    let plain = || fact("deposits", "id", Guard::Is(Vec::new()), &["state"]);
    assert_eq!(with_fact(plain()), "ok");
    let named = RowKey { table: "deposits".into(), columns: vec![("id".into(), zero())] };
    assert_eq!(with_fact(Fact { row: named, ..plain() }), "fact_malformed");
    assert_eq!(with_fact(Fact { guard: Guard::Is(vec![("state".into(), zero())]), ..plain() }), "fact_malformed");
    assert_eq!(with_fact(Fact { set: vec![("state".into(), zero())], ..plain() }), "fact_malformed");
    let with_body =
        |body: &str| checked(|request| request.events = vec![Event { body: body.into(), ..event("d1", 0) }]);
    assert_eq!(with_body("{\n  \"note\": \"a\\u0000b\"\n}"), "ok");
    assert_eq!(with_body("{\"note\": \"a\0b\"}"), "fact_malformed");
}
