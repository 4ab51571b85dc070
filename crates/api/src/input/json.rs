//! JSON and queries that have one meaning only: no unknown, missing, duplicate or mistyped field is forgiven.

use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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

/// Reads the part after the `?`: texts only, so the type has fields of `Option<String>`.
///
/// # Errors
/// If a parameter is unknown, occurs twice, is not UTF-8 or has a control character.
pub fn parse_query<T: DeserializeOwned>(query: Option<&str>) -> Result<T, ApiError> {
    let wrong = |detail: &str| ApiError::with(ErrorCode::QueryInvalid, shortened(detail));
    let text = |raw: &str| {
        let spaced = raw.replace('+', " ");
        let decoded = percent_decode_str(&spaced).decode_utf8().map(|text| text.into_owned());
        let decoded = decoded.map_err(|_| wrong("a parameter is not UTF-8"))?;
        // No text of ours has them, and a database may refuse them with an error that looks like an outage.
        if decoded.contains(char::is_control) {
            return Err(wrong("a parameter has a control character"));
        }
        Ok(decoded)
    };
    let mut fields = Map::new();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if fields.insert(text(name)?, Value::from(text(value)?)).is_some() {
            return Err(wrong("a parameter occurs twice"));
        }
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| wrong(&error.to_string()))
}

/// An error's text may repeat what the caller sent.
fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}
