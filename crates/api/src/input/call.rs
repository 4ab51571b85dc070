//! A request as handlers get it: nothing in it is believed before [`Funds::enter`](crate::Funds::enter) has checked its
//! proof.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Request},
};
use http::{HeaderMap, HeaderName, Method, header, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::parse_json;
use crate::{ApiError, ErrorCode};

/// The most bytes of a body.
pub const BODY_MAX: usize = 1 << 20;
/// The most bytes of the body of a batch.
pub const BATCH_BODY_MAX: usize = 8 << 20;
const KEY_MAX: usize = 200;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const SIGNATURE: HeaderName = HeaderName::from_static("x-bankroll-signature");
const ADDRESS: HeaderName = HeaderName::from_static("x-bankroll-address");
const EXPIRES: HeaderName = HeaderName::from_static("x-bankroll-expires");

/// A request with its raw bytes.
pub struct ApiCall {
    pub method: Method,
    /// With the query, as it was sent.
    pub path: String,
    pub proof: CallProof,
    headers: HeaderMap,
    body: Bytes,
}

/// Without headers and body: they have tokens and signatures.
impl std::fmt::Debug for ApiCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApiCall({} {}, {:?}, {} bytes)", self.method, self.path, self.proof, self.body.len())
    }
}

/// What the caller offers as proof of who they are.
#[derive(Clone, PartialEq, Eq)]
pub enum CallProof {
    None,
    /// The token of `Authorization: Bearer`.
    Token(String),
    /// A signature over this request.
    Signature {
        signature: String,
        address: String,
        expires: u64,
    },
}

/// Never shows a token.
impl std::fmt::Debug for CallProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token",
            Self::Signature { .. } => "Signature",
        })
    }
}

impl ApiCall {
    /// The body, read strictly.
    ///
    /// # Errors
    /// If it is not JSON of this type.
    pub fn body<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let kind = self.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            return Err(ErrorCode::MediaType.into());
        }
        parse_json(&self.body)
    }

    /// The parameters after the `?`.
    ///
    /// # Errors
    /// If one is unknown or has a wrong value.
    pub fn query<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        super::parse_query(self.path.split_once('?').map(|(_, query)| query))
    }

    #[must_use]
    pub fn raw_body(&self) -> &[u8] {
        &self.body
    }

    /// The caller's idempotency key, which every change needs.
    ///
    /// # Errors
    /// If it is missing or malformed.
    pub fn key(&self) -> Result<&str, ApiError> {
        self.key_if_any()?.ok_or_else(|| ErrorCode::IdempotencyKeyMissing.into())
    }

    /// # Errors
    /// If there is a malformed one.
    pub fn key_if_any(&self) -> Result<Option<&str>, ApiError> {
        let mut keys = self.headers.get_all(IDEMPOTENCY_KEY).iter();
        let (Some(key), None) = (keys.next(), keys.next()) else {
            return if self.headers.contains_key(IDEMPOTENCY_KEY) {
                Err(ApiError::with(ErrorCode::IdempotencyKeyInvalid, "the header Idempotency-Key occurs twice"))
            } else {
                Ok(None)
            };
        };
        let key = key.to_str().map_err(|_| ErrorCode::IdempotencyKeyInvalid)?;
        let is_printable = key.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
        if (1..=KEY_MAX).contains(&key.len()) && is_printable {
            Ok(Some(key))
        } else {
            Err(ErrorCode::IdempotencyKeyInvalid.into())
        }
    }
}

/// The most bytes of the body of this request: only a batch may be long.
#[must_use]
pub fn body_max(method: &Method, path: &str) -> usize {
    if is_batch(method, path) { BATCH_BODY_MAX } else { BODY_MAX }
}

/// Whether this is `POST /v1/servers/{server}/batch`.
#[must_use]
pub fn is_batch(method: &Method, path: &str) -> bool {
    let server = path.strip_prefix("/v1/servers/").and_then(|rest| rest.strip_suffix("/batch"));
    method == Method::POST && server.is_some_and(|server| !server.is_empty() && !server.contains('/'))
}

/// The token in the value of `Authorization`, however its caller spells the scheme and the spaces.
#[must_use]
pub fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl<S: Send + Sync> FromRequest<S> for ApiCall {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (Parts { method, uri, headers, .. }, body) = request.into_parts();
        let path = uri.path_and_query().map_or_else(String::new, |path| path.as_str().to_owned());
        let limit = body_max(&method, uri.path());
        let body = match Limited::new(body, limit).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(ErrorCode::BodyTooLarge.into()),
            Err(_) => return Err(ErrorCode::BodyTimeout.into()),
        };
        Ok(Self { method, path, proof: proof_of(&headers)?, headers, body })
    }
}

fn proof_of(headers: &HeaderMap) -> Result<CallProof, ApiError> {
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(signature) = text(&SIGNATURE) {
        let missing = |name: &str| ApiError::with(ErrorCode::Unauthenticated, format!("the header {name} is missing"));
        let address = text(&ADDRESS).ok_or_else(|| missing("X-Bankroll-Address"))?.to_owned();
        let expires = text(&EXPIRES).ok_or_else(|| missing("X-Bankroll-Expires"))?;
        let expires = expires.parse().map_err(|_| {
            ApiError::with(ErrorCode::SignatureMalformed, "X-Bankroll-Expires is a number of seconds since 1970")
        })?;
        return Ok(CallProof::Signature { signature: signature.to_owned(), address, expires });
    }
    let Some(value) = text(&header::AUTHORIZATION) else { return Ok(CallProof::None) };
    bearer_token(value)
        .map(|token| CallProof::Token(token.to_owned()))
        .ok_or_else(|| ApiError::with(ErrorCode::Unauthenticated, "the header Authorization must be `Bearer TOKEN`"))
}

/// The variable parts of a path. One that is malformed names nothing.
#[derive(Debug)]
pub struct PathParts<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParts<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(parts)| Self(parts)).map_err(|_| ErrorCode::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_batch_may_be_long() {
        assert_eq!(body_max(&Method::POST, "/v1/servers/arena/batch"), BATCH_BODY_MAX);
        for path in ["/x/batch", "/v1/servers/batch", "/v1/servers//batch", "/v1/servers/a/b/batch", "/v1/sessions"] {
            assert_eq!(body_max(&Method::POST, path), BODY_MAX, "{path}");
        }
        assert_eq!(body_max(&Method::PUT, "/v1/servers/arena/batch"), BODY_MAX);
    }

    #[test]
    fn a_token_is_the_same_in_every_spelling_of_its_header() {
        for value in ["Bearer s3cret", "bearer s3cret", "BEARER   s3cret", " Bearer s3cret "] {
            assert_eq!(bearer_token(value), Some("s3cret"), "{value:?}");
        }
        for value in ["", "Bearer", "Basic s3cret", "s3cret", "Bearers3cret"] {
            assert_eq!(bearer_token(value), None, "{value:?}");
        }
    }

    #[tokio::test]
    async fn debug_shows_no_token_and_no_signature() {
        let request = http::Request::builder().uri("/v1/me?a=1").header("authorization", "Bearer s3cret");
        let request = request.body(axum::body::Body::from(r#"{"signature":"0xs3cret"}"#)).unwrap();
        let call = ApiCall::from_request(request, &()).await.unwrap();
        assert_eq!(format!("{call:?}"), "ApiCall(GET /v1/me?a=1, Token, 24 bytes)");
    }
}
