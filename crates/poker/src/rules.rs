//! What a table may choose: stakes, house rules, clocks. Part of the snapshot, so that a hand is judged by the rules it
//! began under.
//!
//! Not to be chosen, because not built: straddles, antes of the big blind alone, dead blinds, running it twice, limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Chips;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRules {
    /// Posted by the seat left of the button; heads-up by the button itself.
    pub small_blind: Chips,
    /// Posted by the next seat, and the least bet and raise on every street.
    pub big_blind: Chips,
    /// Posted by every seat; nothing for no ante.
    pub ante: Chips,
    /// What a stack too short for both is used for first.
    pub posting: BlindPosting,
    /// What the others owe if the big blind could not post all of it.
    pub short_big_blind: ShortBigBlind,
    /// Whether a seat that owes nothing may fold all the same.
    pub open_fold: bool,
    /// When hands are opened once no seat can bet any more.
    pub all_in: AllIn,
    /// Whether a card is burned before the flop, the turn and the river.
    pub burns: bool,
    /// What the house takes.
    pub rake: Rake,
    /// Time limits.
    pub clock: DecisionClock,
}

/// What a stack too short for ante and blind is used for first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlindPosting {
    #[default]
    AnteFirst,
    BlindFirst,
}

/// What the others owe if the big blind could not post all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortBigBlind {
    /// The whole big blind, as cardrooms have it: the least raise is to twice the big blind.
    #[default]
    WholeBlind,
    /// The most that was posted; the least raise is a big blind more.
    AsPosted,
}

/// When hands are opened once no seat can bet any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllIn {
    /// After the last card, in the usual order, and a beaten hand may be mucked: cash games.
    #[default]
    AtShowdown,
    /// All of them and at once, before the board is run out; no seat may muck: tournaments.
    BeforeRunOut,
}

/// What the house takes from each pot, before it is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rake {
    /// Hundredths of a percent of each pot, rounded down; at most 10,000.
    pub bps: u16,
    /// The most that is taken from one hand, main pot first; nothing for no limit.
    pub cap: Option<Chips>,
    /// Whether a hand that ended before the flop is free.
    pub no_flop_no_drop: bool,
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionClock {
    /// For a betting decision.
    pub turn_ms: u32,
    /// For showing a hand.
    pub showdown_ms: u32,
    /// For the shufflers: the hole cards at the start, then each street.
    pub cards_ms: u32,
}

impl DecisionClock {
    pub(crate) fn turn(self) -> Duration {
        Duration::from_millis(self.turn_ms.into())
    }

    pub(crate) fn showdown(self) -> Duration {
        Duration::from_millis(self.showdown_ms.into())
    }

    pub(crate) fn cards(self) -> Duration {
        Duration::from_millis(self.cards_ms.into())
    }
}

impl Default for DecisionClock {
    fn default() -> Self {
        Self { turn_ms: 30_000, showdown_ms: 15_000, cards_ms: 30_000 }
    }
}

impl TableRules {
    /// The usual cash game at these blinds: no ante, no rake.
    #[must_use]
    pub fn cash(small_blind: Chips, big_blind: Chips) -> Self {
        Self {
            small_blind,
            big_blind,
            ante: Chips::ZERO,
            posting: BlindPosting::default(),
            short_big_blind: ShortBigBlind::default(),
            open_fold: false,
            all_in: AllIn::default(),
            burns: false,
            rake: Rake::default(),
            clock: DecisionClock::default(),
        }
    }
}
