//! The card plan: which place of the shuffled deck is whose card, fixed before the deck is shuffled.
//!
//! Two rounds beginning left of the button, then the board. Burns, if the rules have them, are places that are never
//! opened: against sealed cards they protect nothing, but some tables want their deck dealt as they know it.

use serde::{Deserialize, Serialize};

use crate::Seat;

/// Which place of the deck, from 0, is which card of the hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardPlan {
    hole: Vec<(Seat, [u8; 2])>,
    board: [u8; 5],
    burns: Vec<u8>,
}

impl CardPlan {
    /// The plan for these seats, given in order from the one left of the button to the button.
    #[must_use]
    pub fn new(seats: &[Seat], burns: bool) -> Self {
        let mut places = 0..u8::MAX;
        let mut next = || places.next().unwrap_or(u8::MAX);
        let first: Vec<u8> = seats.iter().map(|_| next()).collect();
        let hole = seats.iter().zip(first).map(|(seat, first)| (*seat, [first, next()])).collect();
        let (mut board, mut burned) = ([0; 5], Vec::new());
        for (at, place) in board.iter_mut().enumerate() {
            // One before the flop, the turn and the river.
            if burns && matches!(at, 0 | 3 | 4) {
                burned.push(next());
            }
            *place = next();
        }
        Self { hole, board, burns: burned }
    }

    #[must_use]
    pub fn hole(&self, seat: Seat) -> Option<[u8; 2]> {
        self.hole.iter().find(|(holder, _)| *holder == seat).map(|(_, places)| *places)
    }

    /// The seats and their places, from left of the button.
    #[must_use]
    pub fn holes(&self) -> &[(Seat, [u8; 2])] {
        &self.hole
    }

    /// The places of flop, turn and river.
    #[must_use]
    pub fn board(&self) -> [u8; 5] {
        self.board
    }

    /// The places that are skipped and never opened.
    #[must_use]
    pub fn burns(&self) -> &[u8] {
        &self.burns
    }

    /// How many places of the deck the plan uses.
    #[must_use]
    pub fn places(&self) -> usize {
        let [.., river] = self.board;
        usize::from(river).saturating_add(1)
    }
}
