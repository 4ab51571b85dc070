//! A seat within a hand.

use serde::Serialize;

use crate::{Card, Chips, Seat};

/// A seat and its chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Player {
    pub seat: Seat,
    /// Chips behind.
    pub stack: Chips,
    /// Chips before it on this street; antes are not among them.
    pub committed: Chips,
    /// All of its chips in the middle, antes and this street included.
    pub total: Chips,
    /// What the bet was when it last acted on this street, if it has.
    pub faced: Option<Chips>,
    /// Whether it can still win.
    pub status: SeatStatus,
}

/// Whether a seat can still win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SeatStatus {
    /// It holds cards that are not shown.
    In,
    /// It gave up while there was betting.
    Folded,
    /// It showed these at the showdown.
    Shown([Card; 2]),
    /// It gave up at the showdown, as so many did before it.
    Mucked {
        /// How many had mucked before.
        after: u8,
    },
}

impl Player {
    /// Whether it has not folded.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.status != SeatStatus::Folded
    }

    /// Whether it can still bet.
    #[must_use]
    pub fn can_bet(&self) -> bool {
        self.is_live() && !self.stack.is_zero()
    }

    /// Whether it has neither folded nor mucked.
    #[must_use]
    pub fn is_contending(&self) -> bool {
        matches!(self.status, SeatStatus::In | SeatStatus::Shown(_))
    }

    /// The most that can lie before it on this street.
    #[must_use]
    pub fn reach(&self) -> Chips {
        self.committed.plus(self.stack)
    }

    /// Moves chips of the stack to this street's bet.
    pub(super) fn commit(&mut self, chips: Chips) {
        self.stack = self.stack.minus(chips);
        self.committed = self.committed.plus(chips);
        self.total = self.total.plus(chips);
    }

    /// Moves chips of the stack to the middle, as far as there are any. They are no bet.
    pub(super) fn ante(&mut self, chips: Chips) {
        let paid = chips.min(self.stack);
        self.stack = self.stack.minus(paid);
        self.total = self.total.plus(paid);
    }
}
