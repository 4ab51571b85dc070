//! Sessions over real rows: the secret, opening by signature, closing.

use bankroll_registry::{Caller, RegistrationRefusal, SessionKeys, SessionTerms, decide_session};

use crate::world::{AUDIENCE, CHAIN, OWNER, SERVER, STRANGER, World, address, name};

fn terms(world: &World, role: &str, subject: &str, nonce: u8) -> SessionTerms {
    let expires = world.now.0 / 1_000_000 + 60;
    SessionTerms { role: role.into(), subject: subject.into(), audience: AUDIENCE.into(), nonce: [nonce; 32], expires }
}

#[test]
fn the_secret_survives_a_restart_and_its_bytes_are_in_no_journal() {
    let world = World::with_server();
    let caller = Caller::GameServer(name("arena"));
    let (token, _) = world.keys.issue(caller.clone(), address(SERVER), [1; 16], world.now, 1_000_000).unwrap();
    let again = SessionKeys::load(&world.reader(), AUDIENCE).unwrap();
    assert_eq!(again.verify(token.reveal(), &world.registry, world.now).unwrap().caller, caller);
    // The secret of this world is 32 times the byte 9.
    let head = world.reader().head().unwrap().seq;
    for seq in 1..=head.0 {
        let record = world.reader().record(bankroll_ledger::Seq(seq)).unwrap().unwrap();
        assert!(!record.windows(32).any(|bytes| bytes == [9; 32]), "record {seq}");
    }
}

#[test]
fn a_server_and_a_person_open_sessions_by_signature_and_each_message_once() {
    let mut world = World::with_server();
    for (role, subject, person, caller) in [
        ("server", "arena", SERVER, Caller::GameServer(name("arena"))),
        ("operator", "olga", OWNER, Caller::Operator(name("olga"))),
    ] {
        let terms = terms(&world, role, subject, 1);
        let opening =
            decide_session(&world.registry, &terms, address(person), CHAIN, CHAIN, AUDIENCE, world.now).unwrap();
        assert_eq!(opening.caller, caller);
        world.commit(&opening.changes);
        let again = decide_session(&world.registry, &terms, address(person), CHAIN, CHAIN, AUDIENCE, world.now);
        assert_eq!(again.unwrap_err(), RegistrationRefusal::NonceUsed);
    }
    let refused = |role: &str, subject: &str, person: u8| {
        let terms = terms(&world, role, subject, 2);
        decide_session(&world.registry, &terms, address(person), CHAIN, CHAIN, AUDIENCE, world.now).unwrap_err().code()
    };
    // Her signature for another deployment's chain is not one for this.
    let elsewhere = terms(&world, "operator", "olga", 2);
    let elsewhere = decide_session(
        &world.registry,
        &elsewhere,
        address(OWNER),
        bankroll_orders::ChainId(1),
        CHAIN,
        AUDIENCE,
        world.now,
    );
    assert_eq!(elsewhere.unwrap_err().code(), "wrong_chain");
    assert_eq!(refused("operator", "olga", STRANGER), "unknown_key");
    assert_eq!(refused("operator", "mallory", OWNER), "unknown_key");
    assert_eq!(refused("operator", "arena", SERVER), "unknown_key");
    assert_eq!(refused("server", "olga", OWNER), "unknown_key");
    assert_eq!(refused("server", "other", SERVER), "wrong_server");
    assert_eq!(refused("player", "arena", SERVER), "malformed");
}

#[test]
fn a_closed_session_is_dead_at_once_and_after_a_restart() {
    let mut world = World::with_server();
    let caller = Caller::GameServer(name("arena"));
    let issue = |id: u8| world.keys.issue(caller.clone(), address(SERVER), [id; 16], world.now, 1_000_000).unwrap();
    let ((closed, claims), (open, _)) = (issue(1), issue(2));
    let changes = world.registry.close_session(&claims, world.now);
    world.commit(&changes);
    assert_eq!(world.registry.close_session(&claims, world.now), []);
    for registry in [world.registry.clone(), world.loaded()] {
        let refused = world.keys.verify(closed.reveal(), &registry, world.now).unwrap_err();
        assert_eq!(refused.code(), "session_revoked");
        world.keys.verify(open.reveal(), &registry, world.now).unwrap();
    }
    // Once the session has expired anyway, memory forgets it.
    let mut later = world.registry.clone();
    later.forget_expired(claims.expires_at);
    assert!(!later.is_session_revoked(claims.id));
    assert_eq!(world.keys.verify(closed.reveal(), &later, claims.expires_at).unwrap_err().code(), "session_expired");
}

#[test]
fn a_retired_secret_ends_every_session_under_it_and_the_next_one_goes_on() {
    let world = World::with_server();
    let issue = |keys: &SessionKeys| {
        keys.issue(Caller::GameServer(name("arena")), address(SERVER), [1; 16], world.now, 1_000_000).unwrap().0
    };
    let old = issue(&world.keys);
    let next = world.keys.next_secret([8; 32], world.now);
    let statements = vec![next.insert(), SessionKeys::retire(1, world.now)];
    world.ledger.write_rows(statements).unwrap().wait().unwrap().unwrap();
    let keys = SessionKeys::load(&world.reader(), AUDIENCE).unwrap();
    assert_eq!(keys.verify(old.reveal(), &world.registry, world.now).unwrap_err().code(), "session_invalid");
    keys.verify(issue(&keys).reveal(), &world.registry, world.now).unwrap();
    // Secrets are no facts, so the audit has nothing to say about them.
    world.audit().unwrap();
}
