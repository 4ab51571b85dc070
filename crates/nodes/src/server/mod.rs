//! The books' side: accepts connections, checks the rights of each peer, and passes calls to the handler.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `mod` | [`NodeServer`]: other nodes, by mutual TLS; starting and stopping |
//! | `local` | [`LocalServer`]: commands on this machine, by a socket that only one user can open |
//! | `places` | how many peers may shake hands and how many nodes may be connected, in all and of one address |
//! | `connection` | one connection, from its welcome to its end |
//!
//! | bound | effect |
//! | --- | --- |
//! | handshakes under way, in all and of one address (`places`) | the oldest ends, and the newcomer gets its place |
//! | nodes connected ([`CONNECTIONS_MAX`]), and of one address (`places`) | further ones are closed |
//! | handshake ([`HANDSHAKE`]), silence ([`SILENCE`]), a reply that the peer does not read ([`WRITE_WITHIN`]) | the connection ends |
//! | the certificate of the peer expires or is revoked | nothing more is read, and the connection ends |
//! | calls in flight on one connection ([`IN_FLIGHT_MAX`]) | nothing more is read from it until one is answered |
//! | bytes of long calls in flight, of all connections ([`LongFrames`]) | the next long call is read when one is answered |
//!
//! A failing connection never affects another. The handler completes a call even if its connection is closed; the
//! caller retries.

mod connection;
mod local;
mod places;

use std::{
    future::Future,
    io,
    net::{SocketAddr, ToSocketAddrs},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Runtime,
    sync::{Semaphore, watch},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    NodeIdentity, RelayedRequest, RelayedResponse,
    identity::Peer,
    wire::{CallRefusal, LongFrames},
};
pub use local::LocalServer;
use places::{HandshakePlace, Places};

const CONNECTIONS_MAX: usize = 256;
const IN_FLIGHT_MAX: usize = 32;
const HANDSHAKE: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(45);
const WRITE_WITHIN: Duration = Duration::from_secs(30);
/// How long calls in flight may take when the server stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

/// Answers calls while this node holds the books.
pub trait CallHandler: Send + Sync + 'static {
    /// Whether this node holds the books.
    fn holds(&self) -> bool;

    /// Answers one request of the Funds API. The same request may come again, and has the same answer.
    fn relay(&self, request: RelayedRequest) -> impl Future<Output = Result<RelayedResponse, CallRefusal>> + Send;
}

#[derive(Debug, thiserror::Error)]
pub enum NodeServerError {
    #[error("cannot listen on {address}")]
    Listen {
        address: String,
        #[source]
        source: io::Error,
    },
    #[error("cannot make the socket {path}")]
    Socket {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Answers other nodes until it is stopped or dropped.
#[derive(Debug)]
pub struct NodeServer {
    task: ServerTask,
    address: SocketAddr,
}

/// The threads of a server and its connections.
#[derive(Debug)]
struct ServerTask {
    runtime: Option<Runtime>,
    stop: watch::Sender<bool>,
    connections: Arc<Semaphore>,
}

/// Accepts connections of one kind, and finds out who the peer of each is.
trait Listener: Send + Sync + 'static {
    type Stream: Send + 'static;

    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// One connection, from its handshake to its end. It has a permit from when its peer is known.
    fn serve<D: CallHandler>(
        &self,
        stream: Self::Stream,
        connections: &Semaphore,
        shared: &Arc<ServerState<D>>,
    ) -> impl Future<Output = ()> + Send;
}

/// What all connections of a server share.
struct ServerState<D> {
    handler: Arc<D>,
    stop: watch::Receiver<bool>,
    long_frames: LongFrames,
}

impl NodeServer {
    /// Listens on this address; port 0 for any.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn start<D: CallHandler>(
        listen: &str,
        identity: &NodeIdentity,
        handler: Arc<D>,
    ) -> Result<Self, NodeServerError> {
        let failed = |source: io::Error| NodeServerError::Listen { address: listen.to_owned(), source };
        let (task, shared) = ServerTask::start(2, handler).map_err(failed)?;
        let addresses: Vec<SocketAddr> = listen.to_socket_addrs().map_err(failed)?.collect();
        let listener = task.block_on(TcpListener::bind(addresses.as_slice())).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        task.spawn(identity.clone().follow_files());
        task.accept(NodeListener { listener, identity: identity.clone(), places: Arc::default() }, shared);
        Ok(Self { task, address })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads no more requests, waits for calls in flight, and stops.
    pub fn stop(self) {
        self.task.stop();
    }
}

struct NodeListener {
    listener: TcpListener,
    identity: NodeIdentity,
    places: Arc<Places>,
}

impl Listener for NodeListener {
    type Stream = (TcpStream, HandshakePlace);

    async fn accept(&self) -> io::Result<Self::Stream> {
        self.listener.accept().await.map(|(stream, from)| (stream, self.places.begin(from.ip())))
    }

    async fn serve<D: CallHandler>(
        &self,
        (stream, mut place): Self::Stream,
        connections: &Semaphore,
        shared: &Arc<ServerState<D>>,
    ) {
        // Replies are small and latency matters.
        let _ = stream.set_nodelay(true);
        let credentials = self.identity.credentials();
        let tls = TlsAcceptor::from(Arc::clone(&credentials.server));
        let accepted = tokio::select! {
            accepted = timeout(HANDSHAKE, tls.accept(stream)) => accepted,
            () = place.lost() => return,
        };
        let Ok(Ok(stream)) = accepted else { return };
        let Some(_place) = place.finish() else { return };
        let Ok(_permit) = connections.try_acquire() else { return };
        let Some(certificate) = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first().cloned()) else {
            return;
        };
        let untrusted = self.identity.until_untrusted(&certificate, credentials);
        connection::serve(stream, Peer::of(&certificate), untrusted, shared).await;
    }
}

impl ServerTask {
    fn start<D: CallHandler>(threads: usize, handler: Arc<D>) -> io::Result<(Self, Arc<ServerState<D>>)> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(threads).thread_name("nodes").enable_all().build()?;
        let (stop, stopped) = watch::channel(false);
        let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let shared = Arc::new(ServerState { handler, stop: stopped, long_frames: LongFrames::default() });
        Ok((Self { runtime: Some(runtime), stop, connections }, shared))
    }

    fn block_on<T>(&self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        self.runtime.as_ref().map_or_else(|| Err(io::ErrorKind::BrokenPipe.into()), |runtime| runtime.block_on(work))
    }

    /// Works in the background, until the server stops.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(work);
        }
    }

    /// Accepts connections in the background, until the server stops.
    fn accept<D: CallHandler>(&self, listener: impl Listener, shared: Arc<ServerState<D>>) {
        self.spawn(accept_all(Arc::new(listener), shared, Arc::clone(&self.connections)));
    }

    fn stop(mut self) {
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

impl Drop for ServerTask {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Accepts connections until the server stops, each in a task of its own.
async fn accept_all<L: Listener, D: CallHandler>(
    listener: Arc<L>,
    shared: Arc<ServerState<D>>,
    connections: Arc<Semaphore>,
) {
    let mut stop = shared.stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let Ok(stream) = accepted else {
            // Probably out of file descriptors: other connections must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (listener, shared, connections) = (Arc::clone(&listener), Arc::clone(&shared), Arc::clone(&connections));
        tokio::spawn(async move { listener.serve(stream, &connections, &shared).await });
    }
}
