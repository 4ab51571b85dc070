//! A block: header, transactions, receipts and traces, with every hash, root and bloom computed as Ethereum does.

use alloy_consensus::{
    Eip658Value, Header, Receipt, ReceiptEnvelope, Transaction as _,
    proofs::{calculate_receipt_root, calculate_transaction_root, calculate_withdrawals_root},
};
use alloy_eips::{eip2718::Encodable2718, eip4895::Withdrawal};
use alloy_primitives::{Address, B256, Bloom, Bytes, U256};

use crate::{
    execute::ExecutionOutcome,
    machine::CallFrame,
    transaction::{Envelope, SimulatedTransaction},
};

/// A transaction in a block, with its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludedTransaction {
    pub transaction: SimulatedTransaction,
    pub gas_used: u64,
    /// The price it paid per unit of gas.
    pub gas_price: u128,
    /// The calls it made, itself first.
    pub frames: Vec<CallFrame>,
    pub(crate) receipt: ReceiptEnvelope,
}

impl IncludedTransaction {
    pub fn succeeded(&self) -> bool {
        self.receipt.status()
    }

    /// The coins that really moved, in order, the transaction's own first: no frame that failed, or is below one that
    /// did.
    pub fn coin_moves(&self) -> impl Iterator<Item = &CallFrame> {
        let failed = |frame: &CallFrame| {
            let above = self.frames.iter().filter(|above| above.reverted);
            above.into_iter().any(|above| frame.path.starts_with(&above.path))
        };
        let moves = self.frames.iter().filter(|frame| frame.kind.moves_coins() && !frame.value.is_zero());
        moves.filter(move |frame| !failed(frame))
    }
}

/// What changes balances in a block without a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockExtras {
    /// From the consensus layer (EIP-4895), in gwei.
    pub withdrawals: Vec<Withdrawal>,
    /// Made by the chain itself, in wei, as on second layers. No block and no trace shows it.
    pub minted: Vec<(Address, U256)>,
}

impl BlockExtras {
    pub(crate) fn append(&mut self, mut later: Self) {
        self.withdrawals.append(&mut later.withdrawals);
        self.minted.append(&mut later.minted);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedBlock {
    pub(crate) header: Header,
    pub hash: B256,
    pub transactions: Vec<IncludedTransaction>,
    pub extras: BlockExtras,
}

impl SimulatedBlock {
    pub fn number(&self) -> u64 {
        self.header.number
    }

    /// Its time, in seconds since 1970.
    pub fn time(&self) -> u64 {
        self.header.timestamp
    }

    /// The hash of the block before it.
    pub fn parent(&self) -> B256 {
        self.header.parent_hash
    }

    /// Who gets the tips.
    pub fn producer(&self) -> Address {
        self.header.beneficiary
    }

    pub fn base_fee(&self) -> u64 {
        self.header.base_fee_per_gas.unwrap_or_default()
    }

    /// The transactions without their results.
    pub(crate) fn bare_transactions(&self) -> impl Iterator<Item = SimulatedTransaction> {
        self.transactions.iter().map(|included| included.transaction.clone())
    }

    /// Computes everything that follows from the transactions; the header has the rest.
    pub(crate) fn seal(mut header: Header, transactions: Vec<IncludedTransaction>, extras: BlockExtras) -> Self {
        let envelopes: Vec<&Envelope> = transactions.iter().map(|included| &included.transaction.envelope).collect();
        let receipts: Vec<&ReceiptEnvelope> = transactions.iter().map(|included| &included.receipt).collect();
        header.transactions_root = calculate_transaction_root(&envelopes);
        header.receipts_root = calculate_receipt_root(&receipts);
        header.logs_bloom = receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | *receipt.logs_bloom());
        header.gas_used = receipts.last().map_or(0, |receipt| receipt.cumulative_gas_used());
        // As on Ethereum since the merge and Cancun: no uncles, no blobs.
        header.withdrawals_root = Some(calculate_withdrawals_root(&extras.withdrawals));
        header.blob_gas_used = Some(0);
        header.excess_blob_gas = Some(0);
        header.parent_beacon_block_root = Some(B256::ZERO);
        header.extra_data = Bytes::from_static(b"simulated");
        Self { hash: header.hash_slow(), header, transactions, extras }
    }

    /// The size of its transactions in bytes.
    pub(crate) fn body_bytes(&self) -> usize {
        self.transactions.iter().map(|included| included.transaction.envelope.encode_2718_len()).sum()
    }
}

/// A transaction with its receipt, after `gas_before` gas of the same block.
pub(crate) fn include(
    transaction: SimulatedTransaction,
    outcome: ExecutionOutcome,
    gas_before: u64,
    base_fee: u64,
) -> IncludedTransaction {
    let receipt = Receipt {
        status: Eip658Value::Eip658(outcome.success),
        cumulative_gas_used: gas_before.saturating_add(outcome.gas_used),
        logs: outcome.logs,
    };
    let gas_price = transaction.envelope.effective_gas_price(Some(base_fee));
    let receipt = ReceiptEnvelope::from_typed(transaction.envelope.tx_type(), receipt);
    IncludedTransaction { transaction, gas_used: outcome.gas_used, gas_price, frames: outcome.frames, receipt }
}
