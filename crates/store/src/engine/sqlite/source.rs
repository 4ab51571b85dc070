//! Reading: the same for the writer's connection and for those that cannot write.

use std::collections::BTreeMap;

use bankroll_ledger::{
    Account, AccountId, AccountName, Asset, AssetId, Batch, Hold, HoldId, Row, Seq, Time, merkle::Hash,
};
use rusqlite::Connection;

use super::{Sqlite, load, row, settings::ReadOnly};
use crate::{
    StoreError, StoredEvent,
    engine::{Head, Source, Statement, runs::RunMeta},
};

/// Whoever has a connection can read.
pub(super) trait Connected: Send {
    fn connection(&self) -> &Connection;
}

impl Connected for Sqlite {
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Connected for ReadOnly {
    fn connection(&self) -> &Connection {
        &self.0
    }
}

/// The same for everything that has a connection; two blanket implementations of one trait cannot stand beside each other.
macro_rules! source {
    ($who:ty) => {
        impl Source for $who {
            fn begin_snapshot(&self) -> Result<(), StoreError> {
                Ok(self.connection().execute_batch("BEGIN")?)
            }

            fn end_snapshot(&self) -> Result<(), StoreError> {
                Ok(self.connection().execute_batch("COMMIT")?)
            }

            fn head(&self) -> Result<Head, StoreError> {
                load::head(self.connection())
            }

            fn last_seq(&self) -> Result<Seq, StoreError> {
                load::last_seq(self.connection())
            }

            fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError> {
                load::last_ids(self.connection())
            }

            fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
                load::assets(self.connection())
            }

            fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
                load::accounts(self.connection(), ids)
            }

            fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
                load::accounts_named(self.connection(), names)
            }

            fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError> {
                load::accounts_after(self.connection(), after, most)
            }

            fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
                load::holds(self.connection(), ids)
            }

            fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
                load::due_holds(self.connection(), now, most)
            }

            fn next_expiry(&self) -> Result<Option<Time>, StoreError> {
                load::next_expiry(self.connection())
            }

            fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
                load::open_holds(self.connection(), account)
            }

            fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError> {
                load::all_open_holds(self.connection())
            }

            fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
                load::record(self.connection(), seq)
            }

            fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
                load::records(self.connection(), places)
            }

            fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
                load::records_from(self.connection(), first, most)
            }

            fn batches_from(&self, number: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
                load::batches_from(self.connection(), number, most)
            }

            fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError> {
                load::reversal_of(self.connection(), original)
            }

            fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError> {
                load::all_reversals(self.connection())
            }

            fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
                load::events_after(self.connection(), seq, most)
            }

            fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
                load::runs(self.connection())
            }

            fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
                load::chunk(self.connection(), id)
            }

            fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError> {
                load::run_metas(self.connection())
            }

            fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError> {
                load::first_name_from(self.connection(), text)
            }

            fn places_with(&self, bytes: &[u8], first: Seq, last: Seq, most: usize) -> Result<Vec<Seq>, StoreError> {
                load::places_with(self.connection(), bytes, first, last, most)
            }

            fn flow_rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError> {
                row::query(self.connection(), query)
            }
        }
    };
}

source!(Sqlite);
source!(ReadOnly);
