//! Planted bugs: each is switched on for a run, and the promises must detect it.
//!
//! None of them is in shipped code. Either a setting is wrong, or the simulator changes data at one of its own seams
//! (pending requests, answers of the signer, keys of a game server, rows of a job).

use bankroll_chains_evm::SendOutcome;
use bankroll_chains_simulated::{Distortion, NodeLie, U256};
use bankroll_ledger::{Action, Guard, Leg, Record, Request, Verdict};
use bankroll_ledger::{Amount, HoldId};
use bankroll_store::{
    SearchQuery, SearchSubject,
    columns::{any, text},
};
use bankroll_withdrawals::{
    PayoutOutcome, StepResult, WaitReason,
    settlement::{SettlementInput, settlement_request},
};

use super::{
    callers::{SimAnswer, SimCallBody},
    people::HOT,
    world::World,
};

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The scanner treats a deposit as final in its first block.
    CreditBeforeFinality,
    /// A credit has no guard on the inclusion that it was prepared for.
    CreditWithoutOrphanCheck,
    /// A game server uses a new key for each retry.
    KeyDropped,
    /// The hold of a payout that takes long is released.
    HoldReleasedOnTimeOut,
    /// A payout whose answer was lost is restarted with another nonce.
    RebuiltAfterLostAnswer,
    /// The signer forgets everything.
    SignerWithoutMemory,
    /// The game server gets its answer before the commit.
    AcknowledgedBeforeCommit,
    /// What no header vouches for is believed on one provider's word.
    OneProvidersWord,
    /// A token's log is believed, whatever arrived.
    LogsBelieved,
}

impl Bug {
    pub const ALL: [Self; 9] = [
        Self::CreditBeforeFinality,
        Self::CreditWithoutOrphanCheck,
        Self::KeyDropped,
        Self::HoldReleasedOnTimeOut,
        Self::RebuiltAfterLostAnswer,
        Self::SignerWithoutMemory,
        Self::AcknowledgedBeforeCommit,
        Self::OneProvidersWord,
        Self::LogsBelieved,
    ];
}

/// The planted bug refunds a payout after this time, in microseconds.
const TIME_OUT: u64 = 600_000_000;

/// Removes the chain's columns from the guards of credits.
pub(super) fn remove_orphan_check(requests: &mut [Request]) {
    let of_chain = ["chain_state", "epoch", "block_hash"];
    for fact in requests.iter_mut().flat_map(|request| &mut request.facts) {
        if let Guard::Is(columns) = &mut fact.guard {
            columns.retain(|(column, _)| !of_chain.contains(&column.as_str()));
        }
    }
}

impl World {
    /// The planted bug: the balance before is what makes the log of the token that keeps a tenth true.
    pub(super) fn vouch_for_logs(&self, node: usize) {
        let by = Distortion::Minus(U256::from(100));
        self.chain().lie_from(node, NodeLie::TokenBalance { of: None, by }, 1);
    }

    /// Refunds payouts that were requested long ago and are not settled.
    pub(super) fn release_holds_on_time_out(&mut self) {
        let late: Vec<String> = self
            .callers
            .intents
            .values()
            .filter(|intent| {
                self.now.saturating_sub(intent.at) > TIME_OUT && !self.truth.settled.contains_key(&intent.id)
            })
            .map(|intent| intent.id.clone())
            .collect();
        for id in late {
            let Some(settling) = self.refund_of(&id) else { continue };
            if let Some(request) = settlement_request(&settling) {
                let _ = self.books.ledger().apply(request);
            }
        }
    }

    fn refund_of(&self, id: &str) -> Option<SettlementInput> {
        let intent = self.callers.intents.get(id)?;
        let reader = self.books.rows().reader();
        let number = |text: &str| reader.account_named(&text.parse().ok()?).ok()?.map(|account| account.id);
        let found =
            reader.search(&SearchQuery { most: 10, ..SearchQuery::of(SearchSubject::Intent(id.into())) }).ok()?;
        let (hold, amount) = found.items.into_iter().find_map(|entry| match entry.record {
            Record::Decided { request, verdict: Verdict::Applied(effects) } => {
                let Action::Legs(legs) = request.action else { return None };
                let held = legs.iter().find_map(|leg| match leg {
                    Leg::Hold { amount, .. } => Some(*amount),
                    _ => None,
                })?;
                effects.holds.first().map(|change| (change.hold.id, held))
            }
            _ => None,
        })?;
        Some(SettlementInput {
            intent: bankroll_orders::IntentId(id.parse().ok()?),
            server: intent.server.parse().ok()?,
            wallet: intent.player.parse().ok()?,
            hold: HoldId(hold.0),
            amount,
            fee_cap: None,
            custody: number(HOT)?,
            network_fees: number("@house/network_fees/1")?,
            outcome: PayoutOutcome::NeverSigned,
            fee: Amount::ZERO,
            tx_hash: None,
            block: None,
        })
    }

    /// Restarts jobs whose last call has an unknown outcome.
    pub(super) fn rebuild_after_lost_answers(&mut self, results: &[(String, StepResult)]) {
        let is_lost = |happened: &StepResult| {
            matches!(
                happened,
                StepResult::Waits(WaitReason::Signer(_)) | StepResult::Sent { answer: SendOutcome::Unknown(_), .. }
            )
        };
        for (job, _) in results.iter().filter(|(_, happened)| is_lost(happened)) {
            let restart =
                "UPDATE withdrawal_queue SET status = 'pending', nonce = NULL, version = version + 1 WHERE id = $1";
            let delete = "DELETE FROM payout_attempts WHERE job = $1";
            let _ = self.books.rows().write(vec![any(delete, vec![text(job)]), any(restart, vec![text(job)])]);
        }
    }

    /// The planted bug: answers as soon as the balance in memory suffices.
    pub(super) fn acknowledge_early(&mut self, place: usize) -> Option<SimAnswer> {
        let asked = &self.callers.calls[place];
        let SimCallBody::Money(request) = &asked.what else { return None };
        if self.bug != Some(Bug::AcknowledgedBeforeCommit) || asked.answer.is_some() {
            return None;
        }
        let Action::Legs(legs) = &request.action else { return None };
        let Some(Leg::Move { from, amount, .. }) = legs.first() else { return None };
        let account = self.books.rows().reader().account(*from).ok()??;
        let enough = account.balance.checked_sub(account.held).is_some_and(|available| available >= *amount);
        let request = Request::clone(request);
        enough.then(|| {
            self.callers.deferred.push(request);
            SimAnswer::Done
        })
    }

    /// Applies the requests that were answered before.
    pub(super) fn flush_deferred(&mut self) {
        for request in std::mem::take(&mut self.callers.deferred) {
            let _ = self.books.ledger().apply(request);
        }
    }
}
