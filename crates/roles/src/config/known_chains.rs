//! What is known of EVM chains by their ids, beyond how they are read ([`ChainTraits`]): the defaults of keys that are 0,
//! empty or "auto".
//!
//! A chain that is not in the table has cautious values. Money that can be withdrawn waits for the chain's own finality
//! wherever a chain has one.

use std::time::Duration;

use bankroll_chains_evm::ChainTraits;
use bankroll_ledger::Amount;

use crate::flows::ChainProfile;

/// The defaults of one chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownChain {
    pub traits: ChainTraits,
    pub symbol: &'static str,
    /// Headers remembered: several times as many blocks as usually wait for finality.
    window: u64,
    /// The value, in whole coins, from which one provider's word is not enough; `None` for play money.
    agreement_coins: Option<u64>,
    pub is_development: bool,
}

const COIN: u128 = 1_000_000_000_000_000_000;
/// Chains that are used for tests only: of anvil, Hardhat and this program, and of Ganache and geth.
const DEVELOPMENT: [u64; 2] = [31_337, 1_337];
/// Of a chain whose finality is known to take about a quarter of an hour, at twelve seconds a block.
const QUARTER_HOUR: u64 = 512;

impl KnownChain {
    pub fn of(id: u64) -> Self {
        let traits = ChainTraits::of(id);
        if DEVELOPMENT.contains(&id) {
            let window = ChainProfile::window_of(traits.confirmations);
            return Self { traits, symbol: "ETH", window, agreement_coins: None, is_development: true };
        }
        let (symbol, window, coins) = match id {
            // Ethereum, Sepolia: two or three epochs of 32 blocks.
            1 | 11_155_111 => ("ETH", QUARTER_HOUR, 1),
            56 => ("BNB", QUARTER_HOUR, 3),
            137 => ("POL", 1_024, 1_000),
            43_114 => ("AVAX", QUARTER_HOUR, 50),
            // Final with the block of Ethereum that has the batch, after about twenty minutes at four blocks a second.
            42_161 => ("ETH", 16_384, 1),
            _ => ("ETH", 4_096, 1),
        };
        Self { traits, symbol, window, agreement_coins: Some(coins), is_development: false }
    }

    pub fn profile(&self) -> ChainProfile {
        ChainProfile {
            finality: self.traits.finality,
            block_time: Duration::from_millis(self.traits.block_time_ms),
            tracer: self.traits.tracer,
            fees: self.traits.fees,
            window: self.window,
            is_development: self.is_development,
        }
    }

    pub fn agreement_above(&self) -> Option<Amount> {
        let units = self.agreement_coins.map(|coins| u128::from(coins).saturating_mul(COIN));
        units.map(Amount::new)
    }
}

#[cfg(test)]
mod tests {
    use bankroll_chains_evm::FinalityMark;

    use super::*;

    #[test]
    fn a_real_chain_is_final_by_its_own_word_and_a_test_chain_by_depth() {
        for id in [1, 10, 56, 137, 8_453, 42_161, 999_999_999] {
            let known = KnownChain::of(id);
            assert_eq!((known.profile().finality, known.is_development), (FinalityMark::Finalized, false), "{id}");
            assert!(known.agreement_above().is_some(), "{id}");
            assert!(known.window > known.traits.confirmations.saturating_mul(4), "{id}");
        }
        for id in DEVELOPMENT {
            let known = KnownChain::of(id);
            assert_eq!((known.profile().finality, known.agreement_above()), (FinalityMark::Depth, None), "{id}");
        }
    }

    #[test]
    fn each_chain_has_its_own_coin_and_bound() {
        let of = |id| (KnownChain::of(id).symbol, KnownChain::of(id).agreement_above().unwrap().units() / COIN);
        assert_eq!([of(1), of(56), of(137), of(999_999_999)], [("ETH", 1), ("BNB", 3), ("POL", 1_000), ("ETH", 1)]);
    }
}
