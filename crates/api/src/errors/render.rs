//! The body of an error, with the id of the request it answers.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, extract::Request, response::Response};
use http::{HeaderName, HeaderValue, header};
use serde::Serialize;
use tower::{Layer, Service};
use utoipa::ToSchema;

use super::ApiError;

/// The id of a request: accepted from the caller or made by the front, returned with the answer, and in every log line.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// An error as `application/problem+json`.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody<'a> {
    /// The page of the code.
    #[serde(rename = "type")]
    pub page: String,
    pub title: &'a str,
    pub status: u16,
    /// Stable; what programs compare.
    #[schema(example = "insufficient_funds")]
    pub code: &'a str,
    pub detail: &'a str,
    /// Whether the same request with the same key may succeed later.
    pub retriable: bool,
    pub request_id: &'a str,
}

impl<'a> ErrorBody<'a> {
    #[must_use]
    pub fn of(error: &'a ApiError, request_id: &'a str) -> Self {
        let code = error.code;
        Self {
            page: format!("/errors/{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            code: code.as_str(),
            detail: &error.detail,
            retriable: code.is_retriable(),
            request_id,
        }
    }
}

/// The whole answer to a request with this id.
#[must_use]
pub fn error_response(error: &ApiError, request_id: Option<&HeaderValue>) -> Response {
    let id = request_id.and_then(|id| id.to_str().ok()).unwrap_or_default();
    let body = serde_json::to_vec(&ErrorBody::of(error, id)).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = error.code.status();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if let Some(seconds) = error.retry_after {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    response.extensions_mut().insert(error.clone());
    response
}

/// Writes the bodies of errors that handlers return, and adds the request's id to every answer.
#[derive(Clone, Copy, Debug)]
pub struct RenderErrors;

#[derive(Clone, Debug)]
pub struct RenderErrorsService<S>(S);

impl<S> Layer<S> for RenderErrors {
    type Service = RenderErrorsService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RenderErrorsService(inner)
    }
}

impl<S> Service<Request> for RenderErrorsService<S>
where
    S: Service<Request, Response = Response>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let id = request.headers().get(REQUEST_ID).cloned();
        let answered = self.0.call(request);
        Box::pin(async move {
            let mut response = answered.await?;
            if let Some(error) = response.extensions_mut().remove::<ApiError>() {
                // Of the answer that the error replaces only `Allow` matters.
                let allow = response.headers_mut().remove(header::ALLOW);
                response = error_response(&error, id.as_ref());
                allow.into_iter().for_each(|allow| drop(response.headers_mut().insert(header::ALLOW, allow)));
            }
            if let Some(id) = id {
                response.headers_mut().insert(REQUEST_ID, id);
            }
            Ok(response)
        })
    }
}
