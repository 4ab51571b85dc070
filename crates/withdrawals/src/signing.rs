//! Asking the signer. The order was written down before; whatever the answer, or none, the same order is asked for again
//! until there is one. Bytes, hash and the signer's head are stored in one write before anything is done with them.

use bankroll_ledger::Time;
use bankroll_orders::{Head, Meaning, Order, Refusal, Slot};
use bankroll_signer_client::{Outcome as Answered, Renounced, SignerClient};
use bankroll_store::{
    Rows, Statement,
    columns::{BadRow, maybe, text, text_of, time},
};

use crate::{
    PayoutError,
    job::{Attempt, Job, Stage},
    payouts::{Happened, Paying, Why},
    rows::{self, change, order_id},
};

/// How long the signer may still sign an order after it was asked, in microseconds. Each time it is asked anew, so an
/// answer that was lost does not become a no; the bytes do not depend on it.
const ORDER_LIFE: u64 = 600_000_000;
/// How long a no of the signer is taken for granted, in microseconds.
const ASK_AGAIN: u64 = 30_000_000;

/// What came of asking.
pub(crate) enum Asked {
    /// This.
    Told(Happened),
    /// The intent was renounced before: nothing was or will be signed. Nothing is written down yet.
    Renounced,
    /// Nothing was signed for it, and by the signer's rules nothing will be. Nothing is written down yet.
    Hopeless,
}

/// Asks for an attempt.
pub(crate) fn ask(
    job: &Job,
    attempt: &Attempt,
    paying: &Paying,
    signer: &mut SignerClient,
    store: &Rows,
    now: Time,
) -> Result<Asked, PayoutError> {
    let Some(nonce) = job.nonce else { return Ok(Asked::Told(Happened::Waits(Why::NoNonce))) };
    let head = head(paying, signer, store)?;
    let meaning = match attempt.is_cancel {
        true => Meaning::Cancel,
        false => Meaning::NativePayout { to: job.to, amount: job.amount },
    };
    let order = Order {
        id: order_id(job, attempt.number),
        intent: job.intent.clone(),
        slot: Slot { chain: paying.chain_id, wallet: paying.address, nonce },
        meaning,
        gas: attempt.gas,
        expires: Time(now.0.saturating_add(ORDER_LIFE)),
    };
    match signer.sign(&order, head)? {
        Answered::Signed(signed) => {
            let hash = signed.hash.into();
            let mut statements =
                vec![keep_head(paying, &signed.head), rows::sign_attempt(job, attempt.number, signed.raw, hash, now)];
            let stage = if job.stage == Stage::Signing { Stage::Signed } else { job.stage };
            statements.push(change(job, &[("status", text(stage.as_str()))], now));
            store.write(statements)?;
            Ok(Asked::Told(Happened::Signed { attempt: attempt.number, hash }))
        }
        Answered::Refused { refusal: Refusal::IntentRevoked, .. } if job.newest_signed().is_none() => {
            Ok(Asked::Renounced)
        }
        Answered::Refused { refusal: Refusal::DestinationForbidden, .. } if job.newest_signed().is_none() => {
            Ok(Asked::Hopeless)
        }
        Answered::Refused { refusal, head } => {
            let mut statements: Vec<Statement> = head.iter().map(|head| keep_head(paying, head)).collect();
            // The first one is asked for again, because nothing else can pay; a replacement is let go.
            let is_replacement = job.newest_signed().is_some();
            if is_replacement {
                statements.push(rows::refuse_attempt(job, attempt.number, &refusal.to_string()));
            }
            // Until then it would say the same; whoever wants it stopped is heard at once.
            let again = if is_replacement { job.scheduled_at } else { Time(now.0.saturating_add(ASK_AGAIN)) };
            let set = [("error_message", text(&refusal.to_string())), ("scheduled_at", time(again))];
            statements.push(change(job, &set, now));
            store.write(statements)?;
            Ok(Asked::Told(Happened::Waits(Why::SignerRefuses(refusal))))
        }
    }
}

/// What came of renouncing.
pub(crate) enum Promise {
    /// The proof that nothing was or will be signed, and the signer's head after it.
    Never(Head),
    /// Something was signed, or may have been.
    Signed,
    /// Another no.
    No(Refusal),
}

/// Asks for the promise never to sign the intent.
pub(crate) fn renounce(
    job: &Job,
    paying: &Paying,
    signer: &mut SignerClient,
    store: &Rows,
) -> Result<Promise, PayoutError> {
    let head = head(paying, signer, store)?;
    Ok(match signer.renounce(&job.intent, paying.address, head)? {
        Renounced::Never { head } => Promise::Never(head),
        Renounced::Refused { refusal: Refusal::IntentSigned, .. } => Promise::Signed,
        Renounced::Refused { refusal, .. } => Promise::No(refusal),
    })
}

/// The newest head that the signer gave us; its first one, if it never gave any.
fn head(paying: &Paying, signer: &mut SignerClient, store: &Rows) -> Result<Head, PayoutError> {
    let row = rows::wallet(store, &paying.chain, paying.address)?;
    let known = row.as_ref().map_or(Ok(None), |row| maybe(row, "signer_head", text_of))?;
    if let Some(known) = known {
        return Ok(serde_json::from_str(known).map_err(|_| BadRow { column: "signer_head" })?);
    }
    let head = signer.status(paying.address, None)?.head;
    store.write(vec![keep_head(paying, &head)])?;
    Ok(head)
}

pub(crate) fn keep_head(paying: &Paying, head: &Head) -> Statement {
    let json = serde_json::to_string(head).expect("plain numbers are JSON");
    rows::set_wallet(&paying.chain, paying.address, "signer_head", &json)
}
