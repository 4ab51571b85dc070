//! Requests to the signer. The order is written down before; whatever the answer, or without one, the same order is
//! requested again until there is one. Bytes, hash and the signer's head are stored in one write before they are used.

use bankroll_ledger::Time;
use bankroll_orders::{Meaning, MemoryHead, Order, SignerRefusal, Slot};
use bankroll_signer_client::{RevokeOutcome, SignOutcome};
use bankroll_store::{
    Statement,
    columns::{BadRow, maybe, text, text_of, time},
};

use crate::{
    PayoutError,
    context::StepContext,
    job::{JobStage, PayoutAttempt, PayoutJob},
    rows::{self, order_id},
    step_result::{StepResult, WaitReason},
};

/// How long the signer may still sign an order after a request, in microseconds. Each request sets it anew, so that a
/// lost answer does not become a refusal; the bytes do not depend on it.
const ORDER_LIFE: u64 = 600_000_000;
/// How long a refusal of the signer is not questioned, in microseconds.
const RETRY_AFTER: u64 = 30_000_000;

/// The reply to a request for a signature.
pub(crate) enum SignReply {
    /// The reply is written down, with this result.
    Done(StepResult),
    /// The intent was revoked before: nothing was or will be signed. Nothing is written down yet.
    Revoked,
    /// Nothing was signed for it, and by the signer's rules nothing will be. Nothing is written down yet.
    Hopeless,
}

/// Requests the signature of an attempt.
pub(crate) fn sign(
    job: &PayoutJob,
    attempt: &PayoutAttempt,
    context: &mut StepContext<'_>,
) -> Result<SignReply, PayoutError> {
    let Some(nonce) = job.nonce else { return Ok(SignReply::Done(StepResult::Waits(WaitReason::NoNonce))) };
    let head = known_head(context)?;
    let (config, now) = (context.config, context.now);
    let meaning = match attempt.is_cancel {
        true => Meaning::Cancel,
        false => Meaning::NativePayout { to: job.to, amount: job.amount },
    };
    let order = Order {
        id: order_id(job, attempt.number),
        intent: job.intent.clone(),
        slot: Slot { chain: config.chain_id, wallet: config.address, nonce },
        meaning,
        gas: attempt.gas,
        expires: Time(now.0.saturating_add(ORDER_LIFE)),
    };
    match context.signer.sign(&order, head)? {
        SignOutcome::Signed(signed) => {
            let hash = signed.hash.into();
            let stage = if job.stage == JobStage::Signing { JobStage::Signed } else { job.stage };
            context.write(vec![
                keep_head(context, &signed.head),
                rows::sign_attempt(job, attempt.number, signed.raw, hash, now),
                context.change(job, &[("status", text(stage.as_str()))]),
            ])?;
            Ok(SignReply::Done(StepResult::Signed { attempt: attempt.number, hash }))
        }
        SignOutcome::Refused { refusal: SignerRefusal::IntentRevoked, .. } if job.newest_signed().is_none() => {
            Ok(SignReply::Revoked)
        }
        SignOutcome::Refused { refusal: SignerRefusal::DestinationForbidden, .. } if job.newest_signed().is_none() => {
            Ok(SignReply::Hopeless)
        }
        SignOutcome::Refused { refusal, head } => {
            let mut statements: Vec<Statement> = head.iter().map(|head| keep_head(context, head)).collect();
            // The first order is requested again, because nothing else can pay; a replacement is given up.
            let is_replacement = job.newest_signed().is_some();
            if is_replacement {
                statements.push(rows::refuse_attempt(job, attempt.number, &refusal.to_string()));
            }
            // Until then the signer would answer the same. A cancellation ends the pause at once.
            let again = if is_replacement { job.scheduled_at } else { Time(now.0.saturating_add(RETRY_AFTER)) };
            let set = [("error_message", text(&refusal.to_string())), ("scheduled_at", time(again))];
            statements.push(context.change(job, &set));
            context.write(statements)?;
            Ok(SignReply::Done(StepResult::Waits(WaitReason::SignerRefuses(refusal))))
        }
    }
}

/// The reply to a request to revoke an intent.
pub(crate) enum RevokeReply {
    /// The proof that nothing was or will be signed, and the signer's head after it.
    Never(MemoryHead),
    /// Something was signed, or may have been.
    Signed,
    Refused(SignerRefusal),
}

/// Requests the promise never to sign the intent.
pub(crate) fn revoke(job: &PayoutJob, context: &mut StepContext<'_>) -> Result<RevokeReply, PayoutError> {
    let head = known_head(context)?;
    Ok(match context.signer.revoke(&job.intent, context.config.address, head)? {
        RevokeOutcome::Never { head } => RevokeReply::Never(head),
        RevokeOutcome::Refused { refusal: SignerRefusal::IntentSigned, .. } => RevokeReply::Signed,
        RevokeOutcome::Refused { refusal, .. } => RevokeReply::Refused(refusal),
    })
}

/// The newest head that the signer returned; its first one, if it never returned any.
fn known_head(context: &mut StepContext<'_>) -> Result<MemoryHead, PayoutError> {
    let config = context.config;
    let row = rows::wallet(context.rows, &config.chain, config.address)?;
    let known = row.as_ref().map_or(Ok(None), |row| maybe(row, "signer_head", text_of))?;
    if let Some(known) = known {
        return Ok(serde_json::from_str(known).map_err(|_| BadRow { column: "signer_head" })?);
    }
    let head = context.signer.status(config.address, None)?.head;
    context.write(vec![keep_head(context, &head)])?;
    Ok(head)
}

/// The statement that stores the signer's head.
pub(crate) fn keep_head(context: &StepContext<'_>, head: &MemoryHead) -> Statement {
    let json = serde_json::to_string(head).expect("plain numbers are JSON");
    context.set_wallet("signer_head", &json)
}
