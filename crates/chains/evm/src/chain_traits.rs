//! How chains differ, as data: what is not here is the same on every EVM chain, or found out from a node.
//!
//! The entries are where an operator starts. A chain that is not listed works with the default, which waits for the
//! node's `finalized`.

use serde::{Deserialize, Serialize};

use crate::{block::BlockTag, fees::FeeKind, traces::Tracer};

/// When a chain calls a block final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalityMark {
    /// The chain's own rule of finality.
    #[default]
    Finalized,
    /// Earlier, and weaker: on some second layers a batch that is on the first layer and not final there.
    Safe,
    /// The chain has no mark: only the number of confirmations counts.
    Depth,
}

impl FinalityMark {
    /// The tag to ask a node for; `None` if only depth counts.
    pub const fn tag(self) -> Option<BlockTag> {
        match self {
            Self::Finalized => Some(BlockTag::Finalized),
            Self::Safe => Some(BlockTag::Safe),
            Self::Depth => None,
        }
    }
}

/// What to know of a chain before reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainTraits {
    /// How many blocks confirm a block, itself included, where no mark decides: for money that may be lost again, for
    /// chains without a mark, and while a mark does not move.
    pub confirmations: u64,
    pub finality: FinalityMark,
    /// The usual time from block to block, in milliseconds: how often to look, and when silence is strange.
    pub block_time_ms: u64,
    pub fees: FeeKind,
    pub tracer: Tracer,
}

impl Default for ChainTraits {
    /// Of a chain that nothing is known of.
    fn default() -> Self {
        Self {
            confirmations: 30,
            finality: FinalityMark::Finalized,
            block_time_ms: 2_000,
            fees: FeeKind::Automatic,
            tracer: Tracer::Automatic,
        }
    }
}

impl ChainTraits {
    /// The entry of a chain, or the default.
    pub fn of(chain_id: u64) -> Self {
        let market = |confirmations, block_time_ms| Self {
            confirmations,
            block_time_ms,
            fees: FeeKind::Market,
            ..Self::default()
        };
        match chain_id {
            // Ethereum, Sepolia.
            1 | 11_155_111 => market(12, 12_000),
            // Optimism, Base.
            10 | 8_453 => market(30, 2_000),
            // BNB Smart Chain, where the base fee is zero and some nodes have none.
            56 => Self { confirmations: 15, block_time_ms: 750, ..Self::default() },
            // Polygon.
            137 => market(127, 2_000),
            // Arbitrum One.
            42_161 => market(30, 250),
            // Avalanche's C-Chain.
            43_114 => market(12, 2_000),
            // Development: their marks, where they have one, are made up.
            1_337 | 31_337 => {
                let finality = FinalityMark::Depth;
                Self { confirmations: 12, finality, block_time_ms: 1_000, ..Self::default() }
            }
            _ => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_chains_wait_for_finality_and_chains_for_development_for_depth() {
        for chain_id in [1, 10, 56, 137, 8_453, 42_161, 43_114, 11_155_111, 999_999] {
            let traits = ChainTraits::of(chain_id);
            assert_eq!(traits.finality.tag(), Some(BlockTag::Finalized), "{chain_id}");
            assert!(traits.confirmations >= 12 && traits.block_time_ms > 0);
        }
        for chain_id in [1_337, 31_337] {
            assert_eq!(ChainTraits::of(chain_id).finality.tag(), None);
            assert_eq!(ChainTraits::of(chain_id).confirmations, 12);
        }
    }

    #[test]
    fn an_operator_writes_only_what_differs_and_no_other_word() {
        let read = |text: &str| serde_json::from_str::<ChainTraits>(text);
        let traits = read(r#"{"finality":"depth","tracer":"call_tracer","fees":"legacy"}"#).unwrap();
        let (finality, tracer, fees) = (FinalityMark::Depth, Tracer::CallTracer, FeeKind::Legacy);
        assert_eq!(traits, ChainTraits { finality, tracer, fees, ..ChainTraits::default() });
        assert!(read(r#"{"finality":"sooner"}"#).is_err());
        assert!(read(r#"{"confirmation":3}"#).is_err());
        let text = serde_json::to_string(&ChainTraits::of(1)).unwrap();
        assert_eq!(
            text,
            r#"{"confirmations":12,"finality":"finalized","block_time_ms":12000,"fees":"market","tracer":"automatic"}"#
        );
    }
}
