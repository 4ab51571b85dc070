//! In preparation.

pub mod errors;

pub use errors::{ApiError, ErrorCode};
