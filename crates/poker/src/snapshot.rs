//! The snapshot of sequence 0: everything that is settled before the first card, and nothing that comes later.
//!
//! A snapshot that exists is sound: it is checked when made and again when read from bytes. It does not know names,
//! keys or money; those belong to the log and the tables.

use serde::{Deserialize, Serialize};

use crate::{CardPlan, Chips, Seat, TableRules};

/// A seat that takes part, with what it has in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatStack {
    pub seat: Seat,
    /// Its chips before the hand.
    pub stack: Chips,
}

/// What a hand begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Snapshot {
    rules: TableRules,
    /// By number, smallest first.
    seats: Vec<SeatStack>,
    button: Seat,
    plan: CardPlan,
}

/// The same, as it comes from outside.
#[derive(Deserialize)]
struct Unchecked {
    rules: TableRules,
    seats: Vec<SeatStack>,
    button: Seat,
    plan: CardPlan,
}

/// Why a hand cannot begin with this snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Fewer than two or more than ten.
    #[error("a hand has 2 to 10 seats, not {seats}")]
    SeatCount { seats: usize },
    /// Not in ascending order, or one twice.
    #[error("{seat} is out of order or there twice")]
    SeatOrder {
        /// The first such seat.
        seat: Seat,
    },
    /// Nothing to play with.
    #[error("{seat} has no chips")]
    EmptyStack { seat: Seat },
    /// The stacks do not fit 64 bits together.
    #[error("the stacks together exceed 2^64 - 1 chips")]
    TooManyChips,
    /// The button is at a seat that takes no part.
    #[error("the button is at {button}, which takes no part")]
    ButtonEmpty { button: Seat },
    /// The big blind is nothing, or the small blind more than it.
    #[error("blinds of {small} and {big}: the big one is at least one chip, the small one no more than it")]
    Blinds { small: Chips, big: Chips },
    /// More than all of it.
    #[error("a rake of {bps} basis points is more than the pot")]
    Rake { bps: u16 },
    /// Not the plan that follows from seats, button and rules.
    #[error("the card plan is not the one that follows from the seats and the button")]
    Plan,
}

pub(crate) const SEATS: std::ops::RangeInclusive<usize> = 2..=10;

impl Snapshot {
    /// A hand of these seats, in ascending order, with the button at one of them.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn new(rules: TableRules, seats: Vec<SeatStack>, button: Seat) -> Result<Self, SnapshotError> {
        if !SEATS.contains(&seats.len()) {
            return Err(SnapshotError::SeatCount { seats: seats.len() });
        }
        if let Some((_, late)) = seats.iter().zip(seats.iter().skip(1)).find(|(seat, next)| seat.seat >= next.seat) {
            return Err(SnapshotError::SeatOrder { seat: late.seat });
        }
        if let Some(empty) = seats.iter().find(|seated| seated.stack.is_zero()) {
            return Err(SnapshotError::EmptyStack { seat: empty.seat });
        }
        Chips::checked_sum(seats.iter().map(|seated| seated.stack)).ok_or(SnapshotError::TooManyChips)?;
        if !seats.iter().any(|seated| seated.seat == button) {
            return Err(SnapshotError::ButtonEmpty { button });
        }
        let (small, big) = (rules.small_blind, rules.big_blind);
        if big.is_zero() || small > big {
            return Err(SnapshotError::Blinds { small, big });
        }
        if rules.rake.bps > 10_000 {
            return Err(SnapshotError::Rake { bps: rules.rake.bps });
        }
        let plan = CardPlan::new(&clockwise(&seats, button).map(|seated| seated.seat).collect::<Vec<_>>(), rules.burns);
        Ok(Self { rules, seats, button, plan })
    }

    #[must_use]
    pub fn rules(&self) -> &TableRules {
        &self.rules
    }

    #[must_use]
    pub fn seats(&self) -> &[SeatStack] {
        &self.seats
    }

    /// The seats in the order of play: left of the button first, the button last.
    pub fn in_order(&self) -> impl Iterator<Item = SeatStack> {
        clockwise(&self.seats, self.button)
    }

    /// Who has the button.
    #[must_use]
    pub fn button(&self) -> Seat {
        self.button
    }

    /// Whose card lies where in the deck.
    #[must_use]
    pub fn plan(&self) -> &CardPlan {
        &self.plan
    }

    /// All chips of the hand.
    #[must_use]
    pub fn chips(&self) -> Chips {
        Chips::sum(self.seats.iter().map(|seated| seated.stack))
    }
}

fn clockwise(seats: &[SeatStack], button: Seat) -> impl Iterator<Item = SeatStack> {
    let after = seats.iter().filter(move |seated| seated.seat > button);
    let before = seats.iter().filter(move |seated| seated.seat <= button);
    after.chain(before).copied()
}

impl TryFrom<Unchecked> for Snapshot {
    type Error = SnapshotError;

    fn try_from(unchecked: Unchecked) -> Result<Self, SnapshotError> {
        let Unchecked { rules, seats, button, plan } = unchecked;
        let snapshot = Self::new(rules, seats, button)?;
        if snapshot.plan == plan { Ok(snapshot) } else { Err(SnapshotError::Plan) }
    }
}
