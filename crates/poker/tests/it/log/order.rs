//! Independent messages in any order give the same state.

use bankroll_poker::log::{LogHash, SubmitVerdict};

use super::test_table::{Secp, TestTable};
use crate::run;

/// Sends the duties of all parties of each round, in some order that keeps each author's own.
fn dealt_in_some_order(seed: u64, order: u64) -> TestTable {
    let mut table = TestTable::<Secp>::small(seed, &[1_000, 1_000, 1_000], 2);
    // The parties' randomness is the table's, and must not depend on the order: all duties are made before any is sent.
    let mut dice = fastrand::Rng::with_seed(order);
    loop {
        let mut queues: Vec<Vec<Vec<u8>>> = (0..table.parties.len()).map(|place| table.duties(place)).collect();
        queues.iter_mut().for_each(|queue| queue.reverse());
        if queues.iter().all(Vec::is_empty) {
            return table;
        }
        while !queues.iter().all(Vec::is_empty) {
            let place = dice.usize(0..queues.len());
            if let Some(bytes) = queues[place].pop() {
                table.accepted(&bytes);
            }
        }
    }
}

#[test]
fn independent_messages_in_any_order_give_the_same_state() {
    for seed in run::rounds(2) {
        let tables: Vec<TestTable> = (0..4).map(|order| dealt_in_some_order(seed, order)).collect();
        let states: Vec<LogHash> = tables.iter().map(|table| table.log.table().state_hash()).collect();
        assert_eq!(states, [states[0]; 4], "seed {seed}");
        assert_ne!(tables[0].log.head(), tables[1].log.head(), "the orders were different, seed {seed}");
    }
}

#[test]
fn shares_of_one_card_do_not_wait_for_another() {
    let mut table = TestTable::<Secp>::small(31, &[1_000, 1_000], 2);
    table.shuffle();
    // The second shuffler blinds everything first; then the first, last card first as far as its own order allows.
    for place in [1, 0] {
        for bytes in table.duties(place) {
            table.accepted(&bytes);
        }
    }
    let unblindings: Vec<Vec<u8>> = table.duties(1);
    assert_eq!(unblindings.len(), 4);
    for bytes in &unblindings {
        assert!(matches!(table.send(bytes), SubmitVerdict::Accepted(_)));
    }
    table.work();
    assert!(table.hand().legal().is_some());
}
