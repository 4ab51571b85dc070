//! What one chain is like, as its settings say: when its blocks are final, how its nodes are asked, how gas is paid.

use std::{fmt, str::FromStr, time::Duration};

use bankroll_ledger::Amount;

/// The technical side of a chain. Each value comes from the configuration, or from what is known of the chain's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainProfile {
    pub finality: FinalityMark,
    /// How often the chain makes a block.
    pub block_time: Duration,
    pub tracer: TracerMode,
    pub fees: FeeMarket,
    /// How many headers are remembered: a reorganisation is followed that deep.
    pub window: u64,
    /// Its coins are worth nothing: one provider is enough.
    pub is_development: bool,
}

/// When nothing can take a block back any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalityMark {
    /// The chain says so: the block tag `finalized`.
    Finalized,
    /// Most of the chain's validators have seen it: the block tag `safe`.
    Safe,
    /// So many blocks follow. On a real chain this is a guess.
    Depth,
}

/// How the transfers inside of transactions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracerMode {
    /// The first one that the node answers.
    Detected,
    TraceBlock,
    CallTracer,
    /// Not at all: what a balance cannot explain goes to suspense.
    Off,
}

/// How transactions of the chain pay for gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeeMarket {
    /// By whether its blocks have a base fee.
    Detected,
    /// A base fee and a tip (EIP-1559).
    BaseFee,
    /// One price.
    Legacy,
}

/// How many providers must say the same before money counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgreementRule {
    /// From this value on; `None` for never.
    pub above: Option<Amount>,
    pub providers: u32,
}

/// A word of the configuration that is none of a closed list. The form of each key is checked before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this word is not known here")]
pub struct UnknownSetting;

macro_rules! words {
    ($type:ty: $($word:literal => $value:expr),+) => {
        impl FromStr for $type {
            type Err = UnknownSetting;

            fn from_str(text: &str) -> Result<Self, UnknownSetting> {
                match text {
                    $($word => Ok($value),)+
                    _ => Err(UnknownSetting),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(if *self == $value {
                    return f.write_str($word);
                })+
                Ok(())
            }
        }
    };
}

words!(FinalityMark: "finalized" => Self::Finalized, "safe" => Self::Safe, "depth" => Self::Depth);
words!(TracerMode:
    "auto" => Self::Detected,
    "trace_block" => Self::TraceBlock,
    "call_tracer" => Self::CallTracer,
    "none" => Self::Off);
words!(FeeMarket: "auto" => Self::Detected, "market" => Self::BaseFee, "legacy" => Self::Legacy);

impl ChainProfile {
    /// Of a chain for tests whose blocks are final by depth.
    pub fn development(confirmations: u64) -> Self {
        Self {
            finality: FinalityMark::Depth,
            block_time: Duration::from_secs(1),
            tracer: TracerMode::Detected,
            fees: FeeMarket::Detected,
            window: Self::window_of(confirmations),
            is_development: true,
        }
    }

    /// A reorganisation is followed this many times as deep as the confirmations that make a deposit final.
    pub fn window_of(confirmations: u64) -> u64 {
        confirmations.saturating_mul(4).max(64)
    }
}
