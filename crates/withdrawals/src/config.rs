//! The settings of the payouts role.

use std::collections::BTreeSet;

use bankroll_ledger::{AccountName, Name};
use bankroll_orders::{Address, ChainId};

use crate::job::PayoutRules;

/// The wallet that pays, and how.
#[derive(Clone, Debug)]
pub struct PayoutConfig {
    /// The chain, as assets name it.
    pub chain: Name,
    /// The chain, as transactions name it.
    pub chain_id: ChainId,
    /// The address of the wallet.
    pub address: Address,
    /// The account of the wallet: its balance is what the wallet must hold on the chain.
    pub custody: AccountName,
    /// Servers that another wallet pays for: this one opens no job of theirs, and finishes those that it has.
    pub elsewhere: BTreeSet<Name>,
    pub rules: PayoutRules,
    /// The name under which this node reports to the books.
    pub node_name: String,
}
