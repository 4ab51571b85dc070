//! Sign-In with Ethereum: a player proves a wallet with a message that has a nonce of ours.

use axum::{extract::State, response::Response};
use bankroll_ledger::Scope;
use bankroll_registry::{
    ContractCheck, ProvenWallet, Registry, SignInDecision, SignInMessage, SignInRefusal, SignatureCheck,
    decide_sign_in, issue_nonce, random_bytes,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sessions::{SessionBody, issue};
use crate::{ApiError, ErrorCode, Funds, input::ApiCall, money::applied_response, state::Added};

#[derive(Debug, Serialize, ToSchema)]
pub struct NonceBody {
    /// For the message; good for ten minutes, once.
    pub nonce: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInBody {
    /// The EIP-4361 message, exactly as it was signed.
    pub message: String,
    /// `0x` and the bytes of the signature.
    pub signature: String,
}

/// A nonce for a sign-in message
#[utoipa::path(post, path = "/v1/sign-in/nonce", tag = "sessions", responses((status = 200, body = NonceBody)))]
pub async fn nonce(State(funds): State<Funds>) -> Result<Response, ApiError> {
    let books = funds.books()?;
    let random = random_bytes().map_err(|_| ErrorCode::Internal)?;
    let nonce = issue_nonce(&books.keys, random, funds.now()).ok_or(ErrorCode::Internal)?;
    applied_response(&NonceBody { nonce }, false)
}

/// Signs a player in
///
/// The message has no `Request ID`: a message that links a wallet signs no player in.
#[utoipa::path(post, path = "/v1/sign-in", tag = "sessions", request_body = SignInBody,
    responses((status = 200, body = SessionBody)))]
pub async fn sign_in(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let body: SignInBody = call.body()?;
    let proven = prove(&funds, &body).await?;
    let wallet = proven.wallet();
    let key = format!("sign-in/{}", body_key(&body));
    let decide = |registry: &Registry, proven: ProvenWallet, key: String, now| {
        let SignInDecision { caller, player, changes, .. } = decide_sign_in(registry, proven, now)?;
        let author = Funds::system_author(&call, Scope::House, key, &format!("player:{player}"))?;
        Ok::<_, ApiError>((caller, author, changes))
    };
    let again = proven.clone();
    let added = funds.add_rows(&call, |registry, now| decide(registry, proven, key.clone(), now)).await;
    let (caller, books, now) = match added {
        Ok(Added { decided, books, now }) => (decided, books, now),
        // Another sign-in of this wallet, or with this nonce, was on its way: memory knows it now.
        Err(error) if matches!(error.code, ErrorCode::Conflict | ErrorCode::IdempotencyMismatch) => {
            let gate = funds.enter_to_change(&call).await?;
            let (caller, author, changes) = decide(&gate.registry, again, format!("{key}/again"), gate.now)?;
            let (books, now) = (std::sync::Arc::clone(&gate.books), gate.now);
            gate.commit(author, changes).await?;
            (caller, books, now)
        }
        Err(error) => return Err(error),
    };
    applied_response(&issue(&books, caller, wallet, now)?, false)
}

/// The wallet that signed the message. A contract wallet is asked through its node, before any guard is held.
pub(super) async fn prove(funds: &Funds, body: &SignInBody) -> Result<ProvenWallet, ApiError> {
    let digits = body.signature.strip_prefix("0x").unwrap_or_default();
    let wrong = |_| ApiError::with(ErrorCode::SignatureMalformed, "a signature is 0x and hexadecimal digits");
    let signature = hex::decode(digits).map_err(wrong)?;
    let books = funds.books()?;
    let checked = {
        let registry = books.registry.read().await;
        let config = &funds.settings().sign_in;
        SignInMessage::parse(&body.message, config, &registry, &books.keys, funds.now())?.prove(&signature)?
    };
    match checked {
        SignatureCheck::Proven(proven) => Ok(proven),
        SignatureCheck::NeedsContractCheck(check) => ask_contract(funds, check).await,
    }
}

async fn ask_contract(funds: &Funds, check: ContractCheck) -> Result<ProvenWallet, ApiError> {
    let ask = funds.settings().contract_answer.clone().ok_or(SignInRefusal::BadSignature)?;
    let asked = tokio::task::spawn_blocking(move || (ask(&check), check)).await;
    let (answer, check) = asked.map_err(|_| ErrorCode::Unavailable)?;
    let answer = answer.ok_or_else(|| ApiError::new(ErrorCode::Unavailable).after(1))?;
    Ok(check.answered(&answer)?)
}

/// A key for the journal: one message is used once, whatever its signature looks like.
pub(super) fn body_key(body: &SignInBody) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(&body.message))
}

impl From<SignInRefusal> for ApiError {
    fn from(refusal: SignInRefusal) -> Self {
        let code = match refusal {
            SignInRefusal::Malformed { .. } | SignInRefusal::WrongPurpose => ErrorCode::SignInInvalid,
            SignInRefusal::WrongDomain | SignInRefusal::WrongUri => ErrorCode::AudienceWrong,
            SignInRefusal::WrongChain { .. } | SignInRefusal::OtherChainsContract { .. } => ErrorCode::ChainWrong,
            SignInRefusal::Expired { .. } => ErrorCode::SignatureExpired,
            SignInRefusal::NotYetValid { .. } => ErrorCode::SignatureNotYetValid,
            SignInRefusal::UnknownNonce | SignInRefusal::NonceExpired => ErrorCode::NonceUnknown,
            SignInRefusal::NonceUsed => ErrorCode::NonceUsed,
            SignInRefusal::BadSignature => ErrorCode::SignatureInvalid,
            SignInRefusal::TooManyWallets => ErrorCode::Conflict,
            SignInRefusal::WalletTaken | SignInRefusal::OperatorsWallet => ErrorCode::WalletTaken,
        };
        Self::with(code, refusal.to_string())
    }
}
