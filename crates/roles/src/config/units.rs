//! Amounts in a configuration: base units, as text or, where the environment or a flag makes one of it, as a number.

use bankroll_ledger::Amount;
use serde::{Deserialize, Deserializer, Serialize, de};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Units(pub Amount);

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Units;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an amount in base units, as digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Units, E> {
        text.parse().map(Units).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Units, E> {
        self.visit_u128(number.into())
    }

    fn visit_u128<E: de::Error>(self, number: u128) -> Result<Units, E> {
        Ok(Units(Amount::new(number)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Units, E> {
        u64::try_from(number)
            .map_err(|_| E::custom("an amount is not below zero"))
            .and_then(|number| self.visit_u64(number))
    }
}
