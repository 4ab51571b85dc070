//! The simulated chain behind HTTP on loopback: one thread, one request at a time, blocks on the clock.
//!
//! It guarantees: a request has at most five megabytes; a simulated silence keeps its caller waiting for at most a
//! minute.
//!
//! It does not know: JSON-RPC (it passes bytes to the chain and back), the time (the caller brings it), which address
//! to listen on.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context;
use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use bankroll_chains_simulated::{RpcReply, SimulatedChain};
use tokio::{
    net::TcpListener,
    time::{MissedTickBehavior, interval, sleep},
};

const REQUEST_BYTES: usize = 5 << 20;

/// Longer than clients wait.
const SILENCE: Duration = Duration::from_secs(60);

/// The chain, shared by the server and the miner.
pub type SharedChain = Arc<Mutex<SimulatedChain>>;

/// Serves until `ended` completes.
pub async fn serve(
    listener: TcpListener,
    chain: SharedChain,
    ended: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let routes = Router::new()
        .route("/", post(|State(chain): State<SharedChain>, body: Bytes| async move { answer(&chain, 0, &body).await }))
        .route(
            "/node/{number}",
            post(|State(chain): State<SharedChain>, Path(node): Path<usize>, body: Bytes| async move {
                answer(&chain, node, &body).await
            }),
        )
        .layer(DefaultBodyLimit::max(REQUEST_BYTES))
        .with_state(chain);
    tokio::select! {
        served = async { axum::serve(listener, routes).await.context("cannot serve") } => served,
        ended = ended => ended,
    }
}

/// Mines a block at every interval, until it is dropped. `seconds` is the time of a new block, in seconds since 1970.
pub async fn mine(chain: SharedChain, every: Duration, seconds: impl Fn() -> u64) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        chain.lock().unwrap_or_else(PoisonError::into_inner).mine(seconds());
    }
}

async fn answer(chain: &SharedChain, node: usize, request: &[u8]) -> Response {
    let reply = chain.lock().unwrap_or_else(PoisonError::into_inner).answer(node, request);
    match reply {
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
