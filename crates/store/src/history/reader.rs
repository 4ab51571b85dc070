//! Reading the books without the writer: over a read-only connection that sees what is committed.

use std::{cell::OnceCell, io::ErrorKind, path::Path, time::Duration};

use bankroll_ledger::{
    AcceptedLoss, Account, AccountId, AccountKind, AccountName, Amount, Asset, AssetId, ColumnValue, Hold, Name,
    Receipt, Row, Seq, merkle::Hash,
};

use crate::{
    BOOKS_FILE, HEAD_FILE, IndexState, JournalEntry, JournalHead, Location, Migrations, MovedBooks, NotedHead, NotedIn,
    STATEMENTS_FILE, SchemaReport, Statement, StoreError,
    engine::{
        Source, locate_damage,
        migrations::with_flows,
        postgres::{open_for_reading, open_statement_tables},
        sqlite::{open_read_only, open_statements},
    },
    history::{index::IndexSource, reading::HistoryView},
    writing::{newest_head, recovery},
};

/// Accounts read at a time.
const PAGE: usize = 1_000;

/// Books open for reading. The writer may be in another process, or there may be none.
pub struct Reader {
    source: Box<dyn Source>,
    /// The statement index, once it exists. Without it, queries scan the journal.
    index: OnceCell<Box<dyn IndexSource>>,
    location: Location,
}

/// Which accounts to list.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    /// Only of this server (`@house` for the house).
    pub scope: Option<String>,
    /// Only of this kind.
    pub kind: Option<AccountKind>,
    /// Only of this owner.
    pub owner: Option<Name>,
    /// Only with a balance above zero.
    pub non_zero: bool,
    /// Only after this one, in the order of their numbers.
    pub after: Option<AccountId>,
}

/// An event in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The record that made it.
    pub seq: Seq,
    /// Its place among the events of that record.
    pub place: u16,
    pub kind: String,
    /// What it is about.
    pub resource: String,
    /// Its JSON body.
    pub body: String,
}

impl Reader {
    /// Opens the books.
    ///
    /// # Errors
    /// If there are none, or a newer program has migrated them. [`StoreError::TailLost`] if the folder notes a head that
    /// they do not have: what is left would be read as if it were everything.
    pub fn open(location: impl Into<Location>) -> Result<Self, StoreError> {
        let location = location.into();
        let source = Self::open_source(&location).map_err(|error| locate_damage(&location, error))?;
        let reader = Self { source, index: OnceCell::new(), location };
        if let Location::Folder(folder) = &reader.location {
            let file = folder.join(HEAD_FILE);
            let noted = newest_head::read_file(&file)?.map(|noted| (NotedIn::File(file), noted));
            newest_head::refuse_certainly_lost(&*reader.source, &noted.into_iter().collect::<Vec<_>>())?;
        }
        Ok(reader)
    }

    /// The books in another file of the folder, while they are made.
    pub(crate) fn of_file(folder: &Path, file: &Path) -> Result<Self, StoreError> {
        Ok(Self { source: Box::new(open_read_only(file)?), index: OnceCell::new(), location: folder.into() })
    }

    fn open_source(location: &Location) -> Result<Box<dyn Source>, StoreError> {
        Ok(match location {
            Location::Folder(folder) => {
                let path = folder.join(BOOKS_FILE);
                match path.metadata() {
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        return Err(StoreError::NoLedger { path: folder.clone() });
                    }
                    found => found.map_err(StoreError::io(&path))?,
                };
                Box::new(open_read_only(&path)?)
            }
            Location::Postgres(url) => Box::new(open_for_reading(url)?),
        })
    }

    /// With the place of a damage, if it is one.
    pub(crate) fn located<T>(&self, asked: Result<T, StoreError>) -> Result<T, StoreError> {
        asked.map_err(|error| locate_damage(&self.location, error))
    }

    /// Where the journal ends.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn head(&self) -> Result<JournalHead, StoreError> {
        self.located(self.source.head())
    }

    /// The heads that are noted outside the journal: in the statement index, and in this file if it exists.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn noted_heads(&self, file: Option<&Path>) -> Result<Vec<(NotedIn, NotedHead)>, StoreError> {
        newest_head::noted_heads(&self.location, file)
    }

    /// Compares noted heads with the journal; read them first, so that a writer cannot be ahead of them.
    ///
    /// # Errors
    /// [`StoreError::TailLost`] if the journal does not have one of them, and its loss was not accepted.
    pub fn check_noted(&self, noted: &[(NotedIn, NotedHead)]) -> Result<(), StoreError> {
        newest_head::refuse_lost(&*self.source, noted)
    }

    /// Whether the journal has this batch with this head: a head from outside proves everything up to it.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn has_head(&self, batch: u64, head: &Hash) -> Result<bool, StoreError> {
        newest_head::has(&*self.source, batch, head)
    }

    /// The losses that were accepted, each with the batch that records it.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn accepted_losses(&self) -> Result<Vec<(u64, AcceptedLoss)>, StoreError> {
        newest_head::accepted_losses(&*self.source)
    }

    /// All assets.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        self.located(self.source.assets())
    }

    /// An account by its number.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        Ok(self.located(self.source.accounts(&[id]))?.pop())
    }

    /// An account by its name.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn account_named(&self, name: &AccountName) -> Result<Option<Account>, StoreError> {
        Ok(self.located(self.source.accounts_named(std::slice::from_ref(name)))?.pop())
    }

    /// The next accounts that pass the filter, in the order of their numbers.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn accounts(&self, filter: &AccountFilter, most: usize) -> Result<Vec<Account>, StoreError> {
        let (mut found, mut after) = (Vec::new(), filter.after.unwrap_or(AccountId(0)));
        while found.len() < most {
            let page = self.located(self.source.accounts_after(after, PAGE))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            found.extend(page.into_iter().filter(|account| filter.passes(account)));
        }
        found.truncate(most);
        Ok(found)
    }

    /// The open holds of an account.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
        self.in_view(|view| {
            let holds = self.located(view.source.open_holds(account))?;
            // The index may miss one; the account knows how much is held in all.
            let held = view.source.accounts(&[account])?.pop().map_or(Amount::ZERO, |account| account.held);
            let sum = holds.iter().try_fold(Amount::ZERO, |sum, hold| sum.checked_add(hold.remaining));
            if sum == Some(held) {
                Ok(holds)
            } else {
                Err(StoreError::row_damaged("holds", format!("its open holds are not what account {account} holds")))
            }
        })
    }

    /// The events of the records after this one.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.located(self.source.events_after(seq, most))
    }

    /// The rows of flows that a query finds: one SQL text for both engines, with `$1`, `$2`, ... for its values. A
    /// column declared as an amount is returned as one.
    ///
    /// # Errors
    /// If the books cannot be read, or the database rejects the query.
    pub fn rows(&self, sql: &str, values: Vec<ColumnValue>) -> Result<Vec<Row>, StoreError> {
        self.located(self.source.flow_rows(&Statement { sql: sql.to_owned(), values, must_change: None }))
    }

    /// The encoded record at a place.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        self.located(self.source.record(seq))
    }

    /// The receipt of a record, with the head to check it against.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn receipt(&self, seq: Seq) -> Result<Option<(Receipt, bankroll_ledger::merkle::Hash)>, StoreError> {
        let Some((batch, head)) = self.located(self.source.batch_of(seq))? else { return Ok(None) };
        let records = self.located(self.source.records_from(batch.first, batch.count as usize))?;
        recovery::check_batch(&batch, &head, &records)?;
        let records: Vec<_> = records.into_iter().map(|(_, record)| record).collect();
        Ok(Receipt::new(batch, &records, seq).map(|receipt| (receipt, head)))
    }

    /// The records after a place, in order.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn journal_after(&self, seq: Seq, most: usize) -> Result<Vec<JournalEntry>, StoreError> {
        self.in_view(|view| {
            let last = view.head.seq.0.min(seq.0.saturating_add(most as u64));
            (seq.0.saturating_add(1)..=last).map(|place| view.entry(Seq(place))).collect()
        })
    }

    /// Verifies the last batches of the journal, as opening the books for writing does: their records, roots and
    /// chain, and the balances that follow from the records. Returns the number of verified batches.
    ///
    /// # Errors
    /// [`StoreError::Diverged`] if the check fails; otherwise if the books cannot be read.
    pub fn verify_tail(&self) -> Result<u64, StoreError> {
        self.in_view(|view| recovery::verify_tail(view.source, &recovery::head(view.source)?))
    }

    /// Where the books of a folder went, if they were moved: then they are not the ledger any more.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn moved(&self) -> Result<Option<MovedBooks>, StoreError> {
        self.located(self.source.moved())
    }

    /// Why a node has found the books of a database unsound, if one has and no rebuild has verified them since: no
    /// writer opens them meanwhile.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn finding(&self) -> Result<Option<String>, StoreError> {
        self.located(self.source.finding())
    }

    /// The last finding in a database, whether or not a rebuild has lifted it, and the epoch of the holder that made it.
    /// Of a folder, the node's own file has it.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn last_finding(&self) -> Result<Option<(u64, String)>, StoreError> {
        self.located(self.source.last_finding())
    }

    /// Checks the structure of every page of the file, as far as it comes in this time; returns `false` if it did not
    /// reach the end. Without a limit it also compares every index with its table. A database server checks its pages
    /// itself.
    ///
    /// # Errors
    /// [`StoreError::PagesDamaged`] if a page is damaged; otherwise if the books cannot be read.
    pub fn check_pages(&self, within: Option<Duration>) -> Result<bool, StoreError> {
        self.located(self.source.check_pages(within))
    }

    /// Compares tables, columns, indexes, triggers and constraints with what the migrations made: the store's own, and
    /// these of flows.
    ///
    /// # Errors
    /// If the books cannot be read. A difference is in the report.
    pub fn compare_schema(&self, flows: &[Migrations]) -> Result<SchemaReport, StoreError> {
        self.located(self.source.compare_schema(&with_flows(flows)))
    }

    /// Whether the database server has a checksum in every page, so that it notices a damaged one; `None` for a folder.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn has_page_checksums(&self) -> Result<Option<bool>, StoreError> {
        self.source.has_page_checksums()
    }

    /// How far the statement index reaches.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn index_state(&self) -> Result<IndexState, StoreError> {
        self.in_view(|view| Ok(view.index_state()))
    }

    /// Runs a query in one snapshot. If the connection is lost, the snapshot is lost with it, and the query runs once
    /// more in a new one.
    pub(crate) fn in_view<T>(
        &self,
        mut ask: impl FnMut(&HistoryView<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut once = || ask(&HistoryView::open(self)?);
        match once() {
            Err(error) if error.is_transient() => self.located(once()),
            answered => self.located(answered),
        }
    }

    /// The statement index, if there is one that can be opened.
    pub(crate) fn index(&self) -> Option<&dyn IndexSource> {
        let open = || match &self.location {
            Location::Folder(folder) => {
                let file = folder.join(STATEMENTS_FILE);
                file.exists().then(|| open_statements(&file).ok()).flatten()
            }
            Location::Postgres(url) => open_statement_tables(url).ok(),
        };
        if self.index.get().is_none()
            && let Some(index) = open()
        {
            // It cannot be set already: a reader belongs to one thread at a time.
            let _ = self.index.set(index);
        }
        self.index.get().map(AsRef::as_ref)
    }

    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    pub(crate) fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
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
