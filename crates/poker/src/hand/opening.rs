//! Board cards.

use super::{Hand, HandRefusal, Phase, SeatStatus, Street};
use crate::{Card, CardSet, Chips, HandTime};

impl Hand {
    pub(super) fn board_opened(&mut self, cards: &[Card], at: HandTime) -> Result<(), HandRefusal> {
        let Phase::Opening { street, .. } = self.phase else { return Err(self.wrong_phase()) };
        let (wanted, given) = (street.cards(), cards.len());
        if wanted != given {
            return Err(HandRefusal::BoardCount { wanted, given });
        }
        self.with_open_cards(cards)?;
        self.board.extend(cards);
        if !self.is_run_out() {
            self.begin_betting(street, Chips::ZERO, at);
            return Ok(());
        }
        let all_shown = self.players.iter().all(|player| player.status != SeatStatus::In);
        match street.next() {
            Some(street) => self.await_board(street, at),
            None if all_shown => self.settle(),
            None => self.begin_showdown(None, false, None, at),
        }
        Ok(())
    }

    /// All open cards and these, which may not be among them.
    pub(super) fn with_open_cards(&self, cards: &[Card]) -> Result<CardSet, HandRefusal> {
        let shown = self.players.iter().filter_map(|player| match player.status {
            SeatStatus::Shown(cards) => Some(cards),
            _ => None,
        });
        let open = self.board.iter().copied().chain(shown.flatten()).chain(cards.iter().copied());
        CardSet::of_distinct(open).map_err(|card| HandRefusal::CardTwice { card })
    }

    /// The street whose cards are open.
    #[must_use]
    pub fn street(&self) -> Street {
        match self.board.len() {
            0 => Street::Preflop,
            3 => Street::Flop,
            4 => Street::Turn,
            _ => Street::River,
        }
    }
}
