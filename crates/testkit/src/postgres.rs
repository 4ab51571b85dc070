//! The Postgres server that `cargo xtask test` starts: a database of its own for each test.

use std::sync::atomic::{AtomicU64, Ordering};

use bankroll_store::{DatabaseUrl, Location};
use tokio_postgres::NoTls;

/// Names the server for suites that run on it instead of SQLite: `postgres://user@host:port` without a database.
const ENGINE: &str = "BANKROLL_TEST_POSTGRES";
/// Names the server for tests that always need one.
const SERVER: &str = "BANKROLL_TEST_POSTGRES_SERVER";

/// An empty database, if there is a server.
///
/// # Panics
/// If the server cannot create one.
#[must_use]
pub fn new_database() -> Option<Location> {
    std::env::var(ENGINE).ok().map(|server| make_database(&server))
}

/// An empty database, for a test that needs Postgres.
///
/// # Panics
/// If there is no server.
#[must_use]
pub fn needed_database() -> DatabaseUrl {
    let server = std::env::var(SERVER).or_else(|_| std::env::var(ENGINE));
    let server = server.expect("a Postgres server: run the tests with `cargo xtask test`, which starts one");
    match make_database(&server) {
        Location::Postgres(url) => url,
        Location::Folder(_) => unreachable!("a database is not a folder"),
    }
}

fn make_database(server: &str) -> Location {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let name = format!("books_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    run(&format!("{server}/postgres"), &format!("CREATE DATABASE {name}"));
    DatabaseUrl::new(format!("{server}/{name}")).into()
}

/// A connection that stays open, for statements that belong together.
#[derive(Debug)]
pub struct Session {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
}

impl Session {
    /// # Panics
    /// If there is no server.
    #[must_use]
    pub fn open(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(connect(url));
        Self { runtime, client }
    }

    /// Runs statements.
    ///
    /// # Panics
    /// If they cannot be run.
    pub fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).expect("statements that run");
    }

    /// Runs statements that the server may refuse.
    ///
    /// # Errors
    /// If it does.
    pub fn try_run(&self, sql: &str) -> Result<(), String> {
        self.runtime.block_on(self.client.batch_execute(sql)).map_err(|error| format!("{error:?}"))
    }

    /// The number that a query returns.
    ///
    /// # Panics
    /// If it cannot be run.
    #[must_use]
    pub fn count(&self, sql: &str) -> i64 {
        self.runtime.block_on(self.client.query_one(sql, &[])).expect("a query that runs").get(0)
    }
}

/// Runs statements.
///
/// # Panics
/// If they cannot be run.
pub fn run(url: &str, sql: &str) {
    wait(async {
        let client = connect(url).await;
        client.batch_execute(sql).await.expect("statements that run");
    });
}

/// Runs a query of two columns on the store's tables and the flows' alike, as text; null is the empty text.
///
/// # Panics
/// If it cannot be run.
#[must_use]
pub fn pairs(url: &DatabaseUrl, sql: &str) -> Vec<(String, String)> {
    let as_text = format!("SELECT coalesce(a::text, ''), coalesce(b::text, '') FROM ({sql}) AS q (a, b)");
    wait(async {
        let client = connect(url.reveal()).await;
        client.batch_execute("SET search_path = public, books").await.expect("a setting");
        let rows = client.query(&as_text, &[]).await.expect("a query that runs");
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    })
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a server");
    tokio::spawn(connection);
    client
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}
