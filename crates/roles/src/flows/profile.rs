//! What one chain is like, as its settings say: when its blocks are final, how its nodes are asked, how gas is paid.

use std::time::Duration;

use bankroll_chains_evm::{FeeKind, FinalityMark, Tracer};
use bankroll_ledger::Amount;

/// The technical side of a chain. Each value comes from the configuration, or from what is known of the chain's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainProfile {
    pub finality: FinalityMark,
    /// How often the chain makes a block.
    pub block_time: Duration,
    pub tracer: Tracer,
    pub fees: FeeKind,
    /// How many headers are remembered: a reorganisation is followed that deep.
    pub window: u64,
    /// Its coins are worth nothing: one provider is enough.
    pub is_development: bool,
}

/// How many providers must say the same before money counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgreementRule {
    /// From this value on; `None` for never.
    pub above: Option<Amount>,
    pub providers: u32,
}

impl ChainProfile {
    /// Of a chain for tests whose blocks are final by depth.
    pub fn development(confirmations: u64) -> Self {
        Self {
            finality: FinalityMark::Depth,
            block_time: Duration::from_secs(1),
            tracer: Tracer::Automatic,
            fees: FeeKind::Automatic,
            window: Self::window_of(confirmations),
            is_development: true,
        }
    }

    /// A reorganisation is followed this many times as deep as the confirmations that make a deposit final.
    pub fn window_of(confirmations: u64) -> u64 {
        confirmations.saturating_mul(4).max(64)
    }
}
