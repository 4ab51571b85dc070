//! What is settled before the first message: the sequence-0 snapshot of a hand.
//!
//! The operator signs it as the first event, and every other actor with its own first message, whose "previous" is its
//! hash. It binds the signing key of every seat and shuffler; a message never brings its own key. The keys that seal
//! cards are not here: they are registered in the log, with proofs.

use bankroll_deck::{Destination, HandId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Actor, LogHash, hex::Hex, signing::SignerKey};
use crate::{DECK, Snapshot, codec};

/// The version of every format of the log.
pub const VERSION: u16 = 1;

/// A player or shuffler of the hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    /// The name that proofs are bound to.
    pub name: String,
    /// The key that signs the messages.
    pub key: SignerKey,
}

/// What a hand begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandConfig {
    /// [`VERSION`].
    pub version: u16,
    /// The operator's deployment.
    pub deployment: String,
    /// The game within it.
    pub game: String,
    /// The hand within the game.
    pub hand: String,
    pub curve: String,
    /// How many cards the deck has: 52. Smaller decks, of the lowest cards, are for tests and demonstrations.
    pub cards: u8,
    /// Seats, stacks, button, rules, card plan.
    pub snapshot: Snapshot,
    /// Who orders the log.
    pub operator: SignerKey,
    /// The players, in the order of the snapshot's seats.
    pub players: Vec<Participant>,
    /// The shufflers, in the order in which they shuffle.
    pub shufflers: Vec<Participant>,
}

/// Why a hand cannot begin with this configuration: the first broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandConfigError {
    /// Made by another version of this log.
    #[error("version {version} is not {VERSION}")]
    Version { version: u16 },
    /// Another curve than the one the table is for.
    #[error("cards are sealed on {curve}, which is not the table's curve")]
    Curve { curve: String },
    /// A name or id that is empty or longer than 64 bytes.
    #[error("{name:?} is not a name: it must have 1 to 64 bytes")]
    Name { name: String },
    /// Not one player for each seat.
    #[error("{players} players for {seats} seats")]
    Players { players: usize, seats: usize },
    /// No shufflers, or more than 255.
    #[error("a hand has 1 to 255 shufflers, not {count}")]
    Shufflers { count: usize },
    /// Fewer cards than the plan deals, or more than there are.
    #[error("a deck of {cards} cards, but the plan needs {needed} and there are 52")]
    Deck {
        cards: u8,
        /// What the plan needs.
        needed: usize,
    },
    /// Two players, or two shufflers, of one name or key, or a participant with the operator's key.
    #[error("{name} occurs twice, or uses the key of another")]
    Twice { name: String },
}

impl HandConfig {
    /// The hash that every actor's first message names.
    #[must_use]
    pub fn hash(&self) -> LogHash {
        let domain = Sha256::new().chain_update(b"bankroll hand config 1\0");
        Hex(domain.chain_update(codec::encode(self)).finalize().into())
    }

    /// What proofs are bound to.
    #[must_use]
    pub fn id(&self) -> HandId {
        HandId { deployment: self.deployment.clone(), game: self.game.clone(), hand: self.hand.clone() }
    }

    /// All actors but the operator: shufflers, then seats.
    pub fn actors(&self) -> impl Iterator<Item = Actor> {
        let shufflers = self.shufflers.iter().zip(0..).map(|(_, number)| Actor::Shuffler(number));
        shufflers.chain(self.snapshot.seats().iter().map(|seated| Actor::Seat(seated.seat)))
    }

    /// The participant behind an actor; the operator has no name.
    #[must_use]
    pub fn participant(&self, actor: Actor) -> Option<&Participant> {
        match actor {
            Actor::Operator => None,
            Actor::Shuffler(number) => self.shufflers.get(usize::from(number)),
            Actor::Seat(seat) => {
                let place = self.snapshot.seats().iter().position(|seated| seated.seat == seat)?;
                self.players.get(place)
            }
        }
    }

    /// The key bound to an actor.
    #[must_use]
    pub fn key(&self, actor: Actor) -> Option<&SignerKey> {
        match actor {
            Actor::Operator => Some(&self.operator),
            _ => self.participant(actor).map(|participant| &participant.key),
        }
    }

    /// Where each card of the deck goes.
    #[must_use]
    pub fn destinations(&self) -> Vec<Destination> {
        let plan = self.snapshot.plan();
        let of = |place: u8| {
            let holder = plan.holes().iter().find(|(_, places)| places.contains(&place));
            match holder {
                Some((seat, _)) => Destination::Seat(seat.0),
                None if plan.board().contains(&place) => Destination::Board,
                None => Destination::Nowhere,
            }
        };
        (0..self.cards).map(of).collect()
    }

    /// Checks that a hand can begin with this configuration.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn check(&self) -> Result<(), HandConfigError> {
        if self.version != VERSION {
            return Err(HandConfigError::Version { version: self.version });
        }
        let participants = || self.players.iter().chain(&self.shufflers);
        let ids = [&self.deployment, &self.game, &self.hand, &self.curve];
        let names = ids.into_iter().chain(participants().map(|participant| &participant.name));
        if let Some(name) = names.into_iter().find(|name| !(1..=64).contains(&name.len())) {
            return Err(HandConfigError::Name { name: name.clone() });
        }
        let (players, seats) = (self.players.len(), self.snapshot.seats().len());
        if players != seats {
            return Err(HandConfigError::Players { players, seats });
        }
        if !(1..=255).contains(&self.shufflers.len()) {
            return Err(HandConfigError::Shufflers { count: self.shufflers.len() });
        }
        let needed = self.snapshot.plan().places();
        if self.cards > DECK || usize::from(self.cards) < needed {
            return Err(HandConfigError::Deck { cards: self.cards, needed });
        }
        for role in [&self.players, &self.shufflers] {
            let same = |one: &Participant, two: &Participant| one.name == two.name || one.key == two.key;
            let twice = |(place, one): &(usize, &Participant)| {
                one.key == self.operator || role.iter().take(*place).any(|before| same(before, one))
            };
            if let Some((_, one)) = role.iter().enumerate().find(twice) {
                return Err(HandConfigError::Twice { name: one.name.clone() });
            }
        }
        Ok(())
    }
}
