//! A Postgres server to measure on: a new database for each run, the server without a ledger, and one SQL transaction
//! per transfer over thirty-two connections.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_store::{BOOKS, DatabaseUrl, Location};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use super::{
    ACCOUNTS,
    raw::{RECORD_BYTES, touched},
};

/// Connections that make one transaction per transfer.
const CONNECTIONS: usize = 32;

/// A running server. Databases are created on it for the bench, and removed afterwards.
#[derive(Clone, Debug)]
pub(super) struct PostgresServer {
    /// `postgres://user@host:port`, without a database.
    url: String,
    /// The URL of the database that is used to create others.
    first: String,
}

impl PostgresServer {
    /// The server of this URL, with or without a database. Fails before anything is measured if it is unreachable.
    pub fn at(address: &str) -> anyhow::Result<Self> {
        let (scheme, rest) =
            address.split_once("://").context("the URL of a Postgres server begins with postgres://")?;
        let (server, database) = rest.split_once('/').unwrap_or((rest, ""));
        let url = format!("{scheme}://{server}");
        let first = format!("{url}/{}", if database.is_empty() { "postgres" } else { database });
        connect(&first)?;
        Ok(Self { url, first })
    }

    pub fn new_database(&self) -> anyhow::Result<Location> {
        Ok(DatabaseUrl::new(self.make_database()?).into())
    }

    fn make_database(&self) -> anyhow::Result<String> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let name = format!("bankroll_bench_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let (runtime, client) = connect(&self.first)?;
        runtime.block_on(client.batch_execute(&format!("CREATE DATABASE {name}")))?;
        Ok(format!("{}/{name}", self.url))
    }

    pub fn drop_database(&self, url: &DatabaseUrl) -> anyhow::Result<()> {
        let name = url.reveal().rsplit('/').next().context("a database has a name")?;
        let (runtime, client) = connect(&self.first)?;
        Ok(runtime.block_on(client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")))?)
    }

    /// The size of a database on disk, without the server's log.
    pub fn database_bytes(&self, url: &DatabaseUrl) -> anyhow::Result<u64> {
        let (runtime, client) = connect(url.reveal())?;
        let row = runtime.block_on(client.query_one("SELECT pg_database_size(current_database())", &[]))?;
        Ok(u64::try_from(row.get::<_, i64>(0))?)
    }

    /// Rows of `batch` transfers per statement, as arrays over one connection; transfers per second.
    pub fn same_rows(&self, accounts: usize, batch: usize, time: Duration) -> anyhow::Result<f64> {
        let url = self.fresh(accounts)?;
        let (runtime, client) = connect(&url)?;
        let per_s = runtime.block_on(store_rows(&client, accounts, batch, time))?;
        drop((client, runtime));
        self.drop_database(&DatabaseUrl::new(url))?;
        Ok(per_s)
    }

    /// One SQL transaction per transfer, over many connections; transfers per second.
    pub fn one_transaction_each(&self, accounts: usize, time: Duration) -> anyhow::Result<f64> {
        let url = self.fresh(accounts)?;
        let start = Instant::now();
        let done = thread::scope(|scope| -> anyhow::Result<u64> {
            let work = |seed: usize| {
                let (runtime, client) = connect(&url)?;
                runtime.block_on(transfer_by_transfer(&client, accounts, seed as u64, start + time))
            };
            let threads: Vec<_> = (0..CONNECTIONS).map(|seed| scope.spawn(move || work(seed))).collect();
            let mut done = 0;
            for thread in threads {
                done += thread.join().map_err(|_| anyhow::anyhow!("a connection's thread panicked"))??;
            }
            Ok(done)
        })?;
        let per_s = done as f64 / start.elapsed().as_secs_f64();
        self.drop_database(&DatabaseUrl::new(url))?;
        Ok(per_s)
    }

    /// A database with the books' own tables and this number of balances.
    fn fresh(&self, accounts: usize) -> anyhow::Result<String> {
        let url = self.make_database()?;
        let (runtime, client) = connect(&url)?;
        for step in BOOKS.postgres {
            runtime.block_on(client.batch_execute(step))?;
        }
        let count = accounts.max(ACCOUNTS);
        runtime.block_on(client.batch_execute(&format!(
            "INSERT INTO books.balances SELECT id, 1000000000000000000000000000000, 0 FROM generate_series(1, {count}) id;
             CREATE TABLE keys (key text PRIMARY KEY, seq bigint NOT NULL); CREATE SEQUENCE places"
        )))?;
        Ok(url)
    }
}

/// One statement, which is its own transaction: the fastest way for the server.
async fn store_rows(client: &Client, accounts: usize, batch: usize, time: Duration) -> anyhow::Result<f64> {
    let all = client
        .prepare(
            "WITH records AS (
               INSERT INTO books.journal
               SELECT $1::bigint + n - 1, r FROM unnest($2::bytea[]) WITH ORDINALITY AS v (r, n)
             ), standings AS (
               UPDATE books.balances b SET balance = v.amount::numeric, held = 0
               FROM unnest($3::bigint[], $4::text[]) AS v (id, amount) WHERE b.id = v.id
             ) INSERT INTO books.batches VALUES ($5::bigint, $1::bigint, $6::integer, 0, $7::bytea, $7::bytea)",
        )
        .await?;
    let mut random = fastrand::Rng::with_seed(1);
    let (record, root) = (vec![7_u8; RECORD_BYTES], vec![0_u8; 32]);
    let records: Vec<&[u8]> = (0..batch).map(|_| record.as_slice()).collect();
    let (mut seq, mut number, count) = (1_i64, 0_i64, i32::try_from(batch)?);
    let start = Instant::now();
    while start.elapsed() < time {
        number += 1;
        let ids = touched(&mut random, accounts, batch);
        let amounts = vec!["1000000000000000000000000000001"; ids.len()];
        client.execute(&all, &[&seq, &records, &ids, &amounts, &number, &count, &root]).await?;
        seq += i64::from(count);
    }
    Ok((seq - 1) as f64 / start.elapsed().as_secs_f64())
}

async fn transfer_by_transfer(client: &Client, accounts: usize, seed: u64, end: Instant) -> anyhow::Result<u64> {
    let key = client.prepare("INSERT INTO keys (key, seq) VALUES ($1, nextval('places')) RETURNING seq").await?;
    let lock = client
        .prepare("SELECT id, balance::text FROM books.balances WHERE id = ANY($1) ORDER BY id FOR UPDATE")
        .await?;
    let update = client.prepare("UPDATE books.balances SET balance = balance + $2::bigint WHERE id = $1").await?;
    let journal = client.prepare("INSERT INTO books.journal (seq, record) VALUES ($1, $2)").await?;
    let mut random = fastrand::Rng::with_seed(seed);
    let record = vec![7_u8; RECORD_BYTES];
    let mut done = 0;
    while Instant::now() < end {
        let from = if accounts == 1 { 1 } else { random.i64(1..=accounts as i64) };
        let to = 1 + (from + random.i64(0..ACCOUNTS as i64 - 1)) % ACCOUNTS as i64;
        client.batch_execute("BEGIN").await?;
        let text = format!("{:016x}-{:016x}", random.u64(..), random.u64(..));
        let seq: i64 = client.query_one(&key, &[&text]).await?.get(0);
        client.query(&lock, &[&vec![from, to]]).await?;
        client.execute(&update, &[&from, &-1_i64]).await?;
        client.execute(&update, &[&to, &1_i64]).await?;
        client.execute(&journal, &[&seq, &record]).await?;
        client.batch_execute("COMMIT").await?;
        done += 1;
    }
    Ok(done)
}

fn connect(url: &str) -> anyhow::Result<(Runtime, Client)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (client, connection) =
        runtime.block_on(tokio_postgres::connect(url, NoTls)).context("cannot connect to Postgres")?;
    runtime.spawn(connection);
    Ok((runtime, client))
}
