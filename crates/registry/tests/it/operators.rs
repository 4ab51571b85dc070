//! The audit log against an editor of the database who has every login, `books` included, and no key of a person: each
//! edit is named when the books are opened, and by the audit. And who is frozen, as rows and memory say it.

use bankroll_ledger::{ColumnValue, Name};
use bankroll_operators::{Act, ActHash, AuthorName, LogEntry, OperatorRole, Proof, ProposalContent, SignedRequest};
use bankroll_registry::{Registry, audit_operators, frozen_owner, log_page};
use bankroll_store::{
    Statement,
    columns::{any, int, one, text, time},
};

use crate::world::{ALICE, BOB, OWNER, STRANGER, World, address, name};

const FREEZE: &str = r#"{"reason":"two accounts"}"#;

/// Olga has added Ann, Ann has frozen a player, and Olga has looked at one.
fn house() -> World {
    let mut world = World::with_server();
    let ann = address(STRANGER);
    let add = format!(r#"{{"content":{{"kind":"add_person","person":"ann","roles":["approver"],"address":"{ann}"}}}}"#);
    world.act(OWNER, "POST", "/v1/proposals", &add).unwrap();
    world.act(STRANGER, "POST", "/v1/players/0xabababababababababababababababababababab/freeze", FREEZE).unwrap();
    let (olga, read) = (AuthorName::Person(name("olga")), Act::ReadPlayer { player: name("0xcd") });
    let read = world.registry.decide_act(olga, read, Proof::Session("ses_1".into()), world.now).unwrap();
    world.commit(&read.changes);
    world
}

fn entries(world: &World) -> Vec<LogEntry> {
    let mut acts = log_page(&world.reader(), None, None, 100).unwrap();
    acts.reverse();
    acts.into_iter().map(|act| act.entry).collect()
}

/// The log with these entries, numbered and hashed anew: sound by itself but for what is in it.
fn rewritten(entries: &[LogEntry]) -> Vec<Statement> {
    let mut hash = ActHash::default();
    let insert = |(number, entry): (u64, &LogEntry)| {
        let entry = LogEntry { number, ..entry.clone() };
        hash = hash.after(&entry.text());
        let author = match &entry.author {
            AuthorName::Init => "init".to_owned(),
            AuthorName::Person(person) => format!("person:{person}"),
            AuthorName::Program(id) => format!("program:{id}"),
        };
        let key = match &entry.proof {
            Proof::Signed(request) => text(&request.idempotency_key),
            _ => ColumnValue::Null,
        };
        one(
            "INSERT INTO audit_log (number, at, author, request_key, entry, hash) VALUES ($1, $2, $3, $4, $5, $6)",
            vec![
                int(number),
                time(entry.at),
                text(&author),
                key,
                text(&entry.text()),
                ColumnValue::Bytes(hash.0.to_vec()),
            ],
        )
    };
    [any("DELETE FROM audit_log", vec![])].into_iter().chain((1..).zip(entries).map(insert)).collect()
}

/// What opening the books and the audit say after an edit of the entries.
fn after(edit: impl FnOnce(&mut World, &mut Vec<LogEntry>)) -> String {
    let mut world = house();
    assert_eq!(audit_operators(&world.reader()).unwrap().unwrap(), *world.registry.operators());
    let mut log = entries(&world);
    edit(&mut world, &mut log);
    write(&world, rewritten(&log));
    let audited = said(&audit_operators(&world.reader()).unwrap_err());
    assert_eq!(said(&Registry::load(&world.reader(), world.now).unwrap_err()), audited);
    audited
}

fn write(world: &World, statements: Vec<Statement>) {
    world.ledger.write_rows(statements).unwrap().wait().unwrap().unwrap();
}

fn said(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn request_of(entry: &LogEntry) -> SignedRequest {
    match &entry.proof {
        Proof::Signed(request) => (**request).clone(),
        proof => panic!("{proof:?}"),
    }
}

#[test]
fn a_true_signature_on_another_act_makes_no_act() {
    let said = after(|_, log| {
        let mut forged = log[2].clone();
        forged.act = Act::Suspend { person: name("olga") };
        log.push(forged);
    });
    assert_eq!(said, "entry 5 of the audit log could not have been entered: the signed request does not say this act");
    // Nor with its own act a second time.
    let said = after(|_, log| log.push(log[2].clone()));
    assert!(said.starts_with("entry 5 of the audit log could not have been entered: "), "{said}");
}

#[test]
fn a_made_up_person_is_no_person_even_with_every_hash_recomputed() {
    let mallory = address(BOB);
    let content =
        ProposalContent::AddPerson { person: name("mallory"), roles: [OperatorRole::Owner].into(), address: mallory };
    // In the act and in the signed request, with Olga's old signature.
    let said = after(|_, log| {
        let mut request = request_of(&log[1]);
        request.body = request.body.replace("ann", "mallory").replace("approver", "owner");
        request.body = request.body.replace(&address(STRANGER).to_string(), &mallory.to_string());
        let Act::Propose { content: proposed, .. } = &mut log[1].act else { panic!() };
        *proposed = content.clone();
        log[1].proof = Proof::Signed(Box::new(request));
    });
    assert_eq!(
        said,
        "entry 2 of the audit log could not have been entered: the request has no valid signature of its key"
    );
    // With a key of their own.
    let said = after(|_, log| {
        let mut request = request_of(&log[1]);
        request.address = mallory;
        log[1].proof = Proof::Signed(Box::new(request));
    });
    assert!(said.starts_with("entry 2 of the audit log could not have been entered: "), "{said}");
    // As the first owner of a log of their own: by itself it is sound, but the journal has another one.
    let said = after(|_, log| {
        log.truncate(1);
        log[0].act = Act::FirstOwner { person: name("mallory"), address: mallory };
    });
    assert_eq!(said, "entry 1 of the audit log is not the one that the journal has");
}

#[test]
fn a_signature_for_another_deployment_makes_no_act() {
    let said = after(|world, log| {
        let expires = world.now.0 / 1_000_000 + 240;
        let request = World::signed_for("staging.example", OWNER, "POST", "/v1/operators/ann/suspend", "k9", expires);
        let mut forged = log[2].clone();
        forged.author = AuthorName::Person(name("olga"));
        forged.act = Act::Suspend { person: name("ann") };
        forged.proof = Proof::Signed(Box::new(request));
        log.push(forged);
    });
    assert!(said.starts_with("entry 5 of the audit log could not have been entered: people sign for "), "{said}");
}

#[test]
fn entries_without_signatures_are_in_the_journal_or_not_at_all() {
    let unread = after(|_, log| log.truncate(3));
    assert_eq!(unread, "the audit log ends at entry 3, and the journal does not");
    let other = after(|_, log| log[3].act = Act::ReadPlayer { player: name("0xef") });
    assert_eq!(other, "entry 4 of the audit log is not the one that the journal has");
    let more = after(|_, log| log.push(log[3].clone()));
    assert_eq!(more, "entry 5 of the audit log is not the one that the journal has");
    let between = after(|_, log| log.insert(3, log[3].clone()));
    assert_eq!(between, "entry 5 of the audit log is not the one that the journal has");
}

/// Each column of a row is what the journal has, not only its entry and its hash.
#[test]
fn the_audit_compares_every_column_of_an_entry() {
    for (column, value) in [("at", int(7)), ("author", text("person:olga")), ("request_key", text("other"))] {
        let world = house();
        write(&world, vec![one(&format!("UPDATE audit_log SET {column} = $1 WHERE number = 3"), vec![value])]);
        let error = audit_operators(&world.reader()).unwrap_err().to_string();
        assert_eq!(error, "entry 3 of the audit log is not the one that the journal has", "{column}");
        assert!(world.audit().unwrap_err().to_string().contains("audit_log"), "{column}");
    }
}

#[test]
fn a_row_alone_neither_freezes_a_player_nor_lifts_it() {
    let edits = [
        ("UPDATE player_freezes SET frozen = 0", "0xabababababababababababababababababababab"),
        ("UPDATE player_freezes SET player = '0xee'", "0xabababababababababababababababababababab"),
        ("DELETE FROM player_freezes", "0xabababababababababababababababababababab"),
        (
            "INSERT INTO player_freezes (player, frozen, reason, changed_at, revision) VALUES ('0xcc', 1, 'x', 1, 1)",
            "0xcc",
        ),
    ];
    for (sql, player) in edits {
        let world = house();
        write(&world, vec![one(sql, vec![])]);
        let expected = format!("whether player {player} is frozen is not what the audit log says");
        assert_eq!(audit_operators(&world.reader()).unwrap_err().to_string(), expected, "{sql}");
        assert_eq!(Registry::load(&world.reader(), world.now).unwrap_err().to_string(), expected, "{sql}");
    }
}

/// Whether each of these is frozen; rows and memory agree.
fn frozen(world: &World, names: &[&Name]) -> Vec<bool> {
    let of = |name: &&Name| {
        let rows = frozen_owner(&world.reader(), name).unwrap();
        assert_eq!(rows.as_deref(), world.registry.frozen(name), "{name}");
        rows.is_some()
    };
    names.iter().map(of).collect()
}

#[test]
fn a_freeze_is_about_every_wallet_of_the_player_and_ends_with_two_signatures() {
    let mut world = house();
    let wallet = |person: u8| address(person).lower_hex().parse::<Name>().unwrap();
    let (alice, bob) = (wallet(ALICE), wallet(BOB));
    assert_eq!(frozen(&world, &[&alice, &bob]), [false, false]);
    // Before they ever signed in, by the wallet that a game named; later they sign in with another one and link it.
    world.act(STRANGER, "POST", &format!("/v1/players/{bob}/freeze"), FREEZE).unwrap();
    assert_eq!(frozen(&world, &[&alice, &bob]), [false, true]);
    world.sign_in(ALICE).unwrap();
    assert_eq!(frozen(&world, &[&alice, &bob]), [false, true]);
    world.link(&alice, BOB);
    assert_eq!(frozen(&world, &[&alice, &bob]), [true, true], "it is one player");

    let content = format!(r#"{{"content":{{"kind":"unfreeze_player","player":"{bob}"}}}}"#);
    world.act(OWNER, "POST", "/v1/proposals", &content).unwrap();
    assert_eq!(frozen(&world, &[&alice, &bob]), [true, true], "one person does not lift it");
    let proposals = world.registry.operators().proposals();
    let id = proposals.filter(|found| found.content.kind() == "unfreeze_player").map(|found| found.id).next().unwrap();
    world.act(STRANGER, "POST", &format!("/v1/proposals/{id}/confirm"), &content).unwrap();
    assert_eq!(frozen(&world, &[&alice, &bob]), [false, false]);

    world.act(STRANGER, "POST", &format!("/v1/players/{alice}/freeze"), FREEZE).unwrap();
    assert_eq!(frozen(&world, &[&alice, &bob]), [true, true], "by the player's own name, too");
    audit_operators(&world.reader()).unwrap();
    world.audit().unwrap();
}
