//! In preparation.

pub mod errors;
pub mod front;
pub mod input;
mod state;

pub use errors::{ApiError, ErrorCode};

/// The document of all operations.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    utoipa::openapi::OpenApi::default()
}
