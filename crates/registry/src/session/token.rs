//! The text of a session token: `brs_` and the hexadecimal digits of its claims and their MAC.

use std::fmt;

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;

use super::{Caller, SessionClaims, SessionId};

const PREFIX: &str = "brs_";
pub(super) const MAC_BYTES: usize = 32;
/// Tag, secret's number, session, opener, two times; and two names with their lengths.
const BODY_BYTES_MAX: usize = 1 + 4 + 16 + 20 + 8 + 8 + 2 * (1 + 128);
pub(super) const TOKEN_BYTES_MAX: usize = BODY_BYTES_MAX + MAC_BYTES;

/// A token. It is a secret of its holder: it is shown only by [`SessionToken::reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(pub(super) String);

impl SessionToken {
    /// The text, for the one answer that hands it out.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(format!("{PREFIX}{}", hex::encode(bytes)))
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(...)")
    }
}

/// Why a token proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRefusal {
    #[error("this is not a session token")]
    Malformed,
    /// Another deployment made it, or a program without our secret.
    #[error("the session token was not issued by this deployment")]
    Forged,
    #[error("the session has expired: open another")]
    Expired,
    /// The key or wallet that opened it may no longer act for that caller.
    #[error("the key that opened the session is no longer valid")]
    RevokedKey,
    #[error("the session was closed")]
    RevokedSession,
}

impl SessionRefusal {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Malformed | Self::Forged => "session_invalid",
            Self::Expired => "session_expired",
            Self::RevokedKey => "revoked_key",
            Self::RevokedSession => "session_revoked",
        }
    }
}

/// Decodes the text into bytes on the stack; gives the bytes before the MAC, and the MAC.
pub(super) fn decode<'a>(text: &str, buffer: &'a mut [u8; TOKEN_BYTES_MAX]) -> Option<(&'a [u8], &'a [u8])> {
    let digits = text.strip_prefix(PREFIX)?;
    if digits.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return None;
    }
    let bytes = buffer.get_mut(..digits.len() / 2)?;
    hex::decode_to_slice(digits, bytes).ok()?;
    bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)
}

/// The bytes of claims, under the secret of this number.
pub(super) fn encode_claims(secret: u32, claims: &SessionClaims) -> Vec<u8> {
    let (tag, names): (u8, [Option<&Name>; 2]) = match &claims.caller {
        Caller::GameServer(server) => (1, [Some(server), None]),
        Caller::Player(player) => (2, [Some(player), None]),
        Caller::Developer(server, wallet) => (3, [Some(server), Some(wallet)]),
        Caller::Operator(person) => (4, [Some(person), None]),
        // No token is read back as a program: it shows its key each time.
        Caller::Program(id) => (5, [Some(id), None]),
    };
    let mut bytes = Vec::with_capacity(TOKEN_BYTES_MAX);
    bytes.extend(secret.to_be_bytes());
    bytes.push(tag);
    bytes.extend(claims.id.0);
    bytes.extend(claims.opened_by.0);
    bytes.extend(claims.issued_at.0.to_be_bytes());
    bytes.extend(claims.expires_at.0.to_be_bytes());
    for name in names.into_iter().flatten() {
        // A name has at most 128 bytes.
        bytes.push(u8::try_from(name.as_str().len()).unwrap_or(u8::MAX));
        bytes.extend(name.as_str().as_bytes());
    }
    bytes
}

/// The number of the secret that a token claims to be under.
pub(super) fn secret_of(body: &[u8]) -> Option<u32> {
    body.first_chunk::<4>().map(|number| u32::from_be_bytes(*number))
}

/// Reads claims back; the whole body must be used.
pub(super) fn decode_claims(body: &[u8]) -> Option<SessionClaims> {
    let mut rest = body;
    let _secret: [u8; 4] = take(&mut rest)?;
    let [tag] = take(&mut rest)?;
    let id = SessionId(take(&mut rest)?);
    let opened_by = Address(take(&mut rest)?);
    let issued_at = Time(u64::from_be_bytes(take(&mut rest)?));
    let expires_at = Time(u64::from_be_bytes(take(&mut rest)?));
    let first = take_name(&mut rest)?;
    let caller = match tag {
        1 => Caller::GameServer(first),
        2 => Caller::Player(first),
        3 => Caller::Developer(first, take_name(&mut rest)?),
        4 => Caller::Operator(first),
        _ => return None,
    };
    rest.is_empty().then_some(SessionClaims { id, caller, opened_by, issued_at, expires_at })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}

fn take_name(rest: &mut &[u8]) -> Option<Name> {
    let [length] = take(rest)?;
    let (taken, left) = rest.split_at_checked(usize::from(length))?;
    *rest = left;
    std::str::from_utf8(taken).ok()?.parse().ok()
}
