//! The one connection to the node that holds the books: opened when needed, closed when that node is no longer the
//! holder.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustls::pki_types::{CertificateDer, ServerName};
use tokio::{
    io::{ReadHalf, WriteHalf},
    net::{TcpStream, UnixStream},
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};
use tokio_rustls::TlsConnector;

use super::{BooksLocation, CALLS_MAX, CHECK_HOLDER_EVERY, UnavailableReason, lookup::HolderLookup};
use crate::{
    CallRefusal, NodeIdentity,
    identity::{BOOKS_NAME, LOOK_EVERY},
    wire::{self, CallBody, CallReply, CallRequest, FrameError, NodeStream, ServerFrame},
};

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The pause after a failed connection. Calls during the pause get the same failure.
const REST: Duration = Duration::from_millis(20);
const PING_EVERY: Duration = Duration::from_secs(10);
/// A connection without any frame for this long, pings included, is closed.
const SILENCE: Duration = Duration::from_secs(30);

type Outcome = Result<CallReply, CallRefusal>;

/// How the books are reached.
pub(super) enum Transport {
    /// At the address that the lookup gives.
    Tls(NodeIdentity),
    /// A socket on this machine.
    Socket(PathBuf),
}

pub(super) struct Connector {
    transport: Transport,
    lookup: HolderLookup,
    /// One caller connects at a time; the others wait for it.
    current: tokio::sync::Mutex<ConnectionState>,
    /// The latest lookup of a waiting call.
    last_seen: tokio::sync::Mutex<Option<(Instant, BooksLocation)>>,
}

#[derive(Default)]
struct ConnectionState {
    connection: Option<Arc<NodeConnection>>,
    failed: Option<(Instant, UnavailableReason)>,
}

/// A connection after the welcome frame.
pub(super) struct NodeConnection {
    at: BooksLocation,
    next: AtomicU64,
    frames: mpsc::Sender<Vec<u8>>,
    pending: Arc<PendingReplies>,
}

/// Calls that wait for a reply, by number; `None` once the connection is closed.
#[derive(Default)]
struct PendingReplies(Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>);

impl Connector {
    pub fn new(transport: Transport, lookup: HolderLookup) -> Self {
        Self { transport, lookup, current: tokio::sync::Mutex::default(), last_seen: tokio::sync::Mutex::default() }
    }

    /// The open connection, or a new one to the present holder.
    pub async fn connection(&self) -> Result<Arc<NodeConnection>, UnavailableReason> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current.connection.as_ref().filter(|connection| connection.pending.is_open()) {
            return Ok(Arc::clone(connection));
        }
        current.connection = None;
        if let Some((_, reason)) = current.failed.as_ref().filter(|(at, _)| at.elapsed() < REST) {
            return Err(reason.clone());
        }
        match self.connect().await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                *current = ConnectionState { connection: Some(Arc::clone(&connection)), failed: None };
                Ok(connection)
            }
            Err(reason) => {
                current.failed = Some((Instant::now(), reason.clone()));
                Err(reason)
            }
        }
    }

    /// This node is not the holder: waiting calls retry elsewhere.
    pub fn close(&self, connection: &NodeConnection) {
        connection.pending.close();
    }

    /// Whether another node holds the books now. If the lookup fails, the connection stays.
    pub async fn has_moved(&self, connection: &NodeConnection) -> bool {
        // One lookup serves all calls that wait at the same time.
        let mut last_seen = self.last_seen.lock().await;
        if last_seen.as_ref().is_none_or(|(at, _)| at.elapsed() >= CHECK_HOLDER_EVERY / 2) {
            *last_seen = self.find_holder().await.ok().flatten().map(|now| (Instant::now(), now));
        }
        last_seen.as_ref().is_some_and(|(_, now)| *now != connection.at)
    }

    async fn find_holder(&self) -> Result<Option<BooksLocation>, UnavailableReason> {
        self.lookup.find().await.map_err(UnavailableReason::Looking)
    }

    async fn connect(&self) -> Result<NodeConnection, UnavailableReason> {
        let at = self.find_holder().await?.ok_or(UnavailableReason::NoHolder)?;
        let address = at.address.clone();
        let failed = |error: io::Error| failure(&address, error);
        let late = || UnavailableReason::Connection { address: address.clone(), kind: io::ErrorKind::TimedOut };
        let connect = async {
            let (mut stream, certificate) = self.transport.connect(&address).await.map_err(failed)?;
            // Only this frame proves that our certificate was accepted: in TLS 1.3 a client finishes the handshake
            // first.
            match wire::read::<ServerFrame>(&mut stream).await {
                Ok(Some(ServerFrame::Welcome { version: wire::VERSION, holds: true })) => Ok((stream, certificate)),
                Ok(Some(ServerFrame::Welcome { version: wire::VERSION, holds: false })) => {
                    Err(CallRefusal::NotHolder.into())
                }
                Ok(Some(ServerFrame::Welcome { .. })) => Err(UnavailableReason::Version { address: address.clone() }),
                Err(FrameError::Io(error)) => Err(failed(error)),
                Ok(_) | Err(FrameError::Violation(_)) => {
                    Err(UnavailableReason::Connection { address: address.clone(), kind: io::ErrorKind::InvalidData })
                }
            }
        };
        let (stream, certificate) = timeout(CONNECT_WITHIN, connect).await.map_err(|_| late())??;
        let (reading, writing) = tokio::io::split(stream);
        let (frames, to_write) = mpsc::channel(CALLS_MAX);
        let pending = Arc::new(PendingReplies(Mutex::new(Some(HashMap::new()))));
        tokio::spawn(write(writing, to_write, Arc::clone(&pending)));
        tokio::spawn(read(reading, Arc::clone(&pending)));
        if let (Transport::Tls(identity), Some(certificate)) = (&self.transport, certificate) {
            tokio::spawn(end_when_untrusted(identity.clone(), certificate, Arc::downgrade(&pending)));
        }
        Ok(NodeConnection { at, next: AtomicU64::new(1), frames, pending })
    }
}

impl Transport {
    /// A connection, and the certificate of the books if they have proven themselves by one.
    async fn connect(&self, address: &str) -> io::Result<(Box<dyn NodeStream>, Option<CertificateDer<'static>>)> {
        match self {
            Self::Tls(identity) => {
                let stream = TcpStream::connect(address).await?;
                // Calls are small and latency matters.
                let _ = stream.set_nodelay(true);
                let name = ServerName::try_from(BOOKS_NAME).map_err(|_| io::ErrorKind::InvalidInput)?;
                let tls = TlsConnector::from(Arc::clone(&identity.credentials().client));
                let stream = tls.connect(name, stream).await?;
                let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first().cloned());
                Ok((Box::new(stream), certificate))
            }
            Self::Socket(path) => Ok((Box::new(UnixStream::connect(path).await?), None)),
        }
    }
}

impl NodeConnection {
    /// Sends a request; `None` if the connection is closed and nothing was sent.
    pub fn ask(&self, body: &[u8]) -> Option<oneshot::Receiver<Outcome>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let frame = wire::request_frame(number, body);
        let (sender, reply) = oneshot::channel();
        if !self.pending.add(number, sender) {
            return None;
        }
        match self.frames.try_send(frame) {
            // From here on it may be sent; if the connection ends now, the outcome is unknown.
            Ok(()) => Some(reply),
            Err(_) => {
                self.pending.remove(number);
                None
            }
        }
    }
}

impl PendingReplies {
    fn is_open(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn add(&self, number: u64, sender: oneshot::Sender<Outcome>) -> bool {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pending.as_mut().map(|pending| pending.insert(number, sender)).is_some()
    }

    fn answer(&self, number: u64, reply: Outcome) {
        if let Some(sender) = self.remove(number) {
            // The caller may have stopped waiting.
            let _ = sender.send(reply);
        }
    }

    fn remove(&self, number: u64) -> Option<oneshot::Sender<Outcome>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(&number)
    }

    /// Every waiting call learns that there will be no reply here.
    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Closes the connection when the certificate of the books expires or is revoked.
async fn end_when_untrusted(
    identity: NodeIdentity,
    certificate: CertificateDer<'static>,
    pending: Weak<PendingReplies>,
) {
    let is_closed = async {
        while pending.upgrade().is_some_and(|pending| pending.is_open()) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        () = identity.until_untrusted(&certificate) => {}
        () = is_closed => {}
    }
    pending.upgrade().iter().for_each(|pending| pending.close());
}

async fn read(mut reading: ReadHalf<Box<dyn NodeStream>>, pending: Arc<PendingReplies>) {
    while let Ok(Ok(Some(ServerFrame::Reply { number, reply }))) = timeout(SILENCE, wire::read(&mut reading)).await {
        pending.answer(number, reply);
    }
    pending.close();
}

async fn write(
    mut writing: WriteHalf<Box<dyn NodeStream>>,
    mut frames: mpsc::Receiver<Vec<u8>>,
    pending: Arc<PendingReplies>,
) {
    // No call has the number 0, so the reply is dropped.
    let ping = wire::frame(&CallRequest { number: 0, body: CallBody::Ping });
    while pending.is_open() {
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
    pending.close();
    // So that the other side closes too, which ends the reader.
    let _ = timeout(CONNECT_WITHIN, tokio::io::AsyncWriteExt::shutdown(&mut writing)).await;
}

fn failure(address: &str, error: io::Error) -> UnavailableReason {
    let address = address.to_owned();
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => UnavailableReason::Trust { address, error: error.clone() },
        None => UnavailableReason::Connection { address, kind: error.kind() },
    }
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}
