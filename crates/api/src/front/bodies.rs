//! Bodies of requests: how long one may be, and how many bytes of all of them are in memory.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header, request::Parts};
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::FrontConfig;
use crate::{
    ApiError, ErrorCode,
    input::{BATCH_BODY_MAX, is_batch},
};

/// This part of a body is not counted: the number of connections bounds it. Otherwise a few callers that send long
/// bodies slowly would use up what every other request needs.
const UNCOUNTED: usize = 64 << 10;

/// The bound of all long bodies together.
#[derive(Debug)]
pub(super) struct Bodies {
    /// One permit for each byte that counts.
    bytes: Arc<Semaphore>,
    body_max: usize,
    timeout: Duration,
}

/// A body that was read. What counts of it counts until this is dropped.
#[derive(Debug)]
pub(super) struct ReadBody {
    pub bytes: Bytes,
    _counted: Option<OwnedSemaphorePermit>,
}

impl Bodies {
    pub fn new(config: &FrontConfig) -> Self {
        let bytes = Arc::new(Semaphore::new(config.bodies_max.min(Semaphore::MAX_PERMITS)));
        Self { bytes, body_max: config.body_max, timeout: config.body_timeout }
    }

    /// The whole body, within its limit, within what all bodies may use, and in time.
    pub async fn read<B: Body<Data = Bytes> + Unpin>(&self, parts: &Parts, body: B) -> Result<ReadBody, ApiError> {
        let limit = self.limit(parts);
        if body.size_hint().lower() > limit as u64 {
            return Err(ErrorCode::BodyTooLarge.into());
        }
        if body.is_end_stream() {
            return Ok(ReadBody { bytes: Bytes::new(), _counted: None });
        }
        match tokio::time::timeout(self.timeout, self.collect(body, limit)).await {
            Ok(read) => read,
            Err(_) => Err(ErrorCode::BodyTimeout.into()),
        }
    }

    /// Counts received bytes, not announced ones: an announcement costs its sender nothing.
    async fn collect<B: Body<Data = Bytes> + Unpin>(&self, mut body: B, limit: usize) -> Result<ReadBody, ApiError> {
        let (mut bytes, mut counted) = (BytesMut::new(), None::<OwnedSemaphorePermit>);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| ErrorCode::BodyTimeout)?;
            let Ok(chunk) = frame.into_data() else { continue };
            if chunk.len() > limit - bytes.len() {
                return Err(ErrorCode::BodyTooLarge.into());
            }
            let length = bytes.len() + chunk.len();
            let more = length.saturating_sub(UNCOUNTED) - bytes.len().saturating_sub(UNCOUNTED);
            let more = u32::try_from(more).map_err(|_| ErrorCode::BodyTooLarge)?;
            let more = Arc::clone(&self.bytes).try_acquire_many_owned(more);
            let more = more.map_err(|_| ApiError::new(ErrorCode::Busy).after(1))?;
            match &mut counted {
                Some(counted) => counted.merge(more),
                None => counted = Some(more),
            }
            // Copied: a short chunk would keep the connection's whole buffer in memory.
            bytes.extend_from_slice(&chunk);
        }
        Ok(ReadBody { bytes: bytes.freeze(), _counted: counted })
    }

    /// Long bodies only where a batch is, and only from a caller that shows a proof. Whether the proof holds is known
    /// after the body was read.
    fn limit(&self, parts: &Parts) -> usize {
        if is_batch(&parts.method, parts.uri.path()) && has_proof(&parts.headers) {
            self.body_max.max(BATCH_BODY_MAX)
        } else {
            self.body_max
        }
    }
}

fn has_proof(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || headers.contains_key("x-bankroll-signature")
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http_body_util::Full;

    use super::*;

    fn bodies(body_max: usize, bodies_max: usize) -> Bodies {
        Bodies::new(&FrontConfig { body_max, bodies_max, ..FrontConfig::new("127.0.0.1:0".parse().unwrap()) })
    }

    fn parts(method: &str, path: &str, header: &str) -> Parts {
        Request::builder().method(method).uri(path).header(header, "x").body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_a_batch_with_a_proof_may_be_long() {
        let bodies = bodies(1_000, 1 << 28);
        let limit = |method, path, header| bodies.limit(&parts(method, path, header));
        assert_eq!(limit("POST", "/v1/servers/arena/batch", "authorization"), BATCH_BODY_MAX);
        assert_eq!(limit("POST", "/v1/servers/arena/batch", "x-bankroll-signature"), BATCH_BODY_MAX);
        assert_eq!(limit("POST", "/v1/servers/arena/batch", "host"), 1_000, "no proof");
        for path in ["/x/batch", "/v1/servers/batch", "/v1/servers//batch", "/v1/servers/a/b/batch", "/v1/sessions"] {
            assert_eq!(limit("POST", path, "authorization"), 1_000, "{path}");
        }
        assert_eq!(limit("PUT", "/v1/servers/arena/batch", "authorization"), 1_000);
    }

    #[tokio::test]
    async fn long_bodies_together_are_bounded_until_they_are_answered_and_short_ones_are_not() {
        let bodies = bodies(UNCOUNTED + 8, 10);
        let parts = parts("POST", "/v1/sessions", "host");
        let read = |length: usize| bodies.read(&parts, Full::new(Bytes::from(vec![b' '; length])));
        assert_eq!(read(UNCOUNTED + 9).await.unwrap_err().code, ErrorCode::BodyTooLarge);
        let first = read(UNCOUNTED + 8).await.unwrap();
        assert_eq!(read(UNCOUNTED + 3).await.unwrap_err().code, ErrorCode::Busy, "8 of 10 bytes are in use");
        let second = read(UNCOUNTED + 2).await.unwrap();
        assert_eq!(read(UNCOUNTED).await.unwrap().bytes.len(), UNCOUNTED, "all are in use, and this needs none");
        drop(first);
        assert_eq!(read(UNCOUNTED + 8).await.unwrap().bytes.len(), UNCOUNTED + 8);
        drop(second);
    }
}
