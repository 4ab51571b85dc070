//! What of payouts a person must look at, for alerts. What a player can cause is counted by wallet or server, so that no
//! number of payouts is a number of alerts.

use bankroll_ledger::{Row, Time};
use bankroll_store::{
    Reader,
    columns::{maybe, number_of, text_of, time},
};

use crate::ViewError;

/// At most this many rows are read.
const ROWS_MAX: usize = 100;
/// The statuses of jobs that live: as in the index of the table.
const LIVE: &str = "status NOT IN ('final', 'reverted', 'dead')";

/// A wallet from which nothing new is paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedWallet {
    pub chain: String,
    pub wallet: String,
    pub reason: String,
}

/// A payout that a person must look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubtfulPayout {
    pub intent: String,
    pub chain: String,
    pub wallet: String,
    pub nonce: Option<u64>,
}

/// Payouts of one wallet, or of one server, that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingPayouts {
    /// Chain and address of the wallet, or the server.
    pub of: String,
    pub count: u64,
    /// One of them.
    pub example: String,
    /// Since when the first of them waits, where that is known.
    pub since: Option<Time>,
    /// Why one of them waits, where that is known.
    pub reason: Option<String>,
}

/// Wallets from which nothing new is paid.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn stopped_wallets(reader: &Reader) -> Result<Vec<StoppedWallet>, ViewError> {
    let sql = format!(
        "SELECT chain, address, stopped FROM operation_wallet_addresses WHERE stopped IS NOT NULL
         ORDER BY chain, address LIMIT {ROWS_MAX}"
    );
    let wallet = |row: &Row| {
        let owned = |column| text_of(row, column).map(str::to_owned);
        Ok(StoppedWallet { chain: owned("chain")?, wallet: owned("address")?, reason: owned("stopped")? })
    };
    reader.rows(&sql, Vec::new())?.iter().map(wallet).collect()
}

/// Payouts whose nonce was used by a transaction that is none of ours.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn unknown_payouts(reader: &Reader) -> Result<Vec<DoubtfulPayout>, ViewError> {
    doubtful(reader, &format!("{LIVE} AND status = 'unknown'"))
}

/// Payouts that are settled, and whose final transaction is not the one that was settled.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn contradicted_payouts(reader: &Reader) -> Result<Vec<DoubtfulPayout>, ViewError> {
    doubtful(reader, "status IN ('final', 'reverted', 'dead') AND error_message IS NOT NULL")
}

/// Payouts that wait because their wallet, or the house, has too little.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn short_of_funds(reader: &Reader) -> Result<Vec<WaitingPayouts>, ViewError> {
    by_wallet(reader, "status = 'waiting_funds'", Time(u64::MAX))
}

/// Payouts that began before this time and are in no block yet.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn not_mined_since(reader: &Reader, before: Time) -> Result<Vec<WaitingPayouts>, ViewError> {
    by_wallet(reader, "status IN ('pending', 'reserved', 'signing', 'signed', 'broadcast')", before)
}

/// Approved payouts that no payouts process has begun, by server.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn not_begun(reader: &Reader) -> Result<Vec<WaitingPayouts>, ViewError> {
    by_server(
        reader,
        "r.status = 'approved' AND NOT EXISTS
           (SELECT 1 FROM withdrawal_queue AS q WHERE q.withdrawal_request_id = r.id)",
    )
}

/// Payouts that a person must approve, by server.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn awaiting_approval(reader: &Reader) -> Result<Vec<WaitingPayouts>, ViewError> {
    by_server(reader, "r.status = 'awaiting_approval'")
}

fn doubtful(reader: &Reader, condition: &str) -> Result<Vec<DoubtfulPayout>, ViewError> {
    let sql = format!(
        "SELECT withdrawal_request_id AS intent, chain, operation_wallet_address_id AS wallet, nonce
         FROM withdrawal_queue WHERE {condition} ORDER BY id LIMIT {ROWS_MAX}"
    );
    let payout = |row: &Row| {
        let owned = |column| text_of(row, column).map(str::to_owned);
        let nonce = maybe(row, "nonce", number_of)?;
        Ok(DoubtfulPayout { intent: owned("intent")?, chain: owned("chain")?, wallet: owned("wallet")?, nonce })
    };
    reader.rows(&sql, Vec::new())?.iter().map(payout).collect()
}

fn by_wallet(reader: &Reader, condition: &str, before: Time) -> Result<Vec<WaitingPayouts>, ViewError> {
    let sql = format!(
        "SELECT chain, operation_wallet_address_id AS wallet, count(*) AS count, min(withdrawal_request_id) AS example,
           min(created_at) AS since, max(error_message) AS reason
         FROM withdrawal_queue WHERE {LIVE} AND {condition} AND created_at <= $1
         GROUP BY chain, operation_wallet_address_id ORDER BY 1, 2 LIMIT {ROWS_MAX}"
    );
    let group = |row: &Row| {
        Ok(WaitingPayouts {
            of: format!("{}/{}", text_of(row, "chain")?, text_of(row, "wallet")?),
            count: number_of(row, "count")?,
            example: text_of(row, "example")?.to_owned(),
            since: Some(Time(number_of(row, "since")?)),
            reason: maybe(row, "reason", text_of)?.map(str::to_owned),
        })
    };
    reader.rows(&sql, vec![time(before)])?.iter().map(group).collect()
}

fn by_server(reader: &Reader, condition: &str) -> Result<Vec<WaitingPayouts>, ViewError> {
    let sql = format!(
        "SELECT r.server AS server, count(*) AS count, min(r.id) AS example FROM withdrawal_requests AS r
         WHERE {condition} GROUP BY r.server ORDER BY r.server LIMIT {ROWS_MAX}"
    );
    let group = |row: &Row| {
        Ok(WaitingPayouts {
            of: text_of(row, "server")?.to_owned(),
            count: number_of(row, "count")?,
            example: text_of(row, "example")?.to_owned(),
            since: None,
            reason: None,
        })
    };
    reader.rows(&sql, Vec::new())?.iter().map(group).collect()
}
