//! The raw rate: the same answers over HTTP, their JSON decoded, and nothing else.
//!
//! Two connections, each a thread, ask for blocks in batches and decode every value into a tree whose texts borrow
//! from the answer. Nothing is verified, compared or stored.

use std::{
    fmt,
    fmt::Write as _,
    hint::black_box,
    io::{Read, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::DepositMode;

/// As many as there are cores.
const CONNECTIONS: usize = 2;
/// Blocks in one batch.
const BATCH: u64 = 10;

/// Fetches and decodes the first so many blocks after the genesis, and returns how long it took.
pub(super) fn fetch_all(url: &str, mode: DepositMode, blocks: u64) -> anyhow::Result<Duration> {
    let next = AtomicU64::new(1);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let fetch = || {
            let mut client = RawClient::connect(url)?;
            loop {
                let first = next.fetch_add(BATCH, Ordering::Relaxed);
                if first > blocks {
                    return anyhow::Ok(());
                }
                fetch(&mut client, mode, first..=blocks.min(first + BATCH - 1))?;
            }
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(fetch)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a reader panicked"))?)
    })?;
    Ok(start.elapsed())
}

fn fetch(client: &mut RawClient, mode: DepositMode, numbers: std::ops::RangeInclusive<u64>) -> anyhow::Result<()> {
    let methods = [("eth_getBlockByNumber", ",true"), ("eth_getBlockReceipts", ""), ("trace_block", "")];
    let methods = &methods[..if mode == DepositMode::Traces { 3 } else { 2 }];
    for (method, more) in methods {
        let mut batch = String::new();
        for number in numbers.clone() {
            let comma = if batch.is_empty() { "[" } else { "," };
            let call = r#"{"jsonrpc":"2.0","id":1,"method""#;
            // Writing into a String cannot fail.
            let _ = write!(batch, r#"{comma}{call}:"{method}","params":["{number:#x}"{more}]}}"#);
        }
        batch.push(']');
        let answers: Vec<Decoded<'_>> = serde_json::from_slice(client.call(&batch)?)?;
        let are_whole = answers.len() as u64 == numbers.end() - numbers.start() + 1 && answers.iter().all(is_result);
        anyhow::ensure!(are_whole, "the server does not have all blocks of {numbers:?}");
        black_box(answers);
    }
    Ok(())
}

fn is_result(answer: &Decoded<'_>) -> bool {
    let Decoded::Fields(fields) = answer else { return false };
    fields.iter().any(|(name, value)| *name == "result" && !matches!(value, Decoded::Plain))
}

/// Any JSON.
enum Decoded<'a> {
    /// Nothing, true, false, or a number.
    Plain,
    Text(#[expect(dead_code, reason = "decoded, as a program would")] &'a str),
    List(#[expect(dead_code, reason = "decoded, as a program would")] Vec<Self>),
    Fields(Vec<(&'a str, Self)>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Decoded<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecodedVisitor)
    }
}

struct DecodedVisitor;

impl<'de> Visitor<'de> for DecodedVisitor {
    type Value = Decoded<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without escapes")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Decoded::Plain)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Decoded::Plain)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Decoded::Plain)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Decoded::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Decoded::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            fields.push(entry);
        }
        Ok(Decoded::Fields(fields))
    }
}

/// The cheapest client of the replay server: requests written by hand, answers with a length.
pub(super) struct RawClient {
    stream: TcpStream,
    host: String,
    received: Vec<u8>,
}

impl RawClient {
    pub fn connect(url: &str) -> anyhow::Result<Self> {
        let host = url.strip_prefix("http://").context("the replay server has an http URL")?.to_owned();
        let stream = TcpStream::connect(&host).context("cannot connect to the replay server")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, host, received: vec![0; 64 << 10] })
    }

    /// The body of the answer.
    pub fn call(&mut self, body: &str) -> anyhow::Result<&[u8]> {
        let head = format!("POST / HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\r\n", self.host, body.len());
        self.stream.write_all((head + body).as_bytes())?;
        let mut length = 0;
        let start = loop {
            length += self.receive(length)?;
            if let Some(end) = self.received[..length].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head = std::str::from_utf8(&self.received[..start])?;
        let body = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        let end = start + body.context("an answer has no content-length")?;
        if self.received.len() < end {
            self.received.resize(end, 0);
        }
        while length < end {
            length += self.receive(length)?;
        }
        Ok(&self.received[start..end])
    }

    fn receive(&mut self, at: usize) -> anyhow::Result<usize> {
        let count = self.stream.read(&mut self.received[at..])?;
        anyhow::ensure!(count > 0, "the replay server closed a connection");
        Ok(count)
    }
}
