//! Lies that no header gives away, and methods that a node lacks.
//!
//! A [`crate::NodeFault`] damages an answer in a fixed way; a lie says what the test wants said.

use alloy_primitives::{Address, U256};
use serde::{Deserialize, Serialize};

/// What a number becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Distortion {
    Plus(U256),
    /// Not below zero.
    Minus(U256),
    Exactly(U256),
}

impl Distortion {
    pub(crate) fn of(self, truth: U256) -> U256 {
        match self {
            Self::Plus(more) => truth.saturating_add(more),
            Self::Minus(less) => truth.saturating_sub(less),
            Self::Exactly(answer) => answer,
        }
    }
}

/// A lie fits an answer only if it changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeLie {
    /// `eth_getBalance`, of this account or of all.
    Balance { of: Option<Address>, by: Distortion },
    /// `balanceOf` by `eth_call`, of this holder or of all.
    TokenBalance { of: Option<Address>, by: Distortion },
    /// `eth_getTransactionCount`, of this account or of all.
    TransactionCount { of: Option<Address>, by: Distortion },
    /// `eth_estimateGas`.
    GasEstimate { by: Distortion },
    /// `eth_gasPrice` and `eth_maxPriorityFeePerGas`.
    GasPrice { by: Distortion },
    /// All base fees and rewards of `eth_feeHistory`.
    FeeHistory { by: Distortion },
    /// `safe` is so many blocks newer than it should be, at most the head.
    Safe { ahead: u64 },
    /// `finalized` is so many blocks newer than it should be, at most the head.
    Finalized { ahead: u64 },
    /// Traces of the newest transaction that succeeded show one more transfer to this address.
    TransferInvented { to: Address, value: U256 },
    /// Traces lack one transfer by a contract, to this address or to any.
    TransferOmitted { to: Option<Address> },
    /// Traces have an error in place of one transaction.
    TraceError,
    /// Traces lack a transaction.
    TraceMissing,
}

impl NodeLie {
    /// As in [`crate::SimulatedChain::lies_told`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::Balance { .. } => "balance",
            Self::TokenBalance { .. } => "tokenBalance",
            Self::TransactionCount { .. } => "transactionCount",
            Self::GasEstimate { .. } => "gasEstimate",
            Self::GasPrice { .. } => "gasPrice",
            Self::FeeHistory { .. } => "feeHistory",
            Self::Safe { .. } => "safe",
            Self::Finalized { .. } => "finalized",
            Self::TransferInvented { .. } => "transferInvented",
            Self::TransferOmitted { .. } => "transferOmitted",
            Self::TraceError => "traceError",
            Self::TraceMissing => "traceMissing",
        }
    }
}

/// Methods that not every node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeCapability {
    /// `trace_block`, as geth has not.
    FlatTraces,
    /// Neither `trace_block` nor `debug_traceBlock`.
    Traces,
    BlockReceipts,
}

impl NodeCapability {
    pub(crate) fn is_of(self, method: &str) -> bool {
        match self {
            Self::FlatTraces => method == "trace_block",
            Self::Traces => method == "trace_block" || method.starts_with("debug_trace"),
            Self::BlockReceipts => method == "eth_getBlockReceipts",
        }
    }
}
