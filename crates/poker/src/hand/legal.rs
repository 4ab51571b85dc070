//! What the seat to act may do.

use serde::Serialize;

use super::{Betting, Hand, HandRefusal, Phase, Player};
use crate::{Chips, Seat};

/// Everything the seat to act may do; there is always something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LegalActions {
    /// Whose turn it is.
    pub seat: Seat,
    pub fold: bool,
    pub check: bool,
    /// What a call would cost, if there is something to call.
    pub call: Option<Chips>,
    /// What it may bet or raise to, if it may.
    pub raise: Option<RaiseRange>,
}

/// Every amount from `least` to `most` is legal. They are equal if only an all-in below a full raise is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RaiseRange {
    /// A full raise, or all-in if that is less.
    pub least: Chips,
    /// All-in.
    pub most: Chips,
}

impl Hand {
    /// What the seat to act may do; nothing if no betting is under way.
    #[must_use]
    pub fn legal(&self) -> Option<LegalActions> {
        let Phase::Betting(betting) = &self.phase else { return None };
        let player = self.player(betting.to_act)?;
        let owed = owed(player, betting);
        let in_debt = !owed.is_zero();
        Some(LegalActions {
            seat: player.seat,
            fold: in_debt || self.snapshot.rules().open_fold,
            check: !in_debt,
            call: in_debt.then_some(owed.min(player.stack)),
            raise: self.raise_range(player, betting).ok(),
        })
    }

    /// What the seat may raise to, or the first reason why it may not.
    pub(super) fn raise_range(&self, player: &Player, betting: &Betting) -> Result<RaiseRange, HandRefusal> {
        let (bet, raise, most) = (betting.bet, betting.raise, player.reach());
        if most <= bet {
            return Err(HandRefusal::StackTooShort { reach: most, bet });
        }
        // Several short all-ins may together be a full raise for a seat that acted before them all.
        if let Some(faced) = player.faced.filter(|faced| bet.above(*faced) < raise) {
            return Err(HandRefusal::RaiseNotReopened { faced, bet, raise });
        }
        let calls = |other: &Player| other.seat != player.seat && other.is_live() && other.reach() > bet;
        if !self.players.iter().any(calls) {
            return Err(HandRefusal::NobodyToCall { bet });
        }
        Ok(RaiseRange { least: bet.saturating_add(raise).min(most), most })
    }
}

/// What the seat lacks to the bet.
pub(super) fn owed(player: &Player, betting: &Betting) -> Chips {
    betting.bet.above(player.committed)
}
