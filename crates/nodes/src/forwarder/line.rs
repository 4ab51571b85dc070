//! The one connection to whoever holds the books: made when it is needed, forgotten when it is wrong.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{ReadHalf, WriteHalf},
    net::TcpStream,
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{BooksAt, CALLS_MAX, Find, LOOK_AGAIN, Trouble};
use crate::{
    Refusal,
    identity::BOOKS_NAME,
    wire::{self, Ask, FrameError, Question, Reply, Told},
};

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// After a failure nobody tries again for so long; who asks meanwhile hears of the failure.
const REST: Duration = Duration::from_millis(20);
const PING_EVERY: Duration = Duration::from_secs(10);
/// A connection that has said nothing for so long, pings unanswered, is none.
const SILENCE: Duration = Duration::from_secs(30);

type Outcome = Result<Reply, Refusal>;

pub(super) struct Line {
    client: Arc<ClientConfig>,
    find: Arc<Mutex<Find>>,
    /// One at a time connects, the others wait for it.
    current: tokio::sync::Mutex<Current>,
    /// Where the books were when somebody last looked while he waited.
    seen: tokio::sync::Mutex<Option<(Instant, BooksAt)>>,
}

#[derive(Default)]
struct Current {
    link: Option<Arc<Link>>,
    failed: Option<(Instant, Trouble)>,
}

/// A connection that was welcomed.
pub(super) struct Link {
    at: BooksAt,
    next: AtomicU64,
    frames: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Waiting>,
}

/// Whoever waits for an answer, by number; nobody any more once the connection is gone.
#[derive(Default)]
struct Waiting(Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>);

impl Line {
    pub fn new(client: Arc<ClientConfig>, find: Arc<Mutex<Find>>) -> Self {
        Self { client, find, current: tokio::sync::Mutex::default(), seen: tokio::sync::Mutex::default() }
    }

    /// The connection there is, or a new one to whoever holds the books now.
    pub async fn link(&self) -> Result<Arc<Link>, Trouble> {
        let mut current = self.current.lock().await;
        if let Some(link) = current.link.as_ref().filter(|link| link.waiting.is_open()) {
            return Ok(Arc::clone(link));
        }
        current.link = None;
        if let Some((_, trouble)) = current.failed.as_ref().filter(|(at, _)| at.elapsed() < REST) {
            return Err(trouble.clone());
        }
        match self.connect().await {
            Ok(link) => {
                let link = Arc::new(link);
                *current = Current { link: Some(Arc::clone(&link)), failed: None };
                Ok(link)
            }
            Err(trouble) => {
                current.failed = Some((Instant::now(), trouble.clone()));
                Err(trouble)
            }
        }
    }

    /// This connection leads to the wrong place: whoever waits on it asks again elsewhere.
    pub fn forget(&self, link: &Link) {
        link.waiting.close();
    }

    /// Whether somebody else holds the books than the one this connection leads to. If nobody can tell, it stays.
    pub async fn has_moved(&self, link: &Link) -> bool {
        // Many calls may want to know at once; one looks for all.
        let mut seen = self.seen.lock().await;
        if seen.as_ref().is_none_or(|(at, _)| at.elapsed() >= LOOK_AGAIN / 2) {
            *seen = self.look().await.ok().flatten().map(|now| (Instant::now(), now));
        }
        seen.as_ref().is_some_and(|(_, now)| *now != link.at)
    }

    async fn look(&self) -> Result<Option<BooksAt>, Trouble> {
        let find = Arc::clone(&self.find);
        let looked = tokio::task::spawn_blocking(move || (find.lock().unwrap_or_else(PoisonError::into_inner))()).await;
        looked.unwrap_or_else(|_| Err("whoever looks has died".into())).map_err(Trouble::Looking)
    }

    async fn connect(&self) -> Result<Link, Trouble> {
        let at = self.look().await?.ok_or(Trouble::NoHolder)?;
        let address = at.address.clone();
        let failed = |error: std::io::Error| failure(&address, error);
        let late = || Trouble::Connection { address: address.clone(), kind: std::io::ErrorKind::TimedOut };
        let connect = async {
            let stream = TcpStream::connect(&address).await.map_err(failed)?;
            // Calls are small and awaited.
            let _ = stream.set_nodelay(true);
            let name = ServerName::try_from(BOOKS_NAME).map_err(|_| Trouble::NoHolder)?;
            let mut stream =
                TlsConnector::from(Arc::clone(&self.client)).connect(name, stream).await.map_err(failed)?;
            // Only this proves that our certificate was taken: a client is done before the server has looked.
            match wire::read::<Told>(&mut stream).await {
                Ok(Some(Told::Welcome { version: wire::VERSION, holds: true })) => Ok(stream),
                Ok(Some(Told::Welcome { version: wire::VERSION, holds: false })) => Err(Refusal::NotHolder.into()),
                Ok(Some(Told::Welcome { .. })) => Err(Trouble::Version { address: address.clone() }),
                Err(FrameError::Io(error)) => Err(failed(error)),
                Ok(_) | Err(FrameError::Violation(_)) => {
                    Err(Trouble::Connection { address: address.clone(), kind: std::io::ErrorKind::InvalidData })
                }
            }
        };
        let stream = timeout(CONNECT_WITHIN, connect).await.map_err(|_| late())??;
        let (reading, writing) = tokio::io::split(stream);
        let (frames, to_write) = mpsc::channel(CALLS_MAX);
        let waiting = Arc::new(Waiting(Mutex::new(Some(HashMap::new()))));
        tokio::spawn(write(writing, to_write, Arc::clone(&waiting)));
        tokio::spawn(read(reading, Arc::clone(&waiting)));
        Ok(Link { at, next: AtomicU64::new(1), frames, waiting })
    }
}

impl Link {
    /// Sends the question; `None` if the connection is gone and nothing was sent.
    pub fn ask(&self, question: &[u8]) -> Option<oneshot::Receiver<Outcome>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let frame = wire::ask(number, question);
        let (tell, told) = oneshot::channel();
        if !self.waiting.add(number, tell) {
            return None;
        }
        match self.frames.try_send(frame) {
            // From here on it may be sent. If the connection ends before, nobody will know.
            Ok(()) => Some(told),
            Err(_) => {
                self.waiting.remove(number);
                None
            }
        }
    }
}

impl Waiting {
    fn is_open(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn add(&self, number: u64, tell: oneshot::Sender<Outcome>) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut().map(|waiting| waiting.insert(number, tell)).is_some()
    }

    fn answer(&self, number: u64, told: Outcome) {
        if let Some(tell) = self.remove(number) {
            // Whoever asked may have stopped waiting.
            let _ = tell.send(told);
        }
    }

    fn remove(&self, number: u64) -> Option<oneshot::Sender<Outcome>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(&number)
    }

    /// Everybody who waits learns that there will be no answer here.
    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

async fn read(mut reading: ReadHalf<TlsStream<TcpStream>>, waiting: Arc<Waiting>) {
    while let Ok(Ok(Some(Told::Reply { number, reply }))) = timeout(SILENCE, wire::read(&mut reading)).await {
        waiting.answer(number, reply);
    }
    waiting.close();
}

async fn write(
    mut writing: WriteHalf<TlsStream<TcpStream>>,
    mut frames: mpsc::Receiver<Vec<u8>>,
    waiting: Arc<Waiting>,
) {
    // Number 0 is nobody's, and its answer goes nowhere.
    let ping = wire::frame(&Ask { number: 0, question: Question::Ping });
    while waiting.is_open() {
        let frame = match timeout(PING_EVERY, frames.recv()).await {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            Err(_) => match &ping {
                Some(ping) => ping.clone(),
                None => break,
            },
        };
        if !matches!(timeout(SILENCE, wire::send(&mut writing, &frame)).await, Ok(Ok(()))) {
            break;
        }
    }
    waiting.close();
    // So that the other side ends it too, and the reader with it.
    let _ = timeout(CONNECT_WITHIN, tokio::io::AsyncWriteExt::shutdown(&mut writing)).await;
}

fn failure(address: &str, error: std::io::Error) -> Trouble {
    let address = address.to_owned();
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => Trouble::Trust { address, error: error.clone() },
        None => Trouble::Connection { address, kind: error.kind() },
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Line")
    }
}
