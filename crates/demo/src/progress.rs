//! Where deposits and payouts stand, as their rows say.

use bankroll_deposits::{
    ChainState, LedgerState, Purpose,
    view::{self, DepositCount, DepositViewError},
};
use bankroll_ledger::{Amount, Row};
use bankroll_store::{
    Reader, StoreError,
    columns::{amount_of, number_of, text_of},
};

use super::tally::add;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Players' deposits that are in a block and not final, final and not booked, booked.
    pub confirming: u64,
    pub due: u64,
    pub credited: u64,
    /// The treasury's that are booked, and those that are not.
    pub capital: u64,
    pub capital_open: u64,
    /// Payouts that are wanted and have no bytes yet; have bytes; were sent; are in a block; are final.
    pub wanted: u64,
    pub signed: u64,
    pub sent: u64,
    pub mined: u64,
    pub final_: u64,
    /// Intents that are settled as paid, settled as not paid, and not settled.
    pub paid: u64,
    pub refunded: u64,
    pub open: u64,
}

impl Progress {
    pub fn read(reader: &Reader) -> Result<Self, DepositViewError> {
        let mut progress = Self::default();
        let rows = |sql: &str| reader.rows(sql, Vec::new());
        let count = |row: &Row| number_of(row, "count").unwrap_or_default();
        let word = |row: &Row, column: &'static str| text_of(row, column).unwrap_or_default().to_owned();
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
        for row in rows("SELECT status, count(*) AS count FROM withdrawal_queue GROUP BY status")? {
            let of = match word(&row, "status").as_str() {
                "signed" => &mut progress.signed,
                "broadcast" => &mut progress.sent,
                "mined" => &mut progress.mined,
                "final" => &mut progress.final_,
                _ => continue,
            };
            *of += count(&row);
        }
        for row in rows("SELECT status, count(*) AS count FROM withdrawal_requests GROUP BY status")? {
            let of = match word(&row, "status").as_str() {
                "completed" => &mut progress.paid,
                "failed" => &mut progress.refunded,
                _ => &mut progress.open,
            };
            *of += count(&row);
        }
        progress.wanted =
            progress.open.saturating_sub(progress.signed).saturating_sub(progress.sent).saturating_sub(progress.mined);
        Ok(progress)
    }

    /// Whether all that came is booked, and all that was wanted is paid or given back.
    pub fn is_at_rest(&self) -> bool {
        self.confirming + self.due + self.capital_open + self.open == 0
    }

    pub fn seen(&self) -> u64 {
        self.confirming + self.due + self.credited
    }
}

/// What is wanted and not paid, with how many payouts that is.
pub fn open_payouts(reader: &Reader) -> Result<(u64, Amount), StoreError> {
    let sql = "SELECT amount FROM withdrawal_requests WHERE status IN ('awaiting_approval', 'approved')";
    let (mut count, mut sum) = (0, Amount::ZERO);
    for row in reader.rows(sql, Vec::new())? {
        count += 1;
        add(&mut sum, amount_of(&row, "amount").unwrap_or_default());
    }
    Ok((count, sum))
}
