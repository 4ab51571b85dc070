//! Blocks as plain values; they are verified before they are built.

use alloy_consensus::{EthereumTxEnvelope, TxEip4844, transaction::SignerRecoverable};
use alloy_primitives::{B256, Bytes, U256};
use bankroll_orders::Address;

use crate::{
    error::Disagreement,
    log::{EventLog, TransferLog},
    quantity::Quantity,
};

pub(crate) type RawEnvelope = EthereumTxEnvelope<TxEip4844>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockTag {
    /// The block at this height of the node's chain.
    Number(u64),
    /// This block, even if it is no longer on the chain.
    Hash(B256),
    /// The newest block that the node has.
    Latest,
    /// The node's safe block.
    Safe,
    /// The node's finalized block.
    Finalized,
}

/// A header with a verified hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    pub number: u64,
    pub hash: B256,
    pub parent: B256,
    /// In seconds since 1970, as claimed by the producer.
    pub time: u64,
    /// `None` on chains without EIP-1559.
    pub base_fee: Option<u64>,
}

/// A block with all transactions and their results. Any missing or changed part would change its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub header: BlockHeader,
    /// All transactions, in order.
    pub transactions: Vec<Transaction>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub hash: B256,
    pub index: usize,
    pub nonce: u64,
    /// `None` creates a contract.
    pub to: Option<Address>,
    /// In wei. It moved only if the transaction succeeded: see [`Transaction::native_transfer`].
    pub value: Quantity,
    pub input: Bytes,
    /// A failed transaction moves nothing but still pays for its gas.
    pub succeeded: bool,
    pub gas_used: u64,
    pub gas_price: u128,
    /// Empty if it failed.
    pub logs: Vec<EventLog>,
    /// The sender as the node names it, unverified: a filter that saves a recovery, and no proof of anything.
    pub claimed_sender: Option<Address>,
    pub(crate) envelope: RawEnvelope,
}

impl Transaction {
    /// Recovered on demand, because few transactions of a block are of interest.
    pub fn sender(&self) -> Result<Address, Disagreement> {
        let sender = self.envelope.recover_signer().map_err(|_| Disagreement::Signature(self.hash))?;
        Ok(Address(sender.into_array()))
    }

    /// The coins that the transaction itself moved, and the recipient. Transfers by contracts are in
    /// [`crate::RpcNode::internal_transfers`].
    pub fn native_transfer(&self) -> Option<(Address, Quantity)> {
        self.to.map(|to| (to, self.value)).filter(|(_, value)| self.succeeded && !value.is_zero())
    }

    /// Token transfers in its logs, including unreadable ones. The caller decides which contracts are tokens.
    pub fn transfer_logs(&self) -> impl Iterator<Item = TransferLog> {
        self.logs.iter().filter_map(EventLog::transfer)
    }

    /// The fee for gas, without the fee for blobs.
    pub fn fee(&self) -> Quantity {
        Quantity::new(U256::from(self.gas_used).saturating_mul(U256::from(self.gas_price)))
    }
}

impl Block {
    pub fn transaction(&self, hash: B256) -> Option<&Transaction> {
        self.transactions.iter().find(|transaction| transaction.hash == hash)
    }
}
