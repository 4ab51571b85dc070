//! What a session says: its caller, the key that opened it, and for how long.

use std::{fmt, str::FromStr};

use bankroll_ledger::{Fact, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, parsed, time};
use serde::{Deserialize, Serialize};

use crate::{
    entry::{column, new_row, shown, time_of},
    wallet::UnknownWord,
};

/// What a proof proves. A caller without a proof is no `Caller`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// The game server of this name.
    GameServer(Name),
    /// The player of this name, with whichever of their wallets.
    Player(Name),
    /// The developer of a server, with the wallet that the server names.
    Developer(Name, Name),
    /// A person who runs the deployment. Their session reads; what they change they sign.
    Operator(Name),
    /// A program of theirs, by the id of its key. It reads, and has no session.
    Program(Name),
}

/// A session's own name: `ses_` and 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(pub [u8; 16]);

/// The contents of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionClaims {
    pub id: SessionId,
    pub caller: Caller,
    /// The key or wallet that opened the session. When it is revoked, so is the session.
    pub opened_by: Address,
    pub issued_at: Time,
    pub expires_at: Time,
}

/// A session that ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedSession {
    pub session: SessionId,
    pub expires_at: Time,
    pub revoked_at: Time,
}

impl RevokedSession {
    pub(crate) const TABLE: &'static str = "revoked_sessions";

    pub(crate) fn fact(&self) -> Fact {
        let set = vec![column("expires_at", time(self.expires_at)), column("revoked_at", time(self.revoked_at))];
        new_row(Self::TABLE, vec![column("session", shown(&self.session))], set)
    }

    pub(crate) fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            session: parsed(row, "session")?,
            expires_at: time_of(row, "expires_at")?,
            revoked_at: time_of(row, "revoked_at")?,
        })
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ses_{}", hex::encode(self.0))
    }
}

impl FromStr for SessionId {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let digits = text.strip_prefix("ses_").ok_or(UnknownWord)?;
        let mut bytes = [0; 16];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| UnknownWord)?;
        // One spelling only.
        if digits.bytes().any(|digit| digit.is_ascii_uppercase()) { Err(UnknownWord) } else { Ok(Self(bytes)) }
    }
}

impl TryFrom<String> for SessionId {
    type Error = UnknownWord;

    fn try_from(text: String) -> Result<Self, UnknownWord> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.to_string()
    }
}
