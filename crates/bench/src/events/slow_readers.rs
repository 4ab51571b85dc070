//! Readers of event streams that hold the service up as well as they can: half of them never read, the others take a
//! little now and then.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
};

/// A slow reader takes this much, then rests.
const MOUTHFUL: usize = 4_096;
const REST: Duration = Duration::from_millis(250);
/// Connections that are being opened at the same time.
const OPENING: usize = 64;

/// Open streams; they end when this is dropped.
pub(super) struct SlowReaders {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
    bytes: Arc<AtomicU64>,
}

impl SlowReaders {
    /// Opens all streams; returns when the service has begun to answer each.
    pub fn open(front: SocketAddr, token: &str, count: usize) -> anyhow::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let (is_open, opened) = std::sync::mpsc::channel();
        let bytes = Arc::<AtomicU64>::default();
        let (counted, token) = (Arc::clone(&bytes), token.to_owned());
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(read_all(front, &token, count, &counted, stopped, is_open))
        };
        let thread = std::thread::Builder::new().name("slow readers".into()).spawn(run)?;
        let readers = Self { stop, thread: Some(thread), bytes };
        opened.recv().ok().context("the streams could not be opened")?;
        Ok(readers)
    }

    /// Bytes that the readers took.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn close(mut self) -> anyhow::Result<()> {
        let _ = self.stop.send(true);
        let thread = self.thread.take().context("closed before")?;
        thread.join().map_err(|_| anyhow::anyhow!("a reader panicked"))?
    }
}

impl Drop for SlowReaders {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

async fn read_all(
    front: SocketAddr,
    token: &str,
    count: usize,
    bytes: &AtomicU64,
    mut stopped: watch::Receiver<bool>,
    is_open: std::sync::mpsc::Sender<()>,
) -> anyhow::Result<()> {
    let mut streams = Vec::with_capacity(count);
    while streams.len() < count {
        let some = OPENING.min(count - streams.len());
        streams.extend(futures_util::future::try_join_all((0..some).map(|_| open(front, token))).await?);
    }
    let never_read = streams.split_off(count / 2);
    is_open.send(())?;
    let slow = streams.into_iter().map(|stream| sip(stream, bytes));
    tokio::select! {
        _ = stopped.changed() => {}
        _ = futures_util::future::join_all(slow) => {}
    }
    drop(never_read);
    Ok(())
}

async fn open(front: SocketAddr, token: &str) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(front).await?;
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nhost: bench\r\naccept: text/event-stream\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    anyhow::ensure!(head == *b"HTTP/1.1 200", "a stream was refused: {}", String::from_utf8_lossy(&head));
    Ok(stream)
}

/// Takes a little now and then, until the service cuts it off.
async fn sip(mut stream: TcpStream, bytes: &AtomicU64) {
    let mut taken = [0; MOUTHFUL];
    while let Ok(1..) = stream.read(&mut taken).await.inspect(|count| {
        bytes.fetch_add(*count as u64, Ordering::Relaxed);
    }) {
        tokio::time::sleep(REST).await;
    }
    // It was cut off, and stays so until the others end.
    std::future::pending().await
}
