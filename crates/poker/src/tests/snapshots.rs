//! What a hand cannot begin with.

use crate::{Chips, Seat, SeatStack, Snapshot, SnapshotError, TableRules};

fn begin(stacks: &[(u8, u64)], button: u8, change: impl Fn(&mut TableRules)) -> Result<Snapshot, SnapshotError> {
    let mut rules = TableRules::cash(Chips::new(5), Chips::new(10));
    change(&mut rules);
    let seats = stacks.iter().map(|(seat, stack)| SeatStack { seat: Seat(*seat), stack: Chips::new(*stack) });
    Snapshot::new(rules, seats.collect(), Seat(button))
}

fn refused(stacks: &[(u8, u64)], button: u8, change: impl Fn(&mut TableRules), expected: SnapshotError) {
    assert_eq!(begin(stacks, button, change), Err(expected));
}

#[test]
fn two_to_ten_seats_in_order_with_chips_and_a_button() {
    let eleven: Vec<(u8, u64)> = (1..=11).map(|seat| (seat, 100)).collect();
    refused(&[(1, 100)], 1, |_| {}, SnapshotError::SeatCount { seats: 1 });
    refused(&eleven, 1, |_| {}, SnapshotError::SeatCount { seats: 11 });
    assert!(begin(&eleven[..10], 1, |_| {}).is_ok());
    refused(&[(1, 100), (1, 100)], 1, |_| {}, SnapshotError::SeatOrder { seat: Seat(1) });
    refused(&[(3, 100), (2, 100)], 3, |_| {}, SnapshotError::SeatOrder { seat: Seat(2) });
    refused(&[(1, 100), (2, 0)], 1, |_| {}, SnapshotError::EmptyStack { seat: Seat(2) });
    refused(&[(1, u64::MAX), (2, 1)], 1, |_| {}, SnapshotError::TooManyChips);
    refused(&[(1, 100), (2, 100)], 3, |_| {}, SnapshotError::ButtonEmpty { button: Seat(3) });
}

#[test]
fn blinds_and_a_rake_that_make_sense() {
    let two = [(1, 100), (2, 100)];
    let blinds = |small, big| {
        move |rules: &mut TableRules| (rules.small_blind, rules.big_blind) = (Chips::new(small), Chips::new(big))
    };
    refused(&two, 1, blinds(0, 0), SnapshotError::Blinds { small: Chips::ZERO, big: Chips::ZERO });
    refused(&two, 1, blinds(11, 10), SnapshotError::Blinds { small: Chips::new(11), big: Chips::new(10) });
    assert!(begin(&two, 1, blinds(0, 1)).is_ok() && begin(&two, 1, blinds(u64::MAX, u64::MAX)).is_ok());
    refused(&two, 1, |rules| rules.rake.bps = 10_001, SnapshotError::Rake { bps: 10_001 });
}
