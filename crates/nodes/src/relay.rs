//! A request of the Funds API on its way from a front to the books, and the response on its way back.
//!
//! The front passes on what its caller sent; it adds no claim of its own. The holder of the books verifies every proof
//! in the request, so a front that was taken over can only repeat what it has seen.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, de};

/// The most headers of a request or a response. A header takes far more memory than bytes of a frame.
pub const RELAYED_HEADERS_MAX: usize = 64;

/// One HTTP request, as the front received it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayedRequest {
    pub method: String,
    /// With the query.
    pub path: String,
    /// At most [`RELAYED_HEADERS_MAX`]; some of them prove who sent the request.
    #[serde(deserialize_with = "few_headers")]
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl RelayedRequest {
    /// Whether a second delivery is answered as the first one: a read, or a change with an idempotency key.
    #[must_use]
    pub fn may_be_repeated(&self) -> bool {
        let has_key = || self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
        self.method == "GET" || has_key()
    }
}

/// The response of the books to one [`RelayedRequest`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayedResponse {
    pub status: u16,
    /// At most [`RELAYED_HEADERS_MAX`].
    #[serde(deserialize_with = "few_headers")]
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Answers relayed requests in the process that holds the books.
///
/// A request that may be repeated arrives again when its first response was lost: the handler must return the same
/// answer.
pub type RelayHandler =
    Arc<dyn Fn(RelayedRequest) -> Pin<Box<dyn Future<Output = RelayedResponse> + Send>> + Send + Sync>;

fn few_headers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    struct FewHeaders;

    impl<'de> de::Visitor<'de> for FewHeaders {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {RELAYED_HEADERS_MAX} headers")
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
            let mut headers = Vec::new();
            while let Some(header) = from.next_element()? {
                if headers.len() == RELAYED_HEADERS_MAX {
                    return Err(de::Error::invalid_length(headers.len() + 1, &self));
                }
                headers.push(header);
            }
            Ok(headers)
        }
    }

    from.deserialize_seq(FewHeaders)
}

/// Headers and bodies contain tokens and signatures, which must not reach a log.
impl fmt::Debug for RelayedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.split('?').next().unwrap_or_default();
        write!(f, "RelayedRequest({} {path}, {} bytes)", self.method, self.body.len())
    }
}

/// See [`RelayedRequest`].
impl fmt::Debug for RelayedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelayedResponse({}, {} bytes)", self.status, self.body.len())
    }
}
