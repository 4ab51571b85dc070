//! The mempool: pending transactions, replacement, and the order for blocks.
//!
//! Guarantees: at most one transaction per sender and nonce; a replacement raises both fees by at least a tenth; never
//! more than the limit. Refusals have geth's texts, because clients parse them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, U256};

use crate::{execute::intrinsic_gas_of, state::State, transaction::SimulatedTransaction};

/// Why a transaction is refused, with the texts of real nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is documented by its own words")]
pub enum PoolRefusal {
    #[error("already known")]
    AlreadyKnown,
    #[error("nonce too low: next nonce {next}, tx nonce {nonce}")]
    NonceTooLow { next: u64, nonce: u64 },
    #[error("replacement transaction underpriced")]
    ReplacementUnderpriced,
    #[error("transaction underpriced: gas tip cap {tip}, minimum needed 1")]
    Underpriced { tip: u128 },
    #[error("insufficient funds for gas * price + value: balance {balance}, queued cost {queued}, tx cost {cost}")]
    InsufficientFunds { balance: U256, queued: U256, cost: U256 },
    #[error("intrinsic gas too low: gas {gas}, minimum needed {needed}")]
    IntrinsicGasTooLow { gas: u64, needed: u64 },
    #[error("exceeds block gas limit")]
    ExceedsBlockGasLimit,
    #[error(
        "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: {tip}, maxFeePerGas: {max_fee}"
    )]
    TipAboveMaxFee { tip: u128, max_fee: u128 },
    #[error("invalid sender")]
    InvalidSender,
    #[error("invalid chain id for signer: have {have} want {want}")]
    WrongChain { have: u64, want: u64 },
    #[error("only replay-protected (EIP-155) transactions allowed over RPC")]
    Unprotected,
    #[error("transaction type not supported")]
    TypeNotSupported,
    #[error("rlp: {0}")]
    Undecodable(String),
    #[error("contract creation is not supported by this chain")]
    ContractCreation,
    #[error("txpool is full")]
    Full,
}

pub struct PoolLimits {
    pub chain_id: u64,
    pub gas_limit: u64,
    pub transactions: usize,
}

#[derive(Clone, Debug)]
struct Waiting {
    transaction: SimulatedTransaction,
    arrival: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Pool {
    waiting: BTreeMap<(Address, u64), Waiting>,
    places: BTreeMap<B256, (Address, u64)>,
    arrivals: u64,
}

impl Pool {
    /// Adds a transaction or refuses it. A replaced one is dropped.
    pub fn admit(
        &mut self,
        transaction: SimulatedTransaction,
        state: &State,
        limits: &PoolLimits,
    ) -> Result<(), PoolRefusal> {
        if self.places.contains_key(&transaction.hash) {
            return Err(PoolRefusal::AlreadyKnown);
        }
        check_form(&transaction, limits)?;
        let (sender, nonce) = (transaction.sender, transaction.nonce());
        let next = state.nonces.get(sender);
        if nonce < next {
            return Err(PoolRefusal::NonceTooLow { next, nonce });
        }
        let replaced = self.waiting.get(&(sender, nonce));
        let others = self.of_sender(sender, next).filter(|waiting| waiting.transaction.nonce() != nonce);
        let queued = others.fold(U256::ZERO, |sum, waiting| sum.saturating_add(waiting.transaction.cost()));
        let (balance, cost) = (state.coins.get(sender), transaction.cost());
        if balance < queued.saturating_add(cost) {
            return Err(PoolRefusal::InsufficientFunds { balance, queued, cost });
        }
        match replaced {
            Some(old) if !pays_a_tenth_more(&transaction, &old.transaction) => Err(PoolRefusal::ReplacementUnderpriced),
            None if self.waiting.len() >= limits.transactions => Err(PoolRefusal::Full),
            _ => {
                self.put(transaction);
                Ok(())
            }
        }
    }

    /// Returns transactions to the pool after a reorganisation. A present transaction with the same nonce stays.
    pub fn put_back(&mut self, transaction: SimulatedTransaction) {
        if !self.waiting.contains_key(&(transaction.sender, transaction.nonce())) {
            self.put(transaction);
        }
    }

    fn put(&mut self, transaction: SimulatedTransaction) {
        let place = (transaction.sender, transaction.nonce());
        self.arrivals = self.arrivals.saturating_add(1);
        self.places.insert(transaction.hash, place);
        if let Some(old) = self.waiting.insert(place, Waiting { transaction, arrival: self.arrivals }) {
            self.places.remove(&old.transaction.hash);
        }
    }

    /// The transactions that can run now, best tip first, each sender's in the order of their numbers.
    pub fn best(&self, state: &State, base_fee: u64) -> Vec<SimulatedTransaction> {
        let mut heads = BTreeSet::new();
        let mut sender = self.waiting.keys().next().map(|(sender, _)| *sender);
        while let Some(of) = sender {
            heads.extend(self.rank(of, state.nonces.get(of), base_fee));
            let after = (Bound::Excluded((of, u64::MAX)), Bound::Unbounded);
            sender = self.waiting.range(after).next().map(|((sender, _), _)| *sender);
        }
        let mut chosen = Vec::new();
        while let Some((_, _, place)) = heads.pop_first() {
            let Some(waiting) = self.waiting.get(&place) else { continue };
            chosen.push(waiting.transaction.clone());
            heads.extend(place.1.checked_add(1).and_then(|next| self.rank(place.0, next, base_fee)));
        }
        chosen
    }

    fn rank(&self, sender: Address, nonce: u64, base_fee: u64) -> Option<(Reverse<u128>, u64, (Address, u64))> {
        let waiting = self.waiting.get(&(sender, nonce))?;
        let tip = waiting.transaction.tip_at(base_fee)?;
        Some((Reverse(tip), waiting.arrival, (sender, nonce)))
    }

    /// Drops transactions whose nonce is used.
    pub fn drop_used(&mut self, state: &State) {
        self.waiting.retain(|(sender, nonce), waiting| {
            let runnable = *nonce >= state.nonces.get(*sender);
            if !runnable {
                self.places.remove(&waiting.transaction.hash);
            }
            runnable
        });
    }

    pub fn forget(&mut self, hash: B256) {
        if let Some(place) = self.places.remove(&hash) {
            self.waiting.remove(&place);
        }
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
        self.places.clear();
    }

    pub fn get(&self, hash: B256) -> Option<&SimulatedTransaction> {
        self.waiting.get(self.places.get(&hash)?).map(|waiting| &waiting.transaction)
    }

    /// The next nonce of the sender after its pending transactions without a gap.
    pub fn next_nonce(&self, sender: Address, from: u64) -> u64 {
        let unbroken =
            self.of_sender(sender, from).zip(from..).take_while(|(w, nonce)| w.transaction.nonce() == *nonce);
        from.saturating_add(unbroken.count() as u64)
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    fn of_sender(&self, sender: Address, from: u64) -> impl Iterator<Item = &Waiting> {
        self.waiting.range((sender, from)..=(sender, u64::MAX)).map(|(_, waiting)| waiting)
    }
}

fn check_form(transaction: &SimulatedTransaction, limits: &PoolLimits) -> Result<(), PoolRefusal> {
    let envelope = &transaction.envelope;
    let (have, want) = (envelope.chain_id().ok_or(PoolRefusal::Unprotected)?, limits.chain_id);
    let (tip, max_fee) = (envelope.priority_fee_or_price(), envelope.max_fee_per_gas());
    let (gas, (before, floor)) = (envelope.gas_limit(), intrinsic_gas_of(transaction));
    let needed = before.max(floor);
    match () {
        () if have != want => Err(PoolRefusal::WrongChain { have, want }),
        () if transaction.to().is_none() => Err(PoolRefusal::ContractCreation),
        () if gas > limits.gas_limit => Err(PoolRefusal::ExceedsBlockGasLimit),
        () if tip > max_fee => Err(PoolRefusal::TipAboveMaxFee { tip, max_fee }),
        () if gas < needed => Err(PoolRefusal::IntrinsicGasTooLow { gas, needed }),
        () if tip == 0 => Err(PoolRefusal::Underpriced { tip }),
        () => Ok(()),
    }
}

fn pays_a_tenth_more(new: &SimulatedTransaction, old: &SimulatedTransaction) -> bool {
    let more = |new: u128, old: u128| match (new.checked_mul(10), old.checked_mul(11)) {
        (Some(new), Some(old)) => new >= old,
        // Ten times this overflows 128 bits; whole tenths are exact enough here.
        _ => new >= old.saturating_add(old.div_ceil(10)),
    };
    let fees = |transaction: &SimulatedTransaction| {
        (transaction.envelope.max_fee_per_gas(), transaction.envelope.priority_fee_or_price())
    };
    let ((max_fee, tip), (old_max_fee, old_tip)) = (fees(new), fees(old));
    more(max_fee, old_max_fee) && more(tip, old_tip)
}
