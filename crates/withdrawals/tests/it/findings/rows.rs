//! Rows that are edited behind the flow's back.

use bankroll_ledger::{Amount, ColumnValue, Time};
use bankroll_store::{
    NewInboxRow, PAYOUT_EVENTS,
    columns::{one, text},
};
use bankroll_withdrawals::StepResult;
use serde_json::json;

use super::pair;
use crate::world::{ETHER, World, home, sent, wallet};

const ALICE: &str = "arena/funds/1/alice";

/// F1: the order is made of the job's row as it is when the signer is asked, so an edit after `Prepared` redirects the
/// payout, and the audit passes. The order should be made of the journal's request, and the edited job should wait.
#[test]
fn f1_a_job_that_is_edited_after_it_is_prepared_pays_another_address() {
    let mut world = World::new();
    let intent = world.alice("exit-1", home(1), ETHER);
    world.step_until(|result| *result == StepResult::Prepared);
    let edit = "UPDATE withdrawal_queue SET to_address = $1, amount = $2";
    let values = vec![text(&home(0xee).to_string()), ColumnValue::Amount(Amount::new(9 * ETHER))];
    world.rows().write(vec![one(edit, values)]).unwrap();
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.paid(home(0xee), 9 * ETHER), world.payments().len()), (0, 1, 1));
    assert_eq!((world.status(&intent).as_str(), world.standing(ALICE)), ("completed", (9 * ETHER, 0)));
    let on_chain = u128::try_from(world.chain().balance(wallet().0.into())).unwrap();
    assert_eq!(world.standing("@house/custody/1/hot").0 - on_chain, 8 * ETHER, "the books expect more than there is");
    world.audit();
}

/// F10: settlement believes any row of `payout_events`, so an invented `never_signed` refunds a payout that is in
/// flight: Alice has 10 coins and gets 11. The refund should need the signer's proof, and the row's id should be the
/// intent's own.
#[test]
fn f10_an_invented_outcome_refunds_a_payout_that_is_in_flight() {
    let mut world = World::new();
    let first = world.alice("exit-1", home(1), ETHER);
    world.step_until(sent);
    let body = json!({
        "outcome": "never_signed", "tx_hash": null, "block": null, "fee": "0", "custody": "@house/custody/1/hot",
    });
    let invented = NewInboxRow {
        id: "invented".into(),
        kind: "payout.ended".into(),
        subject: first.to_string(),
        body: body.to_string(),
        node: "test".into(),
        created_at: Time(world.now),
    };
    world.rows().write(vec![PAYOUT_EVENTS.insert(&invented)]).unwrap();
    world.settle();
    assert_eq!((world.status(&first).as_str(), world.standing(ALICE)), ("failed never_signed", (10 * ETHER, 0)));
    let second = world.alice("exit-2", home(2), 10 * ETHER);
    world.finish();
    assert_eq!((world.paid(home(1), ETHER), world.paid(home(2), 10 * ETHER)), (1, 1));
    assert_eq!((world.status(&first).as_str(), world.status(&second).as_str()), ("failed never_signed", "completed"));
    let events = world.pairs("SELECT id AS a, state AS b FROM payout_events ORDER BY created_at, id");
    let [of_first, of_second] = [first, second].map(|intent| format!("{intent}/outcome"));
    assert_eq!(events, [pair("invented", "applied"), pair(&of_first, "new"), pair(&of_second, "applied")]);
    world.audit();
}
