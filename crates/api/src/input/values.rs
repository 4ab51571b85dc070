//! Values as callers write them.

use bankroll_ledger::{Amount, HoldId, Seq, Time};
use bankroll_terminal::when;

use crate::{ApiError, ErrorCode};

/// An amount of base units: `"1500"`.
///
/// # Errors
/// If it is anything else than decimal digits without leading zeros, at most 2^128 - 1.
pub fn amount(text: &str) -> Result<Amount, ApiError> {
    Ok(text.parse::<Amount>()?)
}

/// The number in `hold_1234`. A text that is no such id is the id of nothing.
///
/// # Errors
/// [`ErrorCode::NotFound`].
pub fn hold_id(text: &str) -> Result<HoldId, ApiError> {
    numbered(text, "hold_").map(HoldId)
}

/// The number in `rec_1234`.
///
/// # Errors
/// [`ErrorCode::NotFound`].
pub fn record_seq(text: &str) -> Result<Seq, ApiError> {
    numbered(text, "rec_").map(Seq)
}

fn numbered(text: &str, prefix: &str) -> Result<u64, ApiError> {
    let digits = text.strip_prefix(prefix).ok_or(ErrorCode::NotFound)?;
    let number: u64 = digits.parse().map_err(|_| ErrorCode::NotFound)?;
    // The parser accepts `+1` and `01`; one thing has one id.
    if number.to_string() == digits { Ok(number) } else { Err(ErrorCode::NotFound.into()) }
}

/// A time in RFC 3339.
///
/// # Errors
/// [`ErrorCode::BodyInvalid`] or, with `code`, another one.
pub fn time(text: &str, code: ErrorCode) -> Result<Time, ApiError> {
    let wrong = || ApiError::with(code, "a time is written 2026-11-15T08:30:00Z");
    if !text.contains('T') {
        return Err(wrong());
    }
    when::parse(text).map_err(|_| wrong())
}

/// A time in RFC 3339, in UTC.
#[must_use]
pub fn show_time(time: Time) -> String {
    when::show(time)
}
