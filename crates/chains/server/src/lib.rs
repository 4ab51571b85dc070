//! The simulated chain behind HTTP and WebSocket on loopback: one thread, one request at a time, blocks on the clock; in
//! a file if it must outlive the process.
//!
//! It guarantees: a request has at most five megabytes; a simulated silence keeps its caller waiting for at most a
//! minute; a block is on disk before any client sees it, if there is a file. By WebSocket, on the same port and paths,
//! the same requests are answered, and new heads announced; connections and messages are bounded.
//!
//! It does not know: JSON-RPC (it passes bytes to the chain and back, and reads them for the observer and for
//! subscriptions only), the time (the caller brings it), which address to listen on.
//!
//! | to learn | read |
//! | --- | --- |
//! | serving | [`serve`], [`mine`], [`ChainHost`] |
//! | storing | [`BlockFile`] |
//! | watching | [`ChainHostEvent`], [`RpcCall`] |

mod block_file;
mod block_tracker;
mod chain_host;
mod rpc_call;
mod socket_pipe;
mod websocket;

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use bankroll_chains_simulated::RpcReply;
use tokio::{
    net::TcpListener,
    time::{MissedTickBehavior, interval, sleep},
};

pub use block_file::BlockFile;
pub use chain_host::{ChainHost, ChainHostEvent, ChainObserver, SharedChain};
pub use rpc_call::{CallOutcome, RpcCall};

const REQUEST_BYTES: usize = 5 << 20;

/// Longer than clients wait.
const SILENCE: Duration = Duration::from_secs(60);

/// Serves until `ended` completes, or a block cannot be stored.
pub async fn serve(
    listener: TcpListener,
    host: Arc<ChainHost>,
    ended: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let failing = Arc::clone(&host);
    let routes =
        Router::new()
            .route(
                "/",
                post(|State(host): State<Arc<ChainHost>>, body: Bytes| async move { answer(&host, 0, &body).await })
                    .get(|State(host): State<Arc<ChainHost>>, request: Request| async move {
                        websocket::accept(host, 0, request)
                    }),
            )
            .route(
                "/node/{number}",
                post(|State(host): State<Arc<ChainHost>>, Path(node): Path<usize>, body: Bytes| async move {
                    answer(&host, node, &body).await
                })
                .get(
                    |State(host): State<Arc<ChainHost>>, Path(node): Path<usize>, request: Request| async move {
                        websocket::accept(host, node, request)
                    },
                ),
            )
            .layer(DefaultBodyLimit::max(REQUEST_BYTES))
            .with_state(host);
    tokio::select! {
        served = async { axum::serve(listener, routes).await.context("cannot serve") } => served,
        ended = ended => ended,
        error = failing.failure() => Err(error),
    }
}

/// Mines a block at every interval, until it is dropped. `seconds` is the time of a new block, in seconds since 1970.
pub async fn mine(host: Arc<ChainHost>, every: Duration, seconds: impl Fn() -> u64) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        host.mine(seconds());
    }
}

async fn answer(host: &ChainHost, node: usize, request: &[u8]) -> Response {
    match host.answer(node, request) {
        RpcReply::Body(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        RpcReply::Status(status, text) => {
            (StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY), text).into_response()
        }
        RpcReply::NoAnswer => {
            // A caller that gives up drops this task.
            sleep(SILENCE).await;
            StatusCode::GATEWAY_TIMEOUT.into_response()
        }
        // The port cannot be closed from here; an unavailable gateway comes closest.
        RpcReply::Unreachable => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
