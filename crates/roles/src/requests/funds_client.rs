//! A caller of the Funds API: the same requests that game servers and players send.
//!
//! A command's way is that of every command (`books_client`): through the node that holds the books, or, if none runs,
//! with the router in this process. A URL is the way of everyone else. Each request is signed with the caller's key or
//! has a session's token; the router verifies it as any other.

use std::{fmt, io};

use bankroll_ledger::Time;
use bankroll_nodes::{CallError, RelayedRequest, RelayedResponse};
use bankroll_orders::{
    ChainId,
    typed_data::{self, ApiRequest, B256},
};
use bankroll_registry::{NoEntropy, random_bytes};
use bankroll_store::Clock;
use serde_json::Value;
use sha3::{Digest, Keccak256};

use super::{ClientError, FundsUrl, funds_way::FundsWay};
use crate::{AuthKey, config::LoadedConfig};

/// A signed message is good for this long: less than the service allows, and far more than one request takes.
pub(super) const GOOD_FOR_SECONDS: u64 = 240;

/// Why a request of the Funds API has no good answer.
#[derive(Debug, thiserror::Error)]
pub enum FundsCallError {
    /// Nothing happened.
    #[error("cannot reach the books")]
    Connect(#[from] ClientError),
    /// Nothing happened.
    #[error("cannot serve the Funds API in this process")]
    Here(#[source] anyhow::Error),
    #[error("cannot start a runtime")]
    Runtime(#[source] io::Error),
    /// Nothing happened, or the outcome is unknown; the cause says which.
    #[error("the node that holds the books has not answered")]
    Call(#[source] CallError),
    /// Nothing happened, or the outcome is unknown; the cause says which.
    #[error("the Funds API has not answered")]
    Http(#[source] Box<ureq::Error>),
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
    #[error("the key cannot sign this message; send it again, with another key of the request")]
    Unsigned,
    /// It may have happened.
    #[error("the answer of the Funds API is not JSON")]
    NotJson,
    /// The service says what happened.
    #[error(transparent)]
    Refused(#[from] FundsRefusal),
}

/// An error that the Funds API answered with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct FundsRefusal {
    pub status: u16,
    /// A code of [`bankroll_api::ErrorCode`].
    pub code: String,
    /// For a person.
    pub sentence: String,
}

impl FundsCallError {
    /// Whether the request may have taken effect: it is sent again with the same idempotency key then.
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Call(CallError::Unknown) | Self::NotJson => true,
            // Any other may have come after the request was sent.
            Self::Http(error) => !matches!(
                **error,
                ureq::Error::HostNotFound
                    | ureq::Error::ConnectionFailed
                    | ureq::Error::Http(_)
                    | ureq::Error::BadUri(_)
            ),
            Self::Refused(refusal) => refusal.code == bankroll_api::ErrorCode::OutcomeUnknown.as_str(),
            _ => false,
        }
    }
}

/// A request before it is signed.
#[derive(Clone, Copy, Debug)]
pub struct FundsCall<'a> {
    pub method: &'static str,
    /// With the query.
    pub path: &'a str,
    /// Every change needs one; see [`FundsClient::new_key`].
    pub idempotency_key: Option<&'a str>,
    pub body: Option<&'a Value>,
}

/// One caller of the Funds API.
pub struct FundsClient {
    way: FundsWay,
    pub(super) key: AuthKey,
    pub(super) audience: String,
    pub(super) chain: ChainId,
}

impl FundsClient {
    /// # Errors
    /// If no node answers and the books cannot be opened. Nothing happened.
    pub fn connect(loaded: &LoadedConfig, key: AuthKey) -> Result<Self, FundsCallError> {
        let config = &loaded.config;
        let way = match config.api.url.as_str() {
            "" => FundsWay::of_books(loaded)?,
            url => FundsWay::Url(FundsUrl::new(url)),
        };
        Ok(Self { way, key, audience: config.api.audience.clone(), chain: ChainId(config.chain.id) })
    }

    /// A caller over HTTP. The audience and the chain are part of what the key signs.
    #[must_use]
    pub fn at(url: &FundsUrl, key: AuthKey, audience: &str, chain: ChainId) -> Self {
        Self { way: FundsWay::Url(url.clone()), key, audience: audience.into(), chain }
    }

    /// The same caller, whose signatures name this chain: those of a server name the server's chain.
    #[must_use]
    pub fn on_chain(self, chain: ChainId) -> Self {
        Self { chain, ..self }
    }

    /// Whether this process holds the books itself: then no node can, until [`FundsClient::close`].
    #[must_use]
    pub fn has_books(&self) -> bool {
        matches!(self.way, FundsWay::Here { .. })
    }

    /// A new idempotency key.
    ///
    /// # Errors
    /// If the operating system gives no random bytes.
    pub fn new_key() -> Result<String, NoEntropy> {
        Ok(format!("command-{}", hex::encode(random_bytes::<16>()?)))
    }

    /// Signs a request, sends it, and returns the body of its answer.
    ///
    /// # Errors
    /// See [`FundsCallError`].
    pub fn call(&self, call: FundsCall<'_>) -> Result<Value, FundsCallError> {
        let body = call.body.map(Value::to_string).unwrap_or_default().into_bytes();
        let expires = self.expires();
        let message = ApiRequest {
            method: call.method.into(),
            path: call.path.into(),
            audience: self.audience.clone(),
            idempotencyKey: call.idempotency_key.unwrap_or_default().into(),
            bodyHash: B256::from_slice(&Keccak256::digest(&body)),
            expires,
        };
        let signature = self.key.sign(&typed_data::digest(&message, self.chain)).ok_or(FundsCallError::Unsigned)?;
        let mut headers = vec![
            ("x-bankroll-signature".to_owned(), signature.to_string()),
            ("x-bankroll-address".to_owned(), self.key.address().lower_hex()),
            ("x-bankroll-expires".to_owned(), expires.to_string()),
        ];
        headers.extend(call.idempotency_key.map(|key| ("idempotency-key".to_owned(), key.to_owned())));
        self.send(call.method, call.path, headers, body)
    }

    /// Sends a request with a session's token.
    ///
    /// # Errors
    /// See [`FundsCallError`].
    pub fn call_with_token(&self, token: &str, call: FundsCall<'_>) -> Result<Value, FundsCallError> {
        let body = call.body.map(Value::to_string).unwrap_or_default().into_bytes();
        let mut headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
        headers.extend(call.idempotency_key.map(|key| ("idempotency-key".to_owned(), key.to_owned())));
        self.send(call.method, call.path, headers, body)
    }

    /// Sends a message that has its signature in its body.
    pub(super) fn send_message(&self, path: &str, body: &Value) -> Result<Value, FundsCallError> {
        self.send("POST", path, Vec::new(), body.to_string().into_bytes())
    }

    pub(super) fn expires(&self) -> u64 {
        let Time(now) = Clock::machine().now();
        (now / 1_000_000).saturating_add(GOOD_FOR_SECONDS)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        mut headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<Value, FundsCallError> {
        if !body.is_empty() {
            headers.push(("content-type".into(), "application/json".into()));
        }
        let request = RelayedRequest { method: method.into(), path: path.into(), headers, body };
        self.read(&self.way.send(request)?)
    }

    fn read(&self, response: &RelayedResponse) -> Result<Value, FundsCallError> {
        let body: Value = serde_json::from_slice(&response.body).map_err(|_| FundsCallError::NotJson)?;
        if (200..300).contains(&response.status) {
            return Ok(body);
        }
        let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
        let (code, detail) = (text("code"), text("detail"));
        let address = self.key.address();
        let sentence = match code.as_str() {
            "unauthenticated" => {
                format!("the registry knows no valid key {address}: it is neither an owner's nor a game server's")
            }
            "forbidden" => format!("the key {address} may not do this"),
            "signature_invalid" => format!(
                "the signature of {address} does not count here; api.audience ({}) and chain.id ({}) must be those of \
                 the node",
                self.audience, self.chain.0
            ),
            _ => format!("the Funds API refused the request: {} ({code})", sentence_of(&detail)),
        };
        Err(FundsRefusal { status: response.status, code, sentence }.into())
    }

    /// Releases the books, if this process holds them.
    pub fn close(self) {
        self.way.close();
    }
}

/// The detail as part of a longer sentence: titles of codes begin with a capital.
fn sentence_of(detail: &str) -> String {
    let mut letters = detail.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Without the key and the way.
impl fmt::Debug for FundsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FundsClient({})", self.key.address())
    }
}
