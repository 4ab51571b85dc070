//! What people decide about deposits, between crediting, reorganisations and each other.

use std::collections::BTreeMap;

use bankroll_chains_evm::Quantity;
use bankroll_chains_simulated::{B256, Fate, Reorg};
use bankroll_deposits::{
    CarriedOutReview, ProviderAgreement, ReviewRefusal, crediting, review,
    view::{self, DepositView},
};
use bankroll_ledger::{
    AccountId, AccountName, Action, Amount, AssetId, Confirmation, Event, Fact, IdempotencyKey, Leg, Namespace,
    Principal, References, Rejection, Request, Scope,
};
use bankroll_operators::ProposalContent;

use crate::{
    forgeries::{audited, edit},
    world::{ALICE, BOB, STRANGER, World, name},
};

const ALICES: [&str; 4] =
    ["arena/funds/1/alice", "arena/developer/1", "arena/ecosystem/1", "arena/unallocated/1/alice"];
const BOBS: [&str; 4] = ["arena/unallocated/1/bob", "arena/debt/1/bob", "@house/suspense/1", "@house/custody/1/hot"];

/// The one deposit of a transaction.
fn seen(world: &World, transaction: B256) -> DepositView {
    let (chain, transaction) = (name("eip155:1337"), format!("{transaction:#x}"));
    view::of_transaction(world.reader(), &chain, &transaction).unwrap().remove(0)
}

fn text(id: &DepositView) -> String {
    id.id.to_string()
}

fn release(deposit: &DepositView) -> ProposalContent {
    ProposalContent::ReleaseDeposit { deposit: text(deposit), inclusion: deposit.epoch, reason: "checked".into() }
}

fn refuse(deposit: &DepositView) -> ProposalContent {
    ProposalContent::RefuseDeposit { deposit: text(deposit), inclusion: deposit.epoch, reason: "a list".into() }
}

fn assign(deposit: &DepositView, player: &str) -> ProposalContent {
    ProposalContent::AssignDeposit {
        deposit: text(deposit),
        inclusion: deposit.epoch,
        amount: deposit.amount.parse().unwrap(),
        server: name("arena"),
        player: name(player),
        reason: "ticket 712".into(),
    }
}

fn number(world: &World, account: &AccountName) -> AccountId {
    world.ledger().open_accounts(&Principal::System, vec![account.clone()]).unwrap()[0].unwrap()
}

/// What the API sends for a person of this name.
fn request(namespace: Namespace, key: &str, legs: Vec<Leg>, facts: Vec<Fact>, events: Vec<Event>) -> Request {
    let confirmation = Confirmation { proposal: name("prp_1"), by: name("ann") };
    Request {
        key: IdempotencyKey { namespace, scope: Scope::House, text: key.to_owned() },
        principal: Principal::Admin(name("olga")),
        confirmation: (namespace == Namespace::Client).then_some(confirmation),
        action: Action::Legs(legs),
        references: References::default(),
        facts,
        events,
    }
}

fn apply(world: &World, request: Request) -> Result<(), Rejection> {
    world.ledger().apply(request).unwrap().effects().map(drop)
}

/// One person holds what they have seen.
fn hold(world: &World, deposit: &DepositView) -> Result<(), Rejection> {
    let key = format!("admin/olga/key/{}", deposit.id);
    let (fact, event) = review::hold(deposit, &key).unwrap();
    apply(world, request(Namespace::Registry, &key, Vec::new(), vec![fact], vec![event]))
}

/// The request of a confirmed proposal, carried out on what is in the books now.
fn request_of(world: &World, content: &ProposalContent, key: &str) -> Request {
    let (id, _) = content.deposit().unwrap();
    let deposit = view::find(world.reader(), id).unwrap().remove(0);
    let CarriedOutReview { fact, event, moves } = review::carry_out(&deposit, content, key).unwrap();
    let leg = moves.map(|(from, to, amount)| {
        // What was spent may become a debt.
        if let Some(debt) = to.debt() {
            number(world, &debt);
        }
        Leg::Move { from: number(world, &from), to: number(world, &to), amount }
    });
    request(Namespace::Client, key, leg.into_iter().collect(), vec![fact], vec![event])
}

fn decide(world: &World, content: &ProposalContent, key: &str) -> Result<(), Rejection> {
    apply(world, request_of(world, content, &format!("admin/olga/proposal/{key}")))
}

#[test]
fn a_hold_wins_against_a_credit_that_was_prepared_and_loses_against_one_that_is_booked() {
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(3);
    world.scan_all();
    let before = seen(&world, payment);
    let prepared =
        world.with_rules(|rules| crediting::prepare_credits(rules, world.ledger(), world.rows(), 10)).unwrap();
    hold(&world, &before).unwrap();
    let booked = crediting::submit(prepared, world.ledger(), world.rows()).unwrap();
    assert_eq!((booked.credited.len(), world.balances(ALICES)), (0, [0; 4]));
    assert!(world.book().is_idle(), "it waits for people");
    assert_eq!((world.status(payment).as_str(), seen(&world, payment).stage.as_str()), ("on_hold", "held"));
    world.audit();
    decide(&world, &release(&seen(&world, payment)), "1").unwrap();
    assert_eq!(world.book().credited.len(), 1);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();

    // The other way around: decided on what was seen before the credit.
    let mut world = World::new();
    let payment = world.pay(ALICE, 1_125);
    world.mine(3);
    world.scan_all();
    let before = seen(&world, payment);
    world.book();
    assert_eq!(hold(&world, &before), Err(Rejection::GuardFailed));
    assert_eq!(review::hold(&seen(&world, payment), "k"), Err(ReviewRefusal::Booked));
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}

#[test]
fn a_deposit_in_suspense_is_assigned_once_and_stays_so() {
    let mut world = World::new();
    let payment = world.pay(STRANGER, 1_000);
    world.settle(3);
    assert_eq!(world.balances(BOBS), [0, 0, 1_000, 1_000]);
    let (to_bob, to_alice) = (assign(&seen(&world, payment), "bob"), assign(&seen(&world, payment), "alice"));
    let late = request_of(&world, &to_alice, "admin/olga/proposal/late");
    decide(&world, &to_bob, "1").unwrap();
    assert_eq!(world.balances(BOBS), [1_000, 0, 0, 1_000]);
    assert_eq!(world.status(payment), "credited");
    let found = seen(&world, payment);
    assert_eq!((found.server.as_deref(), found.wallet.as_deref()), (Some("arena"), Some("bob")));
    // Another proposal, built before or after; the first one again is answered and does nothing.
    assert_eq!(apply(&world, late), Err(Rejection::GuardFailed));
    assert_eq!(decide(&world, &to_bob, "2"), Err(Rejection::GuardFailed));
    assert_eq!(review::check(&found, &to_bob), Err(ReviewRefusal::NotInSuspense));
    assert_eq!(world.balances(BOBS), [1_000, 0, 0, 1_000]);
    world.settle(2);
    world.audit();
}

#[test]
fn a_reorganisation_takes_an_assignment_back_first_and_what_was_spent_is_the_players_debt() {
    let mut world = World::new();
    let payment = world.pay(STRANGER, 1_000);
    world.settle(3);
    let content = assign(&seen(&world, payment), "bob");
    decide(&world, &content, "1").unwrap();
    // Bob plays with 600 of it.
    let [from, to] = ["arena/unallocated/1/bob", "arena/funds/1/bob"].map(|text| text.parse().unwrap());
    let leg = Leg::Move { from: number(&world, &from), to: number(&world, &to), amount: Amount::new(600) };
    let mut allocate = request(Namespace::Registry, "allocate", vec![leg], Vec::new(), Vec::new());
    allocate.key.namespace = Namespace::System;
    allocate.principal = Principal::System;
    apply(&world, allocate).unwrap();
    world.spawn("bob", 600).effects().unwrap();

    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Returned });
    world.scan_all();
    let booked = world.book();
    assert_eq!((booked.reversed.len(), booked.refused.len(), booked.unproven.len()), (1, 0, 0), "{booked:?}");
    assert_eq!(world.balances(BOBS), [0, 600, 0, 0]);
    assert_eq!(world.balances(["arena/world/1"]), [600]);
    assert_eq!(world.status(payment), "reversed");
    world.audit();

    // In a block again: in suspense again. What was signed for the first inclusion is not for this one.
    world.settle(3);
    assert_eq!(world.balances(BOBS), [0, 600, 1_000, 1_000]);
    assert_eq!(review::check(&seen(&world, payment), &content), Err(ReviewRefusal::OtherInclusion(2)));
    assert_eq!(decide(&world, &content, "2"), Err(Rejection::GuardFailed));
    world.audit();
    decide(&world, &assign(&seen(&world, payment), "bob"), "3").unwrap();
    assert_eq!(world.balances(BOBS), [400, 0, 0, 1_000], "it repays the debt");
    world.audit();
}

#[test]
fn a_crash_between_the_two_reversals_leaves_the_second_to_the_next_step() {
    let mut world = World::new();
    let payment = world.pay(STRANGER, 1_000);
    world.settle(3);
    decide(&world, &assign(&seen(&world, payment), "bob"), "1").unwrap();
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Dropped });
    world.scan_all();
    let first = crediting::prepare_unassignments(world.rows(), 10).unwrap();
    assert!(crediting::prepare_reversals(world.rows(), 10).unwrap().requests.is_empty(), "the player's part first");
    crediting::submit(first, world.ledger(), world.rows()).unwrap();
    assert_eq!(world.balances(BOBS), [0, 0, 1_000, 1_000]);
    world.audit();
    world.restart();
    assert_eq!(world.book().reversed.len(), 1);
    assert_eq!(world.balances(BOBS), [0, 0, 0, 0]);
    assert!(world.book().is_idle());
    world.audit();
}

/// A chain with one provider, where 1,000 wei are too much for one word.
fn lonely() -> World {
    let mut world = World::new();
    let above = BTreeMap::from([(AssetId(1), Quantity::from(Amount::new(1_000)))]);
    world.config.rules.agreement = Some(ProviderAgreement { above, required: 2, providers: 1 });
    world
}

#[test]
fn a_release_lets_one_inclusion_through() {
    let mut world = lonely();
    let payment = world.pay(ALICE, 1_125);
    world.settle(3);
    let held = seen(&world, payment);
    assert_eq!((held.stage.as_str(), held.doubt.as_deref()), ("held", Some("one_provider")));
    assert!(review::hold(&held, "k").is_ok(), "a person may hold it as well");
    decide(&world, &release(&held), "1").unwrap();
    assert_eq!(review::check(&seen(&world, payment), &release(&held)), Err(ReviewRefusal::NotWaiting));
    // Before the books looked the chain replaces the block: the next inclusion is another question.
    world.chain().reorg(Reorg { depth: 3, length: 3, fate: Fate::Kept });
    world.settle(3);
    assert_eq!((seen(&world, payment).stage.as_str(), world.balances(ALICES)), ("held", [0; 4]));
    world.audit();
    assert_eq!(decide(&world, &release(&held), "2"), Err(Rejection::GuardFailed));
    decide(&world, &release(&seen(&world, payment)), "3").unwrap();
    assert_eq!(world.book().credited.len(), 1);
    assert_eq!(world.balances(ALICES), [1_000, 25, 100, 0]);
    world.audit();
}

#[test]
fn what_people_refuse_is_nobodys_until_they_release_it() {
    let mut world = lonely();
    let (large, stray) = (world.pay(ALICE, 1_125), world.pay(STRANGER, 50));
    world.settle(3);
    for (number, payment) in [("1", large), ("2", stray)] {
        let deposit = seen(&world, payment);
        decide(&world, &refuse(&deposit), number).unwrap();
        assert_eq!(world.status(payment), "rejected");
        assert!(review::check(&seen(&world, payment), &refuse(&deposit)).is_err());
    }
    assert!(world.book().is_idle());
    assert_eq!((world.balances(ALICES), world.balances(BOBS)), ([0; 4], [0, 0, 50, 50]));
    let refused = seen(&world, stray);
    assert_eq!(review::check(&refused, &assign(&refused, "bob")), Err(ReviewRefusal::Refused));
    assert_eq!(decide(&world, &assign(&refused, "bob"), "3"), Err(Rejection::GuardFailed));
    world.audit();
    decide(&world, &release(&refused), "4").unwrap();
    decide(&world, &assign(&seen(&world, stray), "bob"), "5").unwrap();
    decide(&world, &release(&seen(&world, large)), "6").unwrap();
    world.book();
    assert_eq!((world.balances(ALICES), world.balances(BOBS)), ([1_000, 25, 100, 0], [50, 0, 0, 1_175]));
    world.audit();
}

#[test]
fn a_decision_that_somebody_wrote_into_a_row_moves_nothing_and_the_audit_names_it() {
    let forged = [
        ("review_state = 'released', review_epoch = 1", "column review_state says"),
        ("review_state = 'held'", "column review_state says"),
        ("review_state = 'cleared'", "column review_state says"),
        ("review_state = 'released', review_epoch = 1, review_by = 'admin/olga/proposal/9'", "column review_by says"),
        // A genuine record, of another deposit.
        ("review_state = 'released', review_epoch = 1, review_by = 'admin/olga/proposal/1'", "column review_by says"),
        ("assigned_by = 'admin/olga/proposal/1'", "column assigned_by says"),
    ];
    for (set, expected) in forged {
        let mut world = lonely();
        let (mine, other) = (world.pay(ALICE, 1_125), world.pay(BOB, 1_130));
        world.settle(3);
        decide(&world, &release(&seen(&world, other)), "1").unwrap();
        world.book();
        world.audit();
        edit(&world, &format!("UPDATE deposits SET {set} WHERE tx_hash = '{mine:#x}'"));
        let found = audited(&world).unwrap_err();
        assert!(found.contains(expected), "{set}: {found}");
        let booked = world.book();
        assert_eq!((booked.credited.len(), world.balances(ALICES)[0]), (0, 0), "{set}");
    }
}

#[test]
fn a_row_that_calls_suspense_credited_takes_nothing_from_anybody() {
    let mut world = World::new();
    let payment = world.pay(STRANGER, 1_000);
    world.settle(3);
    edit(&world, "UPDATE deposits SET ledger_state = 'credited', credited_server = 'arena', credited_wallet = 'bob'");
    let found = audited(&world).unwrap_err();
    assert!(found.contains("column ledger_state says"), "{found}");
    world.chain().reorg(Reorg { depth: 3, length: 4, fate: Fate::Dropped });
    world.scan_all();
    let booked = world.book();
    assert_eq!((booked.reversed.len(), booked.unproven.len()), (0, 1), "{booked:?}");
    assert_eq!(seen(&world, payment).ledger_state.as_str(), "credited");
}

#[test]
fn a_request_is_a_proposal_carried_out_only_if_it_does_exactly_that() {
    let mut world = World::new();
    let payment = world.pay(STRANGER, 1_000);
    world.settle(3);
    let deposit = seen(&world, payment);
    let (content, key) = (assign(&deposit, "bob"), "admin/olga/proposal/1");
    let honest = request_of(&world, &content, key);
    let is = |content: &ProposalContent, request: &Request| {
        review::is_carried_out_by(world.reader(), content, request).unwrap()
    };
    assert!(is(&content, &honest));
    let alices = number(&world, &"arena/unallocated/1/alice".parse().unwrap());
    let suspense = number(&world, &"@house/suspense/1".parse().unwrap());
    let bobs = number(&world, &"arena/unallocated/1/bob".parse().unwrap());
    let leg = |to: AccountId, amount: u128| Leg::Move { from: suspense, to, amount: Amount::new(amount) };
    type Edit<'a> = Box<dyn Fn(&mut Request) + 'a>;
    let edits: [(&str, Edit<'_>); 8] = [
        ("another account", Box::new(|request| request.action = Action::Legs(vec![leg(alices, 1_000)]))),
        ("less", Box::new(|request| request.action = Action::Legs(vec![leg(bobs, 999)]))),
        ("twice", Box::new(|request| request.action = Action::Legs(vec![leg(bobs, 1_000), leg(bobs, 1_000)]))),
        ("nothing", Box::new(|request| request.action = Action::Legs(Vec::new()))),
        ("no fact", Box::new(|request| request.facts.clear())),
        ("two facts", Box::new(|request| request.facts.extend(request.facts.clone()))),
        ("no guard", Box::new(|request| request.facts[0].guard = bankroll_ledger::Guard::Is(Vec::new()))),
        ("another key", Box::new(|request| request.key.text = "admin/olga/proposal/2".into())),
    ];
    for (what, change) in edits {
        let mut forged = honest.clone();
        change(&mut forged);
        assert!(!is(&content, &forged), "{what}");
    }
    // What people signed is another thing.
    assert!(!is(&assign(&deposit, "alice"), &honest));
    assert!(!is(&release(&deposit), &honest));
    let ProposalContent::AssignDeposit { deposit, inclusion, server, player, reason, .. } = content.clone() else {
        panic!("an assignment")
    };
    let amount = Amount::new(999);
    let less = ProposalContent::AssignDeposit { deposit, inclusion, amount, server, player, reason };
    assert!(!is(&less, &request_of(&world, &less, key)), "the scanner saw 1,000");
}
