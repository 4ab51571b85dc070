//! The statement index in tables of the books' database. It is derived: its commits need not wait for the disk.

use std::ops::Range;

use tokio_postgres::Row;

use super::{
    is_transient,
    session::{Session, Values},
    source::sql_number,
};
use crate::{
    DatabaseUrl, StoreError,
    engine::stored::{self, BadColumn},
    history::index::{IndexLocation, IndexRun, IndexSource, IndexStore, IndexWrites, damaged},
};

/// The tables, in the database of the books.
#[derive(Debug)]
pub(crate) struct StatementTables(pub DatabaseUrl);

struct Statements(Session);

/// Opens an index for reading.
pub(crate) fn open_statement_tables(url: &DatabaseUrl) -> Result<Box<dyn IndexSource>, StoreError> {
    Ok(Box::new(Statements(Session::connect(url.read()?)?.auto_reconnecting())))
}

impl IndexLocation for StatementTables {
    fn open(&self) -> Result<Box<dyn IndexStore>, StoreError> {
        let session = Session::connect(self.0.read()?)?;
        session.run("SET synchronous_commit = off")?;
        Ok(Box::new(Statements(session)))
    }

    fn recreate(&self) -> Result<Box<dyn IndexStore>, StoreError> {
        let session = Session::connect(self.0.read()?)?;
        session.run("SET synchronous_commit = off; TRUNCATE books.term_runs, books.term_chunks")?;
        Ok(Box::new(Statements(session)))
    }
}

impl IndexSource for Statements {
    fn begin_snapshot(&self) -> Result<(), StoreError> {
        self.0.begin_snapshot()
    }

    fn end_snapshot(&self) -> Result<(), StoreError> {
        self.0.end_snapshot()
    }

    fn runs(&self) -> Result<Vec<IndexRun>, StoreError> {
        let sql = "SELECT id, level, first_seq, last_seq, entries, first_chunk, chunks, batch, head, checksum
                   FROM books.term_runs ORDER BY first_seq";
        self.0.query(sql, &[])?.iter().map(read_run).collect()
    }

    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let rows = self.0.query("SELECT data FROM books.term_chunks WHERE id = $1", &[&sql_number(id)])?;
        Ok(rows.first().map(|row| row.get(0)))
    }
}

impl IndexStore for Statements {
    fn write(&self, writes: &IndexWrites) -> Result<(), StoreError> {
        self.0.run("BEGIN")?;
        let written = try_write(&self.0, writes);
        if let Err(error) = written {
            // Fails only if the connection is gone, and the transaction with it.
            let _ = self.0.run("ROLLBACK");
            // A lost server has damaged nothing. Any other error means that a number is taken: another program wrote
            // here.
            let is_away = self.0.is_lost() || is_transient(&error);
            return Err(if is_away { error.into() } else { damaged(error.to_string()) });
        }
        Ok(self.0.run("COMMIT")?)
    }

    fn sweep(&self, live: &[Range<u64>]) -> Result<(), StoreError> {
        let (starts, ends): (Vec<i64>, Vec<i64>) =
            live.iter().map(|range| (sql_number(range.start), sql_number(range.end))).unzip();
        let sql = "DELETE FROM books.term_chunks c WHERE NOT EXISTS
                   (SELECT FROM unnest($1::bigint[], $2::bigint[]) AS v (first, after) WHERE c.id >= first AND c.id < after)";
        self.0.execute(sql, &[&starts, &ends])?;
        Ok(())
    }
}

fn try_write(session: &Session, writes: &IndexWrites) -> Result<(), tokio_postgres::Error> {
    if !writes.chunks.is_empty() {
        let ids: Vec<i64> = writes.chunks.iter().map(|(id, _)| sql_number(*id)).collect();
        let data: Vec<&[u8]> = writes.chunks.iter().map(|(_, data)| data.as_slice()).collect();
        let sql = "INSERT INTO books.term_chunks (id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[])";
        session.execute(sql, &[&ids, &data])?;
    }
    if !writes.removed.is_empty() {
        let removed: Vec<i64> = writes.removed.iter().map(|id| sql_number(*id)).collect();
        session.execute("DELETE FROM books.term_runs WHERE id = ANY($1)", &[&removed])?;
    }
    if let Some(run) = &writes.added {
        let meta = &run.meta;
        let sql = "INSERT INTO books.term_runs
                   (id, level, first_seq, last_seq, entries, first_chunk, chunks, batch, head, checksum)
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values: Values<'_> = &[
            &sql_number(meta.id),
            &i16::from(meta.level),
            &sql_number(meta.first.0),
            &sql_number(meta.last.0),
            &sql_number(meta.entries),
            &sql_number(meta.first_chunk),
            &sql_number(meta.chunks),
            &sql_number(run.batch),
            &run.head.as_slice(),
            &i64::from(run.checksum()),
        ];
        session.execute(sql, values)?;
    }
    let dropped = "DELETE FROM books.term_chunks WHERE id >= $1 AND id < $2";
    let mut ranges = writes.dropped_chunks.iter();
    ranges.try_for_each(|range| session.execute(dropped, &[&sql_number(range.start), &sql_number(range.end)]).map(drop))
}

fn read_run(row: &Row) -> Result<IndexRun, StoreError> {
    let run = decode_run(row).map_err(|bad| damaged(bad.to_string()))?;
    let edited = || damaged(format!("the row of run {} is not what was written", run.meta.id));
    if i64::from(run.checksum()) == row.get::<_, i64>(9) { Ok(run) } else { Err(edited()) }
}

fn decode_run(row: &Row) -> Result<IndexRun, BadColumn> {
    Ok(IndexRun { meta: stored::run_meta(row)?, batch: stored::number(row, 7)?, head: stored::hash(row, 8)? })
}
