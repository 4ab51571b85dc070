//! Fee-on-top: how a deposit becomes a buy-in, and when `unallocated` money does.

use bankroll_ledger::Amount;
use serde::{Deserialize, Serialize};

/// The price of a place in a server's world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyIn {
    /// What the player gets as mass.
    pub amount: Amount,
    /// The developer's fee on top, in basis points.
    pub developer_bps: u32,
    /// The world's fee on top, in basis points.
    pub world_bps: u32,
}

/// One amount, divided. The parts always sum up to it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// To the player's funds.
    pub funds: Amount,
    /// To the developer.
    pub developer: Amount,
    /// To the pellet budget.
    pub ecosystem: Amount,
    /// What stays or becomes unallocated.
    pub unallocated: Amount,
}

impl BuyIn {
    /// The parts of one buy-in; fees are rounded down. `None` if the sum exceeds 128 bits.
    #[must_use]
    pub fn parts(&self) -> Option<Split> {
        Some(Split {
            funds: self.amount,
            developer: self.amount.basis_points(self.developer_bps)?,
            ecosystem: self.amount.basis_points(self.world_bps)?,
            unallocated: Amount::ZERO,
        })
    }

    /// What a player must pay for one buy-in. `None` if it exceeds 128 bits: then no deposit is enough.
    #[must_use]
    pub fn required(&self) -> Option<Amount> {
        self.parts()?.total()
    }

    /// Divides a final deposit: one buy-in if it is enough, the rest unallocated; all of it unallocated if not.
    #[must_use]
    pub fn split(&self, deposit: Amount) -> Split {
        self.take_one(deposit).unwrap_or(Split { unallocated: deposit, ..Split::default() })
    }

    /// Takes one buy-in out of what is unallocated; `None` while it is not enough.
    #[must_use]
    pub fn allocate(&self, unallocated: Amount) -> Option<Split> {
        self.take_one(unallocated)
    }

    /// Whether a deposit too small by itself completes a buy-in together with what is already unallocated, which was
    /// too small as well: more than that waits for a spawn or for the player to ask.
    #[must_use]
    pub fn is_completed_by(&self, deposit: Amount, unallocated: Amount) -> bool {
        let together = unallocated.checked_add(deposit);
        self.required().is_some_and(|required| {
            deposit < required && unallocated < required && together.is_some_and(|sum| sum >= required)
        })
    }

    fn take_one(&self, available: Amount) -> Option<Split> {
        // A free buy-in would turn every deposit into one of nothing.
        let required = self.required().filter(|required| !required.is_zero())?;
        let unallocated = available.checked_sub(required)?;
        Some(Split { unallocated, ..self.parts()? })
    }
}

impl Split {
    /// All parts together. `None` if the sum exceeds 128 bits.
    #[must_use]
    pub fn total(&self) -> Option<Amount> {
        self.funds.checked_add(self.developer)?.checked_add(self.ecosystem)?.checked_add(self.unallocated)
    }
}
