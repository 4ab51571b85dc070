//! Findings of the security review, each carried out: the stories assert what is wrong today, by the finding's number.
//! The change that corrects a finding turns its story around.

use bankroll_chains_simulated::U256;
use bankroll_ledger::{Amount, ColumnValue};
use bankroll_store::columns::{one, text};

use crate::world::{ALICE, World, hot};

/// D1: crediting believes amount and player of the deposit's row, so an edit before finality makes money, and the
/// audit passes. A row that differs from its observation and its chain event should be held, and nothing credited.
#[test]
fn d1_a_deposit_that_is_edited_before_it_is_final_is_credited_as_edited() {
    let mut world = World::new();
    world.pay(ALICE, 2_000);
    world.mine(1);
    world.scan_all();
    let edit = "UPDATE deposits SET amount = $1, wallet = $2";
    let values = vec![ColumnValue::Amount(Amount::new(9_000_000)), text("mallory")];
    world.rows().write(vec![one(edit, values)]).unwrap();
    world.settle(2);
    assert_eq!(world.balances(["arena/funds/1/mallory", "arena/unallocated/1/mallory"]), [1_000, 8_998_875]);
    assert_eq!(world.balances(["arena/funds/1/alice", "arena/unallocated/1/alice"]), [0, 0]);
    assert_eq!(world.balances(["@house/custody/1/hot"]), [9_000_000]);
    assert_eq!(world.chain().balance(hot().0.into()), U256::from(2_000));
    world.audit();
}
