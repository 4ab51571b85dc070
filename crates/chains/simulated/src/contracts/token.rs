//! Tokens: a correct one, and two incorrect ones as they exist on real chains.

use alloy_primitives::{Address, B256, Bytes, Log, U256, b256};

use super::{
    Call, ContractPlan, DECLINING, DOLLAR, Move, TAXED,
    abi::{address, selector, text, word, words},
};
use crate::state::State;

/// The topic of `Transfer(address,address,uint256)`.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// Gas of calls on top of their data, about as on real chains.
const VIEW_GAS: u64 = 2_500;
const MOVE_GAS: u64 = 30_000;

#[derive(Clone, Copy)]
enum Manner {
    Sound,
    /// Gives the recipient nine tenths, and logs the full amount.
    Taxed,
    /// Returns false, and does nothing.
    Declining,
}

pub struct Token {
    address: Address,
    symbol: &'static str,
    decimals: u8,
    manner: Manner,
}

impl Token {
    pub const DOLLAR: Self = Self { address: DOLLAR, symbol: "DOLLAR", decimals: 6, manner: Manner::Sound };
    pub const TAXED: Self = Self { address: TAXED, symbol: "TAXED", decimals: 18, manner: Manner::Taxed };
    pub const DECLINING: Self = Self { address: DECLINING, symbol: "DECLINE", decimals: 8, manner: Manner::Declining };

    pub fn plan(&self, state: &State, number: u64, call: &Call) -> ContractPlan {
        // Coins sent to a token would be stuck, so every call refuses them.
        let Some((name, arguments)) = words(&call.input).filter(|_| call.value.is_zero()) else {
            return ContractPlan::revert(200);
        };
        let named = |signature| name == selector(signature);
        let answer = |output: Bytes| ContractPlan { gas: VIEW_GAS, output, ..ContractPlan::default() };
        match arguments[..] {
            [] if named("decimals()") => answer(word(U256::from(self.decimals))),
            [] if named("symbol()") || named("name()") => answer(text(self.symbol)),
            [] if named("totalSupply()") => answer(word(state.tokens.at((self.address, Address::ZERO), number))),
            [holder] if named("balanceOf(address)") => match address(holder) {
                // The zero address holds the supply counter, so it cannot own tokens.
                Some(Address::ZERO) => answer(word(U256::ZERO)),
                Some(holder) => answer(word(state.tokens.at((self.address, holder), number))),
                None => ContractPlan::revert(VIEW_GAS),
            },
            [to, amount] if named("transfer(address,uint256)") => self.transfer(state, number, call.from, to, amount),
            [to, amount] if named("mint(address,uint256)") => self.mint(state, number, to, amount),
            _ => ContractPlan::revert(200),
        }
    }

    fn transfer(&self, state: &State, number: u64, from: Address, to: U256, amount: U256) -> ContractPlan {
        if matches!(self.manner, Manner::Declining) {
            return ContractPlan { gas: VIEW_GAS, output: word(U256::ZERO), ..ContractPlan::default() };
        }
        let covered = state.tokens.at((self.address, from), number) >= amount;
        let Some(to) = address(to).filter(|to| covered && !to.is_zero() && !from.is_zero()) else {
            return ContractPlan::revert(VIEW_GAS);
        };
        let tax = match self.manner {
            Manner::Taxed => amount.checked_div(U256::from(10)).unwrap_or_default(),
            Manner::Sound | Manner::Declining => U256::ZERO,
        };
        let given = amount.saturating_sub(tax);
        self.moved(Move::Tokens { token: self.address, from, to, taken: amount, given }, from, to, amount)
    }

    fn mint(&self, state: &State, number: u64, to: U256, amount: U256) -> ContractPlan {
        let fits = state.tokens.at((self.address, Address::ZERO), number).checked_add(amount).is_some();
        match address(to).filter(|to| fits && !to.is_zero()) {
            Some(to) => self.moved(Move::Mint { token: self.address, to, amount }, Address::ZERO, to, amount),
            None => ContractPlan::revert(VIEW_GAS),
        }
    }

    fn moved(&self, step: Move, from: Address, to: Address, amount: U256) -> ContractPlan {
        let topics = vec![TRANSFER, from.into_word(), to.into_word()];
        let log = Log::new_unchecked(self.address, topics, word(amount));
        ContractPlan {
            gas: MOVE_GAS,
            output: word(U256::from(1)),
            logs: vec![log],
            moves: vec![step],
            ..ContractPlan::default()
        }
    }
}
