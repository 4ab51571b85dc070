//! Which payout made a transaction, and what the books have settled by it: for reconciliation.

use std::collections::BTreeMap;

use bankroll_ledger::{Amount, ColumnValue, Row};
use bankroll_orders::Address;
use bankroll_store::{
    Reader,
    columns::{amount_of, int, maybe, number_of, parsed, text, text_of},
};

use crate::{ViewError, status::IntentStatus};

/// Hashes in one query.
const AT_ONCE: usize = 400;

/// A payout whose end the books have settled by a transaction: paid, or mined without paying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledPayout {
    pub intent: String,
    pub tx_hash: String,
    /// The wallet that sent it.
    pub wallet: Address,
    /// The block that the payouts role saw it in; `None` if it is in none now.
    pub block: Option<u64>,
    /// What the books moved out of the wallet's account: the amount if it was paid, and the gas.
    pub left: Amount,
}

/// The intents for which these transactions were signed, by hash; a transaction without one was made by no job.
///
/// # Errors
/// If the rows cannot be read, or one is not as this program writes it.
pub fn makers_of(reader: &Reader, chain: &str, hashes: &[String]) -> Result<BTreeMap<String, String>, ViewError> {
    let mut found = BTreeMap::new();
    for some in hashes.chunks(AT_ONCE) {
        let sql = format!(
            "SELECT payout_attempts.tx_hash AS tx_hash, withdrawal_queue.withdrawal_request_id AS intent
             FROM payout_attempts JOIN withdrawal_queue ON withdrawal_queue.id = payout_attempts.job
             WHERE withdrawal_queue.chain = $1 AND payout_attempts.tx_hash IN ({})",
            places(some.len())
        );
        for row in reader.rows(&sql, with_chain(chain, some))? {
            found.insert(text_of(&row, "tx_hash")?.to_owned(), text_of(&row, "intent")?.to_owned());
        }
    }
    Ok(found)
}

/// The transactions that were signed for payouts which the books have not settled: as many as are in flight.
///
/// # Errors
/// If the rows cannot be read, or one is not as this program writes it.
pub fn unsettled_hashes(reader: &Reader, chain: &str) -> Result<Vec<String>, ViewError> {
    let sql = format!(
        "SELECT payout_attempts.tx_hash AS tx_hash
         FROM withdrawal_requests
           JOIN withdrawal_queue ON withdrawal_queue.withdrawal_request_id = withdrawal_requests.id
           JOIN payout_attempts ON payout_attempts.job = withdrawal_queue.id
         WHERE withdrawal_requests.status = '{}' AND withdrawal_queue.chain = $1
           AND payout_attempts.tx_hash IS NOT NULL",
        IntentStatus::Approved.as_str()
    );
    let hash = |row: &Row| Ok(text_of(row, "tx_hash")?.to_owned());
    reader.rows(&sql, vec![text(chain)])?.iter().map(hash).collect()
}

/// What the books have settled by these transactions.
///
/// # Errors
/// If the rows cannot be read, or one is not as this program writes it.
pub fn settled_with(reader: &Reader, chain: &str, hashes: &[String]) -> Result<Vec<SettledPayout>, ViewError> {
    let mut found = Vec::new();
    for some in hashes.chunks(AT_ONCE) {
        let condition = format!("withdrawal_requests.final_tx_hash IN ({})", places(some.len()));
        found.extend(settled(reader, &condition, with_chain(chain, some))?);
    }
    Ok(found)
}

/// What the books have settled by transactions in blocks after this one: the payouts role may be ahead of the indexer.
///
/// # Errors
/// If the rows cannot be read, or one is not as this program writes it.
pub fn settled_above(reader: &Reader, chain: &str, block: u64) -> Result<Vec<SettledPayout>, ViewError> {
    settled(reader, "withdrawal_queue.block_number > $2", vec![text(chain), int(block)])
}

fn settled(reader: &Reader, condition: &str, values: Vec<ColumnValue>) -> Result<Vec<SettledPayout>, ViewError> {
    let sql = format!(
        "SELECT withdrawal_requests.id AS id, withdrawal_requests.final_tx_hash AS tx_hash,
           withdrawal_requests.status AS status, withdrawal_requests.amount AS amount, withdrawal_requests.fee AS fee, withdrawal_requests.reason AS reason,
           withdrawal_queue.operation_wallet_address_id AS wallet, withdrawal_queue.block_number AS block_number
         FROM withdrawal_requests
           JOIN withdrawal_queue ON withdrawal_queue.withdrawal_request_id = withdrawal_requests.id
         WHERE withdrawal_queue.chain = $1 AND withdrawal_requests.final_tx_hash IS NOT NULL
           AND withdrawal_requests.status <> '{}' AND {condition}",
        IntentStatus::Approved.as_str()
    );
    let settled = |row: &Row| {
        let paid = match IntentStatus::of_row(row)? {
            IntentStatus::Completed => amount_of(row, "amount")?,
            _ => Amount::ZERO,
        };
        let fee = maybe(row, "fee", amount_of)?.unwrap_or(Amount::ZERO);
        Ok(SettledPayout {
            intent: text_of(row, "id")?.to_owned(),
            tx_hash: text_of(row, "tx_hash")?.to_owned(),
            wallet: parsed(row, "wallet")?,
            block: maybe(row, "block_number", number_of)?,
            left: paid.checked_add(fee).unwrap_or(Amount::MAX),
        })
    };
    reader.rows(&sql, values)?.iter().map(settled).collect()
}

fn places(count: usize) -> String {
    (2..count.saturating_add(2)).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

fn with_chain(chain: &str, hashes: &[String]) -> Vec<ColumnValue> {
    [text(chain)].into_iter().chain(hashes.iter().map(|hash| text(hash))).collect()
}
