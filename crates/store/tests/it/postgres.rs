//! The Postgres server that `cargo xtask test` starts: a database of its own for each world.

use std::sync::atomic::{AtomicU64, Ordering};

use bankroll_store::{DatabaseUrl, Location};
use tokio_postgres::NoTls;

/// Names the server: `postgres://user@host:port` without a database.
const SERVER: &str = "BANKROLL_TEST_POSTGRES";

pub fn server() -> Option<String> {
    std::env::var(SERVER).ok()
}

/// An empty database, if there is a server.
pub fn new_database() -> Option<Location> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let server = server()?;
    let name = format!("store_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    run(&format!("{server}/postgres"), &format!("CREATE DATABASE {name}"));
    Some(DatabaseUrl::new(format!("{server}/{name}")).into())
}

pub fn run(url: &str, sql: &str) {
    wait(async {
        let client = connect(url).await;
        client.batch_execute(sql).await.unwrap();
    });
}

pub fn pairs(url: &DatabaseUrl, sql: &str) -> Vec<(String, String)> {
    let as_text = format!("SELECT a::text, b::text FROM ({sql}) AS q (a, b)");
    wait(async {
        let client = connect(url.reveal()).await;
        client.batch_execute("SET search_path = public, books").await.unwrap();
        let rows = client.query(&as_text, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    })
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
