//! Acts of people in the books: written once, loaded again, and refused if a row is not what was written.

use bankroll_ledger::ColumnValue;
use bankroll_registry::{Registry, RegistryError, log_page, recorded_act};
use bankroll_store::columns::{int, one, text};

use crate::world::{ALICE, NEXT_SERVER, OWNER, SERVER, STRANGER, World, address, name};

fn add_person(person: &str, role: &str, number: u8) -> String {
    let address = address(number);
    format!(r#"{{"content":{{"kind":"add_person","person":"{person}","roles":["{role}"],"address":"{address}"}}}}"#)
}

/// Olga and Ann, who confirms.
fn with_two() -> World {
    let mut world = World::with_server();
    world.act(OWNER, "POST", "/v1/proposals", &add_person("ann", "approver", STRANGER)).unwrap();
    world
}

#[test]
fn people_act_and_the_books_know_them_after_a_restart() {
    let mut world = with_two();
    let freeze = world
        .act(
            STRANGER,
            "POST",
            "/v1/players/0xabababababababababababababababababababab/freeze",
            r#"{"reason":"two accounts"}"#,
        )
        .unwrap();
    assert_eq!(freeze.changes.len(), 2, "the entry and the row");
    let loaded = world.loaded();
    assert_eq!(loaded.frozen(&name("0xabababababababababababababababababababab")), Some("two accounts"));
    assert_eq!(loaded.operators().person_with(address(STRANGER)).unwrap().name, name("ann"));
    assert_eq!(loaded.operators().entries(), 3);
    let page = log_page(&world.reader(), None, None, 2).unwrap();
    assert_eq!(page.iter().map(|act| act.entry.number).collect::<Vec<_>>(), [3, 2], "the newest first");
    let bankroll_operators::Proof::Signed(request) = &page[0].entry.proof else { panic!("{page:?}") };
    let of = |person: &str| recorded_act(&world.reader(), &name(person), &request.idempotency_key).unwrap();
    assert_eq!(of("ann").unwrap().act, page[0]);
    assert!(of("olga").is_none(), "the key is Ann's");
    world.audit().unwrap();
}

#[test]
fn two_people_resume_a_server_and_one_does_not() {
    let mut world = with_two();
    let paused = bankroll_registry::Pauses { spawns: true, ..Default::default() };
    world.make(|registry, now| registry.set_pauses(&name("arena"), paused, name("operator:olga"), now));
    let content = r#"{"content":{"kind":"resume_server","server":"arena","deposits":false,"spawns":false,"withdrawals":false,"disabled":false}}"#;
    let proposed = world.act(OWNER, "POST", "/v1/proposals", content).unwrap();
    assert_eq!(proposed.changes.len(), 1);
    assert!(world.registry.pauses(&name("arena")).unwrap().spawns);
    let id = world.registry.operators().proposals().find(|found| found.content.kind() == "resume_server").unwrap().id;
    world.act(STRANGER, "POST", &format!("/v1/proposals/{id}/confirm"), content).unwrap();
    assert!(!world.registry.pauses(&name("arena")).unwrap().spawns);
}

#[test]
fn a_key_of_a_server_or_a_wallet_of_a_player_is_no_key_of_a_person() {
    let mut world = World::with_server();
    world.sign_in(ALICE).unwrap();
    for number in [SERVER, ALICE] {
        let refused = world.act(OWNER, "POST", "/v1/proposals", &add_person("eve", "viewer", number));
        assert!(refused.unwrap_err().to_string().starts_with("address: it is the"));
    }
    let refused = world.registry.add_server_key(&World::key_draft(OWNER), world.now).unwrap_err();
    assert_eq!(refused.to_string(), "address: it is the key of a person");
    world.allow(NEXT_SERVER).unwrap();
}

/// What loading says after an edit of rows.
fn after(sql: &str, values: Vec<ColumnValue>) -> RegistryError {
    let world = with_two();
    world.ledger.write_rows(vec![one(sql, values)]).unwrap().wait().unwrap().unwrap();
    assert!(world.audit().unwrap_err().to_string().contains("audit_log"), "{sql}");
    Registry::load(&world.reader(), world.now).unwrap_err()
}

#[test]
fn an_edited_or_shortened_log_is_not_loaded() {
    let renamed = after("UPDATE audit_log SET entry = replace(entry, 'ann', 'eve') WHERE number = $1", vec![int(2)]);
    assert_eq!(renamed.to_string(), "entry 2 of the audit log is not what was written");
    let shortened = after("DELETE FROM audit_log WHERE number = $1", vec![int(2)]);
    assert_eq!(shortened.to_string(), "the audit log ends at entry 1, and the journal does not");
    let first = after("DELETE FROM audit_log WHERE author = $1", vec![text("init")]);
    assert_eq!(first.to_string(), "entry 1 of the audit log is not what was written");
}
