//! Holds: money set aside in its account until it is posted, released, or its time is over.

use serde::{Deserialize, Serialize};

use crate::{AccountId, Amount, HoldId, Role, Time};

/// A hold as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Its number.
    pub id: HoldId,
    /// The account in which the money is set aside.
    pub account: AccountId,
    /// What is still set aside.
    pub remaining: Amount,
    /// When it ends by itself.
    pub expires: Option<Time>,
    /// Who may post or release it; the system always may.
    pub settler: Role,
    /// Where it stands.
    pub state: HoldState,
}

/// Where a hold stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldState {
    /// Something is set aside.
    Open,
    /// All of it was posted or released.
    Settled,
    /// Its time was over; the rest is free again.
    Expired,
}

impl Hold {
    /// Whether its time is over. The record of its expiry may still be on its way; nobody can use it any more.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}
