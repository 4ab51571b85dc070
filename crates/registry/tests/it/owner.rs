//! What the owner changes: pauses, labels, addresses, treasury; and the list of changes.

use bankroll_ledger::{IdempotencyKey, Namespace, Scope};
use bankroll_registry::{
    ChainDraft, Pauses, RegistryChange, RegistryRefusal, ServerStatus, TreasuryDraft, recorded_change, recorded_changes,
};

use crate::world::{ALICE, CHAIN, STRANGER, World, address, chain, name};

#[test]
fn pauses_are_a_set_and_each_change_of_it_is_a_version() {
    let mut world = World::with_server();
    let arena = name("arena");
    let pauses = Pauses { deposits: true, withdrawals: true, ..Pauses::default() };
    world.make(|registry, now| registry.set_pauses(&arena, pauses, name("operator:olga"), now));
    let server = world.registry.server(&arena).unwrap();
    assert_eq!((server.pauses, server.version), (pauses, 2));
    assert_eq!((server.status(), server.changed_by.as_str()), (ServerStatus::PausedWithdrawals, "operator:olga"));
    let allowed = (pauses.accepts_deposits(), pauses.allows_spawns(), pauses.allows_payouts());
    assert_eq!(allowed, (false, true, false));
    // The same set again is no change; a registration leaves it as it is.
    assert_eq!(world.registry.set_pauses(&arena, pauses, name("operator:olga"), world.now).unwrap(), []);
    let mut terms = world.terms();
    terms.exitHoldMs = 1;
    world.register(crate::world::SERVER, &terms).unwrap();
    assert_eq!(world.registry.pauses(&arena), Some(pauses));
    let disabled = Pauses { disabled: true, ..Pauses::default() };
    let allowed = (disabled.accepts_deposits(), disabled.allows_spawns(), disabled.allows_payouts());
    assert_eq!(allowed, (false, false, true));
    world.audit().unwrap();
}

#[test]
fn two_changes_that_were_decided_from_one_state_are_not_both_written() {
    let mut world = World::with_server();
    let arena = name("arena");
    let by = || name("operator:olga");
    let pauses = Pauses { spawns: true, ..Pauses::default() };
    let first = world.registry.set_pauses(&arena, pauses, by(), world.now).unwrap();
    let second = world.registry.set_labels(&arena, "europe", by(), world.now).unwrap();
    world.commit(&first);
    assert_eq!(format!("{:?}", world.write(&second).verdict), "Rejected(GuardFailed)");
    assert_eq!(world.loaded(), world.registry);
}

#[test]
fn a_player_gets_an_address_of_their_own_where_the_server_has_opted_in() {
    let mut world = World::with_server();
    let (arena, alice) = (name("arena"), world.sign_in(ALICE).unwrap());
    let refused = world.registry.add_player_address(&arena, &alice, 9, world.now).unwrap_err();
    assert_eq!(refused, RegistryRefusal::NoPlayerAddresses { server: arena.clone() });
    world.make(|registry, now| registry.set_player_addresses(&arena, true, name("operator:olga"), now));
    world.make(|registry, now| registry.add_player_address(&arena, &alice, 9, now));
    world.make(|registry, now| registry.add_player_address(&arena, &name("0xb0b"), 9, now));

    let server = world.registry.server(&arena).unwrap();
    let of = |player: &str| world.registry.deposit_account(server, &name(player)).unwrap().address.to_string();
    // The second and third address of the seed, and the server's own for all other players.
    assert_eq!(of(alice.as_str()), "0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
    assert_eq!(of("0xb0b"), "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC");
    assert_eq!(of("0xca701"), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    // Asking again gives the same.
    assert_eq!(world.registry.add_player_address(&arena, &alice, 10, world.now).unwrap(), []);
    world.audit().unwrap();
}

#[test]
fn a_treasury_address_is_no_players_and_no_wallet_of_ours() {
    let mut world = World::with_server();
    let draft = |address| TreasuryDraft { chain: chain(), address, label: "bank".into() };
    let hot = world.registry.server(&name("arena")).unwrap().deposit_address;
    world.sign_in(ALICE).unwrap();
    for taken in [hot, address(ALICE)] {
        assert_eq!(world.registry.add_treasury(&draft(taken), world.now).unwrap_err().code(), "malformed");
    }
    world.make(|registry, now| registry.add_treasury(&draft(address(STRANGER)), now));
    assert_eq!(world.registry.treasury(&chain()).collect::<Vec<_>>(), [address(STRANGER)]);
    assert_eq!(world.sign_in(STRANGER).unwrap_err().code(), "operators_wallet");
    world.make(|registry, now| registry.remove_treasury(&chain(), address(STRANGER), now));
    assert_eq!(world.registry.treasury(&chain()).count(), 0);
    world.make(|registry, now| registry.add_treasury(&draft(address(STRANGER)), now));
    assert_eq!(world.registry.treasury(&chain()).count(), 1);
    world.audit().unwrap();
}

#[test]
fn the_list_of_changes_says_who_changed_what_and_a_retry_finds_its_own() {
    let mut world = World::new();
    world.seconds_later(1);
    let draft = ChainDraft { name: name("eip155:1"), label: "Ethereum".into() };
    world.make(|registry, now| registry.add_chain(&draft, now));
    let listed = recorded_changes(&world.reader(), None, 2).unwrap();
    assert_eq!((listed.len(), listed[0].by.as_str(), listed[0].at), (2, "operator:olga", world.now));
    let [RegistryChange::Chain(chain)] = &listed[0].changes[..] else { panic!("{listed:?}") };
    assert_eq!(chain.label, "Ethereum");
    let key = IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: listed[0].key.clone() };
    assert_eq!(recorded_change(&world.reader(), &key).unwrap().as_ref(), Some(&listed[0]));
    let before = recorded_changes(&world.reader(), Some((listed[1].at, &listed[1].key)), 10).unwrap();
    assert_eq!(before.len(), 1, "the first owner is in the audit log");
}

#[test]
fn a_chain_has_one_name_and_there_is_one_first_owner() {
    let world = World::new();
    let add = |text: &str| {
        let draft = ChainDraft { name: name(text), label: String::new() };
        world.registry.add_chain(&draft, world.now).map(drop).map_err(|refusal| refusal.code())
    };
    assert_eq!(world.registry.chain_of_id(CHAIN).unwrap().name, chain());
    assert_eq!(add("eip155:31337"), Err("already_exists"));
    for text in ["eip155:031337", "eip155:0", "eip155:", "ethereum", "eip155:99999999999999999999"] {
        assert_eq!(add(text), Err("malformed"), "{text}");
    }
    let second = world.registry.add_first_owner(name("mallory"), address(STRANGER), world.now);
    assert_eq!(second.unwrap_err().to_string(), "the deployment has its first owner already");
}

#[test]
fn a_private_key_in_the_place_of_a_public_one_is_refused_and_not_repeated() {
    let private = concat!(
        "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiC",
        "hkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
    );
    let body = format!(r#"{{"id": "arena", "xpub": "{private}"}}"#);
    let refused = serde_json::from_str::<bankroll_registry::CustodyKeyDraft>(&body).unwrap_err().to_string();
    assert!(!refused.contains("xprv"), "{refused}");
    // Neither an address that is not the key's first, nor a draft with nothing in it.
    let world = World::new();
    let add = |body: &str| {
        let draft = serde_json::from_str(body).unwrap();
        world.registry.add_custody_key(&draft, world.now).map(drop).map_err(|refusal| refusal.code())
    };
    let (xpub, other) = (crate::world::XPUB, address(STRANGER));
    assert_eq!(add(&format!(r#"{{"id": "arena", "xpub": "{xpub}"}}"#)), Ok(()));
    assert_eq!(add(&format!(r#"{{"id": "arena", "xpub": "{xpub}", "address": "{other}"}}"#)), Err("malformed"));
    assert_eq!(add(r#"{"id": "arena"}"#), Err("malformed"));
    assert_eq!(add(&format!(r#"{{"id": "arena:1", "address": "{other}"}}"#)), Err("malformed"));
}
