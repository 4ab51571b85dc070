//! Reading the books beside the writer: an own connection that cannot write, and sees what is committed.

use std::path::{Path, PathBuf};

use bankroll_ledger::{Account, AccountId, AccountName, Asset, AssetId, Batch, Hold, Kind, Name, Receipt, Seq};

use crate::{
    BOOKS_FILE, Head, StoreError,
    engine::sqlite::{ReadOnly, account_columns, open_read_only, queries, read_account},
    migrations,
};

/// The books of a folder, open for reading. The writer may be another process, or nobody.
#[derive(Debug)]
pub struct Reader {
    read_only: ReadOnly,
}

/// Which accounts to list.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    /// Only of this server (`@house` for the house).
    pub scope: Option<String>,
    /// Only of this kind.
    pub kind: Option<Kind>,
    /// Only of this owner.
    pub owner: Option<Name>,
    /// Only with something in them.
    pub non_zero: bool,
    /// Only after this one, in the order of their numbers.
    pub after: Option<AccountId>,
}

/// An announcement in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The record that made it.
    pub seq: Seq,
    /// Its place among that record's announcements.
    pub place: u16,
    /// Its type.
    pub kind: String,
    /// What it is about.
    pub resource: String,
    /// Its JSON body.
    pub body: String,
}

impl Reader {
    /// Opens the books of a folder.
    ///
    /// # Errors
    /// If there are none, or a newer program has made them.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path: PathBuf = folder.join(BOOKS_FILE);
        if !path.exists() {
            return Err(StoreError::NoLedger { path: folder.into() });
        }
        let read_only = open_read_only(&path)?;
        migrations::check_books_known(read_only.connection())?;
        Ok(Self { read_only })
    }

    /// Where the journal ends.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn head(&self) -> Result<Head, StoreError> {
        queries::head(self.read_only.connection())
    }

    /// The assets.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        queries::assets(self.read_only.connection())
    }

    /// An account by its number.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        Ok(queries::accounts(self.read_only.connection(), &[id])?.pop())
    }

    /// An account by its name.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn account_named(&self, name: &AccountName) -> Result<Option<Account>, StoreError> {
        Ok(queries::accounts_named(self.read_only.connection(), std::slice::from_ref(name))?.pop())
    }

    /// The next accounts that pass the filter, in the order of their numbers.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn accounts(&self, filter: &AccountFilter, most: usize) -> Result<Vec<Account>, StoreError> {
        let sql = format!("SELECT {} WHERE a.id > ?1 ORDER BY a.id", account_columns());
        let mut statement = self.read_only.connection().prepare_cached(&sql)?;
        let after = i64::try_from(filter.after.map_or(0, |id| id.0)).unwrap_or(i64::MAX);
        let rows = statement.query_map([after], read_account)?;
        let passing = rows.filter(|row| row.as_ref().map_or(true, |account| filter.passes(account)));
        Ok(passing.take(most).collect::<Result<_, _>>()?)
    }

    /// The open holds of an account.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
        queries::open_holds(self.read_only.connection(), account)
    }

    /// The announcements of the records after this one.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        queries::events_after(self.read_only.connection(), seq, most)
    }

    /// The encoded record at a place.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        queries::record(self.read_only.connection(), seq)
    }

    /// The receipt of a record, with the head it is to be checked under.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn receipt(&self, seq: Seq) -> Result<Option<(Receipt, bankroll_ledger::merkle::Hash)>, StoreError> {
        let Some((batch, head)) = queries::batch_of(self.read_only.connection(), seq)? else { return Ok(None) };
        let records = self.records_of(&batch)?;
        Ok(Receipt::new(batch, &records, seq).map(|receipt| (receipt, head)))
    }

    fn records_of(&self, batch: &Batch) -> Result<Vec<Vec<u8>>, StoreError> {
        let records = queries::records_from(self.read_only.connection(), batch.first, batch.count as usize)?;
        Ok(records.into_iter().map(|(_, record)| record).collect())
    }

    pub(crate) fn connection(&self) -> &rusqlite::Connection {
        self.read_only.connection()
    }
}

impl AccountFilter {
    fn passes(&self, account: &Account) -> bool {
        let name = &account.name;
        self.scope.as_ref().is_none_or(|scope| name.scope.to_string() == *scope)
            && self.kind.is_none_or(|kind| name.kind == kind)
            && self.owner.as_ref().is_none_or(|owner| name.owner.as_ref() == Some(owner))
            && !(self.non_zero && account.balance.is_zero())
    }
}
