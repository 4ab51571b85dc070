//! Players in answers to people and programs that may not see them: wallets lose their middle.
//!
//! A transaction stays as it is. It names a deposit, money is reconciled by it, and it is public on its chain.

use axum::{body::Body, response::Response};
use http::{HeaderValue, header};
use serde::Serialize;

use crate::{ApiError, ErrorCode, money::applied_response};

/// The digits of an address. A transaction has more.
const DIGITS: usize = 40;
/// What is left at each end.
const DIGITS_LEFT: usize = 4;

/// An answer as this caller may see it: in full, or with every address as `0x1234...abcd`.
pub(super) fn players_response(body: &impl Serialize, in_full: bool) -> Result<Response, ApiError> {
    if in_full {
        return applied_response(body, false);
    }
    let text = serde_json::to_string(body).map_err(|_| ErrorCode::Internal)?;
    let mut response = Response::new(Body::from(redacted(&text)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A text whose addresses have lost their middle.
fn redacted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let (before, found) = rest.split_at(at.saturating_add(2));
        shown.push_str(before);
        let length = found.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (digits, after) = found.split_at(length);
        match (digits.get(..DIGITS_LEFT), digits.get(length.saturating_sub(DIGITS_LEFT)..)) {
            (Some(first), Some(last)) if length == DIGITS => {
                shown.push_str(&format!("{first}...{last}"));
            }
            _ => shown.push_str(digits),
        }
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn addresses_lose_their_middle_and_nothing_else_does() {
        let wallet = "0x9c1885f0c36b4a1d5e1f0c5e7a5e3f1d2c3b4a59";
        assert_eq!(redacted(&format!("arena/funds/1/{wallet}")), "arena/funds/1/0x9c18...4a59");
        assert_eq!(redacted(&format!("[\"{wallet}\",\"{wallet}\"]")), "[\"0x9c18...4a59\",\"0x9c18...4a59\"]");
        let transaction = format!("eip155:1:{wallet}{}:native:0", "ab".repeat(12));
        assert_eq!(redacted(&transaction), transaction);
        for plain in ["", "0x", "0x1234", "arena/world/1", "wd-0123456789abcdef0123456789abcdef"] {
            assert_eq!(redacted(plain), plain);
        }
    }
}
