//! Nonces for sign-in messages. None is stored when it is issued: a MAC shows that it is ours, and how old it is.

use bankroll_ledger::Time;

use super::SignInRefusal;
use crate::SessionKeys;

/// How long a nonce can be used: ten minutes, in microseconds.
pub const NONCE_LIFETIME: u64 = 600 * 1_000_000;

const BYTES: usize = 4 + 8 + 12 + 16;

/// A nonce: 80 hexadecimal digits. `None` without a secret.
#[must_use]
pub fn issue_nonce(keys: &SessionKeys, random: [u8; 12], now: Time) -> Option<String> {
    let (secret, mac) = keys.nonce_mac(&claims(now, &random), now)?;
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend(secret.to_be_bytes());
    bytes.extend(claims(now, &random));
    bytes.extend(mac);
    Some(hex::encode(bytes))
}

/// Checks that a nonce is ours and young; gives the time from which on it is refused because of its age.
pub(super) fn check(keys: &SessionKeys, text: &str, now: Time) -> Result<Time, SignInRefusal> {
    let mut bytes = [0; BYTES];
    let is_plain = !text.bytes().any(|digit| digit.is_ascii_uppercase());
    if !is_plain || hex::decode_to_slice(text, &mut bytes).is_err() {
        return Err(SignInRefusal::UnknownNonce);
    }
    let (secret, rest) = bytes.split_first_chunk::<4>().ok_or(SignInRefusal::UnknownNonce)?;
    let (claims, mac) = rest.split_at_checked(8 + 12).ok_or(SignInRefusal::UnknownNonce)?;
    if !keys.is_nonce_mac(u32::from_be_bytes(*secret), claims, mac, now) {
        return Err(SignInRefusal::UnknownNonce);
    }
    let issued = claims.first_chunk::<8>().map_or(0, |issued| u64::from_be_bytes(*issued));
    let refused_from = Time(issued.saturating_add(NONCE_LIFETIME));
    if refused_from <= now { Err(SignInRefusal::NonceExpired) } else { Ok(refused_from) }
}

fn claims(now: Time, random: &[u8; 12]) -> Vec<u8> {
    [now.0.to_be_bytes().as_slice(), random].concat()
}
