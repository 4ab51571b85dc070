//! How names of the books are written inside a proposal: as people and the API write them.

/// `arena/funds/1/0x...`
pub(crate) mod account {
    use bankroll_ledger::AccountName;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(name: &AccountName, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(name)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AccountName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// `rec_1204`
pub(crate) mod record {
    use bankroll_ledger::Seq;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(seq: &Seq, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("rec_{seq}"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seq, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix("rec_").and_then(|digits| digits.parse::<u64>().ok());
        // One spelling only: the parser takes `+1` and `01`.
        let number = number.filter(|number| text == format!("rec_{number}"));
        number.map(Seq).ok_or_else(|| D::Error::custom("a record is written rec_1204"))
    }
}
