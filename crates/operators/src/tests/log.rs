//! The log: what a row editor can and cannot do.

use bankroll_ledger::Time;
use serde_json::json;

use super::world::{NOON, World, address, code, name, sign, signed, transfer};
use crate::{Act, ActHash, AuthorName, LogEntry, LogError, Operators, Proof, Right};

/// The log with one text replaced, and every hash computed anew.
fn resealed(world: &World, number: usize, change: impl Fn(&mut LogEntry)) -> Result<Operators, LogError> {
    let mut hash = ActHash::default();
    let texts: Vec<(String, ActHash)> = world
        .log
        .iter()
        .enumerate()
        .map(|(index, (text, _))| {
            let mut entry = LogEntry::from_text(text).unwrap();
            if index + 1 == number {
                change(&mut entry);
            }
            hash = hash.after(&entry.text());
            (entry.text(), hash)
        })
        .collect();
    Operators::replay(texts.iter().map(|(text, hash)| (text.as_str(), *hash)))
}

#[test]
fn a_replay_makes_the_same_people() {
    let mut world = World::staffed();
    let id = world.propose(3, &transfer("5"));
    world.confirm(4, id, &transfer("5")).unwrap();
    assert_eq!(world.replayed().unwrap(), world.operators);
    assert_eq!(world.operators.entries(), 8);
}

#[test]
fn an_edited_removed_or_swapped_row_is_named() {
    let world = World::staffed();
    let mut edited = world.clone();
    edited.log[2].0 = edited.log[2].0.replace("paul", "pawl");
    assert_eq!(edited.replayed(), Err(LogError::Changed(3)));
    let mut removed = world.clone();
    removed.log.remove(3);
    assert_eq!(removed.replayed(), Err(LogError::Changed(4)));
    let mut swapped = world.clone();
    swapped.log.swap(2, 4);
    assert_eq!(swapped.replayed(), Err(LogError::Changed(3)));
    let mut spelled = world;
    spelled.log[1].0 = spelled.log[1].0.replacen(':', ": ", 1);
    assert_eq!(spelled.replayed(), Err(LogError::Changed(2)), "a text has one spelling");
}

/// With every hash computed anew, what is left are the signatures.
#[test]
fn an_editor_who_recomputes_every_hash_invents_no_person_and_no_act() {
    let world = World::staffed();
    let refused = |number: usize, change: &dyn Fn(&mut LogEntry)| match resealed(&world, number, change) {
        Err(LogError::Refused(at, refusal)) => format!("{at} {}", refusal.code()),
        other => panic!("{other:?}"),
    };
    let other_role = |entry: &mut LogEntry| {
        let text = entry.text().replace("\"operator\"", "\"owner\"");
        *entry = LogEntry::from_text(&text).unwrap();
    };
    assert_eq!(refused(3, &other_role), "3 act_mismatch", "Paul as an owner, in the act alone");
    let in_both = |entry: &mut LogEntry| {
        other_role(entry);
        let Proof::Signed(request) = &mut entry.proof else { panic!() };
        request.body = request.body.replace("\"operator\"", "\"owner\"");
    };
    assert_eq!(refused(3, &in_both), "3 signature_invalid", "in the signed body, too");
    assert_eq!(refused(3, &|entry| entry.author = AuthorName::Person(name("otto"))), "3 unknown_key");
    assert_eq!(refused(3, &|entry| entry.at = Time(entry.at.0 + 3_600_000_000)), "3 signature_expired");
    assert_eq!(refused(4, &|entry| entry.proof = Proof::Key(address(2))), "4 signature_needed");
    assert_eq!(refused(4, &|entry| entry.number = 5), "4 act_mismatch");
}

#[test]
fn a_true_signature_is_good_for_its_own_act_alone() {
    let mut world = World::staffed();
    let pause = signed(1, "PUT", "/v1/servers/arena/pauses", "k1", &json!({ "spawns": true }), world.now);
    let proof = Proof::Signed(Box::new(pause));
    let olga = AuthorName::Person(name("olga"));
    for act in [
        Act::Suspend { person: name("ann") },
        Act::FreezePlayer { player: name("bob"), reason: "no".into() },
        Act::Operation {
            operation: "PUT".into(),
            resource: "/v1/servers/other/pauses".into(),
            right: Right::PauseServers,
        },
    ] {
        assert_eq!(code(world.enter(olga.clone(), act, proof.clone())), "act_mismatch");
    }
}

#[test]
fn a_signature_for_another_deployment_or_chain_counts_for_nothing() {
    let mut world = World::staffed();
    let mut request = signed(1, "POST", "/v1/operators/ann/suspend", "k1", &json!(null), world.now);
    request.audience = "staging.example".into();
    sign(&mut request, 1);
    assert_eq!(code(world.send(request)), "other_audience");
    let mut request = signed(1, "POST", "/v1/operators/ann/suspend", "k1", &json!(null), world.now);
    request.chain_id = 1;
    sign(&mut request, 1);
    assert_eq!(code(world.send(request)), "other_audience");
    let content = json!({ "kind": "set_audience", "audience": "new.example", "chain_id": 1 });
    let id = world.propose(1, &content);
    world.confirm(2, id, &content).unwrap();
    assert_eq!(world.operators.audience(), Some(("new.example", 1)));
    assert_eq!(code(world.ask(1, "POST", "/v1/operators/ann/suspend", &json!(null))), "other_audience");
}

#[test]
fn a_session_reads_and_ends_itself() {
    let mut world = World::staffed();
    let (ann, session) = (AuthorName::Person(name("ann")), "ses_1".to_owned());
    let open = Act::OpenSession { session: session.clone(), expires: Time((NOON + 60) * 1_000_000) };
    world.enter(ann.clone(), open, Proof::Key(address(4))).unwrap();
    let by_session = Proof::Session(session.clone());
    world
        .enter(
            ann.clone(),
            Act::ReadPlayer { player: name("0xabababababababababababababababababababab") },
            by_session.clone(),
        )
        .unwrap();
    let suspend = Act::Suspend { person: name("paul") };
    assert_eq!(code(world.enter(ann.clone(), suspend, by_session.clone())), "signature_needed");
    assert_eq!(world.operators.sessions(world.now).count(), 1);
    let path = format!("/v1/operators/sessions/{session}");
    assert_eq!(code(world.ask(3, "DELETE", &path, &json!(null))), "no_right", "Paul ends no session of Ann");
    world.ask(1, "DELETE", &path, &json!(null)).unwrap();
    assert_eq!(world.operators.sessions(world.now).count(), 0);
    assert_eq!(code(world.enter(ann, Act::RevokeSession { session }, by_session)), "not_found");
}
