//! Payouts (role `payouts`): approved intents become jobs, and each job goes on by one thing.
//!
//! Each thing is one question to the outside at the most (a node, the signer), and one write of rows. A process that dies
//! in between has asked something and not written the answer down: it asks the same again, and that is safe, because what
//! is asked is always something that was written down before.
//!
//! It never writes an intent: what became of a job is a row of `payout_events`, in the write that ends the job.

use bankroll_chains_evm::{At, B256, Node, NodeError, Sent};
use bankroll_ledger::{AccountName, Amount, Name, Time, Value};
use bankroll_orders::{Address, ChainId, IntentId, Refusal};
use bankroll_signer_client::SignerClient;
use bankroll_store::{
    NewRow, PAYOUT_EVENTS, Rows, Statement,
    columns::{any, int, parsed, text, time},
};
use serde_json::json;

use crate::{
    PayoutError,
    chain::look,
    decided::decided,
    job::{Job, Mined, Next, Outcome, Rules, Sight, Stage, next},
    reserve::{house_affords, order, replacement, reserve},
    rows::{self, add_attempt, change, sent_attempt},
    signing::{self, Asked, Promise},
};

/// Jobs that are opened in one step.
const OPENED_MAX: usize = 100;
/// How long a job that could not go on is left alone, in microseconds: doubled each time, up to 32 times.
const BACK_OFF: u64 = 30_000_000;

/// The wallet that pays, and how.
#[derive(Clone, Debug)]
pub struct Paying {
    /// The chain, as assets name it.
    pub chain: Name,
    /// The same, as transactions name it.
    pub chain_id: ChainId,
    /// The wallet.
    pub address: Address,
    /// Its account: what it must hold on chain.
    pub custody: AccountName,
    /// How jobs are worked on.
    pub rules: Rules,
    /// Who hands over to the books.
    pub node_name: String,
}

/// What happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It has a nonce.
    Reserved {
        /// Which.
        nonce: u64,
    },
    /// Its first order is written down.
    Prepared,
    /// There are bytes.
    Signed {
        /// Of which attempt.
        attempt: u64,
        /// Their hash.
        hash: B256,
    },
    /// Bytes were sent; what the node said proves nothing.
    Sent {
        /// Of which attempt.
        attempt: u64,
        /// What it said.
        answer: Sent,
    },
    /// An order that pays more for the same, or for nothing, is written down.
    Raised {
        /// Which attempt.
        attempt: u64,
    },
    /// It is in a block.
    Mined,
    /// It is no longer in a block.
    Unmined,
    /// It is proven what became of it, and handed over to the books.
    Ended(Outcome),
    /// Nobody knows what happened to its nonce: a person must look.
    Doubted,
    /// It waits.
    Waits(Why),
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// For blocks, or for time.
    Time,
    /// Others of its wallet come first.
    OthersFirst,
    /// It could not go on a while ago, and is left alone until its time has come.
    PutOff,
    /// The wallet does not have enough.
    WalletShort,
    /// The house does not have enough of its own to pay for gas.
    HouseShort,
    /// The chain asks more for gas than may be paid.
    FeesAboveCeiling,
    /// The node says that the payment would fail.
    WouldFail,
    /// The payment would take more gas than may be used.
    TooMuchGas,
    /// Nothing new is paid from this wallet until a person has looked.
    WalletStopped,
    /// Somebody else has used the wallet.
    ForeignNonce {
        /// The nonce that was next.
        expected: u64,
        /// The nonce that the chain has next.
        found: u64,
    },
    /// The signer said no.
    SignerRefuses(Refusal),
    /// What is final on the chain is not what was settled: a person must look.
    Contradicted,
    /// Whoever is paid owes what the chain took back of his deposits.
    InDebt,
    /// Its rows are not what the books have decided: a person must look.
    NotAsDecided,
    /// Its row lacks the nonce that it must have.
    NoNonce,
    /// The node has no answer that can be believed.
    Node(NodeError),
    /// The signer has no answer that can be believed; it may have signed.
    Signer(String),
}

/// One step: opens jobs, then takes each live job one thing further. Tells of each job what happened.
///
/// # Errors
/// See [`PayoutError`]. A node or a signer that does not answer is told per job, and stops nobody else's.
pub fn step(
    paying: &Paying,
    now: Time,
    node: &Node,
    signer: &mut SignerClient,
    store: &Rows,
) -> Result<Vec<(String, Happened)>, PayoutError> {
    let mut told = Vec::new();
    for intent in rows::approved(store, paying, OPENED_MAX)? {
        let id: Name = parsed(&intent, "id")?;
        if decided(store.reader(), &IntentId(id.clone()))?.is_err() {
            told.push((id.to_string(), Happened::Waits(Why::NotAsDecided)));
            continue;
        }
        store.write(vec![rows::open(paying, &intent, now)?])?;
    }
    let head = node.header(At::Latest)?.map_or(0, |head| head.number);
    let watched_from = head.saturating_sub(paying.rules.horizon);
    let mut jobs = rows::live(store, paying, watched_from)?;
    for place in 0..jobs.len() {
        let Some(job) = jobs.get(place) else { continue };
        if job.scheduled_at > now {
            told.push((job.id.clone(), Happened::Waits(Why::PutOff)));
            continue;
        }
        let happened = match advance(job, &jobs, paying, now, node, signer, store, head) {
            Err(PayoutError::Node(error)) => Happened::Waits(Why::Node(error)),
            Err(PayoutError::Signer(error)) => Happened::Waits(Why::Signer(error.to_string())),
            happened => happened?,
        };
        told.push((job.id.clone(), happened));
        // What happened to one decides about the next.
        let now_it_is = rows::reload(store, &job.id)?;
        if let (Some(job), Some(now_it_is)) = (jobs.get_mut(place), now_it_is) {
            *job = now_it_is;
        }
    }
    Ok(told)
}

#[expect(clippy::too_many_arguments, reason = "what a job needs of the world is exactly this")]
fn advance(
    job: &Job,
    jobs: &[Job],
    paying: &Paying,
    now: Time,
    node: &Node,
    signer: &mut SignerClient,
    store: &Rows,
    head: u64,
) -> Result<Happened, PayoutError> {
    let sight = match job.newest_signed() {
        Some(_) => look(job, paying, &paying.rules, node, head)?,
        None => Sight::Nowhere { nonce_is_gone: false, is_lowest: false },
    };
    match next(job, &sight, &paying.rules, now) {
        Next::Wait => Ok(Happened::Waits(Why::Time)),
        Next::Contradict => Ok(Happened::Waits(Why::Contradicted)),
        Next::Reserve => match reserve(job, jobs, paying, node, store, now)? {
            Ok(reserved) => {
                store.write(reserved.statements)?;
                Ok(Happened::Reserved { nonce: reserved.nonce })
            }
            Err(why) => put_off(job, why, store, now),
        },
        // Not what it was when the nonce was got: prices change.
        Next::Prepare => match order(job, jobs, paying, node, store)? {
            Ok(gas) => {
                let signing = change(job, &[("status", text(Stage::Signing.as_str()))], now);
                store.write(vec![add_attempt(job, 1, false, gas, now), signing])?;
                Ok(Happened::Prepared)
            }
            Err(why) => put_off(job, why, store, now),
        },
        Next::Ask(number) => match job.attempt(number) {
            Some(attempt) => match signing::ask(job, attempt, paying, signer, store, now)? {
                Asked::Told(happened) => Ok(happened),
                Asked::Renounced => finish(job, paying, store, now, Outcome::NeverSigned, None, Vec::new()),
                // Nobody would ever be paid behind it.
                Asked::Hopeless => renounce(job, paying, signer, store, now),
            },
            None => Ok(Happened::Waits(Why::Time)),
        },
        Next::Renounce => renounce(job, paying, signer, store, now),
        Next::Send(number) => send(job, number, node, store, now),
        Next::Replace => raise(job, false, jobs, paying, node, store, now),
        Next::Cancel => raise(job, true, jobs, paying, node, store, now),
        Next::Note(mined) => {
            store.write(vec![change(job, &block_of(&mined, Stage::Mined), now)])?;
            Ok(Happened::Mined)
        }
        Next::Unmine => {
            let set = [
                ("status", text(Stage::Broadcast.as_str())),
                ("tx_hash", Value::Null),
                ("block_number", Value::Null),
                ("block_hash", Value::Null),
            ];
            store.write(vec![change(job, &set, now)])?;
            Ok(Happened::Unmined)
        }
        Next::Finish(outcome, mined) => finish(job, paying, store, now, outcome, Some(&mined), Vec::new()),
        Next::Doubt => {
            let why = text("the nonce is used by a transaction that is none of ours");
            store.write(vec![change(
                job,
                &[("status", text(Stage::Unknown.as_str())), ("error_message", why)],
                now,
            )])?;
            Ok(Happened::Doubted)
        }
    }
}

/// Sends, then writes down that it was sent: what the node said, and whether it said anything, changes nothing.
fn send(job: &Job, number: u64, node: &Node, store: &Rows, now: Time) -> Result<Happened, PayoutError> {
    let Some((raw, _)) = job.attempt(number).and_then(|attempt| attempt.signed.as_ref()) else {
        return Ok(Happened::Waits(Why::Time));
    };
    let answer = node.send(&raw.clone().into());
    let stage = if job.stage == Stage::Signed { Stage::Broadcast } else { job.stage };
    store.write(vec![sent_attempt(job, number, now), change(job, &[("status", text(stage.as_str()))], now)])?;
    Ok(Happened::Sent { attempt: number, answer })
}

/// Writes down an order at a higher price: for the same, or for nothing.
fn raise(
    job: &Job,
    is_cancel: bool,
    jobs: &[Job],
    paying: &Paying,
    node: &Node,
    store: &Rows,
    now: Time,
) -> Result<Happened, PayoutError> {
    let Some(gas) = replacement(job, is_cancel, paying, node)? else {
        return Ok(Happened::Waits(Why::FeesAboveCeiling));
    };
    if (is_cancel || job.fee_cap.is_none()) && !house_affords(job, gas, jobs, paying, store)? {
        return Ok(Happened::Waits(Why::HouseShort));
    }
    let number = job.attempts.last().map_or(1, |last| last.number.saturating_add(1));
    let touched = change(job, &[("cancel_asked", int(u64::from(job.cancel_asked)))], now);
    store.write(vec![add_attempt(job, number, is_cancel, gas, now), touched])?;
    Ok(Happened::Raised { attempt: number })
}

fn renounce(
    job: &Job,
    paying: &Paying,
    signer: &mut SignerClient,
    store: &Rows,
    now: Time,
) -> Result<Happened, PayoutError> {
    match signing::renounce(job, paying, signer, store)? {
        Promise::Never(head) => {
            let keep = vec![signing::keep_head(paying, &head)];
            finish(job, paying, store, now, Outcome::NeverSigned, None, keep)
        }
        // The order came through, and its answer did not: the bytes first, and then nothing on the same nonce.
        Promise::Signed => match job.attempts.last() {
            Some(attempt) => match signing::ask(job, attempt, paying, signer, store, now)? {
                Asked::Told(happened) => Ok(happened),
                // It says one thing and then the other: asked again, until it says one.
                Asked::Renounced | Asked::Hopeless => Ok(Happened::Waits(Why::SignerRefuses(Refusal::IntentSigned))),
            },
            None => Ok(Happened::Waits(Why::SignerRefuses(Refusal::IntentSigned))),
        },
        Promise::No(refusal) => Ok(Happened::Waits(Why::SignerRefuses(refusal))),
    }
}

/// The end of a job: its stage, its nonce if that was never used, and the fact for the books, in one write.
fn finish(
    job: &Job,
    paying: &Paying,
    store: &Rows,
    now: Time,
    outcome: Outcome,
    mined: Option<&Mined>,
    more: Vec<Statement>,
) -> Result<Happened, PayoutError> {
    let mut set = mined.map_or_else(Vec::new, |mined| block_of(mined, outcome.stage()));
    set.retain(|(column, _)| *column != "status");
    set.extend([
        ("status", text(outcome.stage().as_str())),
        ("processed_at", time(now)),
        ("error_message", Value::Null),
    ]);
    let mut statements = more;
    statements.push(change(job, &set, now));
    if outcome == Outcome::NeverSigned {
        statements.push(any("UPDATE payout_nonces SET job = NULL WHERE job = $1", vec![text(&job.id)]));
    }
    let fee = mined.and_then(|mined| u128::from(mined.gas_used).checked_mul(mined.gas_price)).unwrap_or_default();
    let body = json!({
        "outcome": outcome.as_str(),
        "tx_hash": mined.map(|mined| format!("{:#x}", mined.hash)),
        "block": mined.map(|mined| &mined.block),
        "fee": Amount::new(fee),
        "custody": paying.custody.to_string(),
    });
    statements.push(PAYOUT_EVENTS.adding(&NewRow {
        // One outcome an intent, for ever: the table refuses another one under the same id.
        id: format!("{}/outcome", job.intent),
        kind: "payout.ended".into(),
        subject: job.intent.to_string(),
        body: body.to_string(),
        node: paying.node_name.clone(),
        created_at: now,
    }));
    store.write(statements)?;
    Ok(Happened::Ended(outcome))
}

fn block_of(mined: &Mined, stage: Stage) -> Vec<(&'static str, Value)> {
    vec![
        ("status", text(stage.as_str())),
        ("tx_hash", text(&format!("{:#x}", mined.hash))),
        ("block_number", int(mined.block.number)),
        ("block_hash", text(&mined.block.hash)),
        ("gas_used", int(mined.gas_used)),
        ("gas_price", Value::Amount(Amount::new(mined.gas_price))),
    ]
}

/// Leaves the job alone for a while. Waiting for one's turn costs no time.
fn put_off(job: &Job, why: Why, store: &Rows, now: Time) -> Result<Happened, PayoutError> {
    if why == Why::OthersFirst {
        return Ok(Happened::Waits(why));
    }
    let pause = BACK_OFF.saturating_mul(1_u64 << job.retries.min(5));
    let stage = match (&why, job.stage) {
        (Why::WalletShort | Why::HouseShort, Stage::Pending) => Stage::WaitingFunds,
        (_, stage) => stage,
    };
    let set = [
        ("status", text(stage.as_str())),
        ("error_message", text(&format!("{why:?}"))),
        ("retry_count", int(job.retries.saturating_add(1))),
        ("scheduled_at", time(Time(now.0.saturating_add(pause)))),
    ];
    store.write(vec![change(job, &set, now)])?;
    Ok(Happened::Waits(why))
}

impl Paying {
    pub(crate) fn address_text(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn evm_address(&self) -> bankroll_chains_evm::Address {
        self.address.0.into()
    }
}
