//! The secrets that deliveries are signed with. A person sees one once, when it is made; the rows are readable for
//! `books` and `notify` alone, and no secret is in a record of the journal.

use std::fmt;

use bankroll_ledger::{ColumnValue, Time};
use bankroll_store::{
    Reader, Statement,
    columns::{BadRow, one, text, time},
};
use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{EndpointId, NotifyError, WebhookEndpoint};

/// For how long both secrets sign after a rotation, unless the caller says otherwise: a day, in microseconds.
pub const SECRET_OVERLAP: u64 = 24 * 3_600 * 1_000_000;
const ID_DIGITS: usize = 32;

/// The id of a secret: `whs_` and 32 hexadecimal digits. It says nothing about the secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretId(String);

impl SecretId {
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        let digits = id.strip_prefix("whs_")?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == ID_DIGITS && digits.bytes().all(is_digit)).then(|| Self(id.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// 32 bytes that an endpoint and the worker share.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret([u8; 32]);

impl WebhookSecret {
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// As receivers configure it: `whsec_` and the bytes in base64. For the one answer that shows it, and for no log.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("whsec_{}", BASE64_STANDARD.encode(self.0))
    }

    #[must_use]
    pub(crate) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(***)")
    }
}

/// A secret that is not written yet.
#[derive(Clone, Debug)]
pub struct NewSecret {
    id: SecretId,
    secret: WebhookSecret,
}

impl NewSecret {
    /// From random bytes of the operating system: 16 for the id, 32 for the secret.
    #[must_use]
    pub fn new(id: [u8; 16], secret: [u8; 32]) -> Self {
        Self { id: SecretId(format!("whs_{}", hex::encode(id))), secret: WebhookSecret(secret) }
    }

    #[must_use]
    pub const fn id(&self) -> &SecretId {
        &self.id
    }

    #[must_use]
    pub const fn secret(&self) -> &WebhookSecret {
        &self.secret
    }

    /// The row. It is durable before the change of the endpoint that names it is committed; a row that no endpoint
    /// names signs nothing.
    #[must_use]
    pub fn insert(&self, endpoint: &EndpointId, now: Time) -> Statement {
        let sql = "INSERT INTO webhook_secrets (id, endpoint, secret, created_at) VALUES ($1, $2, $3, $4)";
        let secret = ColumnValue::Bytes(self.secret.0.to_vec());
        one(sql, vec![text(self.id.as_str()), text(endpoint.as_str()), secret, time(now)])
    }
}

/// The secrets that sign for an endpoint now, the newest first.
///
/// # Errors
/// If the books cannot be read, or a secret is lost: nothing is sent that the receiver cannot verify.
pub fn secrets_of(reader: &Reader, endpoint: &WebhookEndpoint, now: Time) -> Result<Vec<WebhookSecret>, NotifyError> {
    let previous = endpoint.previous_secret.as_ref().filter(|(_, until)| now < *until).map(|(id, _)| id);
    [Some(&endpoint.secret), previous].into_iter().flatten().map(|id| read(reader, endpoint, id)).collect()
}

fn read(reader: &Reader, endpoint: &WebhookEndpoint, id: &SecretId) -> Result<WebhookSecret, NotifyError> {
    let sql = "SELECT secret FROM webhook_secrets WHERE id = $1 AND endpoint = $2";
    let rows = reader.rows(sql, vec![text(id.as_str()), text(endpoint.id.as_str())])?;
    let bytes = rows.first().and_then(|row| match row.get("secret") {
        Some(ColumnValue::Bytes(bytes)) => <[u8; 32]>::try_from(bytes.as_slice()).ok(),
        _ => None,
    });
    Ok(WebhookSecret(bytes.ok_or(BadRow { column: "secret" })?))
}
