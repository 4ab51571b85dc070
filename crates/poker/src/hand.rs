//! One hand of no-limit hold'em as a pure state machine.
//!
//! A hand begins with a [`Snapshot`] and goes on by events, each of which is either applied whole or refused with the
//! first rule it breaks. The state is a value: applying an event gives the next one and leaves this one alone.
//!
//! ```text
//! Dealing -> Betting -> Opening -> Betting -> ... -> Showdown -> Settled
//!                    \-> Settled (all others folded)
//!                    \-> Showdown -> Opening ... -> Settled (all-in, hands opened first)
//! any of them -> Void
//! ```
//!
//! It guarantees, after each event: stacks, chips in the middle and rake add up to what the hand began with; the seat
//! to act has a legal action; the same events give the same bytes. It does not know who may speak for a seat, how cards
//! are sealed, or what time it is: hole cards are known only once shown, and every event brings its time.

mod betting;
mod event;
mod legal;
mod opening;
mod phase;
mod player;
mod progress;
mod refusal;
mod settle;
mod showdown;
mod start;

pub use event::{HandEvent, MissingParty, PlayerAction, VoidCause};
pub use legal::{LegalActions, RaiseRange};
pub use phase::{Betting, Phase, PhaseName, Showdown, Street};
pub use player::{Player, SeatStatus};
pub use refusal::HandRefusal;
pub use settle::{Award, Settlement};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{Card, Chips, HandTime, Pot, Seat, Snapshot, codec, pots::Stake};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hand {
    snapshot: Snapshot,
    /// In the order of play: left of the button first, the button last.
    players: Vec<Player>,
    board: Vec<Card>,
    phase: Phase,
    /// Chips returned because no seat called them, of the whole hand.
    returned: Vec<(Seat, Chips)>,
    events: u64,
}

impl Hand {
    /// The hand after one more event, which happened at this time.
    ///
    /// # Errors
    /// The first rule that the event breaks; the hand is then as it was.
    pub fn apply(&self, event: &HandEvent, at: HandTime) -> Result<Self, HandRefusal> {
        let mut next = self.clone();
        next.take(event, at)?;
        next.events = next.events.saturating_add(1);
        assert_eq!(next.accounted(), next.snapshot.chips(), "an event made or lost chips: {event:?}");
        Ok(next)
    }

    /// The hand after all these events.
    ///
    /// # Errors
    /// The place of the first event that is refused, from 0, and why.
    pub fn replay<'a>(
        snapshot: Snapshot,
        began: HandTime,
        events: impl IntoIterator<Item = (&'a HandEvent, HandTime)>,
    ) -> Result<Self, (usize, HandRefusal)> {
        let start = Self::start(snapshot, began);
        events
            .into_iter()
            .enumerate()
            .try_fold(start, |hand, (place, (event, at))| hand.apply(event, at).map_err(|refusal| (place, refusal)))
    }

    /// What the hand began with.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The seats in the order of play, left of the button first.
    #[must_use]
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    #[must_use]
    pub fn player(&self, seat: Seat) -> Option<&Player> {
        self.players.iter().find(|player| player.seat == seat)
    }

    #[must_use]
    pub fn board(&self) -> &[Card] {
        &self.board
    }

    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Chips returned because no seat called them, oldest first.
    #[must_use]
    pub fn returned(&self) -> &[(Seat, Chips)] {
        &self.returned
    }

    /// Whose decision is awaited: to bet, or to show.
    #[must_use]
    pub fn to_act(&self) -> Option<Seat> {
        match &self.phase {
            Phase::Betting(betting) => Some(betting.to_act),
            Phase::Showdown(showdown) => showdown.to_show.first().copied(),
            _ => None,
        }
    }

    /// The deadline of the awaited seat or shufflers.
    #[must_use]
    pub fn deadline(&self) -> Option<HandTime> {
        self.phase.deadline()
    }

    /// The pots now, including chips that may be returned uncalled; none once the hand is over.
    #[must_use]
    pub fn pots(&self) -> Vec<Pot> {
        crate::pots(&self.stakes())
    }

    /// All chips in the middle.
    #[must_use]
    pub fn in_the_middle(&self) -> Chips {
        Chips::sum(self.players.iter().map(|player| player.total))
    }

    /// The canonical bytes of the state.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// The state hash: two hands with the same hash are the same in every respect.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        Sha256::new().chain_update(b"bankroll hand state 1\0").chain_update(self.to_bytes()).finalize().into()
    }

    fn stakes(&self) -> Vec<Stake> {
        let stake = |player: &Player| Stake {
            seat: player.seat,
            total: player.total,
            folded: player.status == SeatStatus::Folded,
        };
        self.players.iter().map(stake).collect()
    }

    /// Every chip, wherever it is.
    fn accounted(&self) -> Chips {
        let rake = match &self.phase {
            Phase::Settled(settlement) => settlement.rake,
            _ => Chips::ZERO,
        };
        let held = self.players.iter().map(|player| player.stack.plus(player.total));
        Chips::sum(held).plus(rake)
    }

    fn take(&mut self, event: &HandEvent, at: HandTime) -> Result<(), HandRefusal> {
        if self.phase.is_over() {
            return Err(HandRefusal::HandIsOver { phase: self.phase.name() });
        }
        match event {
            HandEvent::HoleCardsDealt => self.hole_cards_dealt(at),
            HandEvent::Acted { seat, action } => self.acted(*seat, *action, at),
            HandEvent::TimedOut { seat } => self.timed_out(*seat, at),
            HandEvent::BoardOpened { cards } => self.board_opened(cards, at),
            HandEvent::Shown { seat, cards } => self.shown(*seat, *cards, at),
            HandEvent::Mucked { seat } => self.mucked(*seat, at),
            HandEvent::ClockRestarted => self.clock_restarted(at),
            HandEvent::Voided { cause } => self.voided(cause, at),
        }
    }
}
