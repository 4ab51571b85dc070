//! A value that is "auto" in the configuration: what is known of the chain's id decides.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByChain<T> {
    #[default]
    Auto,
    Given(T),
}

const AUTO: &str = "auto";

impl<T> ByChain<T> {
    pub fn unwrap_or(self, known: T) -> T {
        match self {
            Self::Auto => known,
            Self::Given(value) => value,
        }
    }
}

impl<T: fmt::Display> Serialize for ByChain<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Given(value) => serializer.collect_str(value),
        }
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for ByChain<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == AUTO { Ok(Self::Auto) } else { text.parse().map(Self::Given).map_err(de::Error::custom) }
    }
}
