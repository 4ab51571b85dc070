//! A batch of money as one statement: one message to the server, one back.
//!
//! The statement is its own transaction, so it cannot stop half-way, and sending it is sending COMMIT. Its main part
//! depends on the fencing row, which is updated where epoch and place are the writer's own, and divides by zero if no
//! row matched: then nothing is stored. Likewise a balance whose row is not found: the number of rows that were changed
//! is compared, and another number is turned into a text that is no integer. No row may be changed twice in one statement, so new accounts are excluded;
//! and so are facts and rows of flows, whose refusal is an answer.

use std::fmt::Write;

use bankroll_ledger::{Batch, Seq};
use tokio_postgres::types::ToSql;

use super::{
    Postgres,
    columns::{BALANCES, BoundStatement, Columns},
    commit::{CHUNKS, JOURNAL},
    lease::head_values,
    source::sql_number,
};
use crate::engine::{Commit, JournalHead, Records};

const HEAD: &str = "UPDATE books.ledger_head SET batch = $3, seq = $4, at = $5, hash = $6,
                           lease_until = clock_timestamp() + make_interval(secs => $7)
                    WHERE epoch = $1 AND seq = $2 RETURNING one";
const BATCH: &str = "INSERT INTO books.batches (number, first, count, at, root, head)
                     SELECT $1::bigint, $2::bigint, $3::integer, $4::bigint, $5::bytea, $6::bytea
                     WHERE (SELECT 1 / count(*) FROM ours) = 1";

/// The number of balances that were changed, or an error.
const ALL_BALANCES: &str = "AND (SELECT CASE count(*) WHEN $1::bigint THEN 1
                                        ELSE (count(*) || ' balances')::integer END FROM changed_balances) = 1";

/// Whether one statement is enough for this commit.
pub(super) fn can_store(commit: &Commit<'_>) -> bool {
    let changes_chunks_only = commit.runs.is_none_or(|runs| {
        runs.added.is_none() && !runs.removes_all && runs.removed.is_empty() && runs.dropped_chunks.is_empty()
    });
    commit.assets.is_empty()
        && commit.accounts.is_empty()
        && commit.debt_links.is_empty()
        && commit.facts.is_empty()
        && commit.rows.is_empty()
        && changes_chunks_only
}

/// Where the journal ends with this batch.
pub(super) fn head_after(batch: &Batch) -> JournalHead {
    let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
    JournalHead { batch: batch.number, seq, at: batch.at, hash: batch.head() }
}

/// Stores and commits the batch; returns how many rows of `books.batches` were inserted.
pub(super) fn store(
    engine: &Postgres,
    commit: &Commit<'_>,
    batch: &Batch,
    records: &Records,
) -> Result<u64, tokio_postgres::Error> {
    let after = head_values(&head_after(batch));
    let (epoch, before, lease) = (engine.epoch, sql_number(engine.head.seq.0), engine.lease.as_secs_f64());
    let (first, count) = (sql_number(batch.first.0), i32::try_from(batch.count).unwrap_or(i32::MAX));
    let (all, checksums): (Vec<&[u8]>, Vec<i64>) = records.iter().zip(records.checksums(batch.first)).unzip();
    let root = batch.root.as_slice();
    let chunks = commit.runs.map(|runs| runs.chunks.as_slice()).unwrap_or_default();
    let (chunk_ids, chunk_data): (Vec<i64>, Vec<&[u8]>) =
        chunks.iter().map(|(id, data)| (sql_number(*id), data.as_slice())).unzip();
    let columns = Columns::of(commit);
    let mut whole = CombinedStatement::default();
    whole.part("ours", &[&epoch, &before, &after.0, &after.1, &after.2, &after.3, &lease], HEAD);
    whole.part("records", &[&first, &all, &checksums], JOURNAL);
    for (BoundStatement { sql, values }, number) in columns.money().into_iter().zip(1..) {
        let name = if sql == BALANCES { "changed_balances".to_owned() } else { format!("money_{number}") };
        whole.part(&name, &values, sql);
    }
    if !chunks.is_empty() {
        whole.part("chunks", &[&chunk_ids, &chunk_data], CHUNKS);
    }
    let balances = i64::try_from(commit.balances.len()).unwrap_or(i64::MAX);
    let batch_values: [&(dyn ToSql + Sync); 6] = [&after.0, &first, &count, &after.2, &root, &after.3];
    whole.main(&batch_values, BATCH);
    if balances > 0 {
        whole.main(&[&balances], ALL_BALANCES);
    }
    engine.session.execute(&whole.sql, &whole.values)
}

/// Several statements combined into one; each numbers its values from `$1`.
#[derive(Default)]
struct CombinedStatement<'a> {
    sql: String,
    values: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> CombinedStatement<'a> {
    fn part(&mut self, name: &str, values: &[&'a (dyn ToSql + Sync)], sql: &str) {
        self.sql.push_str(if self.sql.is_empty() { "WITH " } else { ", " });
        self.sql.push_str(name);
        self.sql.push_str(" AS (");
        self.add(values, sql);
        self.sql.push(')');
    }

    fn main(&mut self, values: &[&'a (dyn ToSql + Sync)], sql: &str) {
        self.sql.push(' ');
        self.add(values, sql);
    }

    /// Renumbers `$1` of a part to the next value of the combined statement.
    fn add(&mut self, values: &[&'a (dyn ToSql + Sync)], sql: &str) {
        let before = self.values.len();
        let mut pieces = sql.split('$');
        self.sql.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            let number: usize = piece[..digits].parse().expect("the texts here number their values");
            write!(self.sql, "${}{}", before + number, &piece[digits..]).expect("a text takes all");
        }
        self.values.extend(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_each_part_are_numbered_after_those_of_the_parts_before_it() {
        let (one, two, three) = (1_i64, 2_i64, 3_i64);
        let mut whole = CombinedStatement::default();
        whole.part("a", &[&one, &two], "SELECT $2, $1::bigint");
        whole.part("b", &[], "SELECT 7");
        whole.main(&[&three], "INSERT INTO c SELECT $1");
        assert_eq!(whole.sql, "WITH a AS (SELECT $2, $1::bigint), b AS (SELECT 7) INSERT INTO c SELECT $3");
        assert_eq!(whole.values.len(), 3);
    }
}
