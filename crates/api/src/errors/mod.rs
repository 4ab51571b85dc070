//! Errors as callers see them: `application/problem+json` (RFC 9457) with a stable code, whether a retry may help, and
//! the id of the request.
//!
//! | file | what it does |
//! | --- | --- |
//! | `code` | every code, with its status and its explanation |
//! | `mapping` | what each negative outcome of the ledger and the store means to a caller |
//! | `render` | the body of an answer |
//! | `pages` | `docs/errors/CODE.md`, from the table of codes |

mod code;
mod mapping;
pub mod pages;
mod render;

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};

pub use code::ErrorCode;
pub use render::{ErrorBody, REQUEST_ID, RenderErrors, RenderErrorsService, error_response};

/// A request that was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub code: ErrorCode,
    /// What is wrong with this request: a sentence with its values. Never a secret.
    pub detail: Cow<'static, str>,
    /// After how many seconds a retry makes sense.
    pub retry_after: Option<u32>,
}

impl ApiError {
    #[must_use]
    pub const fn new(code: ErrorCode) -> Self {
        Self { code, detail: Cow::Borrowed(code.title()), retry_after: None }
    }

    /// With a sentence about this request.
    #[must_use]
    pub fn with(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into(), retry_after: None }
    }

    /// The same error if it says what was decided; `outcome_unknown` if it says only that the service could not read.
    /// For everything that follows a commit: there "nothing was changed" would be a lie.
    #[must_use]
    pub fn after_commit(self) -> Self {
        match self.code {
            ErrorCode::Unavailable | ErrorCode::Busy | ErrorCode::BooksDamaged | ErrorCode::Internal => {
                Self::new(ErrorCode::OutcomeUnknown).after(1)
            }
            _ => self,
        }
    }

    #[must_use]
    pub const fn after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}

impl IntoResponse for ApiError {
    /// Status only: [`RenderErrors`] writes the body, since it knows the id of the request.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
