//! From an intent to money on the chain.

use bankroll_ledger::{
    Action, Amount, ColumnValue, IdempotencyKey, Leg, Namespace, Principal, References, Rejection, Request, Scope,
    Settler, Time,
};
use bankroll_store::{
    NewInboxRow, PAYOUT_EVENTS,
    columns::{one, text},
};
use bankroll_withdrawals::{
    Asker, GasPayer, IntentError, Intents, PayoutOutcome, StepResult, WaitReason, WithdrawalRequest,
};
use serde_json::json;

use crate::world::{ETHER, GWEI, SECOND, TRANSFER_GAS, World, home, name, paid, wallet};

const ALICE: &str = "arena/funds/1/alice";

#[test]
fn an_intent_is_held_signed_sent_mined_and_settled() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), 3 * ETHER);
    assert_eq!(world.standing(ALICE), (10 * ETHER, 3 * ETHER));
    assert_eq!(world.status(&intent), "approved");
    let stages: Vec<StepResult> = (0..4).map(|_| world.step().pop().unwrap().1).collect();
    let [
        StepResult::Reserved { nonce: 0 },
        StepResult::Prepared,
        StepResult::Signed { attempt: 1, .. },
        StepResult::Sent { .. },
    ] = &stages[..]
    else {
        panic!("{stages:?}")
    };
    world.mine(1);
    assert_eq!(world.step().pop().unwrap().1, StepResult::Mined);
    world.mine(1);
    assert_eq!(world.step().pop().unwrap().1, StepResult::Waits(WaitReason::Time));
    world.mine(1);
    assert_eq!(world.step().pop().unwrap().1, StepResult::Ended(PayoutOutcome::Paid));
    assert_eq!(world.standing(ALICE), (10 * ETHER, 3 * ETHER));
    world.settle();
    assert_eq!((world.standing(ALICE), world.status(&intent).as_str()), ((7 * ETHER, 0), "completed"));
    assert_eq!(world.paid(home(1), 3 * ETHER), 1);
    let gas = TRANSFER_GAS * world.chain().block(1).unwrap().transactions[0].gas_price;
    assert_eq!(world.standing("@house/network_fees/1"), (gas, 0));
    assert_eq!(world.standing("@house/custody/1/hot"), (13 * ETHER - gas, 0));
    world.audit_at_rest();
    let events = world.rows().reader().events_after(bankroll_ledger::Seq(0), 10).unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["withdrawal.created", "withdrawal.completed"]);
}

#[test]
fn a_player_who_pays_for_gas_gets_back_what_it_did_not_cost() {
    let mut world = World::with_house(0);
    let cap = TRANSFER_GAS * 100 * GWEI;
    let withdrawal =
        WithdrawalRequest { gas: GasPayer::Player(Amount::new(cap)), ..world.withdrawal("exit-1", home(1), ETHER) };
    let intent = world.request(&withdrawal).unwrap();
    assert_eq!(world.standing(ALICE), (10 * ETHER, ETHER + cap));
    world.finish();
    let gas = 14 * ETHER - u128::try_from(world.chain().balance(wallet().0.into())).unwrap();
    assert!(gas > TRANSFER_GAS && gas < cap, "{gas}");
    assert_eq!((world.standing(ALICE), world.status(&intent.id).as_str()), ((9 * ETHER - gas, 0), "completed"));
    assert_eq!(world.standing("@house/network_fees/1"), (0, 0));
    world.audit_at_rest();
}

#[test]
fn the_same_request_is_the_same_intent_and_another_under_its_name_is_refused() {
    let mut world = World::new();
    let withdrawal = world.withdrawal("exit-1", home(1), ETHER);
    let first = world.request(&withdrawal).unwrap();
    assert_eq!(world.request(&withdrawal).unwrap(), first);
    let other = world.request(&world.withdrawal("exit-1", home(2), ETHER));
    assert!(matches!(other, Err(IntentError::Rejected(Rejection::KeyReused))), "{other:?}");
    let short = world.request(&world.withdrawal("exit-2", home(2), 9 * ETHER + 1));
    assert!(matches!(short, Err(IntentError::Rejected(Rejection::InsufficientFunds))), "{short:?}");
    world.finish();
    assert_eq!(world.request(&withdrawal).unwrap(), first);
    assert_eq!((world.paid(home(1), ETHER), world.payments().len()), (1, 1));
    world.audit_at_rest();
}

#[test]
fn an_exit_moves_out_of_the_world_and_holds_in_one_commit() {
    let mut world = World::new();
    let (funds, arena) = (world.account(ALICE), world.account("arena/world/1"));
    let key =
        IdempotencyKey { namespace: Namespace::Client, scope: Scope::Server(name("arena")), text: "spawn".into() };
    let leg = Leg::Move { from: funds, to: arena, amount: Amount::new(4 * ETHER) };
    world.apply(key, Principal::GameServer(name("arena")), leg);
    let exit = |request: &str, amount| WithdrawalRequest {
        exit: Some(Amount::new(amount).into()),
        ..world.withdrawal(request, home(1), amount)
    };
    let too_much = world.request(&exit("exit-1", 5 * ETHER));
    assert!(matches!(too_much, Err(IntentError::Rejected(Rejection::InsufficientFunds))), "{too_much:?}");
    assert_eq!((world.standing(ALICE), world.standing("arena/world/1")), ((6 * ETHER, 0), (4 * ETHER, 0)));
    world.request(&exit("exit-2", 3 * ETHER)).unwrap();
    assert_eq!((world.standing(ALICE), world.standing("arena/world/1")), ((9 * ETHER, 3 * ETHER), (ETHER, 0)));
    world.finish();
    assert_eq!((world.paid(home(1), 3 * ETHER), world.standing(ALICE)), (1, (6 * ETHER, 0)));
}

#[test]
fn above_the_limit_a_payout_needs_an_approval_first() {
    let mut world = World::new();
    world.policy.at_once = Amount::new(ETHER);
    let large = world.request(&world.withdrawal("exit-1", home(1), ETHER + 1)).unwrap();
    let small = world.request(&world.withdrawal("exit-2", home(2), ETHER)).unwrap();
    assert_eq!((large.is_approved, small.is_approved), (false, true));
    world.finish();
    assert_eq!(world.status(&large.id), "awaiting_approval");
    assert_eq!(world.status(&small.id), "completed");
    assert_eq!((world.payments().len(), world.standing(ALICE)), (1, (9 * ETHER, ETHER + 1)));
}

#[test]
fn many_payouts_of_one_wallet_go_out_in_order_of_their_nonces() {
    let mut world = World::new();
    let intents: Vec<_> =
        (1..=12_u8).map(|n| world.alice(&format!("exit-{n}"), home(n), ETHER / 2 + u128::from(n))).collect();
    world.finish();
    for (intent, n) in intents.iter().zip(1_u8..) {
        assert_eq!(world.status(intent), "completed");
        assert_eq!(world.paid(home(n), ETHER / 2 + u128::from(n)), 1);
    }
    world.audit_at_rest();
    assert_eq!(world.chain().nonce(wallet().0.into()), 12);
}

#[test]
fn a_hold_that_was_not_noted_is_found_in_the_journal() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    let forget = bankroll_store::columns::one("UPDATE withdrawal_requests SET hold = NULL", vec![]);
    world.rows().write(vec![forget]).unwrap();
    world.step_until(crate::world::sent);
    world.mine(3);
    world.step_until(paid);
    world.settle();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("completed", (9 * ETHER, 0)));
}

#[test]
fn only_the_hold_of_the_intent_itself_is_posted_whatever_other_requests_claim() {
    let mut world = World::new();
    let named = Intents::id(&name("arena"), &Asker::GameServer, &name("exit-1"));
    // Bob's money is held a dozen times under the name of an intent that is still to come.
    let bob = world.account("arena/funds/1/bob");
    for number in 0..12 {
        let hold = Leg::Hold { account: bob, amount: Amount::new(ETHER / 10), expires: None, settler: Settler::System };
        let key = IdempotencyKey {
            namespace: Namespace::System,
            scope: Scope::Server(name("arena")),
            text: format!("forged-{number}"),
        };
        let request = Request {
            key,
            // No other principal can hold under the name of an intent without its row.
            principal: Principal::System,
            confirmation: None,
            action: Action::Legs(vec![hold]),
            references: References { intent: Some(named.to_string()), ..References::default() },
            facts: vec![],
            events: vec![],
        };
        world.ledger().apply(request).unwrap().effects().unwrap();
    }
    let intent = world.alice("exit-1", home(1), ETHER / 10);
    assert_eq!(intent, named);
    // The process died before the hold was noted.
    world.rows().write(vec![one("UPDATE withdrawal_requests SET hold = NULL", vec![])]).unwrap();
    world.finish();
    assert_eq!(world.status(&intent), "completed");
    assert_eq!(world.standing(ALICE), (10 * ETHER - ETHER / 10, 0));
    assert_eq!(world.standing("arena/funds/1/bob"), (5 * ETHER, 12 * (ETHER / 10)));
    world.audit_at_rest();
}

#[test]
fn what_is_paid_is_posted_to_a_wallet_and_to_no_other_account() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    let report = NewInboxRow {
        id: format!("{intent}/outcome"),
        kind: "payout.ended".into(),
        subject: intent.to_string(),
        body: json!({ "outcome": "paid", "tx_hash": null, "block": null, "fee": "0", "custody": "@house/house/1" })
            .to_string(),
        node: "taken over".into(),
        created_at: Time(world.now),
    };
    world.rows().write(vec![PAYOUT_EVENTS.insert(&report)]).unwrap();
    world.settle();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("approved", (10 * ETHER, ETHER)));
    let states = world.pairs("SELECT state AS a, coalesce(reason, '') AS b FROM payout_events");
    assert_eq!(states, [("refused".into(), "it names no account of a wallet".into())]);
}

#[test]
fn an_edited_row_is_not_paid_and_continues_when_it_is_corrected() {
    let (attackers, much) = (home(0xee), Amount::new(9 * ETHER));
    let to = || vec![text(&attackers.to_string())];
    let edits: [(&str, &str, Vec<ColumnValue>); 5] = [
        ("withdrawal_requests", "to_address", to()),
        ("withdrawal_requests", "amount", vec![ColumnValue::Amount(much)]),
        ("withdrawal_requests", "status", vec![text("approved")]),
        ("withdrawal_queue", "to_address", to()),
        ("withdrawal_queue", "amount", vec![ColumnValue::Amount(much)]),
    ];
    for (table, column, value) in edits {
        let mut world = World::new();
        let is_status = column == "status";
        world.policy.at_once = Amount::new(if is_status { 0 } else { 20 * ETHER });
        let intent = world.alice("exit-1", home(1), ETHER);
        if table == "withdrawal_queue" {
            world.config.rules.in_flight_max = 0;
            assert_eq!(world.step().pop().unwrap().1, StepResult::Waits(WaitReason::OthersFirst));
            world.config.rules.in_flight_max = 8;
        }
        let edit = |world: &World, values: Vec<ColumnValue>| {
            world.rows().write(vec![one(&format!("UPDATE {table} SET {column} = $1"), values)]).unwrap();
        };
        edit(&world, value);
        let waits = world.step_until(|result| matches!(result, StepResult::Waits(_)));
        assert_eq!(waits, StepResult::Waits(WaitReason::NotAsDecided), "{table}.{column}");
        world.finish();
        assert_eq!((world.payments().len(), world.standing(ALICE)), (0, (10 * ETHER, ETHER)), "{table}.{column}");
        if is_status {
            continue;
        }
        edit(
            &world,
            if column == "amount" {
                vec![ColumnValue::Amount(Amount::new(ETHER))]
            } else {
                vec![text(&home(1).to_string())]
            },
        );
        world.pass(3_600 * SECOND);
        world.finish();
        assert_eq!((world.status(&intent).as_str(), world.paid(home(1), ETHER)), ("completed", 1), "{table}.{column}");
        world.audit_at_rest();
    }
}

#[test]
fn a_player_who_owes_a_deposit_that_the_chain_took_back_is_not_paid_until_it_is_repaid() {
    let mut world = World::new();
    let debt = "arena/debt/1/alice";
    world.account(debt);
    let alices = world.alice("exit-1", home(1), ETHER);
    let credit = world.gift_to(ALICE);
    world.reverse(credit);
    // Nine of her ten coins were there to be taken; the tenth is held for the payout.
    assert_eq!((world.standing(ALICE), world.standing(debt)), ((ETHER, ETHER), (ETHER, 0)));
    let bobs = WithdrawalRequest {
        account: "arena/funds/1/bob".parse().unwrap(),
        ..world.withdrawal("exit-2", home(2), ETHER)
    };
    let bobs = world.request(&WithdrawalRequest { wallet: name("bob"), ..bobs }).unwrap().id;
    world.step_until(|result| *result == StepResult::Waits(WaitReason::InDebt));
    world.finish();
    assert_eq!((world.status(&alices).as_str(), world.status(&bobs).as_str()), ("approved", "completed"));
    assert_eq!(world.paid(home(1), ETHER), 0);
    // The next deposit repays it.
    world.give(ALICE, 2 * ETHER, "again");
    assert_eq!((world.standing(ALICE), world.standing(debt)), ((2 * ETHER, ETHER), (0, 0)));
    world.pass(3_600 * SECOND);
    world.finish();
    assert_eq!((world.status(&alices).as_str(), world.paid(home(1), ETHER)), ("completed", 1));
    world.audit();
}

#[test]
fn a_row_that_was_edited_in_flight_is_not_settled() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| matches!(result, StepResult::Sent { .. }));
    let edit = |world: &World, amount: u128| {
        let amount = vec![ColumnValue::Amount(Amount::new(amount))];
        world.rows().write(vec![one("UPDATE withdrawal_requests SET amount = $1", amount)]).unwrap();
    };
    // All but a wei would be refunded to a player who is paid.
    edit(&world, 1);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("approved", (10 * ETHER, ETHER)));
    edit(&world, ETHER);
    world.pass(3_600 * SECOND);
    world.finish();
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("completed", (9 * ETHER, 0)));
    world.audit_at_rest();
}
