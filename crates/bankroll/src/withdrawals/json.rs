//! A payout for programs. Amounts are strings: a JSON number is a double to most readers.

use bankroll_terminal::{Assets, when};
use bankroll_withdrawals::views::{PayoutAttemptView, PayoutJobView};
use serde_json::{Value, json};

use super::PayoutDetails;

pub fn payout_json(details: &PayoutDetails, assets: &Assets) -> Value {
    let payout = &details.payout;
    json!({
        "id": payout.intent.to_string(),
        "state": payout.stage.as_str(),
        "status": payout.status.as_str(),
        "reason": payout.reason,
        "server": payout.server,
        "request_id": payout.request_id,
        "player": payout.wallet,
        "account": payout.account,
        "chain": payout.chain,
        "to": payout.to.to_string(),
        "amount": payout.amount,
        "amount_decimal": assets.decimal(payout.asset, payout.amount),
        "symbol": assets.get(payout.asset).map(|asset| &asset.symbol),
        "gas_paid_by": if payout.fee_cap.is_some() { "player" } else { "house" },
        "fee_cap": payout.fee_cap,
        "fee": payout.fee,
        "tx_hash": payout.final_tx_hash,
        "hold": payout.hold,
        "record": payout.hold.map(|hold| hold.made_by()),
        "requested_at": details.requested_at.map(when::show),
        "job": payout.job.as_ref().map(|job| job_json(job, &details.attempts)),
    })
}

fn job_json(job: &PayoutJobView, attempts: &[PayoutAttemptView]) -> Value {
    json!({
        "stage": job.stage.as_str(),
        "pays_from": job.pays_from,
        "nonce": job.nonce,
        "cancel_requested": job.cancel_requested,
        "tx_hash": job.tx_hash,
        "block": job.block.as_ref().map(|block| json!({ "number": block.number, "hash": block.hash })),
        "retries": job.retries,
        "waits": job.waits,
        "wallet_stopped": job.wallet_stopped,
        "created_at": when::show(job.created_at),
        "updated_at": when::show(job.updated_at),
        "attempts": attempts.iter().map(attempt_json).collect::<Vec<_>>(),
    })
}

fn attempt_json(attempt: &PayoutAttemptView) -> Value {
    json!({
        "number": attempt.number,
        "meaning": if attempt.is_cancel { "cancel" } else { "payout" },
        "tx_hash": attempt.tx_hash,
        "gas_limit": attempt.gas_limit,
        "max_fee_per_gas": attempt.max_fee,
        "priority_fee_per_gas": attempt.priority_fee,
        "refused": attempt.refused,
        "created_at": when::show(attempt.created_at),
        "last_sent_at": attempt.last_sent_at.map(when::show),
    })
}
