//! The secrets behind session tokens and sign-in nonces, and what they are for: issue and verify.

use std::fmt;

use bankroll_ledger::{ColumnValue, Name, Time};
use bankroll_orders::Address;
use bankroll_store::{
    Reader, Statement,
    columns::{BadRow, int, maybe, one, time},
};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::{
    Caller, SessionClaims, SessionId, SessionRefusal, SessionToken,
    token::{self, TOKEN_BYTES_MAX},
};
use crate::{
    Registry,
    entry::{RegistryError, small_of, time_of},
};

/// How long a session lasts: twelve hours, in microseconds.
pub const SESSION_LIFETIME: u64 = 12 * 3600 * 1_000_000;

const TABLE: &str = "session_keys";
const SESSION_DOMAIN: &[u8] = b"bankroll session 1\0";
const NONCE_DOMAIN: &[u8] = b"bankroll sign-in nonce 1\0";

/// One secret. Only the books have it.
#[derive(Clone)]
pub struct SessionSecret {
    pub id: u32,
    secret: [u8; 32],
    pub created_at: Time,
    /// From this time on it verifies nothing.
    pub retired_at: Option<Time>,
}

/// The secrets of a deployment, the newest last.
#[derive(Clone)]
pub struct SessionKeys {
    audience: String,
    secrets: Vec<(SessionSecret, PreparedMacs)>,
}

/// MACs that have already hashed key, domain and audience: half of the work of a verification.
#[derive(Clone)]
struct PreparedMacs {
    session: Hmac<Sha256>,
    nonce: Hmac<Sha256>,
}

impl SessionSecret {
    /// A new secret from 32 random bytes; see [`crate::random_bytes`].
    #[must_use]
    pub const fn new(id: u32, secret: [u8; 32], created_at: Time) -> Self {
        Self { id, secret, created_at, retired_at: None }
    }

    /// The row. It must be written, and durable, before the secret issues anything.
    #[must_use]
    pub fn insert(&self) -> Statement {
        let sql = "INSERT INTO session_keys (id, secret, created_at, retired_at) VALUES ($1, $2, $3, NULL)";
        let secret = ColumnValue::Bytes(self.secret.to_vec());
        one(sql, vec![int(self.id.into()), secret, time(self.created_at)])
    }
}

impl SessionKeys {
    /// The secrets of a deployment. The audience is the deployment's public name: a copy of the books under another
    /// name accepts none of its tokens.
    #[must_use]
    pub fn new(audience: &str, secrets: Vec<SessionSecret>) -> Self {
        let prepare = |secret: SessionSecret| {
            let macs = PreparedMacs {
                session: prepared(&secret.secret, SESSION_DOMAIN, audience),
                nonce: prepared(&secret.secret, NONCE_DOMAIN, audience),
            };
            (secret, macs)
        };
        Self { audience: audience.to_owned(), secrets: secrets.into_iter().map(prepare).collect() }
    }

    /// Reads the secrets. A deployment without any needs [`SessionKeys::next_secret`] first.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn load(reader: &Reader, audience: &str) -> Result<Self, RegistryError> {
        let rows = reader.rows("SELECT * FROM session_keys ORDER BY id", vec![])?;
        let read = |row| {
            let secret = match bankroll_ledger::Row::get(row, "secret") {
                Some(ColumnValue::Bytes(bytes)) => <[u8; 32]>::try_from(bytes.as_slice()).ok(),
                _ => None,
            };
            let secret = secret.ok_or(BadRow { column: "secret" })?;
            let (id, created_at) = (small_of(row, "id")?, time_of(row, "created_at")?);
            Ok(SessionSecret { id, secret, created_at, retired_at: maybe(row, "retired_at", time_of)? })
        };
        let secrets = rows.iter().map(read).collect::<Result<Vec<_>, BadRow>>();
        Ok(Self::new(audience, secrets.map_err(|bad| RegistryError::Row { table: TABLE, bad })?))
    }

    /// Whether there is a secret to issue with.
    #[must_use]
    pub fn can_issue(&self, now: Time) -> bool {
        self.current(now).is_some()
    }

    /// The next secret, from random bytes: write [`SessionSecret::insert`], then load again.
    #[must_use]
    pub fn next_secret(&self, random: [u8; 32], now: Time) -> SessionSecret {
        let newest = self.secrets.iter().map(|(secret, _)| secret.id).max().unwrap_or(0);
        SessionSecret::new(newest.saturating_add(1), random, now)
    }

    /// Retires a secret: from that time on every token and nonce under it is refused. Load again after the write.
    #[must_use]
    pub fn retire(id: u32, at: Time) -> Statement {
        let sql = "UPDATE session_keys SET retired_at = $2 WHERE id = $1 AND retired_at IS NULL";
        one(sql, vec![int(id.into()), time(at)])
    }

    /// Opens a session for a caller whose proof the books have checked. `None` without a secret.
    #[must_use]
    pub fn issue(
        &self,
        caller: Caller,
        opened_by: Address,
        random: [u8; 16],
        now: Time,
        lifetime: u64,
    ) -> Option<(SessionToken, SessionClaims)> {
        let (secret, macs) = self.current(now)?;
        let expires_at = Time(now.0.saturating_add(lifetime.min(SESSION_LIFETIME)));
        let claims = SessionClaims { id: SessionId(random), caller, opened_by, issued_at: now, expires_at };
        let mut bytes = token::encode_claims(secret.id, &claims);
        let mac = macs.session.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(mac);
        Some((SessionToken::of(&bytes), claims))
    }

    /// Whom a token speaks for now. Reads memory only; allocates the caller's name.
    ///
    /// # Errors
    /// The first reason why it proves nothing.
    pub fn verify(&self, text: &str, registry: &Registry, now: Time) -> Result<SessionClaims, SessionRefusal> {
        let mut buffer = [0; TOKEN_BYTES_MAX];
        let (body, mac) = token::decode(text, &mut buffer).ok_or(SessionRefusal::Malformed)?;
        let number = token::secret_of(body).ok_or(SessionRefusal::Malformed)?;
        let (_, macs) = self.live(number, now).ok_or(SessionRefusal::Forged)?;
        macs.session.clone().chain_update(body).verify_slice(mac).map_err(|_| SessionRefusal::Forged)?;
        let claims = token::decode_claims(body).ok_or(SessionRefusal::Malformed)?;
        if claims.expires_at <= now {
            return Err(SessionRefusal::Expired);
        }
        if registry.is_session_revoked(claims.id) {
            return Err(SessionRefusal::RevokedSession);
        }
        // The log lists the sessions of people. A suspension ends them, and its end does not bring them back.
        let is_listed = |session: SessionId| registry.operators().session(&session.to_string(), now).is_some();
        if matches!(claims.caller, Caller::Operator(_)) && !is_listed(claims.id) {
            return Err(SessionRefusal::RevokedSession);
        }
        if registry.may_still_act(&claims.caller, claims.opened_by, now) {
            Ok(claims)
        } else {
            Err(SessionRefusal::RevokedKey)
        }
    }

    /// The MAC of a sign-in nonce; `None` without a secret.
    pub(crate) fn nonce_mac(&self, bytes: &[u8], now: Time) -> Option<(u32, [u8; 16])> {
        let (secret, macs) = self.current(now)?;
        let mac = macs.nonce.clone().chain_update(bytes).finalize().into_bytes();
        Some((secret.id, *mac.first_chunk()?))
    }

    pub(crate) fn is_nonce_mac(&self, number: u32, bytes: &[u8], mac: &[u8], now: Time) -> bool {
        let Some((_, macs)) = self.live(number, now) else { return false };
        mac.len() == 16 && macs.nonce.clone().chain_update(bytes).verify_truncated_left(mac).is_ok()
    }

    fn current(&self, now: Time) -> Option<&(SessionSecret, PreparedMacs)> {
        self.secrets.iter().rev().find(|(secret, _)| secret.is_live(now))
    }

    fn live(&self, number: u32, now: Time) -> Option<&(SessionSecret, PreparedMacs)> {
        self.secrets.iter().find(|(secret, _)| secret.id == number && secret.is_live(now))
    }
}

impl SessionSecret {
    fn is_live(&self, now: Time) -> bool {
        self.retired_at.is_none_or(|retired| now < retired)
    }
}

fn prepared(secret: &[u8; 32], domain: &[u8], audience: &str) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
    // The length keeps an audience from running into what follows it.
    let length = u64::try_from(audience.len()).unwrap_or(u64::MAX);
    mac.chain_update(domain).chain_update(length.to_be_bytes()).chain_update(audience)
}

impl fmt::Debug for SessionSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionSecret({}, ...)", self.id)
    }
}

impl fmt::Debug for SessionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKeys({:?}, {} secrets)", self.audience, self.secrets.len())
    }
}

/// The developer of a server, if that is whose session this is: a developer signs in as a player does.
#[must_use]
pub fn as_developer(registry: &Registry, session: &SessionClaims, server: &Name) -> Option<Caller> {
    let is_developer = matches!(session.caller, Caller::Player(_) | Caller::Developer(..))
        && registry.server(server).is_some_and(|entry| entry.terms.developer == session.opened_by);
    let wallet = session.opened_by.lower_hex().parse().ok()?;
    is_developer.then(|| Caller::Developer(server.clone(), wallet))
}
