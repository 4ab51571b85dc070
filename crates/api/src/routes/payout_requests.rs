//! Payouts that a player or a developer requests, each with their own signature.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_ledger::{AccountKind, AccountName, AssetId, Name, Principal, Rejection, Scope};
use bankroll_orders::{
    Address,
    typed_data::{self, Payout, U256, WalletSignature},
};
use bankroll_registry::{AHEAD_MAX_SECONDS, SKEW_SECONDS};
use bankroll_withdrawals::{GasPayer, Intents, PayoutConsent, WithdrawalRequest, key_fact, request_of_key, views};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{exit_order::gas_payer, players::is_own, sessions::address_of};
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

/// Requests a payout of the player's own money
///
/// Signed by one of the player's wallets (EIP-712 `Payout`); the signature is stored with the request. `request_id`
/// decides what the same request is: with another body it is a mismatch, and with another `Idempotency-Key` it is still
/// paid once. A key that was sent with another request is a mismatch.
#[utoipa::path(post, path = "/v1/me/withdrawals", tag = "withdrawals", request_body = NewWithdrawalBody,
    responses((status = 200, body = RequestedBody)), security(("session" = [])))]
pub async fn request(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let key = RequestKey { asker: format!("player/{player}"), key: call.key()?.to_owned() };
    let body: NewWithdrawalBody = call.body()?;
    let server: Name = body.server.parse().map_err(|_| ErrorCode::NotFound)?;
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let (chain, asset) = (entry.chain.clone(), entry.asset);
    let (account, owner) = players_account(&gate, &body.account, &server, asset, &player)?;
    let wallet = address_of("wallet", &body.wallet)?;
    // Only a wallet that is proved on this chain is the player's there.
    if gate.registry.proven_player(&chain, wallet) != Some(&player) {
        return Err(ApiError::with(ErrorCode::SignatureInvalid, "wallet is none of the player's on that chain"));
    }
    let principal = Principal::User(owner.clone());
    let owner = PayoutOwner { principal, server, wallet: owner, account, chain, signer: wallet };
    submit(&funds, gate, &body, owner, key).await
}

/// Requests a payout of the developer's fees
///
/// Signed by the developer's wallet (EIP-712 `Payout`). `request_id` decides what the same request is: with another body
/// it is a mismatch, and with another `Idempotency-Key` it is still paid once. A key that was sent with another request
/// is a mismatch.
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
    let key = RequestKey { asker: format!("developer/{server}"), key: call.key()?.to_owned() };
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
    submit(&funds, gate, &body, PayoutOwner { principal, server, wallet, account, chain, signer }, key).await
}

/// The account that a player pays out of, and its owner: the player, or a wallet of theirs. An account of another player
/// looks like one that does not exist.
fn players_account(
    gate: &Gate,
    text: &str,
    server: &Name,
    asset: AssetId,
    player: &Name,
) -> Result<(AccountName, Name), ApiError> {
    let account: AccountName = text.parse()?;
    let is_payable = matches!(account.kind, AccountKind::Funds | AccountKind::Unallocated);
    if !is_payable || account.scope != Scope::Server(server.clone()) || account.asset != asset {
        let detail = "account is the player's funds or unallocated money at this server";
        return Err(ApiError::with(ErrorCode::BodyInvalid, detail));
    }
    let owner = account.owner.clone().filter(|_| is_own(gate, player, &account)).ok_or(ErrorCode::NotFound)?;
    Ok((account, owner))
}

/// A caller's own key of a request that has an id, too.
struct RequestKey {
    asker: String,
    key: String,
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

async fn submit(
    funds: &Funds,
    gate: Gate,
    body: &NewWithdrawalBody,
    owner: PayoutOwner,
    RequestKey { asker, key }: RequestKey,
) -> Result<Response, ApiError> {
    let withdrawal = withdrawal_of(funds, &gate, body, owner)?;
    let books = Arc::clone(&gate.books);
    let id = withdrawal.id().to_string();
    let written = key_fact(&asker, &key, &id);
    let sent_with = books.readers.read(move |reader| request_of_key(reader, &asker, &key)).await?;
    if sent_with.is_some_and(|request| request != id) {
        return Err(ErrorCode::IdempotencyMismatch.into());
    }
    if let Some(known) = known(&books, &withdrawal).await? {
        return applied_response(&known, true);
    }
    check_frozen(&gate, &withdrawal)?;
    check_to(&gate, &withdrawal.chain, withdrawal.to)?;
    check_expiry(body.expires, gate.now)?;
    let account = withdrawal.account.to_string();
    books.learn(std::iter::once(account.as_str())).await?;
    let number = books.accounts.number(&account).ok_or(ErrorCode::NotFound)?;
    // Without an exit no money leaves the world.
    let mut request = Intents::new(funds.settings().approval_on(&withdrawal.chain)).request(
        &withdrawal,
        number,
        bankroll_ledger::AccountId(0),
    )?;
    request.facts.push(written);
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
        // Another request has taken the key in the meantime.
        Err(Rejection::ServerPaused) => Err(ErrorCode::IdempotencyMismatch.into()),
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

/// A frozen player is paid nothing, nor as the developer of a game server.
fn check_frozen(gate: &Gate, withdrawal: &WithdrawalRequest) -> Result<(), ApiError> {
    let names = [Some(&withdrawal.wallet), withdrawal.account.owner.as_ref()];
    match names.into_iter().flatten().find_map(|name| gate.registry.frozen(name)) {
        Some(_) => Err(ErrorCode::PlayerFrozen.into()),
        None => Ok(()),
    }
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
