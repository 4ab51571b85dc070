//! The state hash.
//!
//! It covers all messages (each author's last message leads to all its earlier ones), the progress of each card, and
//! the whole state of the rules. It does not depend on the order in which independent messages came.

use bankroll_deck::Curve;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{ActorProgress, Cards, Table};
use crate::{
    codec,
    log::{Actor, LogHash, hex::Hex},
};

#[derive(Serialize)]
struct TableState {
    origin: LogHash,
    said: Vec<(Actor, u64, LogHash)>,
    shuffles: Option<u8>,
    deck: Option<LogHash>,
    cards: Vec<StatePlace>,
    hand: LogHash,
    last_bet: Option<LogHash>,
    settled: bool,
}

/// The open card at a position, and the contributions it waits for.
#[derive(Serialize)]
struct StatePlace {
    open: Option<u8>,
    awaited: Vec<(u8, &'static str)>,
}

impl<C: Curve> Table<C> {
    /// The hash of the state. Two logs with the same hash have the same messages and the same state.
    #[must_use]
    pub fn state_hash(&self) -> LogHash {
        let progress = |(actor, progress): (&Actor, &ActorProgress)| (*actor, progress.nonce, progress.last);
        let (shuffles, deck, cards) = match &self.cards {
            Cards::Keys(_) => (None, None, Vec::new()),
            Cards::Shuffling(shuffling) => (shuffling.next(), Some(Hex(shuffling.deck().hash())), Vec::new()),
            Cards::Dealing(deal) => {
                let place = |position| StatePlace {
                    open: deal.opened(position),
                    awaited: deal.awaited(position).into_iter().map(|(who, kind)| (who, kind.name())).collect(),
                };
                (None, Some(Hex(*deal.deck())), (0..self.config.cards).map(place).collect())
            }
        };
        let state = TableState {
            origin: self.origin,
            said: self.progress.iter().map(progress).collect(),
            shuffles,
            deck,
            cards,
            hand: Hex(self.hand.hash()),
            last_bet: self.last_bet,
            settled: self.settled,
        };
        let domain = Sha256::new().chain_update(b"bankroll table state 1\0");
        Hex(domain.chain_update(codec::encode(&state)).finalize().into())
    }
}
