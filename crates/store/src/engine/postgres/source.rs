//! Reading.

use std::collections::BTreeMap;

use bankroll_ledger::{
    Account, AccountId, AccountName, Amount, Asset, AssetId, Batch, GENESIS, Hold, HoldId, HoldState, Policy, Role,
    Roles, Seq, Time, Unit, merkle::Hash,
};
use tokio_postgres::Row;

use super::{Postgres, numeric::Numeric, row, session::Session};
use crate::{
    StoreError, StoredEvent,
    engine::{Head, Source, Statement, runs::RunMeta},
};

/// Whoever has a session can read.
pub(super) trait Connected: Send {
    fn session(&self) -> &Session;
}

impl Connected for Session {
    fn session(&self) -> &Session {
        self
    }
}

impl Connected for Postgres {
    fn session(&self) -> &Session {
        &self.session
    }
}

const ACCOUNTS: &str = "SELECT a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, b.balance, b.held
                        FROM books.accounts a JOIN books.balances b ON b.id = a.id";
const HOLDS: &str = "SELECT id, account, remaining, expires, settler, state FROM books.holds";
const BATCHES: &str = "SELECT number, first, count, at, root, head FROM books.batches";

/// The same for everything that has a session; two blanket implementations of one trait cannot stand beside each other.
macro_rules! source {
    ($who:ty) => {
    impl Source for $who {
        fn begin_snapshot(&self) -> Result<(), StoreError> {
            self.session().begin_snapshot()
        }

        fn end_snapshot(&self) -> Result<(), StoreError> {
            self.session().end_snapshot()
        }

        fn head(&self) -> Result<Head, StoreError> {
            let sql = format!("{BATCHES} ORDER BY number DESC LIMIT 1");
            let none = Head { batch: 0, seq: Seq(0), at: Time(0), hash: GENESIS };
            let Some(row) = self.session().query(&sql, &[])?.pop() else { return Ok(none) };
            let (batch, hash) = batch(&row, GENESIS)?;
            let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
            Ok(Head { batch: batch.number, seq, at: batch.at, hash })
        }

        fn last_seq(&self) -> Result<Seq, StoreError> {
            let row = self.session().one("SELECT coalesce(max(seq), 0) FROM books.journal", &[])?;
            Ok(Seq(number(&row, 0)))
        }

        fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError> {
            let sql =
                "SELECT (SELECT coalesce(max(id), 0) FROM books.assets), (SELECT coalesce(max(id), 0) FROM books.accounts)";
            let row = self.session().one(sql, &[])?;
            Ok((asset_id(&row, 0), AccountId(number(&row, 1))))
        }

        fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
            let sql = "SELECT id, chain, contract, decimals, symbol FROM books.assets ORDER BY id";
            self.session().query(sql, &[])?.iter().map(asset).collect()
        }

        fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
            let ids: Vec<i64> = ids.iter().map(|id| sql_number(id.0)).collect();
            let rows = if ids.is_empty() {
                Vec::new()
            } else {
                self.session().query(&format!("{ACCOUNTS} WHERE a.id = ANY($1)"), &[&ids])?
            };
            rows.iter().map(account).collect()
        }

        fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            self.session().query(&format!("{ACCOUNTS} WHERE a.name = ANY($1)"), &[&names])?.iter().map(account).collect()
        }

        fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError> {
            let sql = format!("{ACCOUNTS} WHERE a.id > $1 ORDER BY a.id LIMIT $2");
            self.session().query(&sql, &[&sql_number(after.0), &limit(most)])?.iter().map(account).collect()
        }

        fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let ids: Vec<i64> = ids.iter().map(|id| sql_number(id.0)).collect();
            self.session().query(&format!("{HOLDS} WHERE id = ANY($1)"), &[&ids])?.iter().map(hold).collect()
        }

        fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
            let sql =
                format!("{HOLDS} WHERE state = 0 AND expires IS NOT NULL AND expires <= $1 ORDER BY expires, id LIMIT $2");
            self.session().query(&sql, &[&sql_number(now.0), &limit(most)])?.iter().map(hold).collect()
        }

        fn next_expiry(&self) -> Result<Option<Time>, StoreError> {
            let sql = "SELECT min(expires) FROM books.holds WHERE state = 0 AND expires IS NOT NULL";
            Ok(optional_number(&self.session().one(sql, &[])?, 0).map(Time))
        }

        fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
            let sql = format!("{HOLDS} WHERE account = $1 AND state = 0 ORDER BY id");
            self.session().query(&sql, &[&sql_number(account.0)])?.iter().map(hold).collect()
        }

        fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError> {
            self.session().query(&format!("{HOLDS} WHERE state = 0 ORDER BY id"), &[])?.iter().map(hold).collect()
        }

        fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
            let rows = self.session().query("SELECT record FROM books.journal WHERE seq = $1", &[&sql_number(seq.0)])?;
            Ok(rows.first().map(|row| row.get(0)))
        }

        fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
            if places.is_empty() {
                return Ok(Vec::new());
            }
            let places: Vec<i64> = places.iter().map(|seq| sql_number(seq.0)).collect();
            let sql = "SELECT seq, record FROM books.journal WHERE seq = ANY($1) ORDER BY seq";
            let rows = self.session().query(sql, &[&places])?;
            Ok(rows.iter().map(|row| (Seq(number(row, 0)), row.get(1))).collect())
        }

        fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
            let sql = "SELECT seq, record FROM books.journal WHERE seq >= $1 ORDER BY seq LIMIT $2";
            let rows = self.session().query(sql, &[&sql_number(first.0), &limit(most)])?;
            Ok(rows.iter().map(|row| (Seq(number(row, 0)), row.get(1))).collect())
        }

        fn batches_from(&self, first: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
            let sql = "SELECT head FROM books.batches WHERE number = $1";
            let before = self.session().query(sql, &[&(sql_number(first) - 1)])?;
            let mut previous = before.first().map_or(Ok(GENESIS), |row| hash(row, 0))?;
            let sql = format!("{BATCHES} WHERE number >= $1 ORDER BY number LIMIT $2");
            let rows = self.session().query(&sql, &[&sql_number(first), &limit(most)])?;
            let mut batches = Vec::with_capacity(rows.len());
            for row in &rows {
                let (batch, head) = batch(row, previous)?;
                previous = head;
                batches.push((batch, head));
            }
            Ok(batches)
        }

        fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError> {
            let sql = "SELECT reversal FROM books.reversals WHERE original = $1";
            Ok(self.session().query(sql, &[&sql_number(original.0)])?.first().map(|row| Seq(number(row, 0))))
        }

        fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError> {
            let rows = self.session().query("SELECT original, reversal FROM books.reversals", &[])?;
            Ok(rows.iter().map(|row| (Seq(number(row, 0)), Seq(number(row, 1)))).collect())
        }

        fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
            let sql =
                "SELECT seq, place, kind, resource, body FROM books.outbox WHERE seq > $1 ORDER BY seq, place LIMIT $2";
            let rows = self.session().query(sql, &[&sql_number(seq.0), &limit(most)])?;
            let event = |row: &Row| {
                let place = u16::try_from(row.get::<_, i32>(1)).unwrap_or(u16::MAX);
                StoredEvent { seq: Seq(number(row, 0)), place, kind: row.get(2), resource: row.get(3), body: row.get(4) }
            };
            Ok(rows.iter().map(event).collect())
        }

        fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
            let sql = format!("SELECT {RUN_COLUMNS}, summary FROM books.key_runs ORDER BY first_seq");
            Ok(self.session().query(&sql, &[])?.iter().map(|row| (run_meta(row), row.get(7))).collect())
        }

        fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError> {
            let sql = format!("SELECT {RUN_COLUMNS} FROM books.key_runs ORDER BY first_seq");
            Ok(self.session().query(&sql, &[])?.iter().map(run_meta).collect())
        }

        fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError> {
            let sql = "SELECT name FROM books.accounts WHERE name >= $1 ORDER BY name LIMIT 1";
            Ok(self.session().query(sql, &[&text])?.first().map(|row| row.get(0)))
        }

        fn places_with(&self, bytes: &[u8], first: Seq, last: Seq, most: usize) -> Result<Vec<Seq>, StoreError> {
            let sql = "SELECT seq FROM books.journal WHERE seq BETWEEN $1 AND $2 AND position($3::bytea in record) > 0
                       ORDER BY seq LIMIT $4";
            let stretch = (sql_number(first.0), sql_number(last.0));
            let rows = self.session().query(sql, &[&stretch.0, &stretch.1, &bytes, &limit(most)])?;
            Ok(rows.iter().map(|row| Seq(number(row, 0))).collect())
        }

        fn flow_rows(&self, query: &Statement) -> Result<Vec<bankroll_ledger::Row>, StoreError> {
            row::query(self.session(), query)
        }

        fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
            let rows = self.session().query("SELECT data FROM books.key_chunks WHERE id = $1", &[&sql_number(id)])?;
            Ok(rows.first().map(|row| row.get(0)))
        }
    }
    };
}

source!(Session);
source!(Postgres);

const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks";

pub(super) fn run_meta(row: &Row) -> RunMeta {
    RunMeta {
        id: number(row, 0),
        level: small(row, 1),
        first: Seq(number(row, 2)),
        last: Seq(number(row, 3)),
        entries: number(row, 4),
        first_chunk: number(row, 5),
        chunks: number(row, 6),
    }
}

fn batch(row: &Row, previous: Hash) -> Result<(Batch, Hash), StoreError> {
    let count = u32::try_from(row.get::<_, i32>(2)).unwrap_or(0);
    let (first, at) = (Seq(number(row, 1)), Time(number(row, 3)));
    let batch = Batch { number: number(row, 0), first, count, at, root: hash(row, 4)?, previous };
    Ok((batch, hash(row, 5)?))
}

fn asset(row: &Row) -> Result<(AssetId, Asset), StoreError> {
    let contract: &str = row.get(2);
    let unit = if contract.is_empty() { Unit::Native } else { Unit::Token(parsed(row, 2)?) };
    Ok((asset_id(row, 0), Asset { chain: parsed(row, 1)?, unit, decimals: small(row, 3), symbol: row.get(4) }))
}

fn account(row: &Row) -> Result<Account, StoreError> {
    let roles = |column| Roles::from_bits(small(row, column));
    Ok(Account {
        id: AccountId(number(row, 0)),
        name: parsed(row, 1)?,
        policy: Policy { deposit: roles(2), withdraw: roles(3), transfer: roles(4) },
        debt: optional_number(row, 5).map(AccountId),
        balance: amount(row, 6)?,
        held: amount(row, 7)?,
    })
}

fn hold(row: &Row) -> Result<Hold, StoreError> {
    let (id, settler, state) = (HoldId(number(row, 0)), small(row, 4), small(row, 5));
    let unknown = |what: &str| StoreError::diverged(id.made_by(), format!("hold {id} has no {what} that is known"));
    Ok(Hold {
        id,
        account: AccountId(number(row, 1)),
        remaining: amount(row, 2)?,
        expires: optional_number(row, 3).map(Time),
        settler: Role::ALL.into_iter().find(|role| *role as u8 == settler).ok_or_else(|| unknown("settler"))?,
        state: match state {
            0 => HoldState::Open,
            1 => HoldState::Settled,
            2 => HoldState::Expired,
            _ => return Err(unknown("state")),
        },
    })
}

/// Postgres' integers are signed; places and ids stay far below 2^63, and times beyond it never come.
pub(super) fn sql_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

pub(super) fn number(row: &Row, column: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}

fn optional_number(row: &Row, column: usize) -> Option<u64> {
    row.get::<_, Option<i64>>(column).map(|number| u64::try_from(number).unwrap_or(0))
}

fn small(row: &Row, column: usize) -> u8 {
    u8::try_from(row.get::<_, i16>(column)).unwrap_or(u8::MAX)
}

fn asset_id(row: &Row, column: usize) -> AssetId {
    AssetId(u32::try_from(number(row, column)).unwrap_or(u32::MAX))
}

fn amount(row: &Row, column: usize) -> Result<Amount, StoreError> {
    Ok(Amount::new(row.try_get::<_, Numeric>(column)?.0))
}

pub(super) fn hash(row: &Row, column: usize) -> Result<Hash, StoreError> {
    let bytes: &[u8] = row.get(column);
    bytes.try_into().map_err(|_| StoreError::diverged(Seq(0), "a hash that is not of 32 bytes"))
}

fn parsed<T: std::str::FromStr>(row: &Row, column: usize) -> Result<T, StoreError> {
    let text: &str = row.get(column);
    text.parse().map_err(|_| StoreError::diverged(Seq(0), format!("{text:?} is not a name")))
}
