//! Read functions on the tables of deposits, for the command line, an API, reconciliation, a demo.

use bankroll_chains_evm::confirmations;
use bankroll_ledger::{AssetId, ColumnValue, Name, Row, Time};
use bankroll_store::{
    Reader, StoreError,
    columns::{BadRow, maybe, number_of, parsed, text, text_of},
};

use crate::{
    ChainState, DEPOSITS, DepositId, DepositKind, DepositStage, DepositStatus, LedgerState, Purpose, ReviewState,
    follower::BlockPoint,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositView {
    pub id: DepositId,
    /// The chain, as assets name it.
    pub chain: String,
    pub tx_hash: String,
    pub kind: DepositKind,
    /// Which of the transaction's transfers of that kind.
    pub position: u64,
    pub asset: AssetId,
    /// In base units; text, because it may exceed what the ledger can count.
    pub amount: String,
    /// The sender, with lowercase digits.
    pub from: String,
    /// The address of ours that was paid, with lowercase digits.
    pub to: String,
    pub purpose: Purpose,
    pub server: Option<String>,
    /// The player who is credited, if known.
    pub wallet: Option<String>,
    /// Which inclusion this is, from 1.
    pub epoch: u64,
    /// The block of this inclusion.
    pub block: u64,
    pub block_hash: String,
    /// Blocks on it, its own included, as far as the chain was read; 0 if its block is no longer canonical.
    pub confirmations: u64,
    /// Confirmations until it is final.
    pub required: u64,
    pub chain_state: ChainState,
    pub review_state: ReviewState,
    /// Which inclusion people let through, or refused; 0 for none.
    pub review_epoch: u64,
    pub ledger_state: LedgerState,
    /// Which inclusion is booked, or was; 0 for none.
    pub ledger_epoch: u64,
    /// What the player sees.
    pub status: DepositStatus,
    pub stage: DepositStage,
    /// Why it is not a player's money as it was seen.
    pub doubt: Option<String>,
    /// Why it is in suspense, or not a buy-in.
    pub reason: Option<String>,
    /// Why the books refused this inclusion.
    pub refusal: Option<String>,
    pub first_seen_at: Time,
    pub updated_at: Time,
}

/// Which deposits to list.
#[derive(Clone, Debug, Default)]
pub struct DepositFilter {
    pub stage: Option<DepositStage>,
    /// People must decide: held, or in suspense and not refused.
    pub waiting: bool,
    /// Paid to this server.
    pub server: Option<Name>,
    /// Credited to this player, or sent by this wallet.
    pub wallet: Option<Name>,
    /// Continue after the deposit of this transaction.
    pub after: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum DepositViewError {
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Row(#[from] BadRow),
}

const COLUMNS: &str =
    "SELECT id, deposits.chain AS chain, tx_hash, kind, position, asset, amount_raw, from_address, to_address, purpose,
    coalesce(credited_server, server) AS server, coalesce(credited_wallet, wallet) AS wallet, doubt, epoch, deposits.block_number AS block, deposits.block_hash AS block_hash, required_confirmations,
    chain_state, review_state, review_epoch, ledger_state, ledger_epoch, invalid_reason, ledger_error, ledger_error_epoch, first_seen_at,
    deposits.updated_at AS updated_at, coalesce(chain_cursor.block_number, 0) AS head";

const TABLES: &str = "FROM deposits LEFT JOIN chain_cursor ON chain_cursor.chain = deposits.chain";

/// Reads deposits; `condition` follows the tables.
fn views(reader: &Reader, condition: &str, values: Vec<ColumnValue>) -> Result<Vec<DepositView>, DepositViewError> {
    let sql = format!("{COLUMNS}, {} AS stage {TABLES} {condition}", DepositStage::SQL);
    Ok(reader.rows(&sql, values)?.iter().map(view_of).collect::<Result<_, _>>()?)
}

/// Whether these books have the tables of deposits: books that never were a node's have none.
///
/// # Errors
/// See [`DepositViewError`].
pub fn has_tables(reader: &Reader) -> Result<bool, DepositViewError> {
    let sql = "SELECT count(*) AS count FROM migrations WHERE owner = $1";
    let rows = reader.rows(sql, vec![text(DEPOSITS.owner)])?;
    Ok(rows.first().map(|row| number_of(row, "count")).transpose()?.is_some_and(|count| count > 0))
}

/// Deposits of all chains, newest first.
///
/// # Errors
/// See [`DepositViewError`].
pub fn list(reader: &Reader, filter: &DepositFilter, most: usize) -> Result<Vec<DepositView>, DepositViewError> {
    let (mut conditions, mut values) = (vec!["1 = 1".to_owned()], Vec::new());
    if let Some(stage) = filter.stage {
        values.push(text(stage.as_str()));
        conditions.push(format!("{} = ${}", DepositStage::SQL, values.len()));
    }
    if filter.waiting {
        let stage = DepositStage::SQL;
        conditions.push(format!("({stage} = 'held' OR ({stage} = 'suspense' AND review_state <> 'refused'))"));
    }
    if let Some(server) = &filter.server {
        values.push(text(server.as_str()));
        conditions.push(format!("coalesce(credited_server, server) = ${}", values.len()));
    }
    if let Some(wallet) = &filter.wallet {
        values.push(text(wallet.as_str()));
        conditions.push(format!("(coalesce(credited_wallet, wallet) = ${0} OR from_address = ${0})", values.len()));
    }
    if let Some(after) = &filter.after {
        values.push(text(after));
        // A deposit's id is a place in the list; a transaction's hash is the place after all its deposits.
        let n = values.len();
        let place = format!("(SELECT max(first_seen_at) FROM deposits WHERE id = ${n} OR tx_hash = ${n})");
        let last = format!("(SELECT max(id) FROM deposits WHERE id = ${n} OR tx_hash = ${n})");
        conditions.push(format!("(first_seen_at < {place} OR (first_seen_at = {place} AND id > {last}))"));
    }
    let condition = format!("WHERE {} ORDER BY first_seen_at DESC, id LIMIT {most}", conditions.join(" AND "));
    views(reader, &condition, values)
}

/// The deposit with this id, or those of this transaction.
///
/// # Errors
/// See [`DepositViewError`].
pub fn find(reader: &Reader, id_or_transaction: &str) -> Result<Vec<DepositView>, DepositViewError> {
    let values = vec![text(&id_or_transaction.to_lowercase())];
    views(reader, "WHERE id = $1 OR tx_hash = $1 ORDER BY id LIMIT 100", values)
}

/// The deposit with this id, if it was paid to this server.
///
/// # Errors
/// See [`DepositViewError`].
pub fn of_server(reader: &Reader, server: &Name, id: &str) -> Result<Option<DepositView>, DepositViewError> {
    Ok(views(
        reader,
        "WHERE coalesce(credited_server, server) = $1 AND id = $2",
        vec![text(server.as_str()), text(id)],
    )?
    .pop())
}

/// The deposits that a transaction made.
///
/// # Errors
/// See [`DepositViewError`].
pub fn of_transaction(reader: &Reader, chain: &Name, tx_hash: &str) -> Result<Vec<DepositView>, DepositViewError> {
    views(reader, "WHERE deposits.chain = $1 AND tx_hash = $2 ORDER BY id", vec![text(chain.as_str()), text(tx_hash)])
}

/// Every deposit of a chain.
///
/// # Errors
/// See [`DepositViewError`].
pub fn of_chain(reader: &Reader, chain: &str) -> Result<Vec<DepositView>, DepositViewError> {
    views(reader, "WHERE deposits.chain = $1 ORDER BY id", vec![text(chain)])
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
    let condition = format!(
        "WHERE (credited_server = $1 AND credited_wallet = $2)
           OR (credited_wallet IS NULL AND server = $1 AND wallet = $2)
         ORDER BY first_seen_at DESC, id LIMIT {most}"
    );
    views(reader, &condition, vec![text(server.as_str()), text(wallet.as_str())])
}

fn view_of(row: &Row) -> Result<DepositView, BadRow> {
    let chain_state = chain_state(row)?;
    let review_state = ReviewState::from_row(text_of(row, "review_state")?).ok_or(BadRow { column: "review_state" })?;
    let ledger_state = ledger_state(row)?;
    let (block, head) = (number_of(row, "block")?, number_of(row, "head")?);
    let (have, need) = (confirmations(head, block), number_of(row, "required_confirmations")?);
    let owned = |column| text_of(row, column).map(str::to_owned);
    let optional = |column| maybe(row, column, text_of).map(|text| text.map(str::to_owned));
    let stage = DepositStage::from_row(text_of(row, "stage")?).ok_or(BadRow { column: "stage" })?;
    let epoch = number_of(row, "epoch")?;
    let refusal = optional("ledger_error")?.filter(|_| number_of(row, "ledger_error_epoch") == Ok(epoch));
    Ok(DepositView {
        id: DepositId::from_row(text_of(row, "id")?),
        chain: owned("chain")?,
        tx_hash: owned("tx_hash")?,
        kind: DepositKind::from_row(text_of(row, "kind")?).ok_or(BadRow { column: "kind" })?,
        position: number_of(row, "position")?,
        asset: AssetId(u32::try_from(number_of(row, "asset")?).map_err(|_| BadRow { column: "asset" })?),
        amount: owned("amount_raw")?,
        from: owned("from_address")?,
        to: owned("to_address")?,
        purpose: purpose(row)?,
        server: optional("server")?,
        wallet: optional("wallet")?,
        epoch,
        block,
        block_hash: owned("block_hash")?,
        confirmations: if chain_state.is_canonical() { have } else { 0 },
        required: need,
        chain_state,
        review_state,
        review_epoch: number_of(row, "review_epoch")?,
        ledger_state,
        ledger_epoch: number_of(row, "ledger_epoch")?,
        // A doubt that only a later inclusion has holds it without a word in its review.
        status: match stage {
            DepositStage::Held => DepositStatus::OnHold,
            _ => DepositStatus::of(chain_state, review_state, ledger_state, have, need),
        },
        stage,
        doubt: optional("doubt")?,
        reason: optional("invalid_reason")?,
        refusal,
        first_seen_at: Time(number_of(row, "first_seen_at")?),
        updated_at: Time(number_of(row, "updated_at")?),
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
