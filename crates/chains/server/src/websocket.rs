//! A connection by WebSocket: the same requests as by HTTP, and `eth_subscribe` to `newHeads`.
//!
//! Bounds: [`CONNECTIONS_MAX`] connections, [`SUBSCRIPTIONS_MAX`] subscriptions each, messages as long as requests by
//! HTTP. A client that does not read for [`STALLED`] loses its connection. Planned faults meet requests as by HTTP, but
//! not heads: of those, lags, branches and crashes of the node are seen.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use bankroll_chains_simulated::{B256, RpcReply};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{MissedTickBehavior, interval, timeout},
};
use tungstenite::handshake::derive_accept_key;

use crate::{
    ChainHost, REQUEST_BYTES,
    socket_pipe::{SocketEnded, SocketPipe},
};

pub const CONNECTIONS_MAX: usize = 64;
const SUBSCRIPTIONS_MAX: usize = 16;
const STALLED: Duration = Duration::from_secs(10);

/// How soon a block is noticed that another part of the process made, and not the host.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Answers a request to change to WebSocket, and serves the connection until it ends.
pub fn accept(host: Arc<ChainHost>, node: usize, mut request: Request) -> Response {
    let Some(key) = key_of(request.headers()) else {
        return (StatusCode::UPGRADE_REQUIRED, "send JSON-RPC by POST, or open a WebSocket\n").into_response();
    };
    let Ok(permit) = Arc::clone(&host.sockets).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many connections\n").into_response();
    };
    if host.shown_head(node).is_none() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the node is down\n").into_response();
    }
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let connection = SocketConnection { host, node, subscriptions: Vec::new(), numbered: 0, head: B256::ZERO };
            let _ = connection.serve(TokioIo::new(upgraded)).await;
        }
        drop(permit);
    });
    let headers = [
        (header::CONNECTION, "upgrade".to_owned()),
        (header::UPGRADE, "websocket".to_owned()),
        (header::SEC_WEBSOCKET_ACCEPT, derive_accept_key(&key)),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn key_of(headers: &HeaderMap) -> Option<Vec<u8>> {
    let has = |name, word: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let is_upgrade = has(header::CONNECTION, "upgrade") && has(header::UPGRADE, "websocket");
    let fits = is_upgrade && has(header::SEC_WEBSOCKET_VERSION, "13");
    headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| fits).map(|key| key.as_bytes().to_vec())
}

struct SocketConnection {
    host: Arc<ChainHost>,
    node: usize,
    /// The numbers of the subscriptions to new heads.
    subscriptions: Vec<u64>,
    numbered: u64,
    /// The last head that the subscriptions know.
    head: B256,
}

impl SocketConnection {
    async fn serve(mut self, mut io: TokioIo<Upgraded>) -> Result<(), SocketEnded> {
        let mut pipe = SocketPipe::new(REQUEST_BYTES);
        let (mut changes, mut looks) = (self.host.changes.subscribe(), interval(LOOK_EVERY));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut bytes = vec![0; 16 << 10];
        loop {
            let served = tokio::select! {
                read = io.read(&mut bytes) => match read {
                    Ok(0) | Err(_) => return Err(SocketEnded),
                    Ok(count) => {
                        pipe.receive(bytes.get(..count).unwrap_or_default());
                        self.answer_all(&mut pipe)
                    }
                },
                changed = changes.changed() => match changed {
                    Ok(()) => self.tell_heads(&mut pipe),
                    Err(_) => Err(SocketEnded),
                },
                _ = looks.tick(), if !self.subscriptions.is_empty() => self.tell_heads(&mut pipe),
            };
            // Also when it ends: a refusal, or the last answer to a closed connection.
            let written = timeout(STALLED, io.write_all(&pipe.take_to_send())).await;
            if served.is_err() || !matches!(written, Ok(Ok(()))) {
                let _ = timeout(STALLED, io.shutdown()).await;
                return Err(SocketEnded);
            }
        }
    }

    fn answer_all(&mut self, pipe: &mut SocketPipe) -> Result<(), SocketEnded> {
        while let Some(request) = pipe.message()? {
            if let Some(answer) = self.answer(&request)? {
                pipe.send(answer)?;
            }
        }
        Ok(())
    }

    /// `None` if the node stays silent.
    fn answer(&mut self, request: &[u8]) -> Result<Option<String>, SocketEnded> {
        let parsed: Value = serde_json::from_slice(request).unwrap_or_default();
        let result = match parsed["method"].as_str() {
            Some("eth_subscribe") => self.subscribe(&parsed["params"]),
            Some("eth_unsubscribe") => self.unsubscribe(&parsed["params"]),
            _ => return self.pass_on(request),
        };
        let answer = match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": parsed["id"], "result": result }),
            Err(why) => {
                json!({ "jsonrpc": "2.0", "id": parsed["id"], "error": { "code": -32602, "message": why } })
            }
        };
        Ok(Some(answer.to_string()))
    }

    fn pass_on(&self, request: &[u8]) -> Result<Option<String>, SocketEnded> {
        match self.host.answer(self.node, request) {
            RpcReply::Body(body) => String::from_utf8(body).map(Some).map_err(|_| SocketEnded),
            RpcReply::NoAnswer => Ok(None),
            // There is no status after the handshake: gateways close the connection.
            RpcReply::Status(..) | RpcReply::Unreachable => Err(SocketEnded),
        }
    }

    fn subscribe(&mut self, params: &Value) -> Result<Value, &'static str> {
        if params[0] != "newHeads" {
            return Err("only newHeads can be subscribed to");
        }
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX {
            return Err("too many subscriptions");
        }
        if self.subscriptions.is_empty() {
            self.head = self.host.shown_head(self.node).unwrap_or_default();
        }
        self.numbered = self.numbered.wrapping_add(1);
        self.subscriptions.push(self.numbered);
        Ok(name(self.numbered))
    }

    fn unsubscribe(&mut self, params: &Value) -> Result<Value, &'static str> {
        let before = self.subscriptions.len();
        self.subscriptions.retain(|number| name(*number) != params[0]);
        if self.subscriptions.len() == before { Err("subscription not found") } else { Ok(true.into()) }
    }

    fn tell_heads(&mut self, pipe: &mut SocketPipe) -> Result<(), SocketEnded> {
        let (head, headers) = self.host.new_heads(self.node, self.head).ok_or(SocketEnded)?;
        self.head = head;
        for header in headers {
            for number in &self.subscriptions {
                let params = json!({ "subscription": name(*number), "result": header });
                pipe.send(json!({ "jsonrpc": "2.0", "method": "eth_subscription", "params": params }).to_string())?;
            }
        }
        Ok(())
    }
}

fn name(number: u64) -> Value {
    format!("{number:#x}").into()
}
