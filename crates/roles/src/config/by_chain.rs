//! A value that is "auto" in the configuration: what is known of the chain's id decides.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IntoDeserializer, value::StringDeserializer},
};

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

impl<T: Serialize> Serialize for ByChain<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Given(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByChain<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let word: StringDeserializer<D::Error> = text.into_deserializer();
        T::deserialize(word).map(Self::Given)
    }
}

#[cfg(test)]
mod tests {
    use bankroll_chains_evm::{FeeKind, FinalityMark, Tracer};

    use super::*;

    #[test]
    fn a_word_is_given_or_the_chain_decides() {
        let read = |text: &str| serde_json::from_value::<ByChain<Tracer>>(text.into()).unwrap();
        assert_eq!((read("auto"), read("trace_block")), (ByChain::Auto, ByChain::Given(Tracer::TraceBlock)));
        assert_eq!(
            (read("call_tracer"), read("none")),
            (ByChain::Given(Tracer::CallTracer), ByChain::Given(Tracer::None))
        );
        let shown = |value: ByChain<FeeKind>| serde_json::to_value(value).unwrap();
        assert_eq!((shown(ByChain::Auto), shown(ByChain::Given(FeeKind::Legacy))), ("auto".into(), "legacy".into()));
        assert!(serde_json::from_value::<ByChain<FinalityMark>>("sooner".into()).is_err());
    }
}
