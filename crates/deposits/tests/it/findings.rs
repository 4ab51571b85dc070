//! Findings of the security review, each carried out: what was wrong then is refused now.

use bankroll_chains_simulated::U256;
use bankroll_deposits::{EvidenceFault, audit};
use bankroll_ledger::{Amount, ColumnValue};
use bankroll_store::columns::{one, text};

use crate::world::{ALICE, World, hot};

/// D1: crediting believed amount and player of the deposit's row, so an edit before finality made money, and the
/// audit passed.
#[test]
fn d1_a_deposit_that_is_edited_before_it_is_final_is_not_credited_and_the_audit_names_it() {
    let mut world = World::new();
    world.pay(ALICE, 2_000);
    world.mine(1);
    world.scan_all();
    let edit = "UPDATE deposits SET amount = $1, wallet = $2";
    let values = vec![ColumnValue::Amount(Amount::new(9_000_000)), text("mallory")];
    world.rows().write(vec![one(edit, values)]).unwrap();
    world.mine(2);
    world.scan_all();
    let booked = world.book();
    let faults: Vec<&EvidenceFault> = booked.unproven.iter().map(|(_, fault)| fault).collect();
    assert_eq!(faults, [&EvidenceFault::RowDiffers { column: "wallet" }]);
    assert!(world.book().is_idle(), "it is not tried again and again");
    assert_eq!(world.balances(["arena/funds/1/mallory", "arena/unallocated/1/mallory"]), [0, 0]);
    assert_eq!(world.balances(["@house/custody/1/hot"]), [0]);
    assert_eq!(world.chain().balance(hot().0.into()), U256::from(2_000));
    let found = audit::run(world.reader()).unwrap_err().to_string();
    assert!(found.contains("column wallet is not what the scanner saw"), "{found}");
    // The next deposit is credited all the same.
    world.pay(ALICE, 1_125);
    world.settle(3);
    assert_eq!(world.balances(["arena/funds/1/alice"]), [1_000]);
}
