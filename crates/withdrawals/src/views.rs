//! Read-only views of the tables of withdrawals, for reports, reconciliation and the demo. No other crate queries these
//! tables itself.

mod exit;
mod made;
mod payout;

use bankroll_ledger::{Amount, Row};
use bankroll_orders::Address;
use bankroll_store::{
    Reader,
    columns::{amount_of, number_of, parsed, text, text_of},
};

use crate::{ViewError, job::JobStage, status::IntentStatus};
pub use exit::{ExitView, exit_of};
pub use made::{SettledPayout, makers_of, settled_above, settled_with, unsettled_hashes};
pub use payout::{
    PayoutAttemptView, PayoutFilter, PayoutJobView, PayoutStage, PayoutView, attempts_of, find_payouts, has_tables,
    list_payouts, payout_of,
};

/// A payout that is settled as paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidPayout {
    pub tx_hash: String,
    pub to: Address,
    pub amount: Amount,
}

/// A transaction that the signer has signed for a payout, and the status of its intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPayout {
    pub tx_hash: String,
    pub status: IntentStatus,
}

/// How many intents have each status; none are left out but those without any.
///
/// # Errors
/// If the books cannot be read, or a row has an unknown status.
pub fn count_intents(reader: &Reader) -> Result<Vec<(IntentStatus, u64)>, ViewError> {
    let rows = reader.rows("SELECT status, count(*) AS count FROM withdrawal_requests GROUP BY status", Vec::new())?;
    rows.iter().map(|row| Ok((IntentStatus::of_row(row)?, number_of(row, "count")?))).collect()
}

/// How many jobs are in each stage; none are left out but those without any.
///
/// # Errors
/// If the books cannot be read, or a row has an unknown stage.
pub fn count_jobs(reader: &Reader) -> Result<Vec<(JobStage, u64)>, ViewError> {
    let rows = reader.rows("SELECT status, count(*) AS count FROM withdrawal_queue GROUP BY status", Vec::new())?;
    rows.iter().map(|row| Ok((JobStage::of_row(row)?, number_of(row, "count")?))).collect()
}

/// The amounts of all intents that are not settled yet.
///
/// # Errors
/// If the books cannot be read, or a row has no amount.
pub fn open_amounts(reader: &Reader) -> Result<Vec<Amount>, ViewError> {
    let open: Vec<String> = IntentStatus::ALL
        .into_iter()
        .filter(|status| !status.is_final())
        .map(|status| format!("'{}'", status.as_str()))
        .collect();
    let sql = format!("SELECT amount FROM withdrawal_requests WHERE status IN ({})", open.join(", "));
    reader.rows(&sql, Vec::new())?.iter().map(|row| Ok(amount_of(row, "amount")?)).collect()
}

/// Why nothing new is paid from a wallet; `None` if it is.
///
/// # Errors
/// If the books cannot be read.
pub fn wallet_stopped(reader: &Reader, chain: &str, wallet: Address) -> Result<Option<String>, ViewError> {
    let sql =
        "SELECT stopped FROM operation_wallet_addresses WHERE chain = $1 AND address = $2 AND stopped IS NOT NULL";
    let rows = reader.rows(sql, vec![text(chain), text(&wallet.to_string())])?;
    Ok(rows.first().map(|row| text_of(row, "stopped").map(str::to_owned)).transpose()?)
}

/// The payouts on a chain that are settled as paid.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn paid_payouts(reader: &Reader, chain: &str) -> Result<Vec<PaidPayout>, ViewError> {
    let sql = format!(
        "SELECT final_tx_hash AS tx_hash, to_address, amount FROM withdrawal_requests
         WHERE chain = $1 AND status = '{}'",
        IntentStatus::Completed.as_str()
    );
    let paid = |row: &Row| {
        let (to, amount) = (parsed(row, "to_address")?, amount_of(row, "amount")?);
        Ok(PaidPayout { tx_hash: text_of(row, "tx_hash")?.to_owned(), to, amount })
    };
    reader.rows(&sql, vec![text(chain)])?.iter().map(paid).collect()
}

/// All transactions on a chain that the signer has signed for payouts, cancellations included.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn signed_payouts(reader: &Reader, chain: &str) -> Result<Vec<SignedPayout>, ViewError> {
    let sql = "SELECT payout_attempts.tx_hash AS tx_hash, withdrawal_requests.status AS status
         FROM payout_attempts JOIN withdrawal_queue ON withdrawal_queue.id = payout_attempts.job
           JOIN withdrawal_requests ON withdrawal_requests.id = withdrawal_queue.withdrawal_request_id
         WHERE withdrawal_queue.chain = $1 AND payout_attempts.tx_hash IS NOT NULL";
    let signed = |row: &Row| {
        Ok(SignedPayout { tx_hash: text_of(row, "tx_hash")?.to_owned(), status: IntentStatus::of_row(row)? })
    };
    reader.rows(sql, vec![text(chain)])?.iter().map(signed).collect()
}
