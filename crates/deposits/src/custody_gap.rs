//! Where the accounts of our wallets and the chain differ because something is on its way: deposits that were seen and
//! not booked, and bookings whose deposit the chain has dropped. For reconciliation.

use bankroll_chains_evm::{Address, U256};
use bankroll_ledger::{AssetId, ColumnValue, Name, Row};
use bankroll_store::{
    Reader,
    columns::{BadRow, int, number_of, parsed, text, text_of},
};

use crate::{ChainState, Doubt, LedgerState, Purpose, view::DepositViewError};

/// A deposit that the chain and the books do not count alike now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustodyGap {
    pub deposit: String,
    pub tx_hash: String,
    pub asset: AssetId,
    pub from: Address,
    /// The wallet that was paid.
    pub to: Address,
    /// Between wallets of ours: in no account, and never will be.
    pub is_internal: bool,
    /// Nothing is booked before a person has looked, or because the books refuse it.
    pub is_held: bool,
    /// The wallet has it, and its account does not count it.
    pub unbooked: U256,
    /// Its account counts it, and the chain no longer has it.
    pub unreversed: U256,
}

const COLUMNS: &str =
    "SELECT id, tx_hash, asset, amount_raw, from_address, to_address, purpose, doubt, chain_state, review_state,
    ledger_state, ledger_epoch, ledger_error, ledger_error_epoch, epoch FROM deposits WHERE chain = $1";

/// All of a chain, as its rows are now.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn of_chain(reader: &Reader, chain: &Name) -> Result<Vec<CustodyGap>, DepositViewError> {
    let unbooked = format!(
        "{COLUMNS} AND ledger_state IN ('none', 'play_only', 'returned', 'reversed')
           AND chain_state IN ('included', 'final')"
    );
    let unreversed = format!(
        "{COLUMNS} AND ledger_state IN ('credited', 'suspense')
           AND (ledger_epoch <> epoch OR chain_state IN ('orphaned', 'orphaned_after_final'))"
    );
    let mut rows = reader.rows(&unbooked, vec![text(chain.as_str())])?;
    rows.extend(reader.rows(&unreversed, vec![text(chain.as_str())])?);
    rows.iter().map(|row| gap(reader, row)).collect()
}

/// What came to our wallets in blocks after this one, and is still on the chain.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn came_above(reader: &Reader, chain: &Name, block: u64) -> Result<Vec<CustodyGap>, DepositViewError> {
    let sql = format!("{COLUMNS} AND block_number > $2 AND chain_state IN ('included', 'final')");
    let came = |row: &Row| Ok::<_, DepositViewError>(CustodyGap { unbooked: amount(row)?, ..bare(row)? });
    reader.rows(&sql, vec![text(chain.as_str()), int(block)])?.iter().map(came).collect()
}

fn gap(reader: &Reader, row: &Row) -> Result<CustodyGap, DepositViewError> {
    let chain_state = ChainState::from_row(text_of(row, "chain_state")?).ok_or(BadRow { column: "chain_state" })?;
    let ledger_state = LedgerState::from_row(text_of(row, "ledger_state")?).ok_or(BadRow { column: "ledger_state" })?;
    let mut gap = bare(row)?;
    if chain_state.is_canonical() {
        gap.unbooked = amount(row)?;
    }
    if ledger_state.is_booked() {
        gap.unreversed = booked_amount(reader, &gap.deposit, number_of(row, "ledger_epoch")?)?;
    }
    Ok(gap)
}

fn bare(row: &Row) -> Result<CustodyGap, BadRow> {
    let purpose = Purpose::from_row(text_of(row, "purpose")?).ok_or(BadRow { column: "purpose" })?;
    let is_refused = number_of(row, "ledger_error_epoch")? == number_of(row, "epoch")?;
    let doubt = match row.get("doubt") {
        Some(ColumnValue::Text(word)) => Doubt::from_row(word),
        _ => None,
    };
    let is_doubted = doubt.is_some_and(Doubt::is_held) && text_of(row, "review_state")? != "released";
    Ok(CustodyGap {
        deposit: text_of(row, "id")?.to_owned(),
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
        asset: AssetId(u32::try_from(number_of(row, "asset")?).map_err(|_| BadRow { column: "asset" })?),
        from: parsed(row, "from_address")?,
        to: parsed(row, "to_address")?,
        is_internal: purpose == Purpose::Internal,
        is_held: is_refused || is_doubted || text_of(row, "review_state")? == "held",
        unbooked: U256::ZERO,
        unreversed: U256::ZERO,
    })
}

fn amount(row: &Row) -> Result<U256, BadRow> {
    text_of(row, "amount_raw")?.parse().map_err(|_| BadRow { column: "amount_raw" })
}

/// What was booked: another inclusion of the same transfer may have had another amount.
fn booked_amount(reader: &Reader, deposit: &str, epoch: u64) -> Result<U256, DepositViewError> {
    let sql = "SELECT amount_raw FROM chain_events WHERE deposit_id = $1 AND epoch = $2 AND change = 'included'";
    let rows = reader.rows(sql, vec![text(deposit), int(epoch)])?;
    Ok(rows.first().map(amount).transpose()?.unwrap_or_default())
}
