//! The states of deposits and payouts, counted from their rows.

use bankroll_ledger::{Amount, Row};
use bankroll_store::{
    Reader, StoreError,
    columns::{amount_of, number_of, text_of},
};

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
    pub fn read(reader: &Reader) -> Result<Self, StoreError> {
        let mut progress = Self::default();
        let rows = |sql: &str| reader.rows(sql, Vec::new());
        let count = |row: &Row| number_of(row, "count").unwrap_or_default();
        let word = |row: &Row, column: &'static str| text_of(row, column).unwrap_or_default().to_owned();
        let sql = "SELECT purpose, chain_state, ledger_state, count(*) AS count FROM deposits
                   GROUP BY purpose, chain_state, ledger_state";
        for row in rows(sql)? {
            let [purpose, chain, ledger] = ["purpose", "chain_state", "ledger_state"].map(|column| word(&row, column));
            let of = match (purpose.as_str(), chain.as_str(), ledger.as_str()) {
                ("treasury", _, "credited") => &mut progress.capital,
                ("treasury", ..) => &mut progress.capital_open,
                (_, _, "credited") => &mut progress.credited,
                (_, "included", _) => &mut progress.confirming,
                (_, "final", _) => &mut progress.due,
                _ => continue,
            };
            *of += count(&row);
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

    /// Whether every deposit is booked, and every payout is paid or refunded.
    pub fn is_at_rest(&self) -> bool {
        self.confirming + self.due + self.capital_open + self.open == 0
    }

    pub fn seen(&self) -> u64 {
        self.confirming + self.due + self.credited
    }
}

/// The number of payouts that are requested and not paid, and their sum.
pub fn open_payouts(reader: &Reader) -> Result<(u64, Amount), StoreError> {
    let sql = "SELECT amount FROM withdrawal_requests WHERE status IN ('awaiting_approval', 'approved')";
    let (mut count, mut sum) = (0, Amount::ZERO);
    for row in reader.rows(sql, Vec::new())? {
        count += 1;
        add(&mut sum, amount_of(&row, "amount").unwrap_or_default());
    }
    Ok((count, sum))
}
