//! Chips: unsigned integers of a game's chip unit, exact.
//!
//! The table decides what one chip is worth; the rules only move whole chips from one place to another.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number of chips.
///
/// There are no arithmetic operators: sums and differences are checked, and the caller handles a failed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chips(u64);

impl Chips {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The most there can be in one hand.
    pub const MAX: Self = Self(u64::MAX);

    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, unless it is below zero.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The sum of all, unless it leaves 64 bits.
    #[must_use]
    pub fn checked_sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }

    /// The sum, or the most there can be: for limits that no stack reaches anyway.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is above the other, or nothing.
    #[must_use]
    pub fn above(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This many basis points, rounded down, never more than the whole.
    #[must_use]
    pub fn basis_points(self, bps: u16) -> Self {
        // 80 bits hold the product, so neither step can fail.
        let product = u128::from(self.0).saturating_mul(u128::from(bps.min(10_000)));
        Self(u64::try_from(product / 10_000).unwrap_or(self.0))
    }

    /// Equal shares of whole chips, and the remainder. A count of zero gives no share and leaves all chips.
    #[must_use]
    pub fn divided_among(self, count: u64) -> (Self, Self) {
        match (self.0.checked_div(count), self.0.checked_rem(count)) {
            (Some(share), Some(rest)) => (Self(share), Self(rest)),
            _ => (Self::ZERO, self),
        }
    }

    /// A sum that the snapshot's check has made safe: all chips of a hand together fit 64 bits.
    pub(crate) fn plus(self, other: Self) -> Self {
        self.checked_add(other).expect("the chips of a hand fit 64 bits, as its snapshot was checked")
    }

    /// A difference that cannot be negative unless the rules have a bug.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.checked_sub(other).expect("no more chips are taken than there are")
    }

    /// Like [`Chips::plus`], over many.
    pub(crate) fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::ZERO, Self::plus)
    }
}

impl fmt::Display for Chips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Chips {
    /// Text formats carry decimal strings, since a JSON number is a double to most readers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Chips {
    /// As strict as writing is: digits only, no sign, no leading zero.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return u64::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        let chips = text.parse().map(Self).ok().filter(|chips: &Self| chips.to_string() == text);
        chips.ok_or_else(|| de::Error::custom("chips are a whole number below 2^64 in decimal digits"))
    }
}
