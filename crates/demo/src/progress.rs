//! The states of deposits and payouts, counted from their rows.

use bankroll_deposits::{
    ChainState, LedgerState, Purpose,
    view::{self, DepositCount},
};
use bankroll_ledger::Amount;
use bankroll_store::Reader;
use bankroll_withdrawals::{IntentStatus, JobStage, ViewError, views};

use super::tally::add;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DemoProgress {
    /// Players' deposits: in a block and not final; final and not booked; booked.
    pub confirming: u64,
    pub due: u64,
    pub credited: u64,
    /// The treasury's deposits: booked; not booked.
    pub capital: u64,
    pub capital_open: u64,
    /// Payouts: requested and not signed; signed; sent; in a block; final.
    pub wanted: u64,
    pub signed: u64,
    pub sent: u64,
    pub mined: u64,
    pub final_: u64,
    /// Intents: settled as paid; settled as not paid; not settled.
    pub paid: u64,
    pub refunded: u64,
    pub open: u64,
}

impl DemoProgress {
    pub fn read(reader: &Reader) -> anyhow::Result<Self> {
        let mut progress = Self::default();
        for DepositCount { purpose, chain_state, ledger_state, count } in view::counts(reader)? {
            let of = match (purpose, chain_state, ledger_state) {
                (Purpose::Treasury, _, LedgerState::Credited) => &mut progress.capital,
                (Purpose::Treasury, ..) => &mut progress.capital_open,
                (_, _, LedgerState::Credited) => &mut progress.credited,
                (_, ChainState::Included, _) => &mut progress.confirming,
                (_, ChainState::Final, _) => &mut progress.due,
                _ => continue,
            };
            *of += count;
        }
        for (stage, count) in views::count_jobs(reader)? {
            let of = match stage {
                JobStage::Signed => &mut progress.signed,
                JobStage::Broadcast => &mut progress.sent,
                JobStage::Mined => &mut progress.mined,
                JobStage::Final => &mut progress.final_,
                _ => continue,
            };
            *of += count;
        }
        for (status, count) in views::count_intents(reader)? {
            let of = match status {
                IntentStatus::Completed => &mut progress.paid,
                IntentStatus::Failed => &mut progress.refunded,
                IntentStatus::AwaitingApproval | IntentStatus::Approved => &mut progress.open,
            };
            *of += count;
        }
        progress.wanted =
            progress.open.saturating_sub(progress.signed).saturating_sub(progress.sent).saturating_sub(progress.mined);
        Ok(progress)
    }

    /// Whether every deposit is booked, and every payout is paid or refunded.
    pub fn is_at_rest(&self) -> bool {
        self.confirming + self.due + self.capital_open + self.open == 0
    }

    /// The same, with what had ended before not counted.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            credited: self.credited.saturating_sub(before.credited),
            capital: self.capital.saturating_sub(before.capital),
            final_: self.final_.saturating_sub(before.final_),
            paid: self.paid.saturating_sub(before.paid),
            refunded: self.refunded.saturating_sub(before.refunded),
            ..*self
        }
    }
}

/// The number of payouts that are requested and not paid, and their sum.
pub fn open_payouts(reader: &Reader) -> Result<(u64, Amount), ViewError> {
    let (mut count, mut sum) = (0, Amount::ZERO);
    for amount in views::open_amounts(reader)? {
        count += 1;
        add(&mut sum, amount);
    }
    Ok((count, sum))
}
