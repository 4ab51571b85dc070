//! Blocks as the rest of the program sees them: verified before they are made, and then plain values.

use alloy_consensus::{EthereumTxEnvelope, TxEip4844, transaction::SignerRecoverable};
use alloy_primitives::{Address, B256, Bytes, U256};

use crate::{
    error::Disagreement,
    log::{EventLog, TransferLog},
    quantity::Quantity,
};

pub(crate) type Envelope = EthereumTxEnvelope<TxEip4844>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockTag {
    /// The block at this height of the node's chain.
    Number(u64),
    /// Exactly this block, whether or not it is still on the chain.
    Hash(B256),
    /// The newest block that the node has.
    Latest,
    /// What the node calls safe.
    Safe,
    /// What the node calls final.
    Finalized,
}

/// A header whose hash was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    pub number: u64,
    /// What the block is known by.
    pub hash: B256,
    /// The block before it.
    pub parent: B256,
    /// When it was made, in seconds since 1970, as its producer says.
    pub time: u64,
    /// What a unit of gas costs in it before any tip; none on chains without EIP-1559.
    pub base_fee: Option<u64>,
}

/// A block with all of its transactions and what became of them: nothing in it can be missing or be something else without
/// its hash being another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub header: BlockHeader,
    /// All of its transactions, in order.
    pub transactions: Vec<Transaction>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// What it is known by.
    pub hash: B256,
    pub index: usize,
    /// Its number among its sender's.
    pub nonce: u64,
    /// Whom it is for; none makes a contract.
    pub to: Option<Address>,
    /// How many wei it was to move. Only [`Transaction::native_transfer`] says whether it did.
    pub value: Quantity,
    /// What was said to the contract.
    pub input: Bytes,
    /// Whether it did what it was to do. If not, it moved nothing, and still paid for its gas.
    pub succeeded: bool,
    /// How much gas it took.
    pub gas_used: u64,
    /// What it paid for a unit of gas.
    pub gas_price: u128,
    /// What contracts told about it; empty if it failed.
    pub logs: Vec<EventLog>,
    pub(crate) envelope: Envelope,
}

impl Transaction {
    /// Who signed it. Computed when asked for, since few of a block's transactions matter to anybody.
    pub fn sender(&self) -> Result<Address, Disagreement> {
        self.envelope.recover_signer().map_err(|_| Disagreement::Signature(self.hash))
    }

    /// The coins that the transaction itself moved, and to whom. Those that contracts moved on are in
    /// [`crate::RpcNode::internal_transfers`].
    pub fn native_transfer(&self) -> Option<(Address, Quantity)> {
        self.to.map(|to| (to, self.value)).filter(|(_, value)| self.succeeded && !value.is_zero())
    }

    /// What its logs tell about tokens, those that cannot be read included. Whether a contract is a token anybody believes
    /// is for the caller to say.
    pub fn transfer_logs(&self) -> impl Iterator<Item = TransferLog> {
        self.logs.iter().filter_map(EventLog::transfer)
    }

    /// What it paid for gas. Blob transactions pay for their blobs besides.
    pub fn fee(&self) -> Quantity {
        Quantity::new(U256::from(self.gas_used).saturating_mul(U256::from(self.gas_price)))
    }
}

impl Block {
    pub fn transaction(&self, hash: B256) -> Option<&Transaction> {
        self.transactions.iter().find(|transaction| transaction.hash == hash)
    }
}
