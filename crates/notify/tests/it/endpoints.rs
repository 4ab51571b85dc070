//! Endpoints and their secrets: what is written where, and what is not.

use bankroll_ledger::Seq;
use bankroll_notify::{SECRET_OVERLAP, endpoints, secrets_of, signatures};

use crate::world::{SECOND, World, new_secret, ok, secret_for};

#[test]
fn an_endpoint_is_read_as_it_was_made() {
    let mut world = World::new();
    let made = world.endpoint_for("arena", "deposit.*,spawn.committed", Some("arena"));
    assert_eq!(world.find(&made.id), made);
    assert_eq!(endpoints(&world.reader()).unwrap(), std::slice::from_ref(&made));
    let (disabled, change) = made.disable("operator", world.now());
    world.commit(change);
    assert_eq!(world.find(&made.id), disabled);
    assert!(!disabled.is_enabled());
    world.enable(&made.id);
    let enabled = world.find(&made.id);
    assert_eq!((enabled.is_enabled(), enabled.revision), (true, 3));
    world.audit();
}

#[test]
fn no_secret_is_in_the_journal_the_outbox_or_a_debug_text() {
    let mut world = World::new();
    let endpoint = world.endpoint("all");
    let next = new_secret(0x5e);
    world.write(vec![next.insert(&endpoint.id, world.now())]);
    let (_, change) = endpoint.rotate(&next, SECRET_OVERLAP, world.now());
    assert!(!format!("{change:?} {next:?}").contains(&next.secret().reveal()));
    world.commit(change);
    let (head, first) = (world.reader().head().unwrap(), secret_for("all").secret().reveal());
    assert_ne!(first, next.secret().reveal());
    for seq in 1..=head.seq.0 {
        let record = world.reader().record(Seq(seq)).unwrap().unwrap();
        let repeats = |bytes: &[u8]| bytes.iter().all(|byte| *byte == bytes[0] && *byte != 0);
        assert!(!record.windows(32).any(repeats), "record {seq}");
    }
    assert_eq!(next.secret().reveal(), "whsec_Xl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl4=");
}

/// Both secrets sign until the overlap is over; a receiver that knows either verifies.
#[test]
fn two_secrets_sign_during_a_rotation() {
    let mut world = World::new();
    let endpoint = world.endpoint("all");
    let old = secret_for("all");
    let next = new_secret(0x5e);
    world.write(vec![next.insert(&endpoint.id, world.now())]);
    // Not named by the endpoint yet: it signs nothing.
    assert_eq!(secrets_of(&world.reader(), &endpoint, world.now()).unwrap(), [old.secret().clone()]);
    let (rotated, change) = endpoint.rotate(&next, SECRET_OVERLAP, world.now());
    world.commit(change);
    world.announce("deposit.credited", "dep_1");
    let (attempts, _) = world.plan().unwrap();
    assert_eq!(attempts[0].secrets, [next.secret().clone(), old.secret().clone()]);
    let signed = signatures(&attempts[0].secrets, "evt_1_0", 7, "{}");
    let [first, second] = [&next, &old].map(|secret| signatures(&[secret.secret().clone()], "evt_1_0", 7, "{}"));
    assert_eq!(signed, format!("{first} {second}"));
    world.pass(SECRET_OVERLAP - SECOND);
    assert_eq!(secrets_of(&world.reader(), &rotated, world.now()).unwrap().len(), 2);
    world.pass(SECOND);
    assert_eq!(secrets_of(&world.reader(), &rotated, world.now()).unwrap(), [next.secret().clone()]);
    world.kill_worker();
    world.settle(|attempt| {
        assert_eq!(attempt.secrets, [next.secret().clone()]);
        ok()
    });
    assert_eq!(world.received.len(), 1);
    // Without an overlap the secret before it ends at once.
    let third = new_secret(0x77);
    world.write(vec![third.insert(&endpoint.id, world.now())]);
    let (rotated, change) = world.find(&endpoint.id).rotate(&third, 0, world.now());
    world.commit(change);
    assert_eq!(secrets_of(&world.reader(), &rotated, world.now()).unwrap(), [third.secret().clone()]);
}
