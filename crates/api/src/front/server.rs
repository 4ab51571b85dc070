//! Listeners and connections: a runtime of their own, and the drain at the end.

use std::{convert::Infallible, fmt, io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::response::Response;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
    sync::watch,
    time::Instant,
};
use tokio_rustls::TlsAcceptor;

use super::{
    FrontBackend, FrontConfig,
    connections::{Connection, Connections},
    gateway::Gateway,
    local_pages,
    metrics::Metrics,
    rate::network,
    route_table::RouteTable,
    streams::{Streaming, Streams},
    tls,
    write_deadline::WriteDeadline,
};

/// The most bytes of the head of a request.
const HEAD_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 64;
/// One network has at most this part of the connections.
const NETWORK_PART: usize = 8;

/// Why the front cannot start.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("cannot read {path}")]
    Pem {
        path: PathBuf,
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    #[error("the certificate and its key cannot be used")]
    Tls(#[source] rustls::Error),
    #[error("cannot start the threads of the front")]
    Runtime(#[source] io::Error),
}

/// A front that runs. Dropping it drains it.
pub struct FrontHandle {
    /// `None` only after the drain.
    runtime: Option<Runtime>,
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    connections: Arc<Connections>,
    streams: Arc<Streams>,
    drain_timeout: Duration,
    first_request_timeout: Duration,
}

/// Starts the front on threads of its own.
///
/// # Errors
/// If an address or the certificate cannot be used.
pub fn serve(config: FrontConfig, backend: FrontBackend) -> Result<FrontHandle, FrontError> {
    let acceptor = config.tls.as_ref().map(|(certificate, key)| tls::acceptor(certificate, key)).transpose()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads.max(1))
        .thread_name("front")
        .enable_all()
        .build()
        .map_err(FrontError::Runtime)?;
    let listen = |address: SocketAddr| {
        let bound = runtime.block_on(TcpListener::bind(address)).and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        bound.map_err(|source| FrontError::Listen { address, source })
    };
    let (listener, address) = listen(config.listen)?;
    let metrics_listener = config.metrics_listen.map(listen).transpose()?;
    let openapi = crate::openapi();
    let metrics = Metrics::new(RouteTable::new(&openapi));
    let local = local_pages::router(openapi, Arc::clone(&config.checks));
    // Behind a proxy every connection comes from its network.
    let per_network = config.connections_max / if config.behind_proxy { 1 } else { NETWORK_PART };
    let connections = Connections::new(config.connections_max, per_network);
    let (drain_timeout, first_request_timeout) = (config.drain_timeout, config.first_request_timeout);
    let (stop, stopped) = watch::channel(false);
    let gateway = Arc::new(Gateway::new(config, backend, local, metrics, stopped.clone()));
    let streams = Arc::clone(&gateway.streams);
    let metrics_address = metrics_listener.map(|(listener, address)| {
        runtime.spawn(serve_metrics(listener, Arc::clone(&gateway), stopped.clone()));
        address
    });
    runtime.spawn(accept(listener, acceptor, gateway, Arc::clone(&connections), stopped));
    let runtime = Some(runtime);
    Ok(FrontHandle {
        runtime,
        address,
        metrics_address,
        stop,
        connections,
        streams,
        drain_timeout,
        first_request_timeout,
    })
}

impl fmt::Debug for FrontHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrontHandle({})", self.address)
    }
}

impl FrontHandle {
    /// The public address; its port is known here if the configuration said 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// Connections that are open now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.count()
    }

    /// Event streams that are open now.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.streams.count()
    }

    /// Connections that gave way to others and have not ended yet.
    #[must_use]
    pub fn closing_connections(&self) -> usize {
        self.connections.count_closing()
    }

    /// Stops listening, lets requests in flight finish, and ends. Blocks; never call it on a thread of the front.
    pub fn drain(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // Nothing listens to it any more if the runtime is gone.
        let _ = self.stop.send(true);
        let (connections, timeout) = (Arc::clone(&self.connections), self.drain_timeout);
        let unused_until = Instant::now() + self.first_request_timeout;
        let idle = async move {
            while connections.count() > 0 {
                connections.close_all(Instant::now() >= unused_until);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // On a thread of its own: the caller may be inside another runtime.
        let ended = std::thread::Builder::new().name("front drain".into()).spawn(move || {
            let _ = runtime.block_on(async { tokio::time::timeout(timeout, idle).await });
            runtime.shutdown_timeout(Duration::from_secs(1));
        });
        let _ = ended.map(std::thread::JoinHandle::join);
    }
}

impl Drop for FrontHandle {
    fn drop(&mut self) {
        self.end();
    }
}

async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    gateway: Arc<Gateway>,
    connections: Arc<Connections>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of file descriptors, most likely: others must be closed first.
            connections.give_way();
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        admit(stream, peer, &tls, &gateway, &connections);
    }
    // Who is connected already may have sent a request: closing the listener would reset them.
    let Ok(waiting) = listener.into_std() else { return };
    while let Ok((stream, peer)) = waiting.accept() {
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        stream.into_iter().for_each(|stream| admit(stream, peer, &tls, &gateway, &connections));
    }
}

/// Serves a new connection; if every other one is answering a request, it is dropped.
fn admit(
    stream: TcpStream,
    peer: SocketAddr,
    tls: &Option<TlsAcceptor>,
    gateway: &Arc<Gateway>,
    connections: &Arc<Connections>,
) {
    // Answers are small, and each is written at once.
    let _ = stream.set_nodelay(true);
    if let Some(place) = connections.enter(network(peer.ip())) {
        tokio::spawn(connection(stream, peer, tls.clone(), Arc::clone(gateway), place));
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    gateway: Arc<Gateway>,
    place: Connection,
) {
    let Some(tls) = tls else { return serve_requests(stream, peer, gateway, place).await };
    let state = Arc::clone(&place.state);
    let handshake = tokio::time::timeout(gateway.head_timeout(), tls.accept(stream));
    let stream = tokio::select! {
        shaken = handshake => shaken,
        () = state.close.notified() => return,
    };
    if let Ok(Ok(stream)) = stream {
        serve_requests(stream, peer, gateway, place).await;
    }
}

async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    gateway: Arc<Gateway>,
    place: Connection,
) {
    let (place, timeout, close_timeout) = (Arc::new(place), gateway.head_timeout(), gateway.close_timeout());
    let stream = WriteDeadline::new(stream, gateway.write_timeout());
    let state = Arc::clone(&place.state);
    let answer = move |request: hyper::Request<Incoming>| {
        let (gateway, place) = (Arc::clone(&gateway), Arc::clone(&place));
        async move {
            place.state.set_used();
            let response: Response = gateway.answer(peer, &place, request).await;
            // A stream keeps its connection until it has ended.
            if response.extensions().get::<Streaming>().is_none() {
                place.set_idle();
            }
            Ok::<_, Infallible>(response)
        }
    };
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(timeout).max_headers(HEADERS_MAX).max_buf_size(HEAD_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), service_fn(answer));
    tokio::pin!(connection);
    let mut drop_at = None;
    loop {
        let too_late = async {
            match drop_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // A caller that breaks the connection is no event of ours.
            _ = connection.as_mut() => return,
            () = state.drop_now.notified() => return,
            () = state.close.notified() => {
                connection.as_mut().graceful_shutdown();
                // A drain signals many times.
                drop_at.get_or_insert_with(|| Instant::now() + close_timeout);
            }
            // In a drain the books may still answer; otherwise the caller does not send or take the rest. A stream has
            // said that it ends; who does not read that is cut off.
            () = too_late => match state.is_busy() && !state.is_streaming() {
                true => drop_at = Some(Instant::now() + close_timeout),
                false => return,
            },
        }
    }
}

/// `/metrics` on its own address: few callers, one connection each.
async fn serve_metrics(listener: TcpListener, gateway: Arc<Gateway>, mut stopped: watch::Receiver<bool>) {
    let router = axum::Router::new().route(
        "/metrics",
        axum::routing::get(move || {
            let text = gateway.metrics_text();
            async move { ([(http::header::CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
        }),
    );
    let served = axum::serve(listener, router).with_graceful_shutdown(async move {
        let _ = stopped.changed().await;
    });
    let _ = served.await;
}
