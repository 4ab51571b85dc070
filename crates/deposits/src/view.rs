//! Read functions on the tables of deposits, for the command line, an API, reconciliation, a demo.

use bankroll_chains_evm::confirmations;
use bankroll_ledger::{Name, Row, Time};
use bankroll_store::{
    Reader, StoreError,
    columns::{BadRow, number_of, parsed, text, text_of},
};

use crate::{ChainState, DepositId, DepositStatus, LedgerState, Purpose, ReviewState, follower::BlockPoint};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositView {
    pub id: DepositId,
    pub tx_hash: String,
    /// In base units; text, because it may exceed what the ledger can count.
    pub amount: String,
    pub purpose: Purpose,
    /// Which inclusion this is, from 1.
    pub epoch: u64,
    /// The block of this inclusion.
    pub block: u64,
    pub chain_state: ChainState,
    pub review_state: ReviewState,
    pub ledger_state: LedgerState,
    /// What the player sees.
    pub status: DepositStatus,
}

#[derive(Debug, thiserror::Error)]
pub enum DepositViewError {
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Row(#[from] BadRow),
}

const COLUMNS: &str =
    "SELECT id, tx_hash, amount_raw, purpose, epoch, deposits.block_number AS block, required_confirmations,
    chain_state, review_state, ledger_state, coalesce(chain_cursor.block_number, 0) AS head
    FROM deposits LEFT JOIN chain_cursor ON chain_cursor.chain = deposits.chain";

/// The deposits that a transaction made.
///
/// # Errors
/// See [`DepositViewError`].
pub fn of_transaction(reader: &Reader, chain: &Name, tx_hash: &str) -> Result<Vec<DepositView>, DepositViewError> {
    let sql = format!("{COLUMNS} WHERE deposits.chain = $1 AND tx_hash = $2 ORDER BY id");
    Ok(reader.rows(&sql, vec![text(chain.as_str()), text(tx_hash)])?.iter().map(view_of).collect::<Result<_, _>>()?)
}

/// Every deposit of a chain.
///
/// # Errors
/// See [`DepositViewError`].
pub fn of_chain(reader: &Reader, chain: &str) -> Result<Vec<DepositView>, DepositViewError> {
    let sql = format!("{COLUMNS} WHERE deposits.chain = $1 ORDER BY id");
    Ok(reader.rows(&sql, vec![text(chain)])?.iter().map(view_of).collect::<Result<_, _>>()?)
}

/// The last block of a chain that was read; `None` before the first step.
///
/// # Errors
/// See [`DepositViewError`].
pub fn cursor(reader: &Reader, chain: &str) -> Result<Option<BlockPoint>, DepositViewError> {
    let sql = "SELECT block_number, block_hash FROM chain_cursor WHERE chain = $1";
    let point = |row: &Row| {
        Ok::<_, DepositViewError>(BlockPoint {
            number: number_of(row, "block_number")?,
            hash: parsed(row, "block_hash")?,
        })
    };
    reader.rows(sql, vec![text(chain)])?.first().map(point).transpose()
}

/// The number of the last block of a chain that was read, and when that was; `None` before the first step.
///
/// # Errors
/// See [`DepositViewError`].
pub fn last_step(reader: &Reader, chain: &str) -> Result<Option<(u64, Time)>, DepositViewError> {
    let sql = "SELECT block_number, updated_at FROM chain_cursor WHERE chain = $1";
    let step =
        |row: &Row| Ok::<_, DepositViewError>((number_of(row, "block_number")?, Time(number_of(row, "updated_at")?)));
    reader.rows(sql, vec![text(chain)])?.first().map(step).transpose()
}

/// How many deposits have this purpose and these states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepositCount {
    pub purpose: Purpose,
    pub chain_state: ChainState,
    pub ledger_state: LedgerState,
    pub count: u64,
}

/// The deposits of all chains, counted by purpose and states.
///
/// # Errors
/// See [`DepositViewError`].
pub fn counts(reader: &Reader) -> Result<Vec<DepositCount>, DepositViewError> {
    let sql = "SELECT purpose, chain_state, ledger_state, count(*) AS count FROM deposits
               GROUP BY purpose, chain_state, ledger_state";
    let count = |row: &Row| {
        let (purpose, chain_state, ledger_state) = (purpose(row)?, chain_state(row)?, ledger_state(row)?);
        Ok::<_, DepositViewError>(DepositCount { purpose, chain_state, ledger_state, count: number_of(row, "count")? })
    };
    reader.rows(sql, Vec::new())?.iter().map(count).collect()
}

/// The newest deposits of a player.
///
/// # Errors
/// See [`DepositViewError`].
pub fn of_player(
    reader: &Reader,
    server: &Name,
    wallet: &Name,
    most: usize,
) -> Result<Vec<DepositView>, DepositViewError> {
    let sql =
        format!("{COLUMNS} WHERE server = $1 AND wallet = $2 ORDER BY deposits.first_seen_at DESC, id LIMIT {most}");
    let values = vec![text(server.as_str()), text(wallet.as_str())];
    Ok(reader.rows(&sql, values)?.iter().map(view_of).collect::<Result<_, _>>()?)
}

fn view_of(row: &Row) -> Result<DepositView, BadRow> {
    let chain_state = chain_state(row)?;
    let review_state = ReviewState::from_row(text_of(row, "review_state")?).ok_or(BadRow { column: "review_state" })?;
    let ledger_state = ledger_state(row)?;
    let (block, head) = (number_of(row, "block")?, number_of(row, "head")?);
    let (have, need) = (confirmations(head, block), number_of(row, "required_confirmations")?);
    Ok(DepositView {
        id: DepositId::from_row(text_of(row, "id")?),
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
        amount: text_of(row, "amount_raw")?.to_owned(),
        purpose: purpose(row)?,
        epoch: number_of(row, "epoch")?,
        block,
        chain_state,
        review_state,
        ledger_state,
        status: DepositStatus::of(chain_state, review_state, ledger_state, have, need),
    })
}

fn purpose(row: &Row) -> Result<Purpose, BadRow> {
    Purpose::from_row(text_of(row, "purpose")?).ok_or(BadRow { column: "purpose" })
}

fn chain_state(row: &Row) -> Result<ChainState, BadRow> {
    ChainState::from_row(text_of(row, "chain_state")?).ok_or(BadRow { column: "chain_state" })
}

fn ledger_state(row: &Row) -> Result<LedgerState, BadRow> {
    LedgerState::from_row(text_of(row, "ledger_state")?).ok_or(BadRow { column: "ledger_state" })
}
