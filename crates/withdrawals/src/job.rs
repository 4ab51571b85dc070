//! What a job does next. Pure: the job as its rows say, what the chain shows of its transactions, the time; out comes one
//! thing to do.
//!
//! | stage | it means | leaves by |
//! | --- | --- | --- |
//! | `pending`, `waiting_funds` | the intent is approved; the wallet may be short | a nonce of its own |
//! | `reserved` | it has a nonce | the first order is written down |
//! | `signing` | **point of no return**: the order may be with the signer | bytes; or the signer's promise never to sign |
//! | `signed`, `broadcast` | bytes exist | the same bytes again, until one of the nonce's transactions is in a block |
//! | `mined` | one is in a canonical block | depth; or the block goes, and it is `broadcast` again |
//! | `final`, `reverted`, `dead` | it is proven what became of it | nothing; watched for a while |
//! | `unknown` | the nonce is used, by none of ours that we or the signer know: a person must look | one of ours is found after all |
//!
//! The danger is in between `signing` and the proof: there is no way from there to another nonce, and none back to `pending`.

use bankroll_chains_evm::B256;
use bankroll_ledger::{Amount, BlockRef, Time};
use bankroll_orders::{Address, Gas, IntentId, Price};

use crate::price::Ceiling;

/// How a job is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How many blocks, its own included, make a transaction final.
    pub confirmations: u64,
    /// For how many blocks a final transaction is still watched.
    pub horizon: u64,
    /// After how long, in microseconds, the same bytes are sent again.
    pub resend_after: u64,
    /// After how long the lowest transaction of a wallet is replaced by one that pays more.
    pub stuck_after: u64,
    /// The most that a unit of gas may cost.
    pub ceiling: Ceiling,
    /// The most gas of one payout.
    pub gas_max: u64,
    /// The most jobs with a nonce and without an end.
    pub in_flight_max: usize,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Wants a nonce.
    Pending,
    /// Wants a nonce, and the wallet is short.
    WaitingFunds,
    /// Has a nonce.
    Reserved,
    /// Its first order may be with the signer.
    Signing,
    /// There are bytes.
    Signed,
    /// They were sent.
    Broadcast,
    /// They are in a block.
    Mined,
    /// The nonce is used by a transaction that nobody knows.
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
pub struct Attempt {
    /// Its number within the job, from 1.
    pub number: u64,
    /// Whether it pays nothing to ourselves instead.
    pub is_cancel: bool,
    /// What it may cost.
    pub gas: Gas,
    /// Bytes and hash, once the signer has answered.
    pub signed: Option<(Vec<u8>, B256)>,
    /// Whether the signer has refused it while another one goes on.
    pub is_refused: bool,
    /// When it was written down.
    pub created_at: Time,
    /// When it was last sent.
    pub last_sent_at: Option<Time>,
}

/// A job as its rows say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// What it pays.
    pub intent: IntentId,
    /// Whom.
    pub to: Address,
    /// How much.
    pub amount: Amount,
    /// What the player has set aside for gas; `None` if the house pays for it.
    pub fee_cap: Option<Amount>,
    /// Where it stands.
    pub stage: Stage,
    /// Its nonce, once it has one.
    pub nonce: Option<u64>,
    /// Whether somebody wants it stopped.
    pub cancel_asked: bool,
    /// Its transactions, oldest first.
    pub attempts: Vec<Attempt>,
    /// The block that one of them is in.
    pub block: Option<BlockRef>,
    /// How often it was tried in vain.
    pub retries: u64,
    /// Not before this.
    pub scheduled_at: Time,
    /// Raised by each write.
    pub version: u64,
}

/// What the chain shows of a job's transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// None of them is in a canonical block.
    Nowhere {
        /// Whether the nonce is used in blocks so deep that they are final: by somebody else, then.
        nonce_is_gone: bool,
        /// Whether everything before it is mined, so that it is the one that others wait for.
        is_lowest: bool,
    },
    /// One is.
    Mined(Mined),
}

/// A transaction of ours in a canonical block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mined {
    /// Which attempt.
    pub attempt: u64,
    /// Its hash.
    pub hash: B256,
    /// The block.
    pub block: BlockRef,
    /// How many blocks are on it, its own included.
    pub confirmations: u64,
    /// Whether it did what it was to do.
    pub succeeded: bool,
    /// Whether it is what was ordered: to whom, and how much.
    pub is_as_ordered: bool,
    /// How much gas it took.
    pub gas_used: u64,
    /// What a unit of gas did cost.
    pub gas_price: u128,
}

/// What is proven to have become of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The payout is final.
    Paid,
    /// The payout is final, and paid nothing.
    Reverted,
    /// Nothing on its nonce is final.
    Cancelled,
    /// The signer promised never to sign it.
    NeverSigned,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Get a nonce, if the wallet has enough.
    Reserve,
    /// Write the first order down.
    Prepare,
    /// Ask the signer for this attempt.
    Ask(u64),
    /// Ask the signer never to sign it.
    Renounce,
    /// Send the bytes of this attempt.
    Send(u64),
    /// Write down an order for the same at a higher price.
    Replace,
    /// Write down an order for nothing on the same nonce, at a higher price.
    Cancel,
    /// Write down the block.
    Note(Mined),
    /// The block is gone: write down that it is.
    Unmine,
    /// It is proven what became of it.
    Finish(Outcome, Mined),
    /// Nobody knows what happened to the nonce: write that down, for a person.
    Doubt,
    /// What is final now is not what was settled: tell somebody.
    Contradict,
    /// Nothing.
    Wait,
}

/// What to do with a job.
#[must_use]
pub fn next(job: &Job, sight: &Sight, rules: &Rules, now: Time) -> Next {
    match job.stage {
        Stage::Final | Stage::Reverted | Stage::Dead => return watch(job, sight, rules, now),
        _ if job.attempts.iter().all(|attempt| attempt.signed.is_none()) => return unsigned(job),
        _ => {}
    }
    match sight {
        Sight::Mined(mined) if !mined.is_as_ordered => doubt(job),
        Sight::Mined(mined) if mined.confirmations >= rules.confirmations => {
            let is_cancel = job.attempts.iter().any(|attempt| attempt.number == mined.attempt && attempt.is_cancel);
            let outcome = match (is_cancel, mined.succeeded) {
                (true, _) => Outcome::Cancelled,
                (false, true) => Outcome::Paid,
                (false, false) => Outcome::Reverted,
            };
            Next::Finish(outcome, mined.clone())
        }
        Sight::Mined(mined) if job.stage == Stage::Mined && job.block.as_ref() == Some(&mined.block) => Next::Wait,
        Sight::Mined(mined) => Next::Note(mined.clone()),
        Sight::Nowhere { .. } if job.stage == Stage::Mined => Next::Unmine,
        // It may be one of ours whose bytes we never got: the signer still has them.
        Sight::Nowhere { nonce_is_gone: true, .. } => job.unanswered().map_or_else(|| doubt(job), Next::Ask),
        Sight::Nowhere { is_lowest, .. } => push(job, *is_lowest, rules, now),
    }
}

/// Before there are any bytes: nothing can be on a chain, but the signer may have been asked.
fn unsigned(job: &Job) -> Next {
    if job.cancel_asked {
        return Next::Renounce;
    }
    match (job.stage, job.attempts.last()) {
        (Stage::Pending | Stage::WaitingFunds, _) => Next::Reserve,
        (Stage::Reserved, _) => Next::Prepare,
        (_, Some(attempt)) => Next::Ask(attempt.number),
        (_, None) => Next::Wait,
    }
}

/// There are bytes, and the chain has none of them.
fn push(job: &Job, is_lowest: bool, rules: &Rules, now: Time) -> Next {
    if let Some(number) = job.unanswered() {
        return Next::Ask(number);
    }
    let live = |attempt: &&Attempt| !attempt.is_refused;
    let (Some(newest), Some(last)) = (job.newest_signed(), job.attempts.last()) else { return Next::Wait };
    let over = |since: Time, after: u64| now.0.saturating_sub(since.0) >= after;
    let is_cancelling = job.attempts.iter().filter(live).any(|attempt| attempt.is_cancel);
    // What the signer has refused is not asked for again at each step.
    let may_ask = !last.is_refused || over(last.created_at, rules.stuck_after);
    // Before anything is sent once more: what nobody wants paid need not get a head start.
    if job.cancel_asked && !is_cancelling && may_ask {
        return Next::Cancel;
    }
    if newest.last_sent_at.is_none_or(|sent| over(sent, rules.resend_after)) {
        return Next::Send(newest.number);
    }
    match (is_lowest && over(last.created_at, rules.stuck_after), is_cancelling) {
        (true, true) => Next::Cancel,
        (true, false) => Next::Replace,
        (false, _) => Next::Wait,
    }
}

fn doubt(job: &Job) -> Next {
    if job.stage == Stage::Unknown { Next::Wait } else { Next::Doubt }
}

/// After the end: what was final can still be orphaned by a chain that breaks its word. The same bytes again, then, and
/// none that mean something else.
fn watch(job: &Job, sight: &Sight, rules: &Rules, now: Time) -> Next {
    let is_dead = job.stage == Stage::Dead;
    let same = |attempt: &&Attempt| attempt.signed.is_some() && attempt.is_cancel == is_dead;
    match sight {
        Sight::Mined(mined) => {
            let meant = job.attempt(mined.attempt).is_some_and(|attempt| attempt.is_cancel == is_dead);
            if meant || mined.confirmations < rules.confirmations { Next::Wait } else { Next::Contradict }
        }
        Sight::Nowhere { .. } => {
            let due = |sent: Time| now.0.saturating_sub(sent.0) >= rules.resend_after;
            let attempt = job.attempts.iter().rev().find(same);
            let attempt = attempt.filter(|attempt| attempt.last_sent_at.is_none_or(due));
            attempt.map_or(Next::Wait, |attempt| Next::Send(attempt.number))
        }
    }
}

impl Job {
    /// The newest transaction that there are bytes of.
    #[must_use]
    pub fn newest_signed(&self) -> Option<&Attempt> {
        self.attempts.iter().rev().find(|attempt| attempt.signed.is_some())
    }

    /// The oldest transaction that the signer was asked for, perhaps, and that there is neither yes nor no to.
    #[must_use]
    pub fn unanswered(&self) -> Option<u64> {
        let open = self.attempts.iter().find(|attempt| attempt.signed.is_none() && !attempt.is_refused);
        open.map(|attempt| attempt.number)
    }

    /// An attempt by its number.
    #[must_use]
    pub fn attempt(&self, number: u64) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.number == number)
    }

    /// The highest price that was ever asked for, refused or not: what a replacement must outbid.
    #[must_use]
    pub fn highest(&self) -> Option<Price> {
        self.attempts.iter().map(|attempt| attempt.gas.price).max_by_key(|price| (price.max(), price.priority()))
    }
}

impl Stage {
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

    /// The word that rows have for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS.into_iter().find(|(stage, _)| *stage == self).map_or("", |(_, word)| word)
    }

    pub(crate) fn from_row(text: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(_, word)| *word == text).map(|(stage, _)| stage)
    }
}

impl Outcome {
    /// The word that events have for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Reverted => "reverted",
            Self::Cancelled => "cancelled",
            Self::NeverSigned => "never_signed",
        }
    }

    /// The stage that it ends in.
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::Paid => Stage::Final,
            Self::Reverted => Stage::Reverted,
            Self::Cancelled | Self::NeverSigned => Stage::Dead,
        }
    }
}
