//! What is known of EVM chains by their ids: the defaults of keys that are 0, empty or "auto".
//!
//! A wrong line here makes deposits final too early or too late, so a chain is in the table only if its figures are
//! published; any other chain has the cautious ones of [`UNKNOWN`]. Money that can be withdrawn waits for the chain's
//! own finality (`finalized`) wherever a chain has one: a depth is a guess about it.

use std::time::Duration;

use bankroll_ledger::Amount;

use crate::flows::{ChainProfile, FeeKind, FinalityMark, Tracer};

/// The defaults of one chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownChain {
    pub id: u64,
    pub symbol: &'static str,
    /// Blocks, its own included: the whole rule on a chain without a mark of finality, and the least beside one.
    pub confirmations: u64,
    pub finality: FinalityMark,
    pub block_time_ms: u64,
    /// Headers remembered: several times as many blocks as usually wait for finality.
    pub window: u64,
    /// The value, in whole coins, from which one provider's word is not enough; `None` for play money.
    pub agreement_coins: Option<u64>,
}

const COIN: u128 = 1_000_000_000_000_000_000;

/// A chain that is not in the table, except for its id.
const UNKNOWN: KnownChain = KnownChain {
    id: 0,
    symbol: "ETH",
    confirmations: 12,
    finality: FinalityMark::Finalized,
    block_time_ms: 12_000,
    window: 4_096,
    agreement_coins: Some(1),
};

/// Chains for tests, whose blocks mean nothing: a depth is all that they have.
const DEVELOPMENT: KnownChain =
    KnownChain { finality: FinalityMark::Depth, block_time_ms: 1_000, window: 64, agreement_coins: None, ..UNKNOWN };
/// Two or three epochs of 32 blocks until a block is final.
const ETHEREUM: KnownChain = KnownChain { id: 1, window: 512, ..UNKNOWN };
/// Final with the block of Ethereum that has the batch, after about twenty minutes.
const ROLLUP: KnownChain = KnownChain { confirmations: 30, block_time_ms: 2_000, window: 4_096, ..UNKNOWN };

const KNOWN: [KnownChain; 15] = [
    ETHEREUM,
    KnownChain { id: 17_000, ..ETHEREUM },
    KnownChain { id: 560_048, ..ETHEREUM },
    KnownChain { id: 11_155_111, ..ETHEREUM },
    KnownChain {
        id: 100,
        symbol: "xDAI",
        confirmations: 20,
        block_time_ms: 5_000,
        agreement_coins: Some(1_000),
        ..ETHEREUM
    },
    KnownChain { id: 10, ..ROLLUP },
    KnownChain { id: 8_453, ..ROLLUP },
    KnownChain { id: 42_161, block_time_ms: 250, window: 16_384, ..ROLLUP },
    KnownChain { id: 56, symbol: "BNB", confirmations: 15, block_time_ms: 750, agreement_coins: Some(3), ..ETHEREUM },
    KnownChain { id: 97, symbol: "tBNB", confirmations: 15, block_time_ms: 750, ..ETHEREUM },
    KnownChain { id: 137, symbol: "POL", window: 1_024, agreement_coins: Some(1_000), ..POLYGON },
    KnownChain { id: 80_002, symbol: "POL", window: 1_024, ..POLYGON },
    KnownChain { id: 43_114, symbol: "AVAX", block_time_ms: 2_000, agreement_coins: Some(50), ..ETHEREUM },
    KnownChain { id: 1_337, ..DEVELOPMENT },
    KnownChain { id: 31_337, ..DEVELOPMENT },
];

const POLYGON: KnownChain = KnownChain { confirmations: 127, block_time_ms: 2_000, ..ETHEREUM };

impl KnownChain {
    pub fn of(id: u64) -> Self {
        KNOWN.into_iter().find(|known| known.id == id).unwrap_or(Self { id, ..UNKNOWN })
    }

    /// Whether the chain is for tests only: of anvil, Hardhat and this program, or of Ganache and geth.
    pub const fn is_development(&self) -> bool {
        matches!(self.finality, FinalityMark::Depth)
    }

    pub fn profile(&self) -> ChainProfile {
        ChainProfile {
            finality: self.finality,
            block_time: Duration::from_millis(self.block_time_ms),
            // Both are found by asking the node once.
            tracer: Tracer::Automatic,
            fees: FeeKind::Automatic,
            window: self.window,
            is_development: self.is_development(),
        }
    }

    pub fn agreement_above(&self) -> Option<Amount> {
        let units = self.agreement_coins.map(|coins| u128::from(coins).saturating_mul(COIN));
        units.map(Amount::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_chain_is_final_by_its_own_word_and_a_test_chain_by_depth() {
        for id in [1, 56, 137, 42_161, 8_453, 999_999_999] {
            assert_eq!(KnownChain::of(id).finality, FinalityMark::Finalized, "{id}");
            assert!(KnownChain::of(id).agreement_above().is_some(), "{id}");
        }
        for id in [1_337, 31_337] {
            let known = KnownChain::of(id);
            assert_eq!((known.finality, known.agreement_above()), (FinalityMark::Depth, None), "{id}");
        }
    }

    #[test]
    fn a_chain_that_is_not_known_has_the_cautious_defaults() {
        let unknown = KnownChain::of(999_999_999);
        assert_eq!((unknown.confirmations, unknown.window, unknown.symbol), (12, 4_096, "ETH"));
        assert_eq!(unknown.agreement_above(), Some(Amount::new(COIN)));
    }

    #[test]
    fn no_chain_is_in_the_table_twice_and_each_remembers_more_than_its_depth() {
        for (place, known) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..place].iter().all(|other| other.id != known.id), "{}", known.id);
            assert!(known.window > known.confirmations.saturating_mul(4), "{}", known.id);
        }
    }
}
