//! Registration and sessions of game servers and people: a signed message becomes a token.

use axum::{extract::State, response::Response};
use bankroll_ledger::{Amount, Principal, Scope};
use bankroll_operators::{Act, AuthorName, Proof};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, B256, OpenSession, Registration, U256, WalletSignature},
};
use bankroll_registry::{
    Caller, RegistrationContext, RegistrationRefusal, RegistrationTerms, Registry, SESSION_LIFETIME, SessionClaims,
    SessionTerms, decide_registration, decide_session, random_bytes,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{accounts::open_accounts, servers::ServerBody};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, amount, show_time},
    money::applied_response,
    state::HeldBooks,
};

/// The typed message `Registration` with its signature.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistrationBody {
    pub server: String,
    /// The public name of this service.
    pub audience: String,
    /// The chain id of the signed domain.
    pub chain_id: u64,
    pub payout_address: String,
    pub developer: String,
    pub buy_in: String,
    pub developer_fee_bps: u32,
    pub world_fee_bps: u32,
    pub mass_per_coin: String,
    pub exit_hold_ms: u64,
    /// `0x` and 64 digits, used once.
    pub nonce: String,
    /// Seconds since 1970, at most ten minutes ahead.
    pub expires: u64,
    /// `0x` and 130 digits.
    pub signature: String,
}

/// The typed message `OpenSession` with its signature.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSessionBody {
    /// `server` or `operator`.
    pub role: String,
    pub subject: String,
    pub audience: String,
    pub chain_id: u64,
    pub nonce: String,
    pub expires: u64,
    pub signature: String,
}

#[derive(Serialize, ToSchema)]
pub struct SessionBody {
    pub session: String,
    /// For `Authorization: Bearer`. Shown once.
    pub token: String,
    pub expires_at: String,
    /// The registered server, for a registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerBody>,
}

/// Without the token.
impl std::fmt::Debug for SessionBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionBody({}, until {})", self.session, self.expires_at)
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ClosedBody {
    pub closed: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TimeBody {
    pub time: String,
    /// Seconds since 1970, as signed messages have them.
    pub seconds: u64,
}

/// The time of the service
#[utoipa::path(get, path = "/v1/time", tag = "sessions", responses((status = 200, body = TimeBody)))]
pub async fn time(State(funds): State<Funds>) -> Result<Response, ApiError> {
    let now = funds.now();
    applied_response(&TimeBody { time: show_time(now), seconds: now.0 / 1_000_000 }, false)
}

/// Registers a game server
///
/// The message is signed with a key of the allow-list (EIP-712). The same terms again are no change.
#[utoipa::path(post, path = "/v1/register", tag = "sessions", request_body = RegistrationBody,
    responses((status = 200, body = SessionBody)))]
pub async fn register(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let body: RegistrationBody = call.body()?;
    let (terms, chain_id) = (registration_terms(&body)?, ChainId(body.chain_id));
    let signer = signer(&typed_data::digest(&registration_message(&terms), chain_id), &body.signature)?;
    let audience = &funds.settings().audience;
    let context = |start_block, now| RegistrationContext { signer, chain_id, audience, start_block, now };
    // A stranger's message is refused before money calls have to wait for it.
    let first = {
        let books = funds.books()?;
        let registry = books.registry.read().await;
        decide_registration(&registry, &terms, &context(0, funds.now()))?
    };
    let start_block = funds.newest_block(first.server.chain).await?;
    open_accounts(&*funds.books()?, Principal::System, first.accounts).await?;
    let gate = funds.enter_to_change(&call).await?;
    let decided = decide_registration(&gate.registry, &terms, &context(start_block, gate.now))?;
    let key = format!("registration/{}/{}", signer.lower_hex(), hex::encode(terms.nonce));
    let scope = Scope::Server(decided.server.name.clone());
    let author = Funds::system_author(&call, scope, key, &format!("key:{}", signer.lower_hex()))?;
    let (books, now) = (std::sync::Arc::clone(&gate.books), gate.now);
    gate.commit(author, decided.changes).await?;
    let mut session = issue(&books, Caller::GameServer(decided.server.name.clone()), signer, now)?;
    session.server = Some(super::servers::shown(&decided.server));
    applied_response(&session, false)
}

/// Opens a session by signature
///
/// A game server renews its session, a person who runs the deployment opens one (EIP-712). A person's session reads:
/// what they change, they sign.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = OpenSessionBody,
    responses((status = 200, body = SessionBody)))]
pub async fn open(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let body: OpenSessionBody = call.body()?;
    let (nonce, chain_id) = (nonce_of(&body.nonce)?, ChainId(body.chain_id));
    let OpenSessionBody { role, subject, audience, expires, .. } = body;
    let message = OpenSession {
        role: role.clone(),
        subject: subject.clone(),
        audience: audience.clone(),
        nonce: B256::from(nonce),
        expires,
    };
    let signer = signer(&typed_data::digest(&message, chain_id), &body.signature)?;
    let terms = SessionTerms { role, subject, audience, nonce, expires };
    if terms.role == "operator" {
        return open_for_person(&funds, &call, &terms, signer, chain_id).await;
    }
    let (audience, owner_chain) = (&funds.settings().audience, funds.settings().chain_id);
    let decide = |registry: &Registry, now| {
        let opening = decide_session(registry, &terms, signer, chain_id, owner_chain, audience, now)?;
        let key = format!("session/{}/{}", signer.lower_hex(), hex::encode(nonce));
        let author = Funds::system_author(&call, Scope::House, key, &format!("key:{}", signer.lower_hex()))?;
        Ok((opening.caller, author, opening.changes))
    };
    let added = funds.add_rows(&call, decide).await.map_err(|error| match error.code {
        // The same message was on its way: its nonce is the only row.
        ErrorCode::Conflict | ErrorCode::IdempotencyMismatch => RegistrationRefusal::NonceUsed.into(),
        _ => error,
    })?;
    applied_response(&issue(&added.books, added.decided, signer, added.now)?, false)
}

/// Opens a session of a person, which the audit log lists.
async fn open_for_person(
    funds: &Funds,
    call: &ApiCall,
    terms: &SessionTerms,
    signer: Address,
    chain_id: ChainId,
) -> Result<Response, ApiError> {
    let (audience, own_chain) = (&funds.settings().audience, funds.settings().chain_id);
    let decide = |registry: &Registry, now| decide_session(registry, terms, signer, chain_id, own_chain, audience, now);
    // A stranger's message is refused before money calls have to wait for it.
    {
        let books = funds.books()?;
        let registry = books.registry.read().await;
        decide(&registry, funds.now())?;
    }
    let gate = funds.enter_to_change(call).await?;
    let opening = decide(&gate.registry, gate.now)?;
    let (body, claims) = issue_claims(&gate.books, opening.caller, signer, gate.now)?;
    let Caller::Operator(person) = claims.caller else { return Err(ErrorCode::Internal.into()) };
    let act = Act::OpenSession { session: claims.id.to_string(), expires: claims.expires_at };
    let decided = gate.registry.decide_act(AuthorName::Person(person), act, Proof::Key(signer), gate.now)?;
    let changes = decided.changes.into_iter().chain(opening.changes).collect();
    gate.commit_log_entry(call, changes).await?;
    applied_response(&body, false)
}

/// Closes the session of this request
#[utoipa::path(delete, path = "/v1/sessions/current", tag = "sessions", responses((status = 200, body = ClosedBody)),
    security(("session" = [])))]
pub async fn close(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let session = gate.session()?.clone();
    let is_program = matches!(session.caller, Caller::Program(_));
    if is_program || !matches!(call.proof, crate::input::CallProof::Token(_)) {
        return Err(ApiError::with(ErrorCode::Unauthenticated, "this request has no session to close"));
    }
    if let Caller::Operator(person) = &session.caller {
        let id = session.id.to_string();
        let (act, proof) = (Act::RevokeSession { session: id.clone() }, Proof::Session(id.clone()));
        let decided = gate.registry.decide_act(AuthorName::Person(person.clone()), act, proof, gate.now)?;
        gate.commit_log_entry(&call, decided.changes).await?;
        return applied_response(&ClosedBody { closed: id }, false);
    }
    let changes = gate.registry.close_session(&session, gate.now);
    let author = Funds::system_author(&call, Scope::House, format!("close/{}", session.id), "session:closed")?;
    gate.commit(author, changes).await?;
    applied_response(&ClosedBody { closed: session.id.to_string() }, false)
}

/// A token for a proven caller.
pub(super) fn issue(
    books: &HeldBooks,
    caller: Caller,
    opened_by: Address,
    now: bankroll_ledger::Time,
) -> Result<SessionBody, ApiError> {
    issue_claims(books, caller, opened_by, now).map(|(body, _)| body)
}

fn issue_claims(
    books: &HeldBooks,
    caller: Caller,
    opened_by: Address,
    now: bankroll_ledger::Time,
) -> Result<(SessionBody, SessionClaims), ApiError> {
    let random = random_bytes().map_err(|_| ErrorCode::Internal)?;
    let issued = books.keys.issue(caller, opened_by, random, now, SESSION_LIFETIME);
    let (token, claims) = issued.ok_or(ErrorCode::Internal)?;
    let (session, expires_at) = (claims.id.to_string(), show_time(claims.expires_at));
    let body = SessionBody { session, token: token.reveal().to_owned(), expires_at, server: None };
    Ok((body, claims))
}

fn registration_terms(body: &RegistrationBody) -> Result<RegistrationTerms, ApiError> {
    Ok(RegistrationTerms {
        server: body.server.clone(),
        audience: body.audience.clone(),
        payout_address: address_of("payout_address", &body.payout_address)?,
        developer: address_of("developer", &body.developer)?,
        buy_in: amount(&body.buy_in)?,
        developer_fee_bps: body.developer_fee_bps,
        world_fee_bps: body.world_fee_bps,
        mass_per_coin: amount(&body.mass_per_coin)?,
        exit_hold_ms: body.exit_hold_ms,
        nonce: nonce_of(&body.nonce)?,
        expires: body.expires,
    })
}

fn registration_message(terms: &RegistrationTerms) -> Registration {
    let number = |amount: Amount| U256::from(amount.units());
    Registration {
        server: terms.server.clone(),
        audience: terms.audience.clone(),
        payoutAddress: terms.payout_address.into(),
        developer: terms.developer.into(),
        buyIn: number(terms.buy_in),
        developerFeeBps: terms.developer_fee_bps,
        worldFeeBps: terms.world_fee_bps,
        massPerCoin: number(terms.mass_per_coin),
        exitHoldMs: terms.exit_hold_ms,
        nonce: B256::from(terms.nonce),
        expires: terms.expires,
    }
}

/// The address that signed. For another digest it would be another, unknown one.
pub(super) fn signer(digest: &[u8; 32], signature: &str) -> Result<Address, ApiError> {
    let malformed =
        |error: typed_data::SignatureError| ApiError::with(ErrorCode::SignatureMalformed, error.to_string());
    let signature: WalletSignature = signature.parse().map_err(malformed)?;
    typed_data::recover(digest, &signature).map_err(malformed)
}

fn nonce_of(text: &str) -> Result<[u8; 32], ApiError> {
    let mut nonce = [0; 32];
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let wrong = |_| ApiError::with(ErrorCode::BodyInvalid, "nonce is 0x and 64 hexadecimal digits");
    hex::decode_to_slice(digits, &mut nonce).map_err(wrong)?;
    Ok(nonce)
}

pub(super) fn address_of(field: &str, text: &str) -> Result<Address, ApiError> {
    text.parse().map_err(|_| ApiError::with(ErrorCode::BodyInvalid, format!("{field} is no address")))
}

impl From<RegistrationRefusal> for ApiError {
    fn from(refusal: RegistrationRefusal) -> Self {
        let code = match refusal {
            RegistrationRefusal::Malformed { .. } => ErrorCode::BodyInvalid,
            RegistrationRefusal::WrongAudience { .. } => ErrorCode::AudienceWrong,
            RegistrationRefusal::Expired { .. } => ErrorCode::SignatureExpired,
            RegistrationRefusal::TooFarAhead { .. } => ErrorCode::SignatureTooFarAhead,
            RegistrationRefusal::UnknownKey { .. } | RegistrationRefusal::WrongServer { .. } => {
                ErrorCode::KeyNotAllowListed
            }
            RegistrationRefusal::RevokedKey | RegistrationRefusal::ExpiredKey => ErrorCode::KeyRevoked,
            RegistrationRefusal::WrongChain { .. } => ErrorCode::ChainWrong,
            RegistrationRefusal::NonceUsed => ErrorCode::NonceUsed,
            RegistrationRefusal::OutOfBounds { .. } => ErrorCode::OutOfBounds,
            RegistrationRefusal::PayoutAddressUnknown => ErrorCode::PayoutAddressUnknown,
            RegistrationRefusal::CustodyKeyUnknown | RegistrationRefusal::DeveloperChanged { .. } => {
                ErrorCode::Conflict
            }
        };
        Self::with(code, refusal.to_string())
    }
}
