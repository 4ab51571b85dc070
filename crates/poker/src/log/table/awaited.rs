//! Awaited actors, so that a hand that stops names those who stopped it.

use bankroll_deck::Curve;

use super::{Cards, Table};
use crate::{
    MissingParty, Phase, VoidCause,
    log::{Actor, MessageRejection},
};

impl<C: Curve> Table<C> {
    /// The actors that the cards wait for, each once: shufflers first, then seats. Empty while a seat is to act, or
    /// when the hand is over.
    #[must_use]
    pub fn awaited(&self) -> Vec<MissingParty> {
        let mut actors: Vec<Actor> = match (&self.cards, self.hand.phase()) {
            (_, Phase::Settled(_) | Phase::Void(_)) => Vec::new(),
            (Cards::Keys(members), _) => self.config.actors().filter(|actor| !members.contains_key(actor)).collect(),
            (Cards::Shuffling(shuffling), _) => shuffling.next().map(Actor::Shuffler).into_iter().collect(),
            (Cards::Dealing(deal), _) => {
                let waiting = self.due_positions().into_iter().flat_map(|position| deal.awaited(position));
                waiting.map(|(shuffler, _)| Actor::Shuffler(shuffler)).collect()
            }
        };
        actors.sort_unstable();
        actors.dedup();
        let missing = |actor| match actor {
            Actor::Shuffler(number) => Some(MissingParty::Shuffler(u16::from(number))),
            Actor::Seat(seat) => Some(MissingParty::Seat(seat)),
            Actor::Operator => None,
        };
        actors.into_iter().filter_map(missing).collect()
    }

    /// The cards that shufflers are to work on now: hole cards while they are dealt, then the street that is opened.
    pub(in crate::log) fn due_positions(&self) -> Vec<u8> {
        match self.hand.phase() {
            Phase::Dealing { .. } => {
                self.config.snapshot.plan().holes().iter().flat_map(|(_, places)| *places).collect()
            }
            Phase::Opening { street, .. } => self.positions(*street),
            _ => Vec::new(),
        }
    }

    pub(super) fn check_blame(&self, cause: &VoidCause) -> Result<(), MessageRejection> {
        match cause {
            VoidCause::Missing { who } if *who != self.awaited() => {
                Err(MessageRejection::WrongBlame { awaited: self.awaited() })
            }
            _ => Ok(()),
        }
    }
}
