//! Server keys: rotation with overlap, revocation, what a key may not do.

use bankroll_ledger::{Amount, AssetId, Name, Time};
use bankroll_registry::{
    Caller, KeyStanding, RegistryChange, RegistryRefusal, ServerAccount, ServerAccountStatus, ServerKeyUpdate,
};

use crate::world::{BOUNDS, NEXT_SERVER, NOON, SERVER, STRANGER, World, address, name};

/// One hour of overlap.
const OVERLAP: Time = Time((NOON + 3_600) * 1_000_000);

#[test]
fn two_keys_of_a_server_overlap_until_the_old_one_ends() {
    let mut world = World::with_server();
    world.allow(NEXT_SERVER).unwrap();
    let update = ServerKeyUpdate { bounds: BOUNDS, spend_limit: None, valid_until: Some(OVERLAP) };
    world.make(|registry, _| registry.update_server_key(address(SERVER), &update));

    for person in [SERVER, NEXT_SERVER] {
        let terms = world.terms();
        world.register(person, &terms).unwrap();
    }
    world.seconds_later(3_600);
    let terms = world.terms();
    assert_eq!(world.register(SERVER, &terms).unwrap_err().code(), "expired_key");
    world.register(NEXT_SERVER, &terms).unwrap();
    assert_eq!(world.registry.server(&name("arena")).unwrap().version, 1);
    world.audit().unwrap();
}

#[test]
fn a_revoked_key_is_dead_at_once_with_its_sessions_and_stays_so() {
    let mut world = World::with_server();
    world.allow(NEXT_SERVER).unwrap();
    let caller = Caller::GameServer(name("arena"));
    let issue = |world: &World, person: u8| {
        world.keys.issue(caller.clone(), address(person), [person; 16], world.now, 3_600_000_000).unwrap().0
    };
    let (old, new) = (issue(&world, SERVER), issue(&world, NEXT_SERVER));
    assert_eq!(world.keys.verify(old.reveal(), &world.registry, world.now).unwrap().caller, caller);

    world.make(|registry, now| registry.revoke_server_key(address(SERVER), now));
    assert_eq!(world.keys.verify(old.reveal(), &world.registry, world.now).unwrap_err().code(), "revoked_key");
    assert_eq!(world.keys.verify(new.reveal(), &world.registry, world.now).unwrap().caller, caller);
    let terms = world.terms();
    assert_eq!(world.register(SERVER, &terms).unwrap_err().code(), "revoked_key");
    // Neither an update nor a second listing brings it back.
    let update = ServerKeyUpdate { bounds: BOUNDS, spend_limit: None, valid_until: Some(OVERLAP) };
    assert_eq!(world.registry.update_server_key(address(SERVER), &update).unwrap_err().code(), "revoked_key");
    assert_eq!(world.allow(SERVER).unwrap_err().code(), "already_exists");
    assert_eq!(world.loaded().server_key(address(SERVER)).unwrap().standing(world.now), KeyStanding::Revoked);
}

#[test]
fn a_custody_key_belongs_to_one_server() {
    let world = World::with_server();
    let mut draft = World::key_draft(STRANGER);
    draft.server = name("other");
    let refused = world.registry.add_server_key(&draft, world.now).unwrap_err();
    let taken = RegistryRefusal::CustodyKeyTaken { custody_key: name("arena"), server: name("arena") };
    assert_eq!(refused, taken);
    // A second name for the same key is no way around it.
    let draft = bankroll_registry::CustodyKeyDraft {
        id: name("second"),
        xpub: None,
        address: Some(world.registry.custody_key(&name("arena")).unwrap().address),
    };
    assert_eq!(world.registry.add_custody_key(&draft, world.now).unwrap_err().code(), "already_exists");
    world.audit().unwrap();
}

#[test]
fn another_custody_key_rotates_the_deposit_address_and_the_old_one_is_still_watched() {
    let mut world = World::with_server();
    let old = world.registry.server(&name("arena")).unwrap().deposit_address;
    let draft = bankroll_registry::CustodyKeyDraft { id: name("next"), xpub: None, address: Some(address(STRANGER)) };
    world.make(|registry, now| registry.add_custody_key(&draft, now));
    let mut next = World::key_draft(NEXT_SERVER);
    next.custody_key = name("next");
    // Not while the old key is good: the two would move the address to and fro.
    assert_eq!(world.registry.add_server_key(&next, world.now).unwrap_err().code(), "key_mismatch");
    world.make(|registry, now| registry.revoke_server_key(address(SERVER), now));
    world.make(|registry, now| registry.add_server_key(&next, now));
    world.seconds_later(60);
    let mut terms = world.terms();
    terms.payoutAddress = address(STRANGER).0.into();
    let server = world.register(NEXT_SERVER, &terms).unwrap().server;

    assert_eq!((server.deposit_address, server.rotated_at, server.version), (address(STRANGER), Some(world.now), 2));
    let mut watched: Vec<_> = world.registry.watch_list().map(|entry| (entry.address, entry.status)).collect();
    watched.sort_by_key(|(address, _)| *address != old);
    assert_eq!(watched, [(old, ServerAccountStatus::Retired), (address(STRANGER), ServerAccountStatus::Active)]);
    world.audit().unwrap();
}

/// With one wallet on many chains, the new address may be watched on another chain already.
#[test]
fn a_rotation_leaves_what_is_watched_on_other_chains() {
    let mut world = World::with_server();
    let first = world.registry.watch_list().next().unwrap().clone();
    let elsewhere = |address| ServerAccount {
        chain: name("eip155:1"),
        address,
        asset: AssetId(2),
        start_block: 90,
        revision: 1,
        ..first.clone()
    };
    let others = [elsewhere(first.address), elsewhere(address(STRANGER))];
    world.commit(&others.clone().map(RegistryChange::ServerAccount));
    let draft = bankroll_registry::CustodyKeyDraft { id: name("next"), xpub: None, address: Some(address(STRANGER)) };
    world.make(|registry, now| registry.add_custody_key(&draft, now));
    world.make(|registry, now| registry.revoke_server_key(address(SERVER), now));
    let mut next = World::key_draft(NEXT_SERVER);
    next.custody_key = name("next");
    world.make(|registry, now| registry.add_server_key(&next, now));
    let mut terms = world.terms();
    terms.payoutAddress = address(STRANGER).0.into();
    world.register(NEXT_SERVER, &terms).unwrap();

    let watched = |chain: Name| world.registry.watch_list().filter(move |entry| entry.chain == chain).cloned();
    let mut left: Vec<_> = watched(name("eip155:1")).collect();
    left.sort_by_key(|account| account.address != first.address);
    assert_eq!(left, others);
    let new = watched(first.chain.clone()).find(|entry| entry.address == address(STRANGER)).unwrap();
    assert_eq!((new.revision, new.status, new.start_block), (1, ServerAccountStatus::Active, first.start_block));
    world.audit().unwrap();
}

#[test]
fn bounds_that_make_no_sense_are_refused() {
    let world = World::with_server_key();
    let with = |change: fn(&mut bankroll_registry::KeyBounds)| {
        let mut draft = World::key_draft(NEXT_SERVER);
        change(&mut draft.bounds);
        world.registry.add_server_key(&draft, world.now).map(drop).map_err(|refusal| refusal.code())
    };
    assert_eq!(with(|_| ()), Ok(()));
    assert_eq!(with(|bounds| bounds.buy_in_min = Amount::ZERO), Err("malformed"));
    assert_eq!(with(|bounds| bounds.buy_in_min = Amount::new(10_001)), Err("malformed"));
    assert_eq!(with(|bounds| bounds.developer_bps_max = 10_001), Err("malformed"));
    assert_eq!(with(|bounds| bounds.buy_in_max = Amount::new(u128::MAX)), Err("malformed"));
}
