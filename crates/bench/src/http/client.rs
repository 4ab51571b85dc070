//! The cheapest client: requests written by hand, and a reader that looks for a status, a length and a few words.
//!
//! One thread has all connections. It shares two cores with the service, and what it costs is measured as the
//! service's work.

use std::{
    net::SocketAddr,
    ops::Range,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_store::Reader;
use futures_util::future::try_join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    super::load::{self, LoadRun, LoadSource, Shape},
    books::{HttpBooks, SERVER},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// `POST .../transfer`, or `POST .../batch` for more than one.
    Transfers,
    /// `POST .../batch` of transfers without an amount. The service reads the body, checks the session and answers for
    /// each operation, but asks the ledger for nothing.
    Nothing,
}

/// Sends calls for this time over keep-alive connections, and waits for the last answers.
pub(super) fn run(
    books: &HttpBooks,
    front: SocketAddr,
    shape: Shape,
    kind: CallKind,
    time: Duration,
) -> anyhow::Result<LoadRun> {
    let reader = Reader::open(books.ledger.location())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let connections = (0..shape.callers).map(|_| Connection::open(front));
        let mut connections = try_join_all(connections).await?;
        let before = reader.head()?.seq.0;
        let start = Instant::now();
        let callers = connections.iter_mut().map(|connection| call_until(books, connection, shape, kind, start + time));
        let calls = try_join_all(callers).await?.concat();
        let took = start.elapsed();
        let (operations, recorded) = (calls.len() * shape.per_call, reader.head()?.seq.0 - before);
        // An answer that counts has its record, and what is compared with it has none.
        let expected = if kind == CallKind::Transfers { operations as u64 } else { 0 };
        anyhow::ensure!(recorded == expected, "{expected} transfers were answered, and {recorded} are in the journal");
        Ok(load::summary(calls, operations, took, 1))
    })
}

/// Sends transfers that name each player once, so that the service knows the numbers of all accounts.
pub(super) fn warm_up(books: &HttpBooks, front: SocketAddr) -> anyhow::Result<()> {
    const CALL: usize = 1_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(front).await?;
        let (mut request, players) = (String::new(), books.players());
        for first in (0..players).step_by(CALL) {
            let count = CALL.min(players - first);
            let numbers = take_numbers(books, count);
            write_request(books, numbers, CallKind::Transfers, &mut request);
            connection.call(&request, CallKind::Transfers, count).await?;
        }
        Ok(())
    })
}

async fn call_until(
    books: &HttpBooks,
    connection: &mut Connection,
    shape: Shape,
    kind: CallKind,
    end: Instant,
) -> anyhow::Result<Vec<Duration>> {
    let (mut took, mut request) = (Vec::new(), String::new());
    while Instant::now() < end {
        write_request(books, take_numbers(books, shape.per_call), kind, &mut request);
        let start = Instant::now();
        connection.call(&request, kind, shape.per_call).await?;
        took.push(start.elapsed());
    }
    Ok(took)
}

fn take_numbers(books: &HttpBooks, count: usize) -> Range<u64> {
    let first = books.next().fetch_add(count as u64, Ordering::SeqCst);
    first..first + count as u64
}

/// A whole request, head and body.
fn write_request(books: &HttpBooks, numbers: Range<u64>, kind: CallKind, request: &mut String) {
    let mut body = String::new();
    let is_single = kind == CallKind::Transfers && numbers.end - numbers.start == 1;
    let (path, key) = if is_single {
        ("transfer", books.write_transfer(numbers.start, &mut body))
    } else {
        books.write_batch(numbers, kind == CallKind::Transfers, &mut body);
        ("batch", String::new())
    };
    let key_header = if is_single { format!("idempotency-key: {key}\r\n") } else { key };
    request.clear();
    request.extend([
        &format!("POST /v1/servers/{SERVER}/{path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer "),
        books.session.token.reveal(),
        &format!("\r\n{key_header}content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len()),
        &body,
    ]);
}

struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    async fn open(front: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(front).await.context("cannot connect to the front")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and reads its answer, which must say of each operation what `kind` expects.
    async fn call(&mut self, request: &str, kind: CallKind, operations: usize) -> anyhow::Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        self.received.clear();
        let body_start = loop {
            self.receive().await?;
            if let Some(end) = self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head = std::str::from_utf8(&self.received[..body_start])?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let end = body_start + length.context("an answer has no content-length")?;
        let is_good = head.starts_with("HTTP/1.1 200 ") && !head.contains("idempotent-replayed");
        while self.received.len() < end {
            self.received.reserve(end - self.received.len());
            self.receive().await?;
        }
        let body = std::str::from_utf8(&self.received[body_start..end])?;
        // A refused operation has a code instead of a record, and a replayed one says so.
        let word = if kind == CallKind::Transfers { r#""record":"rec_"# } else { r#""code":"body_invalid""# };
        let is_whole = body.matches(word).count() == operations && !body.contains(r#""replayed":true"#);
        anyhow::ensure!(is_good && is_whole, "an unexpected answer: {}", body.chars().take(300).collect::<String>());
        Ok(())
    }

    async fn receive(&mut self) -> anyhow::Result<()> {
        let count = self.stream.read_buf(&mut self.received).await?;
        anyhow::ensure!(count > 0, "the front closed a connection");
        Ok(())
    }
}
