//! One connection: the welcome, requests in, replies out.

use std::{future::Future, sync::Arc};

use tokio::{
    io::{ReadHalf, WriteHalf},
    sync::{Semaphore, mpsc},
    time::timeout,
};

use super::{CallHandler, IN_FLIGHT_MAX, SILENCE, ServerState, WRITE_WITHIN};
use crate::{
    NodeRoles, RELAYED_HEADERS_MAX,
    identity::Peer,
    rights::may_relay,
    wire::{self, CallBody, CallRefusal, CallReply, CallRequest, FrameError, FrameViolation, NodeStream, ServerFrame},
};

/// Serves one peer from the welcome on, until it is not to be trusted any longer; a peer without a name is sent away.
pub async fn serve<S: NodeStream, D: CallHandler>(
    stream: S,
    peer: Option<Peer>,
    untrusted: impl Future<Output = ()>,
    shared: &Arc<ServerState<D>>,
) {
    let (reading, writing) = tokio::io::split(stream);
    let (replies, frames) = mpsc::channel(IN_FLIGHT_MAX);
    let writer = tokio::spawn(write(writing, frames));
    let first = match &peer {
        Some(_) => ServerFrame::Welcome { version: wire::VERSION, holds: shared.handler.holds() },
        None => ServerFrame::Goodbye(FrameViolation::Nameless),
    };
    let _ = replies.send(first).await;
    if let Some(peer) = peer {
        let is_over = tokio::select! {
            () = read_requests(reading, &peer, &replies, shared) => None,
            () = untrusted => Some(FrameViolation::Untrusted),
        };
        if let Some(why) = is_over {
            let _ = replies.send(ServerFrame::Goodbye(why)).await;
        }
    }
    // The writer ends when the last call in flight has been answered.
    drop(replies);
    let _ = writer.await;
}

/// Reads requests until the connection ends, violates the protocol, or the server stops.
async fn read_requests<S: NodeStream, D: CallHandler>(
    mut reading: ReadHalf<S>,
    peer: &Peer,
    replies: &mpsc::Sender<ServerFrame>,
    shared: &Arc<ServerState<D>>,
) {
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT_MAX));
    let mut stop = shared.stop.clone();
    loop {
        let read = tokio::select! {
            read = timeout(SILENCE, wire::read_bounded::<CallRequest>(&mut reading, &shared.long_frames)) => read,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let (request, memory) = match read {
            Ok(Ok(Some(read))) => read,
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
        let (replies, shared, roles) = (replies.clone(), Arc::clone(shared), peer.roles);
        tokio::spawn(async move {
            let reply = answer(request.body, roles, shared.handler.as_ref()).await;
            // The connection may be closed.
            let _ = replies.send(ServerFrame::Reply { number: request.number, reply }).await;
            drop((permit, memory));
        });
    }
}

async fn answer<D: CallHandler>(body: CallBody, roles: NodeRoles, handler: &D) -> Result<CallReply, CallRefusal> {
    match body {
        CallBody::Ping => Ok(CallReply::Pong),
        CallBody::Relay(request) if may_relay(roles) => match handler.relay(request).await {
            // It happened, but the peer would not read the reply.
            Ok(response) if response.headers.len() > RELAYED_HEADERS_MAX => Err(CallRefusal::ReplyTooLong),
            response => response.map(CallReply::Relayed),
        },
        CallBody::Relay(_) => Err(CallRefusal::NotAllowed),
    }
}

async fn write<S: NodeStream>(mut writing: WriteHalf<S>, mut frames: mpsc::Receiver<ServerFrame>) {
    while let Some(message) = frames.recv().await {
        let frame = wire::frame(&message).or_else(|| match message {
            // It happened, but the reply does not fit one frame.
            ServerFrame::Reply { number, .. } => {
                wire::frame(&ServerFrame::Reply { number, reply: Err(CallRefusal::ReplyTooLong) })
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
