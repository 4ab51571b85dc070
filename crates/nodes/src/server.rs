//! The books' side: accepts connections of nodes, checks their rights, and passes calls to the handler.
//!
//! | bound | effect |
//! | --- | --- |
//! | connections ([`CONNECTIONS_MAX`]) | further connections are closed before anything is read |
//! | handshake ([`HANDSHAKE`]), silence ([`SILENCE`]), a reply that the peer does not read ([`WRITE_WITHIN`]) | the connection ends |
//! | calls in flight on one connection ([`IN_FLIGHT_MAX`]) | nothing more is read from it until one is answered |
//!
//! A failing connection never affects another. The handler completes a call even if its connection is closed; the
//! caller retries.

use std::{
    future::Future,
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use bankroll_ledger::{AccountId, AccountName, Answer, OpenRejection, Principal, Request};
use tokio::{
    io::{ReadHalf, WriteHalf},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
    sync::{Semaphore, mpsc, watch},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    NodeIdentity, Rights,
    identity::Peer,
    wire::{self, CALL_MAX, CallBody, CallRefusal, CallReply, CallRequest, FrameError, FrameViolation, ServerFrame},
};

const CONNECTIONS_MAX: usize = 256;
const IN_FLIGHT_MAX: usize = 32;
const HANDSHAKE: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(45);
const WRITE_WITHIN: Duration = Duration::from_secs(30);
/// How long calls in flight may take when the server stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

/// Executes calls: the ledger, while this node holds it.
pub trait CallHandler: Send + Sync + 'static {
    /// Whether this node holds the books.
    fn holds(&self) -> bool;

    /// Applies requests, each on its own; one answer each, in order.
    fn apply(&self, requests: Vec<Request>) -> impl Future<Output = Result<Vec<Answer>, CallRefusal>> + Send;

    /// Opens accounts, each with the policy of its kind; one answer each, in order.
    fn open(
        &self,
        by: Principal,
        names: Vec<AccountName>,
    ) -> impl Future<Output = Result<Vec<Result<AccountId, OpenRejection>>, CallRefusal>> + Send;
}

#[derive(Debug, thiserror::Error)]
pub enum NodeServerError {
    #[error("cannot listen on {address}")]
    Listen {
        address: String,
        #[source]
        source: std::io::Error,
    },
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct NodeServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    connections: Arc<Semaphore>,
}

struct ServerState<D> {
    handler: Arc<D>,
    rights: Rights,
    acceptor: TlsAcceptor,
    stop: watch::Receiver<bool>,
}

impl NodeServer {
    /// Listens on this address; port 0 for any.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn start<D: CallHandler>(
        listen: &str,
        identity: &NodeIdentity,
        rights: Rights,
        handler: Arc<D>,
    ) -> Result<Self, NodeServerError> {
        let failed = |source: std::io::Error| NodeServerError::Listen { address: listen.to_owned(), source };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("nodes")
            .enable_all()
            .build()
            .map_err(failed)?;
        let addresses: Vec<SocketAddr> = listen.to_socket_addrs().map_err(failed)?.collect();
        let listener = runtime.block_on(TcpListener::bind(addresses.as_slice())).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let acceptor = TlsAcceptor::from(Arc::clone(&identity.server));
        let shared = Arc::new(ServerState { handler, rights, acceptor, stop: stopped });
        runtime.spawn(accept(listener, shared, Arc::clone(&connections)));
        Ok(Self { runtime: Some(runtime), address, stop, connections })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads no more requests, waits for calls in flight, and stops.
    pub fn stop(mut self) {
        // The receiver may be gone.
        let _ = self.stop.send(true);
        if let Some(runtime) = self.runtime.take() {
            let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
            // Every connection releases its permit when it ends.
            let _ = runtime.block_on(async { timeout(DRAIN_WITHIN, self.connections.acquire_many(all)).await });
            runtime.shutdown_background();
        }
    }
}

impl Drop for NodeServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept<D: CallHandler>(listener: TcpListener, shared: Arc<ServerState<D>>, connections: Arc<Semaphore>) {
    let mut stop = shared.stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Probably out of file descriptors: other connections must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            serve(stream, &shared).await;
            drop(permit);
        });
    }
}

/// One connection, from its handshake to its end.
async fn serve<D: CallHandler>(stream: TcpStream, shared: &Arc<ServerState<D>>) {
    // Replies are small and latency matters.
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = timeout(HANDSHAKE, shared.acceptor.accept(stream)).await else { return };
    let certificates = stream.get_ref().1.peer_certificates();
    let peer = certificates.and_then(|chain| Peer::of(chain.first()?));
    let (reading, writing) = tokio::io::split(stream);
    let (replies, frames) = mpsc::channel(IN_FLIGHT_MAX);
    let writer = tokio::spawn(write(writing, frames));
    let first = match &peer {
        Some(_) => ServerFrame::Welcome { version: wire::VERSION, holds: shared.handler.holds() },
        None => ServerFrame::Goodbye(FrameViolation::Nameless),
    };
    let _ = replies.send(first).await;
    if let Some(peer) = peer {
        read_requests(reading, &peer, &replies, shared).await;
    }
    // The writer ends when the last call in flight has been answered.
    drop(replies);
    let _ = writer.await;
}

/// Reads requests until the connection ends, violates the protocol, or the server stops.
async fn read_requests<D: CallHandler>(
    mut reading: ReadHalf<TlsStream<TcpStream>>,
    peer: &Peer,
    replies: &mpsc::Sender<ServerFrame>,
    shared: &Arc<ServerState<D>>,
) {
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT_MAX));
    let mut stop = shared.stop.clone();
    loop {
        let read = tokio::select! {
            read = timeout(SILENCE, wire::read::<CallRequest>(&mut reading)) => read,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let request = match read {
            Ok(Ok(Some(request))) => request,
            Ok(Ok(None) | Err(FrameError::Io(_))) => return,
            Ok(Err(FrameError::Violation(violation))) => {
                let _ = replies.send(ServerFrame::Goodbye(violation)).await;
                return;
            }
            Err(_) => {
                let _ = replies.send(ServerFrame::Goodbye(FrameViolation::Silent)).await;
                return;
            }
        };
        let Ok(permit) = Arc::clone(&in_flight).acquire_owned().await else { return };
        let allowed = check_allowed(&request.body, peer, &shared.rights);
        let (replies, shared) = (replies.clone(), Arc::clone(shared));
        tokio::spawn(async move {
            let reply = match allowed {
                Ok(()) => answer(request.body, shared.handler.as_ref()).await,
                Err(refusal) => Err(refusal),
            };
            // The connection may be closed.
            let _ = replies.send(ServerFrame::Reply { number: request.number, reply }).await;
            drop(permit);
        });
    }
}

fn check_allowed(body: &CallBody, peer: &Peer, rights: &Rights) -> Result<(), CallRefusal> {
    let given = match body {
        CallBody::Ping => return Ok(()),
        CallBody::Apply(requests) => requests.len(),
        CallBody::Open { names, .. } => names.len(),
    };
    if !(1..=CALL_MAX).contains(&given) {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        return Err(CallRefusal::CallSize { given: count(given), most: count(CALL_MAX) });
    }
    let allowed = match body {
        CallBody::Ping => Ok(()),
        CallBody::Apply(requests) => rights.check(peer.roles, requests),
        CallBody::Open { by, .. } => rights.check_open(peer.roles, by),
    };
    allowed.map_err(CallRefusal::NotAllowed)
}

async fn answer<D: CallHandler>(body: CallBody, handler: &D) -> Result<CallReply, CallRefusal> {
    match body {
        CallBody::Ping => Ok(CallReply::Pong),
        CallBody::Apply(requests) => handler.apply(requests).await.map(CallReply::Applied),
        CallBody::Open { by, names } => handler.open(by, names).await.map(CallReply::Opened),
    }
}

async fn write(mut writing: WriteHalf<TlsStream<TcpStream>>, mut frames: mpsc::Receiver<ServerFrame>) {
    while let Some(message) = frames.recv().await {
        let frame = wire::frame(&message).or_else(|| match message {
            // It happened, but the reply does not fit one frame.
            ServerFrame::Reply { number, .. } => {
                wire::frame(&ServerFrame::Reply { number, reply: Err(CallRefusal::Unknown) })
            }
            _ => None,
        });
        let Some(frame) = frame else { return };
        match timeout(WRITE_WITHIN, wire::send(&mut writing, &frame)).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
    let _ = timeout(WRITE_WITHIN, tokio::io::AsyncWriteExt::shutdown(&mut writing)).await;
}
