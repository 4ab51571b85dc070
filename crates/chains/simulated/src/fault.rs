//! Faults of a node, and their counts.
//!
//! A fault is planned for a node a number of times; it happens at the first answers it fits and is counted then.
//! Faults are in answers only: the chain itself stays correct.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum NodeFault { $($(#[$doc])* $name,)* }

        impl NodeFault {
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

faults! {
    /// The request is lost: nothing happens, no answer.
    RequestLost,
    /// The request takes effect, no answer.
    AnswerLost,
    /// A transaction is accepted, no answer.
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
    /// A transaction is accepted, and reported as already known.
    SaysAlreadyKnown,
    /// A transaction is accepted, and reported as nonce too low.
    SaysNonceTooLow,
    /// A transaction is dropped, and reported as underpriced.
    SaysUnderpriced,
    /// A transaction is dropped, and reported as accepted.
    AcceptedAndForgotten,
    /// A block without its last transaction.
    TransactionOmitted,
    /// A block without transactions.
    TransactionsOmitted,
    /// An existing block reported as absent.
    BlockDenied,
    /// Receipts without the last one.
    ReceiptOmitted,
    /// An empty list of receipts.
    ReceiptsOmitted,
    /// No list of receipts at all.
    ReceiptsDenied,
    /// An existing receipt reported as absent.
    ReceiptDenied,
    /// A receipt without its last log, with a matching bloom.
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
    /// Another, valid block.
    OtherBlock,
    /// An empty bloom.
    WrongBloom,
    /// A transaction that pays twice as much.
    WrongValue,
    /// A transaction with another recipient.
    WrongRecipient,
    /// A transaction under another hash.
    WrongTransactionHash,
    /// Two transactions swapped.
    TransactionsSwapped,
    /// A failed transaction reported as successful, or vice versa.
    WrongStatus,
    /// A log with another amount.
    WrongLogAmount,
    WrongLogContract,
    /// A log marked as removed.
    LogRemoved,
    /// Two receipts swapped.
    ReceiptsSwapped,
    /// The receipts of another block.
    OtherReceipts,
    /// A receipt that names another block.
    WrongReceiptBlock,
    /// The id of another chain.
    OtherChain,
    /// The first block of another chain.
    OtherGenesis,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts(BTreeMap<NodeFault, u64>);

impl FaultCounts {
    pub fn of(&self, fault: NodeFault) -> u64 {
        self.0.get(&fault).copied().unwrap_or_default()
    }

    /// Every fault with its count, including zeros.
    pub fn iter(&self) -> impl Iterator<Item = (NodeFault, u64)> {
        NodeFault::ALL.iter().map(|fault| (*fault, self.of(*fault)))
    }

    pub(crate) fn count(&mut self, fault: NodeFault) {
        let count = self.0.entry(fault).or_default();
        *count = count.saturating_add(1);
    }
}
