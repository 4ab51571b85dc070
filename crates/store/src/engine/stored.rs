//! Rows of the store's own tables, decoded: one decoder for both engines.
//!
//! It guesses nothing. A number below zero, an unknown state, settler or right, an amount or a hash of the wrong
//! length: the row was edited, and that is [`StoreError::Diverged`], never a default. A row whose values are possible
//! and do not match its checksum is [`StoreError::RowDamaged`].

use std::{fmt, str::FromStr};

use bankroll_ledger::{
    Account, AccountId, AccountPolicy, Amount, Asset, AssetId, Batch, GENESIS, Hold, HoldId, HoldState, Role, Roles,
    Seq, Time, Unit, merkle::Hash,
};

use super::{checksum, runs::RunMeta};
use crate::{EventPosition, StoreError, StoredEvent};

/// A row as an engine reads it, its columns counted from 0.
pub(super) trait StoredRow {
    fn name(&self, column: usize) -> String;
    /// A whole number, of whatever width the column has.
    fn integer(&self, column: usize) -> Result<Option<i64>, BadColumn>;
    fn text(&self, column: usize) -> Result<&str, BadColumn>;
    fn bytes(&self, column: usize) -> Result<&[u8], BadColumn>;
    fn amount(&self, column: usize) -> Result<Amount, BadColumn>;

    fn bad(&self, column: usize, found: impl fmt::Display) -> BadColumn {
        BadColumn { name: self.name(column), found: found.to_string() }
    }
}

/// A column with a value that this program never writes.
#[derive(Debug)]
pub(super) struct BadColumn {
    name: String,
    found: String,
}

impl BadColumn {
    fn at(self, seq: Seq) -> StoreError {
        StoreError::diverged(seq, self.to_string())
    }
}

impl fmt::Display for BadColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {} of a stored row holds {}, which this program never writes", self.name, self.found)
    }
}

impl From<BadColumn> for StoreError {
    fn from(bad: BadColumn) -> Self {
        bad.at(Seq(0))
    }
}

/// A number that is not null, and fits.
pub(super) fn number<T: TryFrom<i64>>(row: &impl StoredRow, column: usize) -> Result<T, BadColumn> {
    optional_number(row, column)?.ok_or_else(|| row.bad(column, "nothing"))
}

pub(super) fn optional_number<T: TryFrom<i64>>(row: &impl StoredRow, column: usize) -> Result<Option<T>, BadColumn> {
    let number = row.integer(column)?;
    number.map(|number| T::try_from(number).map_err(|_| row.bad(column, number))).transpose()
}

pub(super) fn seq(row: &impl StoredRow, column: usize) -> Result<Seq, BadColumn> {
    number(row, column).map(Seq)
}

pub(super) fn hash(row: &impl StoredRow, column: usize) -> Result<Hash, BadColumn> {
    let bytes = row.bytes(column)?;
    bytes.try_into().map_err(|_| row.bad(column, format!("{} bytes instead of a hash", bytes.len())))
}

fn parsed<T: FromStr>(row: &impl StoredRow, column: usize) -> Result<T, BadColumn> {
    let text = row.text(column)?;
    text.parse().map_err(|_| row.bad(column, format!("{text:?}")))
}

fn roles(row: &impl StoredRow, column: usize) -> Result<Roles, BadColumn> {
    let roles = Roles::from_bits(number(row, column)?);
    if roles.is_within(Roles::those(|_| true)) { Ok(roles) } else { Err(row.bad(column, roles.bits())) }
}

/// Compares the stored checksum with that of the values which were read.
fn matches(
    row: &impl StoredRow,
    column: usize,
    checksum: impl Into<i64>,
    table: &'static str,
    name: impl fmt::Display,
) -> Result<(), StoreError> {
    if number::<i64>(row, column)? == checksum.into() {
        Ok(())
    } else {
        Err(StoreError::row_damaged(table, format!("row {name} is not what was written")))
    }
}

/// `id, name, may_deposit, may_withdraw, may_transfer, debt, name_hash, checksum` of the account, and `balance, held,
/// checksum` of its balance.
pub(super) fn account(row: &impl StoredRow) -> Result<Account, StoreError> {
    let account = Account {
        id: AccountId(number(row, 0)?),
        name: parsed(row, 1)?,
        policy: AccountPolicy { deposit: roles(row, 2)?, withdraw: roles(row, 3)?, transfer: roles(row, 4)? },
        debt: optional_number(row, 5)?.map(AccountId),
        balance: row.amount(8)?,
        held: row.amount(9)?,
    };
    let of_account = checksum::account(&account, row.text(1)?, number(row, 6)?);
    matches(row, 7, of_account, "accounts", account.id)?;
    matches(row, 10, checksum::balance(account.id, account.balance, account.held), "balances", account.id)?;
    Ok(account)
}

/// `id, account, remaining, expires, settler, state, checksum`.
pub(super) fn hold(row: &impl StoredRow) -> Result<Hold, StoreError> {
    let id = HoldId(number(row, 0)?);
    let hold = read_hold(row, id).map_err(|bad| bad.at(id.made_by()))?;
    matches(row, 6, checksum::hold(&hold), "holds", id)?;
    Ok(hold)
}

fn read_hold(row: &impl StoredRow, id: HoldId) -> Result<Hold, BadColumn> {
    let (settler, state): (u8, u8) = (number(row, 4)?, number(row, 5)?);
    let settler = Role::ALL.into_iter().find(|role| *role as u8 == settler).ok_or_else(|| row.bad(4, settler))?;
    let states = [HoldState::Open, HoldState::Settled, HoldState::Expired];
    let state = states.into_iter().find(|known| *known as u8 == state).ok_or_else(|| row.bad(5, state))?;
    Ok(Hold {
        id,
        account: AccountId(number(row, 1)?),
        remaining: row.amount(2)?,
        expires: optional_number(row, 3)?.map(Time),
        settler,
        state,
    })
}

/// `id, chain, contract, decimals, symbol, checksum`.
pub(super) fn asset(row: &impl StoredRow) -> Result<(AssetId, Asset), StoreError> {
    let unit = if row.text(2)?.is_empty() { Unit::Native } else { Unit::Token(parsed(row, 2)?) };
    let asset = Asset { chain: parsed(row, 1)?, unit, decimals: number(row, 3)?, symbol: row.text(4)?.to_owned() };
    let id = AssetId(number(row, 0)?);
    matches(row, 5, checksum::asset(id, &asset), "assets", id)?;
    Ok((id, asset))
}

/// `number, first, count, at, root, head`: the batch after the genesis, and the head it was stored with. It proves
/// itself only with the head of the batch before (`confirm::chain`).
pub(super) fn batch(row: &impl StoredRow) -> Result<(Batch, Hash), StoreError> {
    let count = number(row, 2)?;
    if count == 0 {
        return Err(row.bad(2, count).into());
    }
    let batch = Batch {
        number: number(row, 0)?,
        first: seq(row, 1)?,
        count,
        at: Time(number(row, 3)?),
        root: hash(row, 4)?,
        previous: GENESIS,
    };
    Ok((batch, hash(row, 5)?))
}

/// `seq, place, kind, resource, body, checksum`.
pub(super) fn event(row: &impl StoredRow) -> Result<StoredEvent, StoreError> {
    let [kind, resource, body] = [row.text(2)?, row.text(3)?, row.text(4)?];
    let (seq, place) = (seq(row, 0)?, number(row, 1)?);
    matches(row, 5, checksum::event(seq, place, kind, resource, body), "outbox", format_args!("{seq}/{place}"))?;
    let [kind, resource, body] = [kind, resource, body].map(str::to_owned);
    Ok(StoredEvent { seq, place, kind, resource, body })
}

/// `seq, place` of an event.
pub(super) fn position(row: &impl StoredRow) -> Result<EventPosition, BadColumn> {
    Ok(EventPosition { seq: seq(row, 0)?, place: number(row, 1)? })
}

/// `seq, record, checksum`.
pub(super) fn record(row: &impl StoredRow) -> Result<(Seq, Vec<u8>), StoreError> {
    let (seq, bytes) = (seq(row, 0)?, row.bytes(1)?);
    matches(row, 2, checksum::stored_record(seq, bytes), "journal", seq)?;
    Ok((seq, bytes.to_vec()))
}

/// `original, reversal, checksum`.
pub(super) fn reversal(row: &impl StoredRow) -> Result<(Seq, Seq), StoreError> {
    let (original, reversal) = (seq(row, 0)?, seq(row, 1)?);
    matches(row, 2, checksum::reversal(original, reversal), "reversals", original)?;
    Ok((original, reversal))
}

/// `id, level, first_seq, last_seq, entries, first_chunk, chunks`. The caller's index decides what a bad column means.
pub(super) fn run_meta(row: &impl StoredRow) -> Result<RunMeta, BadColumn> {
    Ok(RunMeta {
        id: number(row, 0)?,
        level: number(row, 1)?,
        first: seq(row, 2)?,
        last: seq(row, 3)?,
        entries: number(row, 4)?,
        first_chunk: number(row, 5)?,
        chunks: number(row, 6)?,
    })
}

/// A run of the key index and its checksum. The index is derived: a damaged one is rebuilt, not refused.
pub(super) fn key_run(row: &impl StoredRow) -> Result<RunMeta, StoreError> {
    let damaged = |what: String| StoreError::KeyIndexDamaged { what };
    let run = run_meta(row).map_err(|bad| damaged(bad.to_string()))?;
    let stored = number::<i64>(row, 7).map_err(|bad| damaged(bad.to_string()))?;
    if stored == i64::from(checksum::key_run(&run)) {
        Ok(run)
    } else {
        Err(damaged(format!("the row of run {} is not what was written", run.id)))
    }
}

/// Bytes of the key index, which check themselves.
pub(super) fn key_bytes(row: &impl StoredRow, column: usize) -> Result<Vec<u8>, StoreError> {
    let bytes = row.bytes(column).map_err(|bad| StoreError::KeyIndexDamaged { what: bad.to_string() })?;
    Ok(bytes.to_vec())
}
