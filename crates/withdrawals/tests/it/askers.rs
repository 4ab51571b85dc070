//! Who asks for what: exits, developers, players who sign, servers that are paused.

use bankroll_ledger::{
    Amount, Asset, ColumnValue, IdempotencyKey, Leg, Name, Namespace, Principal, Rejection, Request, Scope, Unit,
};
use bankroll_store::columns::{one, text};
use bankroll_withdrawals::{
    Asker, GasPayer, IntentError, Intents, InvalidWithdrawal, KeptBecause, KeptExit, PayoutConsent, PayoutTerms,
    StepResult, UnpaidPayout, WaitReason, WithdrawalRequest, key_fact, request_of_key, views,
};

use crate::world::{ETHER, World, home, name};

const ALICE: &str = "arena/funds/1/alice";
const WORLD: &str = "arena/world/1";

/// Alice plays with four coins.
fn playing() -> World {
    let world = World::new();
    let key =
        IdempotencyKey { namespace: Namespace::Client, scope: Scope::Server(name("arena")), text: "spawn".into() };
    let (from, to) = (world.account(ALICE), world.account(WORLD));
    let leg = Leg::Move { from, to, amount: Amount::new(4 * ETHER) };
    world.apply(key, Principal::GameServer(name("arena")), leg);
    world
}

fn kept(world: &World, exit_id: &str, amount: u128) -> Request {
    let kept = KeptExit {
        principal: Principal::GameServer(name("arena")),
        server: name("arena"),
        exit_id: name(exit_id),
        wallet: name("alice"),
        account: ALICE.parse().unwrap(),
        exit: Amount::new(amount).into(),
        unpaid: None,
    };
    Intents::keep_request(&kept, world.account(ALICE), world.account(WORLD)).unwrap()
}

fn paid_exit(world: &World, exit_id: &str, amount: u128) -> WithdrawalRequest {
    WithdrawalRequest { exit: Some(Amount::new(amount).into()), ..world.withdrawal(exit_id, home(1), amount) }
}

#[test]
fn an_exit_is_kept_or_paid_out_and_never_both() {
    let world = playing();
    let first = world.ledger().apply(kept(&world, "exit-1", ETHER)).unwrap();
    assert!(!first.replayed && first.effects().is_ok());
    let again = world.ledger().apply(kept(&world, "exit-1", ETHER)).unwrap();
    assert!(again.replayed && again.seq == first.seq);
    let refused = world.request(&paid_exit(&world, "exit-1", ETHER));
    assert!(matches!(refused, Err(IntentError::Rejected(Rejection::KeyReused))), "{refused:?}");
    assert_eq!((world.standing(ALICE), world.standing(WORLD)), ((7 * ETHER, 0), (3 * ETHER, 0)));

    let intent = world.request(&paid_exit(&world, "exit-2", 2 * ETHER)).unwrap();
    assert_eq!(world.request(&paid_exit(&world, "exit-2", 2 * ETHER)).unwrap(), intent);
    let refused = world.ledger().apply(kept(&world, "exit-2", 2 * ETHER)).unwrap();
    assert_eq!(refused.effects().unwrap_err(), Rejection::KeyReused);
    assert_eq!((world.standing(ALICE), world.standing(WORLD)), ((9 * ETHER, 2 * ETHER), (ETHER, 0)));

    let exit = |id| views::exit_of(world.rows().reader(), &name("arena"), &name(id)).unwrap();
    assert_eq!(exit("exit-1").map(|exit| (exit.amount, exit.intent)), Some((Amount::new(ETHER), None)));
    assert_eq!(exit("exit-2").unwrap().intent, Some(intent.id));
    assert_eq!(exit("exit-3"), None);
}

/// An exit always credits the player, and its id is used once in either way.
#[test]
fn an_exit_that_cannot_be_paid_for_is_kept_under_the_same_id() {
    let world = playing();
    // All that she has, and the gas on top.
    let gas = GasPayer::Player(Amount::new(20 * ETHER));
    let paid = WithdrawalRequest { gas, ..paid_exit(&world, "exit-1", ETHER) };
    let refused = world.request(&paid);
    assert!(matches!(refused, Err(IntentError::Rejected(Rejection::InsufficientFunds))), "{refused:?}");
    let unpaid = |terms: PayoutTerms| {
        let kept = KeptExit {
            principal: Principal::GameServer(name("arena")),
            server: name("arena"),
            exit_id: name("exit-1"),
            wallet: name("alice"),
            account: ALICE.parse().unwrap(),
            exit: Amount::new(ETHER).into(),
            unpaid: Some(UnpaidPayout { terms, because: KeptBecause::InsufficientFunds }),
        };
        Intents::keep_request(&kept, world.account(ALICE), world.account(WORLD)).unwrap()
    };
    let terms = PayoutTerms { to: paid.to, gas };
    assert!(world.ledger().apply(unpaid(terms)).unwrap().effects().is_ok());
    assert!(world.ledger().apply(unpaid(terms)).unwrap().replayed);
    let other = world.ledger().apply(unpaid(PayoutTerms { gas: GasPayer::House, ..terms })).unwrap();
    assert_eq!(other.effects().unwrap_err(), Rejection::KeyReused);
    assert_eq!((world.standing(ALICE), world.standing(WORLD)), ((7 * ETHER, 0), (3 * ETHER, 0)));
    let exit = views::exit_of(world.rows().reader(), &name("arena"), &name("exit-1")).unwrap().unwrap();
    let because = Some(KeptBecause::InsufficientFunds);
    assert_eq!((exit.payout, exit.kept_because, exit.intent), (Some(terms), because, None));
}

/// A caller's key for a request that has an id of its own.
#[test]
fn a_key_that_another_request_has_is_refused_and_the_id_stays_free() {
    let world = playing();
    let with_key = |exit_id: &str, key: &str| {
        let mut request = kept(&world, exit_id, ETHER);
        request.facts.push(key_fact("server/arena", key, &format!("exit/{exit_id}")));
        world.ledger().apply(request).unwrap()
    };
    assert!(with_key("exit-1", "k1").effects().is_ok());
    assert_eq!(with_key("exit-2", "k1").effects().unwrap_err(), Rejection::ServerPaused);
    let known = request_of_key(world.rows().reader(), "server/arena", "k1").unwrap();
    assert_eq!(known.as_deref(), Some("exit/exit-1"));
    assert_eq!(request_of_key(world.rows().reader(), "server/rival", "k1").unwrap(), None);
    assert!(with_key("exit-2", "k2").effects().is_ok());
}

/// A request id of the game server for a payout and an id of an exit are two things.
#[test]
fn an_exit_id_is_the_servers_whatever_else_has_its_text() {
    let mut world = playing();
    let payout = world.request(&world.withdrawal("42", home(2), ETHER)).unwrap();
    let exit = world.request(&paid_exit(&world, "42", ETHER)).unwrap();
    assert_ne!(payout.id, exit.id);
    assert_eq!(exit.id, Intents::id(&name("arena"), &Asker::Exit, &name("42")));
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.paid(home(2), ETHER)), (1, 1));
    world.audit_at_rest();
}

#[test]
fn a_developer_is_paid_from_the_fees_of_their_server_and_from_nothing_else() {
    let mut world = World::new();
    let fees = "arena/developer/1";
    world.give(fees, ETHER / 2, "fees");
    let developers = |account: &str, principal: Principal| WithdrawalRequest {
        principal,
        wallet: name("dora"),
        account: account.parse().unwrap(),
        ..world.withdrawal("march", home(7), ETHER / 2)
    };
    let dora = || Principal::Developer(name("arena"));
    let refused = world.request(&developers(ALICE, dora()));
    assert!(matches!(refused, Err(IntentError::Invalid(InvalidWithdrawal::OtherWallet))), "{refused:?}");
    let refused = world.request(&developers(fees, Principal::GameServer(name("arena"))));
    assert!(matches!(refused, Err(IntentError::Invalid(InvalidWithdrawal::NotPayable))), "{refused:?}");
    let intent = world.request(&developers(fees, dora())).unwrap();
    let key = IdempotencyKey {
        namespace: Namespace::Client,
        scope: Scope::Server(name("arena")),
        text: "developer/withdrawal/march".into(),
    };
    assert!(world.rows().reader().find_key(&key).unwrap().is_some());
    // The wallet was not given these coins: it has them to spare.
    world.finish();
    assert_eq!((world.status(&intent.id).as_str(), world.standing(fees)), ("completed", (0, 0)));
    assert_eq!(world.paid(home(7), ETHER / 2), 1);
}

#[test]
fn the_players_own_signature_is_kept_with_the_intent_and_an_edit_of_it_is_noticed() {
    let mut world = World::new();
    let consent = PayoutConsent {
        wallet: home(1),
        audience: "casino.example".into(),
        asset: "eip155:1337".into(),
        expires: 1_800_000_000,
        signature: vec![7; 65],
    };
    let signed = WithdrawalRequest {
        principal: Principal::User(name("alice")),
        consent: Some(consent.clone()),
        ..world.withdrawal("mine", home(1), ETHER)
    };
    let intent = world.request(&signed).unwrap();
    let foreign = WithdrawalRequest { consent: Some(consent), ..world.withdrawal("games", home(1), ETHER) };
    let refused = world.request(&foreign);
    assert!(matches!(refused, Err(IntentError::Invalid(InvalidWithdrawal::ForeignConsent))), "{refused:?}");
    let kept = world.pairs("SELECT consent_audience AS a, consent_expires AS b FROM withdrawal_requests");
    assert_eq!(kept, [("casino.example".to_owned(), "1800000000".to_owned())]);
    let edit = |world: &World, audience: &str| {
        let sql = "UPDATE withdrawal_requests SET consent_audience = $1";
        world.rows().write(vec![one(sql, vec![text(audience)])]).unwrap();
    };
    edit(&world, "other.example");
    assert_eq!(world.step().pop().unwrap().1, StepResult::Waits(WaitReason::NotAsDecided));
    edit(&world, "casino.example");
    let rows = world.rows().read("SELECT consent_signature AS s FROM withdrawal_requests", vec![]).unwrap();
    assert_eq!(rows[0]["s"], ColumnValue::Bytes(vec![7; 65]));
    world.finish();
    assert_eq!(world.status(&intent.id), "completed");
    world.audit_at_rest();
}

#[test]
fn payouts_of_a_paused_server_wait_and_go_on_when_it_is_resumed() {
    let mut world = World::new();
    let arena: Name = name("arena");
    world.paused.insert(arena.clone());
    let early = world.alice("exit-1", home(1), ETHER);
    world.finish();
    // The intent is made, and nothing works on it.
    assert_eq!((world.status(&early).as_str(), world.jobs()), ("approved", vec![]));
    assert_eq!(world.standing(ALICE), (10 * ETHER, ETHER));
    world.paused.clear();
    // Paused again before the job has a nonce: it keeps waiting.
    world.config.rules.in_flight_max = 0;
    world.step();
    world.config.rules.in_flight_max = 8;
    world.paused.insert(arena);
    assert_eq!(world.step().pop().unwrap().1, StepResult::Waits(WaitReason::ServerPaused));
    assert_eq!(world.payments(), []);
    world.paused.clear();
    world.finish();
    assert_eq!((world.status(&early).as_str(), world.paid(home(1), ETHER)), ("completed", 1));
    world.audit_at_rest();
}

/// Coins that lie on a player's own deposit address are in the books and not in the wallet that pays.
#[test]
fn a_payout_that_needs_coins_which_are_not_in_the_wallet_waits_for_them() {
    let mut world = World::new();
    let (from, to) = (world.account("@house/custody/1/alices"), world.account(ALICE));
    let leg = Leg::Move { from, to, amount: Amount::new(20 * ETHER) };
    let key = IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: "own address".into() };
    world.apply(key, Principal::Indexer, leg);
    let intent = world.alice("exit-1", home(1), 20 * ETHER);
    world.finish();
    assert_eq!(world.status(&intent), "approved");
    let waiting = [("waiting_funds".to_owned(), "the wallet does not have enough".to_owned())];
    assert_eq!((world.jobs(), world.payments()), (waiting.to_vec(), vec![]));
}

/// A token of the chain has its own contract; what the wallet signs here moves the chain's coin.
#[test]
fn a_payout_in_a_token_is_not_paid_in_the_chains_coin() {
    let mut world = World::new();
    let token = Unit::Token(name("0x00000000000000000000000000000000000000aa"));
    let token = Asset { chain: name("eip155:1337"), unit: token, decimals: 18, symbol: "USDX".into() };
    world.ledger().list_asset(token).unwrap();
    let tokens = "arena/funds/2/alice";
    let (from, to) = (world.account("@house/custody/2/hot"), world.account(tokens));
    let key = IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: "tokens".into() };
    world.apply(key, Principal::Indexer, Leg::Move { from, to, amount: Amount::new(3 * ETHER) });
    let wanted = WithdrawalRequest { account: tokens.parse().unwrap(), ..world.withdrawal("tokens-1", home(1), ETHER) };
    let intent = world.request(&wanted).unwrap().id;
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.jobs(), world.payments()), ("approved", vec![], vec![]));
    assert_eq!(world.standing(tokens), (3 * ETHER, ETHER));
}
