//! Conditions of wallets and payouts. The payouts role may be another process: its rows say them.

use bankroll_alerts::{
    AlertCondition,
    AlertKind::{
        self, PayoutContradicted, PayoutOutcomeRefused, PayoutUnknown, PayoutsAwaitApproval, PayoutsLate,
        PayoutsNotBegun, WalletShort, WalletStopped,
    },
    AlertObservation,
};
use bankroll_ledger::Time;
use bankroll_store::{PAYOUT_EVENTS, Reader, RefusedInboxRow};
use bankroll_terminal::{counted, when};
use bankroll_withdrawals::attention::{self, DoubtfulPayout, StoppedWallet, WaitingPayouts};
use serde_json::json;

/// A payout that is in no block after this time is late, in microseconds.
const LATE: u64 = 30 * 60 * 1_000_000;
/// At most this many refused outcomes are read.
const REFUSED_MAX: usize = 100;

pub(super) fn waiting(reader: &Reader, now: Time) -> anyhow::Result<Vec<AlertObservation>> {
    let before = Time(now.0.saturating_sub(LATE));
    let stopped = attention::stopped_wallets(reader)?.iter().map(stopped).collect();
    let doubtful = |kind, payouts: Vec<DoubtfulPayout>, what: &str| {
        AlertObservation::all(kind, payouts.iter().map(|payout| doubted(kind, payout, what)).collect())
    };
    let refused = PAYOUT_EVENTS.refused(reader, REFUSED_MAX)?;
    Ok(vec![
        AlertObservation::all(WalletStopped, stopped),
        doubtful(PayoutUnknown, attention::unknown_payouts(reader)?, "was used by a transaction that is none of ours"),
        doubtful(PayoutContradicted, attention::contradicted_payouts(reader)?, "has another end than was settled"),
        AlertObservation::all(PayoutOutcomeRefused, refused.iter().map(outcome_refused).collect()),
        observed(WalletShort, &attention::short_of_funds(reader)?, "wait for funds of"),
        observed(PayoutsLate, &attention::not_mined_since(reader, before)?, "are in no block after 30 minutes, from"),
        observed(PayoutsNotBegun, &attention::not_begun(reader)?, "are approved and not begun, of"),
        observed(PayoutsAwaitApproval, &attention::awaiting_approval(reader)?, "wait for an approval, of"),
    ])
}

fn stopped(wallet: &StoppedWallet) -> AlertCondition {
    let StoppedWallet { chain, wallet, reason } = wallet;
    let subject = format!("{chain}/{wallet}");
    let summary = format!("nothing new is paid from {wallet} on {chain}: {reason}");
    AlertCondition::new(WalletStopped, &subject, &summary)
        .with(&json!({ "chain": chain, "wallet": wallet, "reason": reason }))
}

fn doubted(kind: AlertKind, payout: &DoubtfulPayout, what: &str) -> AlertCondition {
    let DoubtfulPayout { intent, chain, wallet, nonce } = payout;
    let nonce_text = nonce.map_or_else(|| "its nonce".to_owned(), |nonce| format!("its nonce {nonce}"));
    let summary = format!("payout {intent} from {wallet} on {chain}: {nonce_text} {what}");
    AlertCondition::new(kind, intent, &summary)
        .with(&json!({ "payout": intent, "chain": chain, "wallet": wallet, "nonce": nonce }))
}

fn outcome_refused(row: &RefusedInboxRow) -> AlertCondition {
    let RefusedInboxRow { id, subject, reason } = row;
    let summary = format!("the books refused the outcome of payout {subject}: {reason}");
    AlertCondition::new(PayoutOutcomeRefused, subject, &summary).with(&json!({ "payout": subject, "event": id }))
}

fn observed(kind: AlertKind, groups: &[WaitingPayouts], what: &str) -> AlertObservation {
    let condition = |group: &WaitingPayouts| {
        let WaitingPayouts { of, count, example, since, reason } = group;
        let mut summary = format!("{} {what} {of}", counted(*count, "payout", "payouts"));
        if let Some(since) = since {
            summary += &format!(", the first since {}", when::seconds(*since));
        }
        if let Some(reason) = reason {
            summary += &format!(": {reason}");
        }
        AlertCondition::new(kind, of, &summary).about(*count).with(&json!({ "payout": example, "reason": reason }))
    };
    AlertObservation::all(kind, groups.iter().map(condition).collect())
}
