//! Balances, nonces and tokens after each block.
//!
//! Guarantees: a transfer that the payer cannot cover changes nothing. The root is a running hash over changes, not a
//! trie: there are no state proofs here, and headers only need it to differ when the state does.

use alloy_primitives::{Address, B256, U256, keccak256};

use crate::history::ChainHistory;

#[derive(Clone, Debug)]
pub struct State {
    pub coins: ChainHistory<Address, U256>,
    pub nonces: ChainHistory<Address, u64>,
    /// By contract and holder; the zero address of a contract holds its total supply.
    pub tokens: ChainHistory<(Address, Address), U256>,
}

impl State {
    pub const fn new() -> Self {
        Self { coins: ChainHistory::new(), nonces: ChainHistory::new(), tokens: ChainHistory::new() }
    }

    /// Moves coins, if they are there.
    pub fn pay(&mut self, number: u64, from: Address, to: Address, value: U256) -> bool {
        self.take(number, from, value) && self.give(number, to, value)
    }

    /// Takes coins out of an account, if they are there.
    pub fn take(&mut self, number: u64, from: Address, value: U256) -> bool {
        let left = self.coins.get(from).checked_sub(value);
        left.inspect(|left| self.coins.set(from, number, *left)).is_some()
    }

    /// Puts coins into an account. All coins fit into 256 bits, so this fails only for an absurd genesis.
    pub fn give(&mut self, number: u64, to: Address, value: U256) -> bool {
        let sum = self.coins.get(to).checked_add(value);
        sum.inspect(|sum| self.coins.set(to, number, *sum)).is_some()
    }

    /// Takes tokens from a holder and gives some of them to another; the difference is burnt.
    pub fn move_tokens(
        &mut self,
        number: u64,
        token: Address,
        from: Address,
        to: Address,
        amounts: (U256, U256),
    ) -> bool {
        let (taken, given) = amounts;
        let Some(left) = self.tokens.get((token, from)).checked_sub(taken) else { return false };
        self.tokens.set((token, from), number, left);
        // Balances add up to the supply, which fits; the balance of a holder that pays itself was lowered just before.
        let sum = self.tokens.get((token, to)).saturating_add(given);
        self.tokens.set((token, to), number, sum);
        let burnt = taken.saturating_sub(given);
        let supply = self.tokens.get((token, Address::ZERO)).saturating_sub(burnt);
        self.tokens.set((token, Address::ZERO), number, supply);
        true
    }

    /// Makes tokens, unless there would be more than 256 bits can count.
    pub fn mint_tokens(&mut self, number: u64, token: Address, to: Address, amount: U256) -> bool {
        let Some(supply) = self.tokens.get((token, Address::ZERO)).checked_add(amount) else { return false };
        self.tokens.set((token, Address::ZERO), number, supply);
        let sum = self.tokens.get((token, to)).saturating_add(amount);
        self.tokens.set((token, to), number, sum);
        true
    }

    /// Removes everything after this block.
    pub fn unwind(&mut self, to: u64) {
        self.coins.unwind(to);
        self.nonces.unwind(to);
        self.tokens.unwind(to);
    }

    /// The root after this block, the newest one.
    pub fn root(&self, parent: B256, number: u64) -> B256 {
        let mut text = parent.to_vec();
        for (address, value) in self.coins.changes(number) {
            text.extend([address.as_slice(), &value.to_be_bytes::<32>()].concat());
        }
        for (address, nonce) in self.nonces.changes(number) {
            text.extend([address.as_slice(), &nonce.to_be_bytes()].concat());
        }
        for ((token, holder), value) in self.tokens.changes(number) {
            text.extend([token.as_slice(), holder.as_slice(), &value.to_be_bytes::<32>()].concat());
        }
        keccak256(text)
    }
}
