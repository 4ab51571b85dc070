//! Players: sign-in, linked wallets, contract wallets, self-exclusion.

use bankroll_ledger::Time;
use bankroll_registry::{
    Caller, SignatureCheck, as_developer, decide_link, decide_sign_in, link_request_id, player_exclusion,
};

use crate::world::{ALICE, BOB, DOMAIN, NOON, STRANGER, World, address, chain, name};

#[test]
fn a_wallet_that_signs_in_is_a_player_and_its_payments_are_theirs() {
    let mut world = World::new();
    assert_eq!(world.registry.proven_player(&chain(), address(ALICE)), None);
    let player = world.sign_in(ALICE).unwrap();
    assert_eq!(player.as_str(), address(ALICE).lower_hex());
    assert_eq!(world.registry.proven_player(&chain(), address(ALICE)), Some(&player));
    // Again: the same player, and only the nonce is new.
    assert_eq!(world.sign_in(ALICE).unwrap(), player);
    assert_eq!(world.registry.player_wallets().count(), 1);
    world.audit().unwrap();
}

#[test]
fn a_sign_in_that_is_sent_twice_is_refused_by_its_nonce() {
    let mut world = World::new();
    let nonce = world.nonce();
    let text = World::message(address(ALICE), &nonce);
    let SignatureCheck::Proven(wallet) = world.check(&text, &World::sign(ALICE, &text)).unwrap() else { panic!() };
    let first = decide_sign_in(&world.registry, wallet.clone(), world.now).unwrap();
    world.commit(&first.changes);
    assert_eq!(world.check(&text, &World::sign(ALICE, &text)).unwrap_err().code(), "nonce_used");
    // Checked before the first was written, decided after: while a node was asked, for instance.
    assert_eq!(decide_sign_in(&world.registry, wallet, world.now).unwrap_err().code(), "nonce_used");
    // Another wallet cannot use it either.
    let text = World::message(address(BOB), &nonce);
    assert_eq!(world.check(&text, &World::sign(BOB, &text)).unwrap_err().code(), "nonce_used");
}

#[test]
fn each_refusal_of_a_message_has_its_own_code() {
    let mut world = World::new();
    let nonce = world.nonce();
    let good = World::message(address(ALICE), &nonce);
    let forged = "0".repeat(80);
    let spoiled = [
        ("wrong_domain", good.replacen(DOMAIN, "evil.example", 1)),
        ("wrong_audience", good.replace("URI: https://play.example", "URI: https://play.example.evil")),
        ("wrong_chain", good.replace("Chain ID: 31337", "Chain ID: 1")),
        ("expired", good.replace("12:00:00Z", "11:48:59Z")),
        ("expired", format!("{good}\nExpiration Time: 2026-11-16T12:00:00Z")),
        ("not_yet_valid", good.replace("12:00:00Z", "12:01:01Z")),
        ("not_yet_valid", format!("{good}\nNot Before: 2026-11-16T12:01:01Z")),
        ("unknown_nonce", good.replace(&nonce, &forged)),
        ("unknown_nonce", good.replace(&nonce, "kEWepMt9knR6lWJ6A")),
        ("unknown_nonce", good.replace(&nonce, &nonce.to_uppercase())),
        ("malformed", good.replace("Version: 1", "Version: 2")),
        ("malformed", good.replace("\n\nPlay.", "\nand all your coins\nPlay.")),
        ("malformed", good.replace('\n', "\r\n")),
        ("malformed", good.replace(&address(ALICE).to_string(), &address(ALICE).lower_hex())),
        ("malformed", good.replace("Play.", &"x".repeat(3_000))),
        ("malformed", String::new()),
    ];
    for (code, text) in spoiled {
        let refused = world.check(&text, &World::sign(ALICE, &text)).unwrap_err();
        assert_eq!(refused.code(), code, "{text}\n{refused}");
    }
    assert_eq!(world.check(&good, &[]).unwrap_err().code(), "bad_signature");
    world.seconds_later(600);
    assert_eq!(world.check(&good, &World::sign(ALICE, &good)).unwrap_err().code(), "nonce_expired");
}

#[test]
fn a_path_below_the_uri_and_a_message_without_a_statement_are_accepted() {
    let mut world = World::new();
    let nonce = world.nonce();
    let good = World::message(address(ALICE), &nonce);
    for text in [
        good.replace("URI: https://play.example", "URI: https://play.example/lobby?table=1"),
        good.replace("Play.\n", ""),
        format!("{good}\nExpiration Time: 2026-11-16T12:05:00.000Z\nRequest ID: 7\nResources:\n- https://a.example/x"),
    ] {
        let checked = world.check(&text, &World::sign(ALICE, &text));
        assert!(matches!(checked, Ok(SignatureCheck::Proven(_))), "{text}\n{checked:?}");
    }
}

#[test]
fn another_keys_signature_leaves_the_question_to_a_contract() {
    let mut world = World::new();
    let nonce = world.nonce();
    let text = World::message(address(ALICE), &nonce);
    let checked = world.check(&text, &World::sign(STRANGER, &text)).unwrap();
    let SignatureCheck::NeedsContractCheck(question) = checked else { panic!("Alice's key did not sign") };
    assert_eq!((question.address(), &question.chain), (address(ALICE), &chain()));
    let data = question.call_data();
    assert_eq!(hex_of(&data[..4]), "1626ba7e");
    assert_eq!(data[4..36], question.digest);
    // Offset 64, length 65, and the signature padded to whole words.
    assert_eq!((data[67], data[99], data.len()), (64, 65, 4 + 32 * 3 + 96));
    let mut yes = [0; 32];
    yes[..4].copy_from_slice(&[0x16, 0x26, 0xba, 0x7e]);
    // An address without code answers nothing; a contract may answer anything.
    for no in [&[][..], &[0; 32], &[0xff; 32], &yes[..4], &[yes, yes].concat(), &[1; 32]] {
        assert_eq!(question.clone().answered(no).unwrap_err().code(), "bad_signature");
    }
    let wallet = question.answered(&yes).unwrap();
    let decision = decide_sign_in(&world.registry, wallet, world.now).unwrap();
    world.commit(&decision.changes);
    assert_eq!(world.registry.proven_player(&chain(), address(ALICE)), Some(&decision.player));
    // At the same address of another chain there may be another person's contract.
    assert_eq!(world.registry.proven_player(&name("eip155:1"), address(ALICE)), None);
}

#[test]
fn a_contract_cannot_sign_in_as_the_player_whose_key_has_proved_the_address() {
    let mut world = World::new();
    world.sign_in(ALICE).unwrap();
    let nonce = world.nonce();
    let text = World::message(address(ALICE), &nonce);
    let checked = world.check(&text, &World::sign(STRANGER, &text)).unwrap();
    let SignatureCheck::NeedsContractCheck(question) = checked else { panic!("Alice's key did not sign") };
    let mut yes = [0; 32];
    yes[..4].copy_from_slice(&[0x16, 0x26, 0xba, 0x7e]);
    let wallet = question.answered(&yes).unwrap();
    assert_eq!(decide_sign_in(&world.registry, wallet, world.now).unwrap_err().code(), "bad_signature");
}

#[test]
fn a_linked_wallet_pays_for_its_player_and_signs_in_as_them() {
    let mut world = World::new();
    let alice = world.sign_in(ALICE).unwrap();
    let link = |world: &mut World, person: u8| {
        let nonce = world.nonce();
        let text = World::message(address(person), &nonce) + "\nRequest ID: " + &link_request_id(&alice);
        let Ok(SignatureCheck::Proven(wallet)) = world.check(&text, &World::sign(person, &text)) else { panic!() };
        decide_link(&world.registry, &alice, wallet, world.now)
    };
    let changes = link(&mut world, STRANGER).unwrap();
    world.commit(&changes);
    assert_eq!(world.registry.proven_player(&chain(), address(STRANGER)), Some(&alice));
    assert_eq!(world.sign_in(STRANGER).unwrap(), alice);
    // A wallet that is a player's already never changes hands.
    let bob = world.sign_in(BOB).unwrap();
    assert_eq!(link(&mut world, BOB).unwrap_err().code(), "wallet_taken");
    assert_eq!(world.registry.proven_player(&chain(), address(BOB)), Some(&bob));
    world.audit().unwrap();
}

#[test]
fn a_message_is_good_for_what_its_request_id_says_and_for_nothing_else() {
    let mut world = World::new();
    let (alice, bob) = (world.sign_in(ALICE).unwrap(), world.sign_in(BOB).unwrap());
    let mut proven = |end: &str| {
        let nonce = world.nonce();
        let text = World::message(address(STRANGER), &nonce) + end;
        let Ok(SignatureCheck::Proven(wallet)) = world.check(&text, &World::sign(STRANGER, &text)) else { panic!() };
        wallet
    };
    let (sign_in, for_alice) = (proven(""), proven(&format!("\nRequest ID: link:{alice}")));
    let link = |player, wallet| decide_link(&world.registry, player, wallet, world.now);
    // Bob has seen the stranger's messages on their way.
    assert_eq!(link(&bob, sign_in.clone()).unwrap_err().code(), "wrong_purpose");
    assert_eq!(link(&bob, for_alice.clone()).unwrap_err().code(), "wrong_purpose");
    let signed_in = decide_sign_in(&world.registry, for_alice.clone(), world.now);
    assert_eq!(signed_in.unwrap_err().code(), "wrong_purpose");
    link(&alice, for_alice).unwrap();
    decide_sign_in(&world.registry, sign_in, world.now).unwrap();
}

#[test]
fn an_exclusion_only_ever_moves_later() {
    let mut world = World::new();
    let alice = world.sign_in(ALICE).unwrap();
    let (week, month) = (Time((NOON + 7 * 86_400) * 1_000_000), Time((NOON + 30 * 86_400) * 1_000_000));
    assert_eq!(world.registry.exclude(&alice, world.now, world.now).unwrap_err().code(), "malformed");
    world.make(|registry, now| registry.exclude(&alice, week, now));
    world.make(|registry, now| registry.exclude(&alice, month, now));
    assert_eq!(world.registry.exclude(&alice, week, world.now).unwrap_err().code(), "exclusion_not_later");
    assert_eq!(world.registry.excluded_until(&alice, world.now), Some(month));
    assert_eq!(world.registry.excluded_until(&alice, month), None);
    // It can be renewed after it has ended.
    world.seconds_later(31 * 86_400);
    let later = Time(month.0 + 86_400 * 2 * 1_000_000);
    world.make(|registry, now| registry.exclude(&alice, later, now));
    world.audit().unwrap();
}

#[test]
fn a_developer_signs_in_as_a_player_and_is_the_developer_of_their_server_only() {
    let mut world = World::with_server();
    let bob = world.sign_in(BOB).unwrap();
    world.sign_in(ALICE).unwrap();
    let session = |person: u8| {
        let caller = Caller::Player(name(&address(person).lower_hex()));
        world.keys.issue(caller, address(person), [person; 16], world.now, 1_000_000).unwrap().1
    };
    let developer = Caller::Developer(name("arena"), bob);
    assert_eq!(as_developer(&world.registry, &session(BOB), &name("arena")), Some(developer));
    assert_eq!(as_developer(&world.registry, &session(BOB), &name("other")), None);
    assert_eq!(as_developer(&world.registry, &session(ALICE), &name("arena")), None);
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A game server may open accounts for a wallet before its player links it.
#[test]
fn a_player_owns_what_was_opened_for_any_of_their_wallets() {
    let mut world = World::new();
    let alice = world.sign_in(ALICE).unwrap();
    let second = name(&address(BOB).lower_hex());
    assert_eq!(world.registry.owner_names(&chain(), &alice), std::slice::from_ref(&alice));
    world.link(&alice, BOB);
    assert_eq!(world.registry.owner_names(&chain(), &alice), [alice.clone(), second.clone()]);
    assert_eq!(world.registry.wallets_of(&alice).count(), 2);
    // An exclusion is the person's, whatever the account is called.
    let until = Time(world.now.0 + 60_000_000);
    world.make(|registry, now| registry.exclude(&alice, until, now));
    assert_eq!(world.registry.excluded_until(&second, world.now), Some(until));
    assert_eq!(world.registry.excluded_until(&name("0xb0b"), world.now), None);
    assert_eq!(world.loaded(), world.registry);
}

#[test]
fn a_player_links_at_most_sixteen_wallets() {
    let mut world = World::new();
    let alice = world.sign_in(ALICE).unwrap();
    (200..215).for_each(|number| world.link(&alice, number));
    assert_eq!(world.registry.wallets_of(&alice).count(), 16);
    let proven = world.proven_link(&alice, 215);
    assert_eq!(decide_link(&world.registry, &alice, proven, world.now).unwrap_err().code(), "too_many_wallets");
}

/// A flow asks before it builds a request, and the books check again when they commit it.
#[test]
fn whether_a_player_is_excluded_is_a_condition_that_an_exclusion_breaks() {
    let mut world = World::new();
    let alice = world.sign_in(ALICE).unwrap();
    let reader = world.reader();
    assert_eq!(player_exclusion(&reader, &name("0xb0b"), world.now).unwrap(), None);
    let (is_excluded, before) = player_exclusion(&reader, &alice, world.now).unwrap().unwrap();
    assert!(!is_excluded && world.is_still(&before, "before"));
    let until = Time(world.now.0 + 60_000_000);
    world.make(|registry, now| registry.exclude(&alice, until, now));
    assert!(!world.is_still(&before, "after"));
    let (is_excluded, after) = player_exclusion(&world.reader(), &alice, world.now).unwrap().unwrap();
    assert!(is_excluded && world.is_still(&after, "again"));
    let (is_excluded, _) = player_exclusion(&world.reader(), &alice, until).unwrap().unwrap();
    assert!(!is_excluded, "its time is over");
}
