//! Balances, nonces and tokens after each block.
//!
//! Guarantees: taking coins that are not there changes nothing. The root is a running hash over changes, not a
//! trie: there are no state proofs here, and headers only need it to differ when the state does.

use alloy_primitives::{Address, B256, U256, keccak256};

use crate::history::ChainHistory;

/// What a value of the state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateKey {
    Coins(Address),
    Nonce(Address),
    /// Contract and holder.
    Tokens(Address, Address),
    /// Contract and place: whatever else a contract remembers.
    Word(Address, U256),
}

#[derive(Clone, Debug)]
pub struct State {
    pub coins: ChainHistory<Address, U256>,
    pub nonces: ChainHistory<Address, u64>,
    /// By contract and holder; the zero address of a contract holds its total supply.
    pub tokens: ChainHistory<(Address, Address), U256>,
    pub words: ChainHistory<(Address, U256), U256>,
}

impl State {
    pub const fn new() -> Self {
        Self {
            coins: ChainHistory::new(),
            nonces: ChainHistory::new(),
            tokens: ChainHistory::new(),
            words: ChainHistory::new(),
        }
    }

    /// The value after this block.
    pub fn at(&self, key: StateKey, number: u64) -> U256 {
        match key {
            StateKey::Coins(address) => self.coins.at(address, number),
            StateKey::Nonce(address) => U256::from(self.nonces.at(address, number)),
            StateKey::Tokens(token, holder) => self.tokens.at((token, holder), number),
            StateKey::Word(contract, place) => self.words.at((contract, place), number),
        }
    }

    pub fn set(&mut self, number: u64, key: StateKey, value: U256) {
        match key {
            StateKey::Coins(address) => self.coins.set(address, number, value),
            StateKey::Nonce(address) => self.nonces.set(address, number, value.saturating_to()),
            StateKey::Tokens(token, holder) => self.tokens.set((token, holder), number, value),
            StateKey::Word(contract, place) => self.words.set((contract, place), number, value),
        }
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

    /// Removes everything after this block.
    pub fn unwind(&mut self, to: u64) {
        self.coins.unwind(to);
        self.nonces.unwind(to);
        self.tokens.unwind(to);
        self.words.unwind(to);
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
        for ((contract, place), value) in self.words.changes(number) {
            text.extend([contract.as_slice(), &place.to_be_bytes::<32>(), &value.to_be_bytes::<32>()].concat());
        }
        keccak256(text)
    }
}
