//! The status of a spawn, and every transition of it. Pure.
//!
//! | from | by | to | money |
//! | --- | --- | --- | --- |
//! | (new) | reserve | `reserved` | held in the player's funds |
//! | `reserved` | commit | `committed` | funds -> world |
//! | `reserved` | release | `released` | available again |
//! | `reserved` | time | `expired` | available again |
//! | `committed` | refund | `refunded` | world -> funds |
//! | `committed` | exit | `exited` | world -> funds, as much as the game says |
//!
//! The ledger ends a hold that has expired with a record of its own, which knows no rows. So the row of an expired
//! reservation still says `reserved`, and readers compare its time: [`SpawnStatus::at`]. No request can use such a
//! reservation, since the ledger refuses the hold. The row says `expired` only once another spawn took its deposit.

use bankroll_ledger::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpawnStatus {
    /// The price is held.
    Reserved,
    /// Live: the price is in the world.
    Committed,
    /// The game server gave the reservation up.
    Released,
    /// The price went back to the player.
    Refunded,
    /// The time of the reservation ended.
    Expired,
    /// The player left the world.
    Exited,
}

impl SpawnStatus {
    pub const ALL: [Self; 6] =
        [Self::Reserved, Self::Committed, Self::Released, Self::Refunded, Self::Expired, Self::Exited];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Committed => "committed",
            Self::Released => "released",
            Self::Refunded => "refunded",
            Self::Expired => "expired",
            Self::Exited => "exited",
        }
    }

    /// What a stored status means now: a reservation whose time has ended is expired.
    #[must_use]
    pub fn at(self, now: Time, expires_at: Time) -> Self {
        if self == Self::Reserved && expires_at <= now { Self::Expired } else { self }
    }

    pub(crate) fn from_row(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}
