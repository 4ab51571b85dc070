//! What of deposits a person must look at, for alerts: counted by chain, so that no number of payments is a number of
//! alerts. Each query has an index of its own.

use bankroll_ledger::{Row, Time};
use bankroll_store::{
    Reader,
    columns::{maybe, number_of, text, text_of},
};

use crate::{DepositStage, view::DepositViewError};

/// At most this many groups are read.
const GROUPS_MAX: usize = 100;

/// Deposits of one chain that wait for a person, or that the chain dropped at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositGroup {
    pub chain: String,
    pub count: u64,
    /// One of them.
    pub example: String,
    /// When the first of them was seen; of orphaned ones, when the chain dropped them.
    pub at: Time,
}

/// How far the scanner is on a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorState {
    pub block: u64,
    /// When it last read a block.
    pub moved_at: Time,
    /// Why it cannot go on without a person.
    pub stopped: Option<String>,
}

/// Deposits in suspense about which nobody has decided, by chain.
///
/// # Errors
/// See [`DepositViewError`].
pub fn suspended(reader: &Reader) -> Result<Vec<DepositGroup>, DepositViewError> {
    waiting(reader, "ledger_state = 'suspense' AND review_state <> 'refused'", DepositStage::Suspense)
}

/// Deposits that are held for a person, by chain.
///
/// # Errors
/// See [`DepositViewError`].
pub fn held(reader: &Reader) -> Result<Vec<DepositGroup>, DepositViewError> {
    waiting(reader, "(review_state = 'held' OR doubt IS NOT NULL)", DepositStage::Held)
}

/// Deposits that the books refused to credit, by chain.
///
/// # Errors
/// See [`DepositViewError`].
pub fn refused(reader: &Reader) -> Result<Vec<DepositGroup>, DepositViewError> {
    waiting(reader, "ledger_error IS NOT NULL", DepositStage::Refused)
}

/// Deposits that the chain dropped after they were final, by chain and reorganisation, the newest first.
///
/// # Errors
/// See [`DepositViewError`].
pub fn orphaned_after_final(reader: &Reader) -> Result<Vec<DepositGroup>, DepositViewError> {
    let sql = format!(
        "SELECT chain, count(*) AS count, min(id) AS example, coalesce(reorged_at, 0) AS at FROM deposits
         WHERE chain_state = 'orphaned_after_final' GROUP BY chain, reorged_at ORDER BY 4 DESC, chain LIMIT {GROUPS_MAX}"
    );
    groups(reader, &sql)
}

/// How far the scanner is on a chain; `None` before its first step.
///
/// # Errors
/// See [`DepositViewError`].
pub fn cursor_state(reader: &Reader, chain: &str) -> Result<Option<CursorState>, DepositViewError> {
    let sql = "SELECT block_number, updated_at, stopped FROM chain_cursor WHERE chain = $1";
    let state = |row: &Row| {
        Ok::<_, DepositViewError>(CursorState {
            block: number_of(row, "block_number")?,
            moved_at: Time(number_of(row, "updated_at")?),
            stopped: maybe(row, "stopped", text_of)?.map(str::to_owned),
        })
    };
    reader.rows(sql, vec![text(chain)])?.first().map(state).transpose()
}

/// `condition` is the one of an index; the stage decides.
fn waiting(reader: &Reader, condition: &str, stage: DepositStage) -> Result<Vec<DepositGroup>, DepositViewError> {
    let sql = format!(
        "SELECT chain, count(*) AS count, min(id) AS example, min(first_seen_at) AS at FROM deposits
         WHERE {condition} AND {} = '{}' GROUP BY chain ORDER BY chain LIMIT {GROUPS_MAX}",
        DepositStage::SQL,
        stage.as_str()
    );
    groups(reader, &sql)
}

fn groups(reader: &Reader, sql: &str) -> Result<Vec<DepositGroup>, DepositViewError> {
    let group = |row: &Row| {
        Ok(DepositGroup {
            chain: text_of(row, "chain")?.to_owned(),
            count: number_of(row, "count")?,
            example: text_of(row, "example")?.to_owned(),
            at: Time(number_of(row, "at")?),
        })
    };
    reader.rows(sql, Vec::new())?.iter().map(group).collect()
}
