//! What is new, asked once for all streams of a front: one request that waits at the books until there is something.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, request::Parts};
use http_body_util::BodyExt;
use serde::Deserialize;

use super::Streams;
use crate::events_page::NEWEST_PATH;

/// After a failure of the books.
const REST: Duration = Duration::from_millis(250);
/// An answer is two numbers.
const ANSWER_MAX: usize = 1_024;

/// What the books said last.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub(super) struct Tail {
    /// The sequence of the newest event.
    pub newest: u64,
    /// Changes with each act that may end somebody's right to a stream.
    pub rights: u64,
}

/// Starts the task that asks, unless it runs. It ends when there are no streams.
pub(super) fn follow_while_needed(streams: &Arc<Streams>) {
    if !streams.is_tail_followed.swap(true, Ordering::SeqCst) {
        tokio::spawn(follow(Arc::clone(streams)));
    }
}

async fn follow(streams: Arc<Streams>) {
    loop {
        while streams.count() > 0 {
            match ask(&streams).await {
                Some(tail) => {
                    streams.tail.send_if_modified(|known| std::mem::replace(known, tail) != tail);
                }
                None => tokio::time::sleep(REST).await,
            }
        }
        streams.is_tail_followed.store(false, Ordering::SeqCst);
        // A stream that came in between has seen the flag and started none.
        if streams.count() == 0 || streams.is_tail_followed.swap(true, Ordering::SeqCst) {
            return;
        }
    }
}

async fn ask(streams: &Streams) -> Option<Tail> {
    let Tail { newest, rights } = *streams.tail.borrow();
    let path = format!("{NEWEST_PATH}?after={newest}&rights={rights}");
    let (parts, ()): (Parts, ()) = Request::builder().method(Method::GET).uri(path).body(()).ok()?.into_parts();
    let asked = streams.backend.ask(parts, Bytes::new());
    let answer = tokio::time::timeout(streams.answer_timeout, asked).await.ok()?.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    let body = http_body_util::Limited::new(answer.into_body(), ANSWER_MAX).collect().await.ok()?.to_bytes();
    serde_json::from_slice(&body).ok()
}
