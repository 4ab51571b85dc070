//! Amounts: unsigned integers in an asset's base units, from 0 to 2^128 - 1, exact.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A quantity of one asset in its base units (wei, say).
///
/// There is no operator arithmetic: every sum and difference is checked, and the caller handles the failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u128);

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not plain decimal digits: a sign, a leading zero, a space, a point.
    #[error("an amount is a whole number of base units in decimal digits, without sign, spaces or leading zeros")]
    Malformed,
    #[error("an amount is at most 340282366920938463463374607431768211455 (2^128 - 1)")]
    TooLarge,
}

impl AmountError {
    /// The stable code that callers see.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Malformed => "amount_malformed",
            Self::TooLarge => "amount_too_large",
        }
    }
}

impl Amount {
    pub const ZERO: Self = Self(0);
    pub const MAX: Self = Self(u128::MAX);

    #[must_use]
    pub const fn new(units: u128) -> Self {
        Self(units)
    }

    #[must_use]
    pub const fn units(self) -> u128 {
        self.0
    }

    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `None` if the sum exceeds 128 bits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// `None` if the difference is below zero.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// This many basis points of the amount, rounded down; `None` if the result exceeds 128 bits.
    ///
    /// The quotient and the remainder by 10,000 are scaled separately, so that an intermediate product cannot overflow
    /// where the result fits.
    #[must_use]
    pub fn basis_points(self, bps: u32) -> Option<Self> {
        let (bps, whole, rest) = (u128::from(bps), self.0 / 10_000, self.0 % 10_000);
        let of_rest = rest.checked_mul(bps)? / 10_000;
        whole.checked_mul(bps)?.checked_add(of_rest).map(Self)
    }

    /// Sixteen big-endian bytes: they sort as the amounts do.
    #[must_use]
    pub const fn to_sortable(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads [`Amount::to_sortable`] back.
    #[must_use]
    pub const fn from_sortable(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Amount {
    type Err = AmountError;

    /// Strict on purpose: `+5`, `05`, `5 `, `5.0`, `5e3` and `0x5` are how amounts get misread.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits || (text.len() > 1 && text.starts_with('0')) {
            return Err(AmountError::Malformed);
        }
        text.parse().map(Self).map_err(|_| AmountError::TooLarge)
    }
}

/// A sum over any number of accounts: each fits into 128 bits, their sum may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Total {
    /// How often the sum exceeded 2^128.
    overflows: u64,
    rest: u128,
}

impl Total {
    pub fn add(&mut self, amount: Amount) {
        let (rest, overflowed) = self.rest.overflowing_add(amount.0);
        self.rest = rest;
        self.overflows = self.overflows.saturating_add(u64::from(overflowed));
    }

    /// The sum as an amount, if it fits.
    #[must_use]
    pub fn amount(self) -> Option<Amount> {
        (self.overflows == 0).then_some(Amount(self.rest))
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.overflows > 0 {
            write!(f, "{} * 2^128 + ", self.overflows)?;
        }
        fmt::Display::fmt(&self.rest, f)
    }
}

impl Serialize for Amount {
    /// Text formats carry decimal strings, since a JSON number is a double to most readers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            text.parse().map_err(de::Error::custom)
        } else {
            u128::deserialize(deserializer).map(Self)
        }
    }
}
