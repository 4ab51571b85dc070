//! HTTP as relayed requests, and back. Only the headers that matter to the router travel.

use axum::{Router, body::Body, extract::Request, response::Response};
use bankroll_nodes::{CallError, CallRefusal, RelayedRequest, RelayedResponse};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, request::Parts};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::FrontBackend;
use crate::{ApiError, ErrorCode, errors::error_response};

/// The headers of a request that the router reads.
const REQUEST_HEADERS: [&str; 9] = [
    "accept",
    "authorization",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "x-request-id",
    "x-bankroll-signature",
    "x-bankroll-address",
    "x-bankroll-expires",
];

impl FrontBackend {
    /// What the router answers, here or where the books are.
    pub(super) async fn ask(&self, parts: Parts, body: Bytes) -> Result<Response, ApiError> {
        match self {
            Self::Here(router) => match router.clone().oneshot(Request::from_parts(parts, Body::from(body))).await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            },
            Self::Relay(call) => {
                let relayed = call(relayed(&parts, &body)).await;
                relayed.map(to_response).map_err(|error| failure(&error))
            }
        }
    }
}

/// The request as the holder of the books gets it.
fn relayed(parts: &Parts, body: &Bytes) -> RelayedRequest {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let known = |name: &HeaderName| REQUEST_HEADERS.contains(&name.as_str());
    let headers = parts.headers.iter().filter(|(name, _)| known(name)).take(bankroll_nodes::RELAYED_HEADERS_MAX);
    RelayedRequest {
        method: parts.method.to_string(),
        path: path.to_owned(),
        // A value that is no text proves nothing, and a key that is none is missing; never replace one by another text.
        headers: headers
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect(),
        body: body.to_vec(),
    }
}

/// Answers a relayed request with the router: the part of the front that runs where the books are.
pub async fn answer(router: Router, request: RelayedRequest) -> RelayedResponse {
    let response = match to_http(request) {
        Some(request) => match router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
        None => error_response(&ApiError::new(ErrorCode::NotFound), None),
    };
    let (parts, body) = response.into_parts();
    // Bodies of the router are in memory.
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    let headers = parts.headers.iter().take(bankroll_nodes::RELAYED_HEADERS_MAX);
    let headers = headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
    RelayedResponse { status: parts.status.as_u16(), headers: headers.collect(), body }
}

fn to_http(request: RelayedRequest) -> Option<Request> {
    let RelayedRequest { method, path, headers, body } = request;
    let mut made = Request::new(Body::from(body));
    *made.method_mut() = method.parse().ok()?;
    *made.uri_mut() = path.parse::<Uri>().ok()?;
    *made.headers_mut() = to_headers(headers);
    Some(made)
}

/// The response of the holder as HTTP.
fn to_response(response: RelayedResponse) -> Response {
    let RelayedResponse { status, headers, body } = response;
    let mut made = Response::new(Body::from(body));
    *made.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    *made.headers_mut() = to_headers(headers);
    made
}

fn to_headers(headers: Vec<(String, String)>) -> HeaderMap {
    let header = |(name, value): (String, String)| Some((name.parse().ok()?, HeaderValue::from_str(&value).ok()?));
    let mut map = HeaderMap::new();
    headers.into_iter().filter_map(header).for_each(|(name, value): (HeaderName, _)| {
        map.append(name, value);
    });
    map
}

/// What a relay that failed means to the caller.
fn failure(error: &CallError) -> ApiError {
    match error {
        CallError::Busy | CallError::Refused(CallRefusal::Busy) => ApiError::new(ErrorCode::Busy).after(1),
        CallError::Refused(CallRefusal::TooLong) => ApiError::with(
            ErrorCode::BodyTooLarge,
            "the request does not fit into a call between nodes; divide the batch",
        ),
        CallError::Refused(CallRefusal::Unknown) | CallError::Unknown => {
            ApiError::new(ErrorCode::OutcomeUnknown).after(1)
        }
        CallError::ReplyTooLong | CallError::Refused(CallRefusal::ReplyTooLong) => ErrorCode::ResponseTooLarge.into(),
        // The operator gave this node a certificate without the role: waiting does not help.
        CallError::Refused(CallRefusal::NotAllowed) => ApiError::with(
            ErrorCode::Internal,
            "the books do not let this node relay requests; the operator must give it the role api",
        ),
        CallError::Refused(CallRefusal::NotHolder) | CallError::Unavailable(_) => {
            ApiError::new(ErrorCode::Unavailable).after(1)
        }
    }
}
