//! The next action of a job. Pure: from the job as its rows state it, the status of its transactions on the chain, and the
//! time, it computes one action.
//!
//! | stage | meaning | left by |
//! | --- | --- | --- |
//! | `pending`, `waiting_funds` | the intent is approved; the wallet may be short | a nonce of its own |
//! | `reserved` | it has a nonce | the first order is written down |
//! | `signing` | **point of no return**: the signer may have the order | bytes; or the signer's promise never to sign |
//! | `signed`, `broadcast` | bytes exist | the same bytes again, until one of the nonce's transactions is in a block |
//! | `mined` | one is in a canonical block | depth; or the block is replaced, and it is `broadcast` again |
//! | `final`, `reverted`, `dead` | the outcome is proven | nothing; watched for a while |
//! | `unknown` | the nonce is used, by no transaction of ours: needs an operator | one of ours is found after all |
//!
//! The danger is between `signing` and the proof: there is no way from there to another nonce, and none back to `pending`.

use bankroll_chains_evm::B256;
use bankroll_ledger::{Amount, BlockRef, Row, Time};
use bankroll_orders::{Address, Gas, IntentId, Price};
use bankroll_store::columns::{BadRow, text_of};

use crate::{outcome::PayoutOutcome, price::FeeCeiling};

/// How jobs are worked on. Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayoutRules {
    /// How many blocks, its own included, make a transaction final.
    pub confirmations: u64,
    /// For how many blocks a final transaction is still watched.
    pub horizon: u64,
    /// After how long the same bytes are sent again.
    pub resend_after: u64,
    /// After how long the lowest transaction of a wallet is replaced by one with a higher price.
    pub stuck_after: u64,
    pub ceiling: FeeCeiling,
    /// The most gas of one payout.
    pub gas_max: u64,
    /// The most jobs in flight: with a nonce and without a proven outcome.
    pub in_flight_max: usize,
}

/// The stage of a job, in the order of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobStage {
    /// It needs a nonce.
    Pending,
    /// It needs a nonce, and the wallet is short.
    WaitingFunds,
    /// It has a nonce.
    Reserved,
    /// The signer may have its first order.
    Signing,
    /// There are bytes.
    Signed,
    /// They were sent.
    Broadcast,
    /// They are in a block.
    Mined,
    /// The nonce is used by an unknown transaction.
    Unknown,
    /// It is paid.
    Final,
    /// It was mined and paid nothing.
    Reverted,
    /// It can never be paid.
    Dead,
}

/// One transaction that the signer is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutAttempt {
    /// Its number within the job, from 1.
    pub number: u64,
    /// Whether it cancels the payout: it pays nothing, to the wallet itself.
    pub is_cancel: bool,
    pub gas: Gas,
    /// Bytes and hash, once the signer has answered.
    pub signed: Option<(Vec<u8>, B256)>,
    /// Whether the signer has refused it while another attempt continues.
    pub is_refused: bool,
    pub created_at: Time,
    pub last_sent_at: Option<Time>,
}

/// A job as its rows state it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutJob {
    pub id: String,
    /// The intent that it pays.
    pub intent: IntentId,
    pub to: Address,
    pub amount: Amount,
    /// The most that the player pays for gas; `None` if the house pays.
    pub fee_cap: Option<Amount>,
    pub stage: JobStage,
    /// Its nonce, once it has one.
    pub nonce: Option<u64>,
    /// Whether a caller has requested to stop it.
    pub cancel_requested: bool,
    /// Its transactions, oldest first.
    pub attempts: Vec<PayoutAttempt>,
    /// The block that has one of them.
    pub block: Option<BlockRef>,
    /// How many tries did not succeed.
    pub retries: u64,
    /// The time of its next try.
    pub scheduled_at: Time,
    /// Raised by each write.
    pub version: u64,
}

/// The status of a job's transactions on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainStatus {
    /// None of them is in a canonical block.
    Absent {
        /// Whether the nonce is used at final depth: by another transaction, then.
        nonce_is_gone: bool,
        /// Whether every nonce below is mined, so that other jobs wait for this one.
        is_lowest: bool,
    },
    /// One of them is.
    Mined(MinedTransaction),
}

/// A transaction of ours in a canonical block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinedTransaction {
    /// The number of its attempt.
    pub attempt: u64,
    pub hash: B256,
    pub block: BlockRef,
    /// How many blocks confirm it, its own included.
    pub confirmations: u64,
    pub succeeded: bool,
    /// Whether its recipient, value and nonce are the ordered ones.
    pub is_as_ordered: bool,
    pub gas_used: u64,
    pub gas_price: u128,
}

/// One action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAction {
    /// Reserve a nonce, if the wallet has enough.
    Reserve,
    /// Write the first order down.
    Prepare,
    /// Request the signature of this attempt.
    Sign(u64),
    /// Request the signer's promise never to sign the intent.
    Revoke,
    /// Send the bytes of this attempt.
    Send(u64),
    /// Write down an order for the same payout at a higher price.
    Replace,
    /// Write down an order for a cancellation on the same nonce, at a higher price.
    Cancel,
    /// Write down the block.
    Note(MinedTransaction),
    /// Write down that the block was replaced.
    Unmine,
    /// The outcome is proven.
    Finish(PayoutOutcome, MinedTransaction),
    /// The nonce is used by an unknown transaction: write that down, for an operator.
    Doubt,
    /// What is final now is not what was settled: report it.
    Contradict,
    Wait,
}

/// The next action of a job.
#[must_use]
pub fn next(job: &PayoutJob, status: &ChainStatus, rules: &PayoutRules, now: Time) -> JobAction {
    match job.stage {
        JobStage::Final | JobStage::Reverted | JobStage::Dead => return watch(job, status, rules, now),
        _ if job.attempts.iter().all(|attempt| attempt.signed.is_none()) => return unsigned(job),
        _ => {}
    }
    match status {
        ChainStatus::Mined(mined) if !mined.is_as_ordered => doubt(job),
        ChainStatus::Mined(mined) if mined.confirmations >= rules.confirmations => {
            let is_cancel = job.attempts.iter().any(|attempt| attempt.number == mined.attempt && attempt.is_cancel);
            let outcome = match (is_cancel, mined.succeeded) {
                (true, _) => PayoutOutcome::Cancelled,
                (false, true) => PayoutOutcome::Paid,
                (false, false) => PayoutOutcome::Reverted,
            };
            JobAction::Finish(outcome, mined.clone())
        }
        ChainStatus::Mined(mined) if job.stage == JobStage::Mined && job.block.as_ref() == Some(&mined.block) => {
            JobAction::Wait
        }
        ChainStatus::Mined(mined) => JobAction::Note(mined.clone()),
        ChainStatus::Absent { .. } if job.stage == JobStage::Mined => JobAction::Unmine,
        // It may be one of ours whose bytes never arrived: the signer still has them.
        ChainStatus::Absent { nonce_is_gone: true, .. } => job.unanswered().map_or_else(|| doubt(job), JobAction::Sign),
        ChainStatus::Absent { is_lowest, .. } => push(job, *is_lowest, rules, now),
    }
}

/// Before there are any bytes: nothing can be on a chain, but the signer may have the order.
fn unsigned(job: &PayoutJob) -> JobAction {
    if job.cancel_requested {
        return JobAction::Revoke;
    }
    match (job.stage, job.attempts.last()) {
        (JobStage::Pending | JobStage::WaitingFunds, _) => JobAction::Reserve,
        (JobStage::Reserved, _) => JobAction::Prepare,
        (_, Some(attempt)) => JobAction::Sign(attempt.number),
        (_, None) => JobAction::Wait,
    }
}

/// There are bytes, and the chain has none of them.
fn push(job: &PayoutJob, is_lowest: bool, rules: &PayoutRules, now: Time) -> JobAction {
    if let Some(number) = job.unanswered() {
        return JobAction::Sign(number);
    }
    let live = |attempt: &&PayoutAttempt| !attempt.is_refused;
    let (Some(newest), Some(last)) = (job.newest_signed(), job.attempts.last()) else { return JobAction::Wait };
    let over = |since: Time, after: u64| now.0.saturating_sub(since.0) >= after;
    let is_cancelling = job.attempts.iter().filter(live).any(|attempt| attempt.is_cancel);
    // An order that the signer has refused is not repeated at each step.
    let may_order = !last.is_refused || over(last.created_at, rules.stuck_after);
    // Before anything is sent again: a payout that is to stop must not get a head start.
    if job.cancel_requested && !is_cancelling && may_order {
        return JobAction::Cancel;
    }
    if newest.last_sent_at.is_none_or(|sent| over(sent, rules.resend_after)) {
        return JobAction::Send(newest.number);
    }
    match (is_lowest && over(last.created_at, rules.stuck_after), is_cancelling) {
        (true, true) => JobAction::Cancel,
        (true, false) => JobAction::Replace,
        (false, _) => JobAction::Wait,
    }
}

fn doubt(job: &PayoutJob) -> JobAction {
    if job.stage == JobStage::Unknown { JobAction::Wait } else { JobAction::Doubt }
}

/// After the end: a final transaction can still be orphaned by a reorganisation that is deeper than finality. Then the
/// same bytes are sent again, and no transaction that means something else.
fn watch(job: &PayoutJob, status: &ChainStatus, rules: &PayoutRules, now: Time) -> JobAction {
    let is_dead = job.stage == JobStage::Dead;
    let same = |attempt: &&PayoutAttempt| attempt.signed.is_some() && attempt.is_cancel == is_dead;
    match status {
        ChainStatus::Mined(mined) => {
            let meant = job.attempt(mined.attempt).is_some_and(|attempt| attempt.is_cancel == is_dead);
            if meant || mined.confirmations < rules.confirmations { JobAction::Wait } else { JobAction::Contradict }
        }
        ChainStatus::Absent { .. } => {
            let due = |sent: Time| now.0.saturating_sub(sent.0) >= rules.resend_after;
            let attempt = job.attempts.iter().rev().find(same);
            let attempt = attempt.filter(|attempt| attempt.last_sent_at.is_none_or(due));
            attempt.map_or(JobAction::Wait, |attempt| JobAction::Send(attempt.number))
        }
    }
}

impl PayoutJob {
    /// The newest transaction with bytes.
    #[must_use]
    pub fn newest_signed(&self) -> Option<&PayoutAttempt> {
        self.attempts.iter().rev().find(|attempt| attempt.signed.is_some())
    }

    /// The oldest transaction that the signer may have been asked for, and that has no answer.
    #[must_use]
    pub fn unanswered(&self) -> Option<u64> {
        let open = self.attempts.iter().find(|attempt| attempt.signed.is_none() && !attempt.is_refused);
        open.map(|attempt| attempt.number)
    }

    #[must_use]
    pub fn attempt(&self, number: u64) -> Option<&PayoutAttempt> {
        self.attempts.iter().find(|attempt| attempt.number == number)
    }

    /// The highest price of all orders, refused ones included: a replacement must outbid it.
    #[must_use]
    pub fn highest(&self) -> Option<Price> {
        self.attempts.iter().map(|attempt| attempt.gas.price).max_by_key(|price| (price.max(), price.priority()))
    }
}

impl JobStage {
    const WORDS: [(Self, &'static str); 11] = [
        (Self::Pending, "pending"),
        (Self::WaitingFunds, "waiting_funds"),
        (Self::Reserved, "reserved"),
        (Self::Signing, "signing"),
        (Self::Signed, "signed"),
        (Self::Broadcast, "broadcast"),
        (Self::Mined, "mined"),
        (Self::Unknown, "unknown"),
        (Self::Final, "final"),
        (Self::Reverted, "reverted"),
        (Self::Dead, "dead"),
    ];

    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS.into_iter().find(|(stage, _)| *stage == self).map_or("", |(_, word)| word)
    }

    /// The stage of a job whose outcome is proven.
    #[must_use]
    pub const fn after(outcome: PayoutOutcome) -> Self {
        match outcome {
            PayoutOutcome::Paid => Self::Final,
            PayoutOutcome::Reverted => Self::Reverted,
            PayoutOutcome::Cancelled | PayoutOutcome::NeverSigned => Self::Dead,
        }
    }

    /// The stage in the column `status` of a row. An unknown word is an error: its meaning is not guessed.
    pub(crate) fn of_row(row: &Row) -> Result<Self, BadRow> {
        let text = text_of(row, "status")?;
        let found = Self::WORDS.into_iter().find(|(_, word)| *word == text);
        found.map(|(stage, _)| stage).ok_or(BadRow { column: "status" })
    }

    /// Whether the outcome of the job is proven.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Final | Self::Reverted | Self::Dead)
    }

    /// Whether the job has a nonce and no proven outcome.
    #[must_use]
    pub fn is_in_flight(self) -> bool {
        (Self::Reserved..=Self::Unknown).contains(&self)
    }
}
