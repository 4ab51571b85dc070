//! Paying out.

use serde::Serialize;

use super::{Hand, Phase, Player, SeatStatus};
use crate::{Card, Chips, Evaluator, Pot, Seat, Strength};

/// How a hand was paid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settlement {
    /// Pot by pot, main pot first.
    pub awards: Vec<Award>,
    /// What the house took in all.
    pub rake: Chips,
}

/// How one pot was paid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Award {
    /// The pot before rake.
    pub pot: Pot,
    /// What the house took from it.
    pub rake: Chips,
    /// Who won how much, left of the button first.
    pub winners: Vec<(Seat, Chips)>,
}

impl Hand {
    pub(super) fn settle(&mut self) {
        let rules = self.snapshot.rules().rake;
        let free = rules.no_flop_no_drop && self.board.is_empty();
        let mut left = if free { Chips::ZERO } else { rules.cap.unwrap_or(Chips::MAX) };
        let mut awards = Vec::new();
        for pot in self.pots() {
            let rake = pot.amount.basis_points(rules.bps).min(left);
            left = left.minus(rake);
            let winners = split(pot.amount.minus(rake), &self.winners(&pot));
            awards.push(Award { pot, rake, winners });
        }
        for player in &mut self.players {
            let won = awards.iter().flat_map(|award| &award.winners).filter(|(seat, _)| *seat == player.seat);
            player.stack = won.fold(player.stack, |stack, (_, chips)| stack.plus(*chips));
            (player.committed, player.total) = (Chips::ZERO, Chips::ZERO);
        }
        let rake = Chips::sum(awards.iter().map(|award| award.rake));
        self.phase = Phase::Settled(Settlement { awards, rake });
    }

    /// The best of the shown hands; if none was shown, the seat still in, or else the last to muck.
    fn winners(&self, pot: &Pot) -> Vec<Seat> {
        let eligible = || self.players.iter().filter(|player| pot.eligible.contains(&player.seat));
        let shown: Vec<(Seat, [Card; 2])> = eligible().filter_map(shown).collect();
        match shown.as_slice() {
            [] => eligible().max_by_key(|player| claim(player)).map(|player| player.seat).into_iter().collect(),
            [(seat, _)] => vec![*seat],
            several => {
                let best = several.iter().map(|(_, cards)| self.strength_of(*cards)).max();
                several
                    .iter()
                    .filter(|(_, cards)| Some(self.strength_of(*cards)) == best)
                    .map(|(seat, _)| *seat)
                    .collect()
            }
        }
    }

    fn strength_of(&self, [first, second]: [Card; 2]) -> Strength {
        let mut cards = [first; 7];
        let open = [first, second].into_iter().chain(self.board.iter().copied());
        // Hands are compared on a complete board only, so every place is filled.
        cards.iter_mut().zip(open).for_each(|(place, card)| *place = card);
        Evaluator::get().strength(&cards)
    }
}

fn shown(player: &Player) -> Option<(Seat, [Card; 2])> {
    match player.status {
        SeatStatus::Shown(cards) => Some((player.seat, cards)),
        _ => None,
    }
}

/// The order in which seats mucked; the seat with the largest number wins the pot.
fn claim(player: &Player) -> u8 {
    match player.status {
        SeatStatus::Mucked { after } => after,
        _ => u8::MAX,
    }
}

/// Equal shares; odd chips one by one from the first winner left of the button.
fn split(amount: Chips, winners: &[Seat]) -> Vec<(Seat, Chips)> {
    let (share, odd) = amount.divided_among(winners.len() as u64);
    let one_more = |place: u64| if place < odd.count() { share.plus(Chips::new(1)) } else { share };
    winners.iter().zip(0..).map(|(seat, place)| (*seat, one_more(place))).collect()
}
