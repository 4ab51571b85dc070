//! Payouts (role `payouts`): approved intents become jobs, and each step takes each job one action further.
//!
//! An action is one question to the outside at the most (an RPC node, the signer), and one write of rows. A process that
//! dies in between has asked a question and not stored the answer. It asks the same question again, and that is safe,
//! because every question is written down before it is asked.
//!
//! It never writes an intent: the outcome of a job is a row of `payout_events`, in the write that ends the job.

use std::collections::BTreeSet;

use bankroll_chains_evm::{BlockTag, RpcNode};
use bankroll_ledger::{Amount, ColumnValue, Name, Time};
use bankroll_orders::{IntentId, SignerRefusal};
use bankroll_signer_client::SignerClient;
use bankroll_store::{
    NewInboxRow, PAYOUT_EVENTS, Reader, Rows, Statement,
    columns::{any, int, parsed, text, time},
};

use crate::{
    PayoutConfig, PayoutError,
    chain::chain_status,
    context::StepContext,
    job::{ChainStatus, JobAction, JobStage, MinedTransaction, PayoutJob, next},
    journal_check::{check_intent, is_frozen},
    outcome::{PAYOUT_ENDED, PayoutOutcome, PayoutReport},
    reserve::{house_affords, order_gas, replacement_gas, reserve},
    rows::{self, add_attempt, sent_attempt},
    signing::{self, RevokeReply, SignReply},
    step_result::{StepResult, WaitReason},
};

/// The most jobs that one step opens.
const OPENED_MAX: usize = 100;
/// The first pause of a job that cannot continue, in microseconds: doubled each time, up to 32 times.
const BACK_OFF: u64 = 30_000_000;

/// Whether a player is frozen, as the registry says now.
pub type IsFrozen<'a> = &'a dyn Fn(&Reader, &Name) -> Result<bool, PayoutError>;

/// Where there is no registry no player is frozen.
///
/// # Errors
/// Never.
pub fn no_freezes(_: &Reader, _: &Name) -> Result<bool, PayoutError> {
    Ok(false)
}

/// One step: opens jobs, then takes each live job one action further. Returns the result for each job.
///
/// Payouts of servers in `paused` wait: an intent gets no job, and a job no nonce. What has a nonce is finished, since its
/// transaction may be signed already.
///
/// A payout of a frozen player waits as well. Its job gives a nonce back, and after the freeze asks the signer for nothing
/// but the promise never to sign. Only what the signer has signed before is finished: the bytes exist.
///
/// # Errors
/// See [`PayoutError`]. An RPC node or a signer that does not answer is a result of the job, and stops no other job.
pub fn step(
    config: &PayoutConfig,
    paused: &BTreeSet<Name>,
    is_frozen: IsFrozen<'_>,
    now: Time,
    node: &RpcNode,
    signer: &mut SignerClient,
    rows: &Rows,
) -> Result<Vec<(String, StepResult)>, PayoutError> {
    let mut results = open_jobs(config, paused, now, rows)?;
    let head = node.header(BlockTag::Latest)?.map_or(0, |head| head.number);
    let mut context = StepContext { config, paused, is_frozen, now, node, signer, rows, head };
    let mut jobs = rows::live(rows, config, head.saturating_sub(config.rules.horizon))?;
    for place in 0..jobs.len() {
        let Some(job) = jobs.get(place) else { continue };
        if job.scheduled_at > now {
            results.push((job.id.clone(), StepResult::Waits(WaitReason::PutOff)));
            continue;
        }
        let result = match advance(job, &jobs, &mut context) {
            Err(PayoutError::Node(error)) => StepResult::Waits(WaitReason::Node(error)),
            Err(PayoutError::Signer(error)) => StepResult::Waits(WaitReason::Signer(error.to_string())),
            result => result?,
        };
        results.push((job.id.clone(), result));
        // The state of one job decides about the next.
        let reloaded = rows::reload(rows, &job.id)?;
        if let (Some(job), Some(reloaded)) = (jobs.get_mut(place), reloaded) {
            *job = reloaded;
        }
    }
    Ok(results)
}

/// Makes the jobs of approved intents. Returns the intents whose rows differ from the journal, which get no job.
fn open_jobs(
    config: &PayoutConfig,
    paused: &BTreeSet<Name>,
    now: Time,
    rows: &Rows,
) -> Result<Vec<(String, StepResult)>, PayoutError> {
    let mut refused = Vec::new();
    for intent in rows::approved(rows, config, &(paused | &config.elsewhere), OPENED_MAX)? {
        let id: Name = parsed(&intent, "id")?;
        if check_intent(rows.reader(), &IntentId(id.clone()))?.is_err() {
            refused.push((id.to_string(), StepResult::Waits(WaitReason::NotAsDecided)));
            continue;
        }
        rows.write(vec![rows::open(config, &intent, now)?])?;
    }
    Ok(refused)
}

fn advance(job: &PayoutJob, jobs: &[PayoutJob], context: &mut StepContext<'_>) -> Result<StepResult, PayoutError> {
    let status = match job.newest_signed() {
        Some(_) => chain_status(job, context)?,
        None => ChainStatus::Absent { nonce_is_gone: false, is_lowest: false },
    };
    match next(job, &status, &context.config.rules, context.now) {
        JobAction::Wait => Ok(StepResult::Waits(WaitReason::Time)),
        JobAction::Contradict => {
            // For the alert: the role `books` may be another process.
            context.write(vec![rows::note_contradiction(job)])?;
            Ok(StepResult::Waits(WaitReason::Contradicted))
        }
        JobAction::Reserve => match reserve(job, jobs, context)? {
            Ok(reservation) => {
                context.write(reservation.statements)?;
                Ok(StepResult::Reserved { nonce: reservation.nonce })
            }
            Err(reason) => put_off(job, reason, context),
        },
        JobAction::Prepare if is_frozen(context.rows, job, context.is_frozen)? => give_back(job, context),
        // Computed anew, not kept from the reservation: prices change.
        JobAction::Prepare => match order_gas(job, jobs, context)? {
            Ok(gas) => {
                let signing = context.change(job, &[("status", text(JobStage::Signing.as_str()))]);
                context.write(vec![add_attempt(job, 1, false, gas, context.now), signing])?;
                Ok(StepResult::Prepared)
            }
            Err(reason) => put_off(job, reason, context),
        },
        // Every later payout of the wallet would wait behind an order that is not asked for; so it is revoked.
        JobAction::Sign(_) if job.newest_signed().is_none() && is_frozen(context.rows, job, context.is_frozen)? => {
            revoke(job, context)
        }
        JobAction::Sign(number) => sign(job, number, context),
        JobAction::Revoke => revoke(job, context),
        JobAction::Send(number) => send(job, number, context),
        JobAction::Replace => raise(job, false, jobs, context),
        JobAction::Cancel => raise(job, true, jobs, context),
        JobAction::Note(mined) => {
            context.write(vec![context.change(job, &block_of(&mined, JobStage::Mined))])?;
            Ok(StepResult::Mined)
        }
        JobAction::Unmine => {
            let set = [
                ("status", text(JobStage::Broadcast.as_str())),
                ("tx_hash", ColumnValue::Null),
                ("block_number", ColumnValue::Null),
                ("block_hash", ColumnValue::Null),
            ];
            context.write(vec![context.change(job, &set)])?;
            Ok(StepResult::Unmined)
        }
        JobAction::Finish(outcome, mined) => finish(job, outcome, Some(&mined), Vec::new(), context),
        JobAction::Doubt => {
            let message = text("the nonce is used by a transaction that is none of ours");
            let set = [("status", text(JobStage::Unknown.as_str())), ("error_message", message)];
            context.write(vec![context.change(job, &set)])?;
            Ok(StepResult::Doubted)
        }
    }
}

/// Back to the jobs without a nonce, since no order was written down: the freeze of one player must not stop the wallet.
fn give_back(job: &PayoutJob, context: &StepContext<'_>) -> Result<StepResult, PayoutError> {
    let set = [
        ("status", text(JobStage::Pending.as_str())),
        ("nonce", ColumnValue::Null),
        ("error_message", text(&WaitReason::Frozen.to_string())),
    ];
    let free = any("UPDATE payout_nonces SET job = NULL WHERE job = $1", vec![text(&job.id)]);
    context.write(vec![context.change(job, &set), free])?;
    Ok(StepResult::Waits(WaitReason::Frozen))
}

fn sign(job: &PayoutJob, number: u64, context: &mut StepContext<'_>) -> Result<StepResult, PayoutError> {
    let Some(attempt) = job.attempt(number) else { return Ok(StepResult::Waits(WaitReason::Time)) };
    match signing::sign(job, attempt, context)? {
        SignReply::Done(result) => Ok(result),
        SignReply::Revoked => finish(job, PayoutOutcome::NeverSigned, None, Vec::new(), context),
        // Every later payout of the wallet would wait behind it for ever.
        SignReply::Hopeless => revoke(job, context),
    }
}

/// Sends, then writes down that it was sent: the answer of the RPC node, or its absence, changes nothing.
fn send(job: &PayoutJob, number: u64, context: &StepContext<'_>) -> Result<StepResult, PayoutError> {
    let Some((raw, _)) = job.attempt(number).and_then(|attempt| attempt.signed.as_ref()) else {
        return Ok(StepResult::Waits(WaitReason::Time));
    };
    let answer = context.node.send(&raw.clone().into());
    let stage = if job.stage == JobStage::Signed { JobStage::Broadcast } else { job.stage };
    let sent = context.change(job, &[("status", text(stage.as_str()))]);
    context.write(vec![sent_attempt(job, number, context.now), sent])?;
    Ok(StepResult::Sent { attempt: number, answer })
}

/// Writes down an order at a higher price: for the same payout, or for its cancellation.
fn raise(
    job: &PayoutJob,
    is_cancel: bool,
    jobs: &[PayoutJob],
    context: &StepContext<'_>,
) -> Result<StepResult, PayoutError> {
    let Some(gas) = replacement_gas(job, is_cancel, context)? else {
        // What cannot be outbid is sent as it is: a cancellation that waits for a price would hold up its nonce, and so
        // every later payout of the wallet, for ever.
        let due = |sent: Time| context.now.0.saturating_sub(sent.0) >= context.config.rules.resend_after;
        let newest = job.newest_signed().filter(|newest| newest.last_sent_at.is_none_or(due));
        return match newest {
            Some(newest) => send(job, newest.number, context),
            None => Ok(StepResult::Waits(WaitReason::FeesAboveCeiling)),
        };
    };
    if (is_cancel || job.fee_cap.is_none()) && !house_affords(job, gas, jobs, context)? {
        return Ok(StepResult::Waits(WaitReason::HouseShort));
    }
    let number = job.attempts.last().map_or(1, |last| last.number.saturating_add(1));
    let touched = context.change(job, &[("cancel_asked", int(u64::from(job.cancel_requested)))]);
    context.write(vec![add_attempt(job, number, is_cancel, gas, context.now), touched])?;
    Ok(StepResult::Raised { attempt: number })
}

fn revoke(job: &PayoutJob, context: &mut StepContext<'_>) -> Result<StepResult, PayoutError> {
    let contradiction = || StepResult::Waits(WaitReason::SignerRefuses(SignerRefusal::IntentSigned));
    match signing::revoke(job, context)? {
        RevokeReply::Never(head) => {
            let keep = vec![signing::keep_head(context, &head)];
            finish(job, PayoutOutcome::NeverSigned, None, keep, context)
        }
        // The order arrived, and its answer did not: first the bytes, and then a cancellation on the same nonce.
        RevokeReply::Signed => match job.attempts.last() {
            Some(attempt) => match signing::sign(job, attempt, context)? {
                SignReply::Done(result) => Ok(result),
                // The signer contradicts itself: both requests are repeated until it does not.
                SignReply::Revoked | SignReply::Hopeless => Ok(contradiction()),
            },
            None => Ok(contradiction()),
        },
        RevokeReply::Refused(refusal) => Ok(StepResult::Waits(WaitReason::SignerRefuses(refusal))),
    }
}

/// The end of a job: its stage, its nonce if that was never used, and the report to the books, in one write.
fn finish(
    job: &PayoutJob,
    outcome: PayoutOutcome,
    mined: Option<&MinedTransaction>,
    more: Vec<Statement>,
    context: &StepContext<'_>,
) -> Result<StepResult, PayoutError> {
    let stage = JobStage::after(outcome);
    let mut set = mined.map_or_else(|| vec![("status", text(stage.as_str()))], |mined| block_of(mined, stage));
    set.extend([("processed_at", time(context.now)), ("error_message", ColumnValue::Null)]);
    let mut statements = more;
    statements.push(context.change(job, &set));
    if outcome == PayoutOutcome::NeverSigned {
        statements.push(any("UPDATE payout_nonces SET job = NULL WHERE job = $1", vec![text(&job.id)]));
    }
    let fee = mined.and_then(|mined| u128::from(mined.gas_used).checked_mul(mined.gas_price)).unwrap_or_default();
    let report = PayoutReport {
        block: mined.map(|mined| mined.block.clone()),
        custody: context.config.custody.to_string(),
        fee: Amount::new(fee),
        outcome,
        tx_hash: mined.map(|mined| format!("{:#x}", mined.hash)),
    };
    statements.push(PAYOUT_EVENTS.insert(&NewInboxRow {
        // One outcome an intent, for ever: the table refuses another one under the same id.
        id: format!("{}/outcome", job.intent),
        kind: PAYOUT_ENDED.into(),
        subject: job.intent.to_string(),
        body: report.to_json(),
        node: context.config.node_name.clone(),
        created_at: context.now,
    }));
    context.write(statements)?;
    Ok(StepResult::Ended(outcome))
}

fn block_of(mined: &MinedTransaction, stage: JobStage) -> Vec<(&'static str, ColumnValue)> {
    vec![
        ("status", text(stage.as_str())),
        ("tx_hash", text(&format!("{:#x}", mined.hash))),
        ("block_number", int(mined.block.number)),
        ("block_hash", text(&mined.block.hash)),
        ("gas_used", int(mined.gas_used)),
        ("gas_price", ColumnValue::Amount(Amount::new(mined.gas_price))),
    ]
}

/// Writes once why the job waits. It is tried in every step, so that it goes on as soon as the freeze is lifted.
fn note_freeze(job: &PayoutJob, context: &StepContext<'_>) -> Result<(), PayoutError> {
    let message = text(&WaitReason::Frozen.to_string());
    let sql = "SELECT id FROM withdrawal_queue WHERE id = $1 AND error_message = $2";
    if context.rows.read(sql, vec![text(&job.id), message.clone()])?.is_empty() {
        context.write(vec![context.change(job, &[("error_message", message)])])?;
    }
    Ok(())
}

/// Schedules the next try of the job. A job that waits for its turn, for its server, or for the end of a freeze, is tried
/// in every step.
fn put_off(job: &PayoutJob, reason: WaitReason, context: &StepContext<'_>) -> Result<StepResult, PayoutError> {
    if matches!(reason, WaitReason::OthersFirst | WaitReason::ServerPaused) {
        return Ok(StepResult::Waits(reason));
    }
    if reason == WaitReason::Frozen {
        note_freeze(job, context)?;
        return Ok(StepResult::Waits(reason));
    }
    let pause = BACK_OFF.saturating_mul(1_u64 << job.retries.min(5));
    let stage = match (&reason, job.stage) {
        (WaitReason::WalletShort | WaitReason::HouseShort, JobStage::Pending) => JobStage::WaitingFunds,
        (_, stage) => stage,
    };
    let set = [
        ("status", text(stage.as_str())),
        ("error_message", text(&reason.to_string())),
        ("retry_count", int(job.retries.saturating_add(1))),
        ("scheduled_at", time(Time(context.now.0.saturating_add(pause)))),
    ];
    context.write(vec![context.change(job, &set)])?;
    Ok(StepResult::Waits(reason))
}
