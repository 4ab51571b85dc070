//! The results of one step of a job, and the reasons for which a job waits.

use std::{error::Error, fmt};

use bankroll_chains_evm::{B256, RpcError, SendOutcome};
use bankroll_orders::SignerRefusal;

use crate::outcome::PayoutOutcome;

/// What one step did with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// The job has a nonce.
    Reserved {
        nonce: u64,
    },
    /// The first order is written down.
    Prepared,
    /// The signer returned the bytes of an attempt.
    Signed {
        attempt: u64,
        hash: B256,
    },
    /// Bytes were sent. The answer of the RPC node proves nothing.
    Sent {
        attempt: u64,
        answer: SendOutcome,
    },
    /// An order with a higher price, for the payout or its cancellation, is written down.
    Raised {
        attempt: u64,
    },
    /// A transaction of the job is in a block.
    Mined,
    /// The block that had the transaction was replaced.
    Unmined,
    /// The outcome is proven, and reported to the books.
    Ended(PayoutOutcome),
    /// The nonce is used by an unknown transaction: the job needs an operator.
    Doubted,
    Waits(WaitReason),
}

/// Why a job waits. `Display` is the text that operators read, in logs and in `error_message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// For blocks, or for time.
    Time,
    /// Other jobs of its wallet come first.
    OthersFirst,
    /// It could not continue, and its next try is not due yet.
    PutOff,
    WalletShort,
    HouseShort,
    FeesAboveCeiling,
    /// The RPC node reports that the payment would fail.
    WouldFail,
    TooMuchGas,
    /// Nothing new is paid from this wallet until an operator resumes it.
    WalletStopped,
    /// The wallet was used outside of this system.
    ForeignNonce {
        expected: u64,
        found: u64,
    },
    SignerRefuses(SignerRefusal),
    /// What is final on the chain is not what was settled: an operator is needed.
    Contradicted,
    /// Withdrawals of its server are paused.
    ServerPaused,
    /// The player owes what the chain took back of their deposits.
    InDebt,
    /// An operator has frozen the player.
    Frozen,
    /// Its rows differ from the decision of the books: an operator is needed.
    NotAsDecided,
    /// Its row lacks the nonce that it must have.
    NoNonce,
    /// The RPC node gave no believable answer.
    Node(RpcError),
    /// The signer gave no believable answer. It may have signed.
    Signer(String),
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "waits for blocks, or for time to pass",
            Self::OthersFirst => "waits for earlier payouts of the wallet",
            Self::PutOff => "waits for its next try",
            Self::WalletShort => "the wallet does not have enough",
            Self::HouseShort => {
                "the house has too little capital to pay for gas: pay some in from an address in chain.treasury"
            }
            Self::FeesAboveCeiling => {
                "the chain asks more for gas than chain.max_fee_per_gas or the fee cap of the player"
            }
            Self::WouldFail => "the RPC node reports that the payment would fail",
            Self::TooMuchGas => "the payment would use too much gas",
            Self::WalletStopped => "nothing new is paid from the wallet: it needs an operator; see `bankroll doctor`",
            Self::Contradicted => {
                "what is final on the chain is not what was settled: it needs an operator; see `bankroll audit`"
            }
            Self::ServerPaused => "withdrawals of the server are paused",
            Self::InDebt => "the player owes what the chain took back of their deposits, and is paid once it is repaid",
            Self::Frozen => "frozen: an operator has frozen the player, who is paid once that is lifted by a proposal",
            Self::NotAsDecided => {
                "the rows of a payout differ from the decision of the books: it needs an operator; see `bankroll audit`"
            }
            Self::NoNonce => "the job has no nonce: it needs an operator; see `bankroll audit`",
            Self::Signer(error) => error,
            Self::ForeignNonce { expected, found } => {
                return write!(
                    f,
                    "the wallet was used outside of this system: nonce {expected} was next, the chain has {found}"
                );
            }
            Self::SignerRefuses(refusal) => return write!(f, "the signer refuses: {refusal}"),
            Self::Node(error) => return write_with_causes(f, error),
        })
    }
}

/// An error and its causes in one line.
fn write_with_causes(f: &mut fmt::Formatter<'_>, error: &dyn Error) -> fmt::Result {
    let mut last = error.to_string();
    f.write_str(&last.replace('\n', " "))?;
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if text != last {
            write!(f, ": {}", text.replace('\n', " "))?;
        }
        last = text;
        next = cause.source();
    }
    Ok(())
}
