//! Registration: what a server gets, and every way to be refused.

use bankroll_ledger::{Amount, AssetId};
use bankroll_orders::{Address, typed_data::U256};
use bankroll_registry::{RegistryChange, ServerStatus, server_versions};

use crate::world::{AUDIENCE, CHAIN, NEXT_SERVER, SERVER, STRANGER, World, address, chain, key, name};

#[test]
fn a_server_gets_its_accounts_and_the_first_address_of_its_custody_key() {
    let mut world = World::with_server_key();
    let terms = world.terms();
    let decision = world.register(SERVER, &terms).unwrap();

    let accounts: Vec<String> = decision.accounts.iter().map(ToString::to_string).collect();
    assert_eq!(accounts, ["arena/world/1", "arena/ecosystem/1", "arena/developer/1", "arena/debt/1"]);
    let server = world.registry.server(&name("arena")).unwrap().clone();
    assert_eq!(server, decision.server);
    assert_eq!((server.version, server.status(), server.asset), (1, ServerStatus::Active, AssetId(1)));
    // The first address of the seed "test test ... junk", which every Ethereum tool knows.
    assert_eq!(server.deposit_address.to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    assert_eq!(server.terms.buy_in, Amount::new(1_000));
    assert_eq!(server.changed_by.as_str(), format!("key:{}", address(SERVER).lower_hex()));
    let watched: Vec<_> = world.registry.watch_list().collect();
    assert_eq!(watched.len(), 1);
    assert_eq!((watched[0].address, watched[0].start_block), (server.deposit_address, 7));
    assert_eq!(watched[0].custody_account().to_string(), "@house/custody/1/arena");
    world.audit().unwrap();
}

#[test]
fn the_same_terms_again_are_no_new_version_and_other_terms_are_one() {
    let mut world = World::with_server();
    let again = world.terms();
    let decision = world.register(SERVER, &again).unwrap();
    assert!(!decision.is_changed);
    assert!(matches!(&decision.changes[..], [RegistryChange::Nonce(_)]));
    let mut raised = world.terms();
    raised.buyIn = U256::from(2_000);
    assert!(world.register(SERVER, &raised).unwrap().is_changed);

    let versions = server_versions(&world.reader(), &name("arena"), None, 10).unwrap();
    let prices: Vec<_> = versions.iter().map(|server| (server.version, server.terms.buy_in.units())).collect();
    assert_eq!(prices, [(2, 2_000), (1, 1_000)]);
    // Its deposit address is watched once, from the first day on.
    assert_eq!(world.registry.watch_list().map(|account| account.revision).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_registration_that_is_sent_twice_is_refused_by_its_nonce() {
    let mut world = World::with_server_key();
    let terms = world.terms();
    world.register(SERVER, &terms).unwrap();
    assert_eq!(world.register(SERVER, &terms).unwrap_err().code(), "nonce_used");
    // After a restart memory knows it from the rows.
    world.registry = world.loaded();
    assert_eq!(world.register(SERVER, &terms).unwrap_err().code(), "nonce_used");
}

#[test]
fn a_nonce_is_its_signers_own_and_occupies_no_one_elses() {
    let mut world = World::with_server();
    world.allow(NEXT_SERVER).unwrap();
    let terms = world.terms();
    world.register(SERVER, &terms).unwrap();
    world.register(NEXT_SERVER, &terms).unwrap();
}

#[test]
fn even_with_an_empty_memory_the_ledger_takes_a_nonce_once() {
    let mut world = World::with_server_key();
    let terms = world.terms();
    let decision = world.register(SERVER, &terms).unwrap();
    let nonce = decision.changes.iter().filter(|change| matches!(change, RegistryChange::Nonce(_))).cloned();
    let answer = world.write(&nonce.collect::<Vec<_>>());
    assert_eq!(format!("{:?}", answer.verdict), "Rejected(GuardFailed)");
}

#[test]
fn each_refusal_has_its_own_code_and_uses_nothing_up() {
    type Spoil = fn(&mut bankroll_orders::typed_data::Registration);
    let spoiled: [(&str, Spoil); 15] = [
        ("malformed", |terms| terms.server = "Arena!".into()),
        ("wrong_server", |terms| terms.server = "other".into()),
        ("wrong_audience", |terms| terms.audience = "staging.example".into()),
        ("expired", |terms| terms.expires -= 361),
        ("too_far_ahead", |terms| terms.expires += 361),
        ("too_far_ahead", |terms| terms.expires = u64::MAX),
        ("out_of_bounds", |terms| terms.buyIn = U256::from(99)),
        ("out_of_bounds", |terms| terms.buyIn = U256::from(10_001)),
        ("malformed", |terms| terms.buyIn = U256::MAX),
        ("out_of_bounds", |terms| terms.developerFeeBps = 501),
        ("out_of_bounds", |terms| terms.worldFeeBps = 1_001),
        ("out_of_bounds", |terms| terms.exitHoldMs = u64::MAX),
        ("malformed", |terms| terms.massPerCoin = U256::ZERO),
        ("malformed", |terms| terms.developer = Address::ZERO.0.into()),
        ("payout_address_unknown", |terms| terms.payoutAddress = address(STRANGER).0.into()),
    ];
    let mut world = World::with_server_key();
    let good = world.terms();
    for (code, spoil) in spoiled {
        let mut terms = good.clone();
        spoil(&mut terms);
        assert_eq!(world.decide(SERVER, &terms).unwrap_err().code(), code, "{terms:?}");
    }
    assert_eq!(world.decide(STRANGER, &good).unwrap_err().code(), "unknown_key");
    // The nonce of all of them is still good, and the clocks may differ by a minute.
    for expires in [good.expires - 359, good.expires + 360] {
        let mut skewed = good.clone();
        skewed.expires = expires;
        world.decide(SERVER, &skewed).unwrap();
    }
    world.register(SERVER, &good).unwrap();
}

#[test]
fn a_signature_for_another_chain_is_refused() {
    use bankroll_orders::{
        ChainId,
        typed_data::{self, WalletSignature},
    };
    use bankroll_registry::{RegistrationContext, RegistrationTerms, decide_registration};
    let mut world = World::with_server_key();
    let terms = world.terms();
    // The signature is good in the domain of chain 1, and says so.
    let digest = typed_data::digest(&terms, ChainId(1));
    let signer = typed_data::recover(&digest, &WalletSignature::by(&key(SERVER), &digest).unwrap()).unwrap();
    let (audience, now) = (AUDIENCE, world.now);
    let context = RegistrationContext { signer, chain_id: ChainId(1), audience, start_block: 7, now };
    let plain = RegistrationTerms::of(&terms).unwrap();
    let refused = decide_registration(&world.registry, &plain, &context).unwrap_err();
    assert_eq!(refused.code(), "wrong_chain");
    assert_eq!(refused.to_string(), "the key is for chain eip155:31337: sign with that chain id in the domain");
    // Sent as one of our chain, it is the signature of an address that no key has.
    let digest = typed_data::digest(&terms, CHAIN);
    let other = typed_data::digest(&terms, ChainId(1));
    let signer = typed_data::recover(&digest, &WalletSignature::by(&key(SERVER), &other).unwrap()).unwrap();
    let context = RegistrationContext { signer, chain_id: CHAIN, audience, start_block: 7, now };
    assert_eq!(decide_registration(&world.registry, &plain, &context).unwrap_err().code(), "unknown_key");
}

#[test]
fn a_cold_wallet_cannot_be_a_payout_address() {
    use bankroll_registry::{WalletDraft, WalletRole};
    let mut world = World::with_server_key();
    let draft = WalletDraft { name: name("vault"), chain: chain(), address: address(STRANGER), role: WalletRole::Cold };
    world.make(|registry, now| registry.add_wallet(&draft, now));
    let mut terms = world.terms();
    terms.payoutAddress = address(STRANGER).0.into();
    assert_eq!(world.decide(SERVER, &terms).unwrap_err().code(), "payout_address_unknown");
}

#[test]
fn another_servers_hot_wallet_cannot_be_a_payout_address() {
    use bankroll_registry::{CustodyKeyDraft, WalletDraft, WalletRole};
    let mut world = World::with_server_key();
    let custody = CustodyKeyDraft { id: name("rival"), xpub: None, address: Some(address(STRANGER)) };
    world.make(|registry, now| registry.add_custody_key(&custody, now));
    for (wallet, person) in [("rival", STRANGER), ("of-no-key", NEXT_SERVER)] {
        let draft = WalletDraft { name: name(wallet), chain: chain(), address: address(person), role: WalletRole::Hot };
        world.make(|registry, now| registry.add_wallet(&draft, now));
        let mut terms = world.terms();
        terms.payoutAddress = address(person).0.into();
        assert_eq!(world.decide(SERVER, &terms).unwrap_err().code(), "payout_address_unknown", "{wallet}");
    }
}

/// A stolen key must not take the developer's fees.
#[test]
fn only_the_owner_names_another_developer() {
    let mut world = World::with_server();
    let mut terms = world.terms();
    terms.developer = address(STRANGER).0.into();
    let refused = world.register(SERVER, &terms).unwrap_err();
    assert_eq!(refused.code(), "developer_changed");
    let arena = name("arena");
    world.make(|registry, now| registry.set_developer(&arena, address(STRANGER), name("owner:olga"), now));
    let server = world.registry.server(&arena).unwrap();
    assert_eq!((server.terms.developer, server.version), (address(STRANGER), 2));
    assert!(!world.register(SERVER, &terms).unwrap().is_changed);
}

/// The configuration of a node names a server without a developer.
#[test]
fn a_server_without_a_developer_names_the_first_one_itself() {
    let mut world = World::with_server_key();
    let terms = world.terms();
    let mut server = world.decide(SERVER, &terms).unwrap().server;
    server.terms.developer = Address::ZERO;
    world.make(|_, _| Ok(vec![RegistryChange::Server(server)]));
    let registered = world.register(SERVER, &terms).unwrap().server;
    assert_eq!((registered.terms.developer.0, registered.version), (terms.developer.into_array(), 2));
    let mut other = world.terms();
    other.developer = address(STRANGER).0.into();
    assert_eq!(world.register(SERVER, &other).unwrap_err().code(), "developer_changed");
}
