//! How old and how far ahead a signed message may be.

use bankroll_ledger::Time;

use super::RegistrationRefusal;

/// How far ahead a message may expire.
pub const AHEAD_MAX_SECONDS: u64 = 600;
/// How far the signer's clock and ours may differ.
pub const SKEW_SECONDS: u64 = 60;

const MICROS: u64 = 1_000_000;

/// Checks the expiry of a signed message; gives the time from which on it is refused because of its age.
pub(crate) fn check(expires: u64, now: Time) -> Result<Time, RegistrationRefusal> {
    let server_time = now.0 / MICROS;
    // In this order: nothing overflows, whatever was signed.
    if expires > server_time.saturating_add(AHEAD_MAX_SECONDS).saturating_add(SKEW_SECONDS) {
        return Err(RegistrationRefusal::TooFarAhead { server_time });
    }
    let refused_from = expires.saturating_add(SKEW_SECONDS).saturating_mul(MICROS);
    if refused_from <= now.0 { Err(RegistrationRefusal::Expired { server_time }) } else { Ok(Time(refused_from)) }
}
