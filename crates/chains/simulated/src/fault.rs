//! What can go wrong with a node, and how often it did.
//!
//! A fault is planned for a node so many times; it happens at the first answers it fits and is counted then, so that whoever
//! drives the chain can print what really happened. Faults are in answers only: the chain behind them stays as it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One way in which a node fails its caller.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum NodeFault { $($(#[$doc])* $name,)* }

        impl NodeFault {
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

faults! {
    /// The request goes astray: nothing happens, nobody answers.
    RequestLost,
    /// Everything happens, nobody answers.
    AnswerLost,
    /// A transaction is taken in, nobody answers.
    SendAnswerLost,
    /// HTTP 429.
    RateLimited,
    /// HTTP 502 with a page of text.
    BadGateway,
    /// The first half of the answer.
    AnswerCut,
    /// A JSON-RPC error -32603.
    InternalError,
    /// The node is down. Not planned, but caused by [`crate::SimulatedChain::crash`].
    Down,
    /// The node shows an older head. Not planned, but caused by [`crate::SimulatedChain::lag`].
    Lag,
    /// A transaction is taken in, and called already known.
    SaysAlreadyKnown,
    /// A transaction is taken in, and called too low in its nonce.
    SaysNonceTooLow,
    /// A transaction is not taken in, and called underpriced.
    SaysUnderpriced,
    /// A transaction's hash is answered, and the transaction forgotten.
    AcceptedAndForgotten,
    /// A block without its last transaction.
    TransactionOmitted,
    /// A block without transactions.
    TransactionsOmitted,
    /// A block that is there, called absent.
    BlockDenied,
    /// Receipts without the last one.
    ReceiptOmitted,
    /// An empty list of receipts.
    ReceiptsOmitted,
    /// No list of receipts at all.
    ReceiptsDenied,
    /// A receipt that is there, called absent.
    ReceiptDenied,
    /// A receipt without its last log, bloom and all as if it had never been.
    LogOmitted,
    /// An empty answer to a search for logs.
    LogsOmitted,
    /// A trace without the calls of the last transaction.
    TraceOmitted,
    /// A trace with an error in place of a transaction's calls.
    TraceFailed,
    /// A hash that is not the block's.
    WrongBlockHash,
    WrongParentHash,
    WrongTime,
    /// Another block than the one asked for, whole and sound.
    OtherBlock,
    /// A bloom that lets nothing through.
    WrongBloom,
    /// A transaction that pays twice as much.
    WrongValue,
    /// A transaction that pays somebody else.
    WrongRecipient,
    /// A transaction under another hash.
    WrongTransactionHash,
    /// Two transactions in each other's place.
    TransactionsSwapped,
    /// A failed transaction called successful, or the other way round.
    WrongStatus,
    /// A log that tells of another amount.
    WrongLogAmount,
    WrongLogContract,
    /// A log called removed.
    LogRemoved,
    /// Receipts in each other's place.
    ReceiptsSwapped,
    /// The receipts of another block.
    OtherReceipts,
    /// A receipt that says it is in another block.
    WrongReceiptBlock,
    /// The id of another chain.
    OtherChain,
    /// The first block of another chain.
    OtherGenesis,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts(BTreeMap<NodeFault, u64>);

impl FaultCounts {
    /// How often this one happened.
    pub fn of(&self, fault: NodeFault) -> u64 {
        self.0.get(&fault).copied().unwrap_or_default()
    }

    /// Every fault with its count, those that never happened too.
    pub fn iter(&self) -> impl Iterator<Item = (NodeFault, u64)> {
        NodeFault::ALL.iter().map(|fault| (*fault, self.of(*fault)))
    }

    pub(crate) fn count(&mut self, fault: NodeFault) {
        let count = self.0.entry(fault).or_default();
        *count = count.saturating_add(1);
    }
}
