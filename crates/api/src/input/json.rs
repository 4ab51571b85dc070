//! JSON and queries that have one meaning only: no unknown, missing, duplicate or mistyped field is forgiven.

use serde::de::DeserializeOwned;

use super::check_shape;
use crate::{ApiError, ErrorCode};

/// Reads a body. The type decides which fields there are; it must deny unknown ones.
///
/// # Errors
/// If the bytes are not JSON, or not of this type.
pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    check_shape(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| {
        let code = match error.classify() {
            serde_json::error::Category::Data => ErrorCode::BodyInvalid,
            _ => ErrorCode::BodyNotJson,
        };
        ApiError::with(code, shortened(&error.to_string()))
    })
}

/// Reads the part after the `?`.
///
/// # Errors
/// If a parameter is unknown, occurs twice or has a wrong value.
pub fn parse_query<T: DeserializeOwned>(query: Option<&str>) -> Result<T, ApiError> {
    let uri: http::Uri = format!("/?{}", query.unwrap_or_default())
        .parse()
        .map_err(|_| ApiError::new(ErrorCode::QueryInvalid))?;
    let parsed = axum::extract::Query::<T>::try_from_uri(&uri);
    let parsed = parsed.map_err(|error| ApiError::with(ErrorCode::QueryInvalid, shortened(&error.body_text())))?;
    Ok(parsed.0)
}

/// An error's text may repeat what the caller sent.
fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}
