//! The referee's state of one hand: the messages of each actor, the progress of the cards, the betting.
//!
//! Every message passes two gates. [`Table::verify`] does everything that takes time (signature, proofs) against a
//! state that may be a copy, on any thread; [`Table::apply`] checks all cheap facts again, applies the message to a
//! copy, and swaps only if all went well. So a refused message leaves no trace and uses up no nonce.
//!
//! It joins the deck and the rules: keys, then shuffles, then blinded hole cards make a dealt hand; a street's board
//! opens only when its betting is over; a hand is shown by proof. What follows from messages is derived here, never
//! read from one. Callers bring the deck's parameters, for as many cards as the configuration says; with others it
//! panics. It does not keep the messages (that is the log's part), and it knows no network and no clock.

mod apply;
mod awaited;
mod due;
mod prove;
mod state;

pub use prove::VerifiedMessage;
pub(super) use prove::batch;

use std::collections::BTreeMap;

use bankroll_deck::{Curve, Deal, HandId, Member, SeenBlindings, Shuffling};

use super::{ActionEnvelope, Actor, HandConfig, HandConfigError, LogHash, LogMessage, MessageRejection, event_id};
use crate::{Hand, HandTime};

/// An actor's progress: the number of its messages, and the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActorProgress {
    pub nonce: u64,
    /// The id of the last; before the first, the hash of the configuration.
    pub last: LogHash,
}

/// The progress of the cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cards<C: Curve> {
    /// Keys are being registered.
    Keys(BTreeMap<Actor, Member<C>>),
    /// The deck is being shuffled.
    Shuffling(Box<Shuffling<C>>),
    /// Cards are dealt and opened.
    Dealing(Box<Deal<C>>),
}

/// The state of one hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<C: Curve> {
    config: HandConfig,
    origin: LogHash,
    id: HandId,
    hand: Hand,
    cards: Cards<C>,
    progress: BTreeMap<Actor, ActorProgress>,
    last_bet: Option<LogHash>,
    settled: bool,
    at: HandTime,
    seen: SeenBlindings,
}

impl<C: Curve> Table<C> {
    /// A hand begins with the operator's signed start. `seen` has the blindings of earlier hands, if they are kept.
    ///
    /// # Errors
    /// The first rule that the start breaks.
    pub fn start(envelope: &[u8], at: HandTime, seen: SeenBlindings) -> Result<Self, MessageRejection> {
        let id = event_id(envelope);
        let ActionEnvelope { header, message, signature } = ActionEnvelope::decode(envelope)?;
        let LogMessage::HandStart(config) = &message else {
            return Err(MessageRejection::NotAllowed { actor: header.actor, kind: message.kind() });
        };
        let (config, origin) = (config.as_ref().clone(), config.hash());
        let mut table = Self {
            id: config.id(),
            hand: Hand::start(config.snapshot.clone(), at),
            cards: Cards::Keys(BTreeMap::new()),
            progress: BTreeMap::new(),
            last_bet: None,
            settled: false,
            config,
            origin,
            at,
            seen,
        };
        table.config.check()?;
        if table.config.curve != C::NAME {
            return Err(HandConfigError::Curve { curve: table.config.curve.clone() }.into());
        }
        let envelope = ActionEnvelope { header, message, signature };
        if envelope.header.actor != Actor::Operator {
            return Err(MessageRejection::NotAllowed { actor: envelope.header.actor, kind: envelope.header.kind });
        }
        table.identify(&envelope)?;
        table.in_order(&envelope.header)?;
        table.note(Actor::Operator, id);
        Ok(table)
    }

    /// What the hand began with.
    #[must_use]
    pub const fn config(&self) -> &HandConfig {
        &self.config
    }

    #[must_use]
    pub const fn origin(&self) -> &LogHash {
        &self.origin
    }

    /// The game as the rules see it.
    #[must_use]
    pub const fn hand(&self) -> &Hand {
        &self.hand
    }

    /// The deal, once the deck is shuffled.
    #[must_use]
    pub fn deal(&self) -> Option<&Deal<C>> {
        match &self.cards {
            Cards::Dealing(deal) => Some(deal),
            _ => None,
        }
    }

    /// The shuffling, while it lasts.
    #[must_use]
    pub fn shuffling(&self) -> Option<&Shuffling<C>> {
        match &self.cards {
            Cards::Shuffling(shuffling) => Some(shuffling),
            _ => None,
        }
    }

    /// The progress of an actor.
    #[must_use]
    pub fn progress(&self, actor: Actor) -> ActorProgress {
        self.progress.get(&actor).copied().unwrap_or(ActorProgress { nonce: 0, last: self.origin })
    }

    /// The last betting event, which the next betting decision must name.
    #[must_use]
    pub const fn last_bet(&self) -> Option<LogHash> {
        self.last_bet
    }

    /// Whether the log is closed by its settlement.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// When the last event was.
    #[must_use]
    pub const fn at(&self) -> HandTime {
        self.at
    }

    fn note(&mut self, actor: Actor, id: LogHash) {
        let nonce = self.progress(actor).nonce.saturating_add(1);
        self.progress.insert(actor, ActorProgress { nonce, last: id });
    }
}
