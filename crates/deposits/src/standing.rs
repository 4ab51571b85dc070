//! Where deposits stand, for whoever asks: the command line, an API, a demo.

use bankroll_ledger::{Name, Row};
use bankroll_store::{
    Reader, StoreError,
    columns::{BadRow, number_of, text, text_of},
};

use crate::{ChainState, DepositId, LedgerState, ReviewState, Status, course::confirmations};

/// A deposit as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which.
    pub id: DepositId,
    /// The transaction.
    pub tx_hash: String,
    /// How much, in base units, however much that is.
    pub amount: String,
    /// Which inclusion this is, from 1.
    pub epoch: u64,
    /// The block of this inclusion.
    pub block: u64,
    /// Where the chain has it.
    pub chain_state: ChainState,
    /// Whether somebody has something against it.
    pub review_state: ReviewState,
    /// Where the books have it.
    pub ledger_state: LedgerState,
    /// What the player is told.
    pub status: Status,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum StandingError {
    /// The rows cannot be read.
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    /// A row says something that this program does not.
    #[error(transparent)]
    Row(#[from] BadRow),
}

const COLUMNS: &str = "SELECT id, tx_hash, amount_raw, epoch, deposits.block_number AS block, required_confirmations,
    chain_state, review_state, ledger_state, coalesce(chain_cursor.block_number, 0) AS head
    FROM deposits LEFT JOIN chain_cursor ON chain_cursor.chain = deposits.chain";

/// The deposits that a transaction made.
///
/// # Errors
/// See [`StandingError`].
pub fn of_transaction(reader: &Reader, chain: &Name, tx_hash: &str) -> Result<Vec<Standing>, StandingError> {
    let sql = format!("{COLUMNS} WHERE deposits.chain = $1 AND tx_hash = $2 ORDER BY id");
    Ok(reader.rows(&sql, vec![text(chain.as_str()), text(tx_hash)])?.iter().map(standing).collect::<Result<_, _>>()?)
}

/// The newest deposits of a player.
///
/// # Errors
/// See [`StandingError`].
pub fn of_player(reader: &Reader, server: &Name, wallet: &Name, most: usize) -> Result<Vec<Standing>, StandingError> {
    let sql =
        format!("{COLUMNS} WHERE server = $1 AND wallet = $2 ORDER BY deposits.first_seen_at DESC, id LIMIT {most}");
    let values = vec![text(server.as_str()), text(wallet.as_str())];
    Ok(reader.rows(&sql, values)?.iter().map(standing).collect::<Result<_, _>>()?)
}

fn standing(row: &Row) -> Result<Standing, BadRow> {
    let chain_state = ChainState::from_row(text_of(row, "chain_state")?).ok_or(BadRow { column: "chain_state" })?;
    let review_state = ReviewState::from_row(text_of(row, "review_state")?).ok_or(BadRow { column: "review_state" })?;
    let ledger_state = LedgerState::from_row(text_of(row, "ledger_state")?).ok_or(BadRow { column: "ledger_state" })?;
    let (block, head) = (number_of(row, "block")?, number_of(row, "head")?);
    let (have, need) = (confirmations(head, block), number_of(row, "required_confirmations")?);
    Ok(Standing {
        id: DepositId::from_row(text_of(row, "id")?),
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
        amount: text_of(row, "amount_raw")?.to_owned(),
        epoch: number_of(row, "epoch")?,
        block,
        chain_state,
        review_state,
        ledger_state,
        status: Status::of(chain_state, review_state, ledger_state, have, need),
    })
}
