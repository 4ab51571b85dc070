//! Withdrawals: what was requested to be paid out, and how far it is. A player and a developer sign their own.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_ledger::{AccountKind, AccountName, AssetId, Name, Principal, Rejection, Scope};
use bankroll_orders::{
    Address, IntentId,
    typed_data::{self, Payout, U256, WalletSignature},
};
use bankroll_registry::{AHEAD_MAX_SECONDS, SKEW_SECONDS};
use bankroll_withdrawals::{
    GasPayer, Intents, PayoutConsent, WithdrawalRequest,
    views::{self, PayoutFilter, PayoutView},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    exits::gas_payer,
    pages::{PageQuery, page_size},
    sessions::address_of,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, amount, show_time},
    money::applied_response,
    state::{Gate, HeldBooks},
};

/// The typed message `Payout` with its signature.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWithdrawalBody {
    pub server: String,
    /// The caller's own name for the request: the same id is paid once.
    pub request_id: String,
    /// The full name of the account to pay from, as the message has it: `funds` or `unallocated` of the player, or for a
    /// developer the server's `developer`.
    #[schema(example = "arena/funds/1/0x70997970c51812dc3a010c7d01b50e0d17dc79c8")]
    pub account: String,
    /// The wallet that signs, one of the player's.
    pub wallet: String,
    pub to: String,
    /// The symbol of the server's asset, as the message has it.
    pub asset: String,
    pub amount: String,
    /// The most that the caller pays for gas, on top of the amount; not `0`.
    pub fee_cap: String,
    /// Seconds since 1970, at most ten minutes ahead.
    pub expires: u64,
    pub signature: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RequestedBody {
    #[schema(example = "wd-0123456789abcdef0123456789abcdef")]
    pub withdrawal: String,
    pub server: String,
    pub request_id: String,
    pub account: String,
    pub to: String,
    pub amount: String,
    pub fee_cap: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WithdrawalBody {
    pub withdrawal: String,
    pub server: String,
    /// Who asked: `server`, `exit`, `player/...`, `developer`.
    pub asker: String,
    pub request_id: String,
    pub player: String,
    pub account: String,
    pub chain: String,
    pub asset: u32,
    pub to: String,
    pub amount: String,
    pub fee_cap: String,
    /// `awaiting_approval`, `waiting`, `signing`, `sent`, `mined`, `settling`, `unknown`, `paid` or `failed`.
    pub stage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WithdrawalPage {
    /// The newest first.
    pub withdrawals: Vec<WithdrawalBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Withdrawals of a game server
#[utoipa::path(get, path = "/v1/servers/{server}/withdrawals", tag = "withdrawals",
    params(("server" = String, Path), PageQuery), responses((status = 200, body = WithdrawalPage)),
    security(("session" = [])))]
pub async fn of_server(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    list(gate, &call, PayoutFilter { server: Some(server), ..PayoutFilter::default() }).await
}

/// A withdrawal of a game server
#[utoipa::path(get, path = "/v1/servers/{server}/withdrawals/{id}", tag = "withdrawals",
    params(("server" = String, Path), ("id" = String, Path)), responses((status = 200, body = WithdrawalBody)),
    security(("session" = [])))]
pub async fn show_of_server(
    State(funds): State<Funds>,
    PathParts((server, id)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    show(gate, &id, move |found| found.server == server.as_str()).await
}

/// The player's withdrawals
#[utoipa::path(get, path = "/v1/me/withdrawals", tag = "withdrawals", params(PageQuery),
    responses((status = 200, body = WithdrawalPage)), security(("session" = [])))]
pub async fn of_player(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    list(gate, &call, PayoutFilter { player: Some(player), ..PayoutFilter::default() }).await
}

/// One of the player's withdrawals
#[utoipa::path(get, path = "/v1/me/withdrawals/{id}", tag = "withdrawals", params(("id" = String, Path)),
    responses((status = 200, body = WithdrawalBody)), security(("session" = [])))]
pub async fn show_of_player(
    State(funds): State<Funds>,
    PathParts(id): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    show(gate, &id, move |found| found.wallet == player.as_str()).await
}

/// Requests a payout of the player's own money
///
/// Signed by one of the player's wallets (EIP-712 `Payout`); the signature is stored with the request. `request_id`
/// decides what the same request is: with another body it is a mismatch, and with another `Idempotency-Key` it is still
/// paid once.
#[utoipa::path(post, path = "/v1/me/withdrawals", tag = "withdrawals", request_body = NewWithdrawalBody,
    responses((status = 200, body = RequestedBody)), security(("session" = [])))]
pub async fn request(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    call.key()?;
    let body: NewWithdrawalBody = call.body()?;
    let server: Name = body.server.parse().map_err(|_| ErrorCode::NotFound)?;
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let (chain, asset) = (entry.chain.clone(), entry.asset);
    let account = players_account(&body.account, &server, asset, &player)?;
    let wallet = address_of("wallet", &body.wallet)?;
    // Only a wallet that is proved on this chain is the player's there.
    if gate.registry.proven_player(&chain, wallet) != Some(&player) {
        return Err(ApiError::with(ErrorCode::SignatureInvalid, "wallet is none of the player's on that chain"));
    }
    let principal = Principal::User(player.clone());
    let owner = PayoutOwner { principal, server, wallet: player, account, chain, signer: wallet };
    submit(&funds, gate, &body, owner).await
}

/// Requests a payout of the developer's fees
///
/// Signed by the developer's wallet (EIP-712 `Payout`). `request_id` decides what the same request is, not the
/// `Idempotency-Key`.
#[utoipa::path(post, path = "/v1/servers/{server}/developer/withdrawals", tag = "withdrawals",
    params(("server" = String, Path)), request_body = NewWithdrawalBody,
    responses((status = 200, body = RequestedBody)), security(("session" = [])))]
pub async fn request_as_developer(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let (server, wallet) = gate.developer(&server)?;
    call.key()?;
    let body: NewWithdrawalBody = call.body()?;
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let (chain, asset, signer) = (entry.chain.clone(), entry.asset, entry.terms.developer);
    let account =
        AccountName { scope: Scope::Server(server.clone()), kind: AccountKind::Developer, asset, owner: None };
    if body.account != account.to_string() || body.server != server.as_str() {
        let detail = format!("account is {account}, and server is the one of the path");
        return Err(ApiError::with(ErrorCode::BodyInvalid, detail));
    }
    let principal = Principal::Developer(server.clone());
    submit(&funds, gate, &body, PayoutOwner { principal, server, wallet, account, chain, signer }).await
}

/// The account that a player pays out of. An account of another player looks like one that does not exist.
fn players_account(text: &str, server: &Name, asset: AssetId, player: &Name) -> Result<AccountName, ApiError> {
    let account: AccountName = text.parse()?;
    let is_payable = matches!(account.kind, AccountKind::Funds | AccountKind::Unallocated);
    if !is_payable || account.scope != Scope::Server(server.clone()) || account.asset != asset {
        let detail = "account is the player's funds or unallocated money at this server";
        return Err(ApiError::with(ErrorCode::BodyInvalid, detail));
    }
    if account.owner.as_ref() == Some(player) { Ok(account) } else { Err(ErrorCode::NotFound.into()) }
}

/// Whose money it is, and whose signature is needed.
struct PayoutOwner {
    principal: Principal,
    server: Name,
    wallet: Name,
    account: AccountName,
    chain: Name,
    signer: Address,
}

async fn submit(funds: &Funds, gate: Gate, body: &NewWithdrawalBody, owner: PayoutOwner) -> Result<Response, ApiError> {
    let withdrawal = withdrawal_of(funds, &gate, body, owner)?;
    let books = Arc::clone(&gate.books);
    if let Some(known) = known(&books, &withdrawal).await? {
        return applied_response(&known, true);
    }
    check_to(&gate, &withdrawal.chain, withdrawal.to)?;
    check_expiry(body.expires, gate.now)?;
    let account = withdrawal.account.to_string();
    books.learn(std::iter::once(account.as_str())).await?;
    let number = books.accounts.number(&account).ok_or(ErrorCode::NotFound)?;
    // Without an exit no money leaves the world.
    let request =
        Intents::new(funds.settings().approval).request(&withdrawal, number, bankroll_ledger::AccountId(0))?;
    let pending = Intents::submit(&books.ledger, vec![request]);
    drop(gate);
    let answers = pending?.answered().await?;
    let answer = answers.first().ok_or(ErrorCode::OutcomeUnknown)?;
    match answer.effects() {
        Ok(_) => applied_response(&requested(&withdrawal), answer.replayed),
        Err(Rejection::KeyReused) => match known(&books, &withdrawal).await.map_err(ApiError::after_commit)? {
            Some(known) => applied_response(&known, true),
            None => Err(ErrorCode::IdempotencyMismatch.into()),
        },
        Err(rejection) => Err(rejection.into()),
    }
}

/// The request, with the proven consent of its owner.
fn withdrawal_of(
    funds: &Funds,
    gate: &Gate,
    body: &NewWithdrawalBody,
    owner: PayoutOwner,
) -> Result<WithdrawalRequest, ApiError> {
    let request_id: Name = body
        .request_id
        .parse()
        .map_err(|error| ApiError::with(ErrorCode::BodyInvalid, format!("request_id: {error}")))?;
    let asset = gate.registry.asset(owner.account.asset).filter(|asset| asset.symbol == body.asset);
    asset.ok_or_else(|| ApiError::with(ErrorCode::BodyInvalid, "asset is not the symbol of the server's asset"))?;
    let chain = gate.registry.chain(&owner.chain).ok_or(ErrorCode::Internal)?;
    let (to, units) = (address_of("to", &body.to)?, amount(&body.amount)?);
    let gas = gas_payer(Some(&body.fee_cap))?;
    // Who asks must not choose that the house pays: payouts of dust would cost the house more than they pay.
    if gas == GasPayer::House {
        return Err(ErrorCode::FeeCapZero.into());
    }
    let audience = &funds.settings().audience;
    let message = Payout {
        server: body.server.clone(),
        requestId: body.request_id.clone(),
        audience: audience.clone(),
        wallet: owner.signer.into(),
        account: owner.account.to_string(),
        to: to.into(),
        asset: body.asset.clone(),
        amount: U256::from(units.units()),
        feeCap: U256::from(amount(&body.fee_cap)?.units()),
        expires: body.expires,
    };
    let malformed =
        |error: typed_data::SignatureError| ApiError::with(ErrorCode::SignatureMalformed, error.to_string());
    let signature: WalletSignature = body.signature.parse().map_err(malformed)?;
    let signer = typed_data::recover(&typed_data::digest(&message, chain.id), &signature).map_err(malformed)?;
    if signer != owner.signer || address_of("wallet", &body.wallet)? != owner.signer {
        return Err(ErrorCode::SignatureInvalid.into());
    }
    let consent = PayoutConsent {
        wallet: signer,
        audience: audience.clone(),
        asset: body.asset.clone(),
        expires: body.expires,
        signature: signature.0.to_vec(),
    };
    Ok(WithdrawalRequest {
        principal: owner.principal,
        server: owner.server,
        request_id,
        wallet: owner.wallet,
        account: owner.account,
        chain: owner.chain,
        to,
        amount: units,
        gas,
        exit: None,
        consent: Some(consent),
    })
}

fn check_expiry(expires: u64, now: bankroll_ledger::Time) -> Result<(), ApiError> {
    let seconds = now.0 / 1_000_000;
    let at = || format!("the time of the service is {}", show_time(now));
    if expires > seconds.saturating_add(AHEAD_MAX_SECONDS).saturating_add(SKEW_SECONDS) {
        return Err(ApiError::with(ErrorCode::SignatureTooFarAhead, at()));
    }
    if expires.saturating_add(SKEW_SECONDS) <= seconds {
        return Err(ApiError::with(ErrorCode::SignatureExpired, at()));
    }
    Ok(())
}

/// Coins at the zero address are lost, and coins that come back to our own addresses are credited to no player.
pub(super) fn check_to(gate: &Gate, chain: &Name, to: Address) -> Result<(), ApiError> {
    if to == Address::ZERO || gate.registry.is_operators(chain, to) {
        return Err(ErrorCode::DestinationNotAllowed.into());
    }
    Ok(())
}

/// The withdrawal that an earlier request with this id made, if it is the same one.
async fn known(books: &HeldBooks, withdrawal: &WithdrawalRequest) -> Result<Option<RequestedBody>, ApiError> {
    let id = withdrawal.id();
    let Some(found) = books.readers.read(move |reader| views::payout_of(reader, &id)).await? else { return Ok(None) };
    let body = requested(withdrawal);
    let cap = found.fee_cap.map_or_else(|| "0".to_owned(), |cap| cap.to_string());
    let is_same = (&found.account, found.to, found.amount) == (&body.account, withdrawal.to, withdrawal.amount)
        && cap == body.fee_cap;
    if is_same { Ok(Some(body)) } else { Err(ErrorCode::IdempotencyMismatch.into()) }
}

fn requested(withdrawal: &WithdrawalRequest) -> RequestedBody {
    RequestedBody {
        withdrawal: withdrawal.id().to_string(),
        server: withdrawal.server.to_string(),
        request_id: withdrawal.request_id.to_string(),
        account: withdrawal.account.to_string(),
        to: withdrawal.to.to_string(),
        amount: withdrawal.amount.to_string(),
        fee_cap: match withdrawal.gas {
            GasPayer::House => "0".to_owned(),
            GasPayer::Player(cap) => cap.to_string(),
        },
    }
}

async fn list(gate: Gate, call: &ApiCall, filter: PayoutFilter) -> Result<Response, ApiError> {
    let PageQuery { after, limit } = call.query()?;
    let most = page_size(limit.as_deref())?;
    let filter = PayoutFilter { after, ..filter };
    let books = Arc::clone(&gate.books);
    drop(gate);
    let found = books.readers.read(move |reader| views::list_payouts(reader, &filter, most)).await?;
    let next = found.last().filter(|_| found.len() == most).map(|last| last.intent.to_string());
    applied_response(&WithdrawalPage { withdrawals: found.iter().map(shown).collect(), next }, false)
}

async fn show(gate: Gate, id: &str, is_own: impl Fn(&PayoutView) -> bool) -> Result<Response, ApiError> {
    let id = IntentId(id.parse().map_err(|_| ErrorCode::NotFound)?);
    let books = Arc::clone(&gate.books);
    drop(gate);
    let found = books.readers.read(move |reader| views::payout_of(reader, &id)).await?;
    applied_response(&shown(&found.filter(is_own).ok_or(ErrorCode::NotFound)?), false)
}

fn shown(payout: &PayoutView) -> WithdrawalBody {
    let AssetId(asset) = payout.asset;
    WithdrawalBody {
        withdrawal: payout.intent.to_string(),
        server: payout.server.clone(),
        asker: payout.asker.clone(),
        request_id: payout.request_id.clone(),
        player: payout.wallet.clone(),
        account: payout.account.clone(),
        chain: payout.chain.clone(),
        asset,
        to: payout.to.to_string(),
        amount: payout.amount.to_string(),
        fee_cap: payout.fee_cap.map_or_else(|| "0".to_owned(), |cap| cap.to_string()),
        stage: payout.stage.as_str(),
        tx_hash: payout.final_tx_hash.clone(),
        fee: payout.fee.map(|fee| fee.to_string()),
        reason: payout.reason.clone(),
    }
}
