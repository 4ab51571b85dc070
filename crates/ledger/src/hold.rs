//! Holds: money reserved in its account until it is posted, released or expired.

use serde::{Deserialize, Serialize};

use crate::{AccountId, Amount, HoldId, Role, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hold {
    pub id: HoldId,
    pub account: AccountId,
    /// The amount still reserved.
    pub remaining: Amount,
    /// When it expires.
    pub expires: Option<Time>,
    /// The role that may post or release it; the system always may.
    pub settler: Role,
    pub state: HoldState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldState {
    Open,
    /// All of it was posted or released.
    Settled,
    /// It expired; the rest is available again.
    Expired,
}

impl Hold {
    /// Whether it has expired. The record of its expiry may not be written yet; no caller can use it any more.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}
