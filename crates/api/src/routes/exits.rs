//! Exits: a player's value leaves the world and becomes their money, once per exit id.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_ledger::{Name, Rejection};
use bankroll_orders::Address;
use bankroll_registry::SpendSide;
use bankroll_withdrawals::{Intents, KeptBecause, PayoutTerms, views};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    accounts::player_of,
    exit_order::{ExitOrder, Found, shown},
    payout_requests::check_to,
    redacted::players_response,
    sessions::address_of,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts},
    money::{applied_response, count},
    state::Gate,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExitBody {
    /// The game's own name for the exit, unique for the server: the same exit again has the same answer.
    pub exit_id: String,
    /// The wallet of the player.
    pub player: String,
    /// What leaves the world.
    pub amount: String,
    pub payout: ExitPayout,
    /// For `auto`: where the coins go, a wallet of the player; by default the one in `player`.
    #[serde(default)]
    pub to: Option<String>,
    /// For `auto`: the most that the player pays for gas, out of their funds; without it the house pays.
    #[serde(default)]
    pub fee_cap: Option<String>,
    /// The live spawn that ends with it. Needed while the player has one, or its refund could pay a second time.
    #[serde(default)]
    pub spawn: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitPayout {
    /// Paid out on chain.
    Auto,
    /// Kept in the player's funds.
    Keep,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ExitBody {
    pub exit_id: String,
    pub player: String,
    /// The account that got the money.
    pub account: String,
    pub amount: String,
    /// The withdrawal that pays it; missing if it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<String>,
    /// Why an exit with `payout: auto` is kept all the same: `insufficient_funds` if a debt was repaid first, or the funds
    /// did not reach for `fee_cap`; `player_frozen` if an operator has frozen the player. The player has the money, and
    /// can request its payout, once they are not frozen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_because: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn: Option<String>,
}

/// Takes a player out of the world
///
/// Moves their value into their funds and, with `payout: auto`, requests its payout in the same commit. If their funds
/// cannot pay for that, or the player is frozen, the value stays there: an exit always credits the player. `exit_id` decides what the same request
/// is: with another body it is a mismatch, and with another `Idempotency-Key` it is still one exit. A key that was sent
/// with another exit is a mismatch.
#[utoipa::path(post, path = "/v1/servers/{server}/exits", tag = "game", params(("server" = String, Path)),
    request_body = NewExitBody, responses((status = 200, body = ExitBody)), security(("session" = [])))]
pub async fn exit(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.game_server(&server)?;
    let key = call.key()?.to_owned();
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let (asset, chain) = (entry.asset, entry.chain.clone());
    let body: NewExitBody = call.body()?;
    let player = player_of(&gate.registry, &chain, &body.player)?;
    let given = address_of("player", &body.player)?;
    let owners = gate.registry.owner_names(&chain, &player);
    let order = ExitOrder::read(body, server, player, asset, chain)?;
    check_destination(&gate, &order, given)?;
    let order = match order.look_up(&gate.books, owners.clone(), key.clone(), gate.now).await? {
        Found::Made(known) => return applied_response(&known, true),
        Found::New(order) => order,
    };
    submit(&funds, gate, order, &owners, &key).await
}

/// Counts the exit, submits it, and keeps it in the books if the account cannot pay for its payout, or must not.
async fn submit(funds: &Funds, gate: Gate, order: ExitOrder, owners: &[Name], key: &str) -> Result<Response, ApiError> {
    let books = Arc::clone(&gate.books);
    if let Some(payout) = order.payout {
        check_to(&gate, &order.chain, payout.to)?;
    }
    let accounts = order.ensure_accounts(&books).await?;
    let is_frozen = order.payout.is_some() && gate.registry.frozen(&order.player).is_some();
    let frozen = is_frozen.then_some(KeptBecause::PlayerFrozen);
    let request = match frozen {
        Some(because) => order.unpaid_request(because, accounts, key)?,
        None => order.request(&Intents::new(funds.settings().approval_on(&order.chain)), accounts, key)?,
    };
    // The player can have it paid out, if it is not at once: a stolen key must not empty the world.
    let spent = count(&gate, [(SpendSide::Given, order.asset, order.amount)])?;
    let pending = Intents::submit(&books.ledger, vec![request]);
    drop(gate);
    let answered = match pending {
        Ok(pending) => pending.answered().await.map_err(ApiError::from),
        Err(refusal) => Err(refusal.into()),
    };
    let answers = answered.inspect_err(|error| spent.failed(&books, error))?;
    let answer = answers.into_iter().next().ok_or(ErrorCode::OutcomeUnknown)?;
    let is_unpaid = order.payout.is_some() && !is_frozen && answer.effects() == Err(Rejection::InsufficientFunds);
    let (answer, body) = if is_unpaid {
        let because = KeptBecause::InsufficientFunds;
        let kept = books.ledger.submit(vec![order.unpaid_request(because, accounts, key)?]);
        let answers = spent.answers(&books, kept).await?;
        (answers.into_iter().next().ok_or(ErrorCode::OutcomeUnknown)?, order.kept_body(Some(because)))
    } else if is_frozen {
        (answer, order.kept_body(frozen))
    } else {
        (answer, order.body())
    };
    spent.settle(&books, &answer);
    match answer.effects() {
        Ok(_) => applied_response(&body, answer.replayed),
        // Decided before, maybe under another policy: the row says whether it is the same exit.
        Err(Rejection::KeyReused) => match order.known(&books, owners).await.map_err(ApiError::after_commit)? {
            Some(known) => applied_response(&known, true),
            None => Err(ErrorCode::IdempotencyMismatch.into()),
        },
        // The same exit may have been made under its other key, before or after a freeze.
        Err(Rejection::GuardFailed) => match order.known(&books, owners).await.map_err(ApiError::after_commit)? {
            Some(known) => applied_response(&known, true),
            None => Err(Rejection::GuardFailed.into()),
        },
        // Another request has taken the key in the meantime.
        Err(Rejection::ServerPaused) => Err(ErrorCode::IdempotencyMismatch.into()),
        Err(rejection) => Err(rejection.into()),
    }
}

/// An exit
#[utoipa::path(get, path = "/v1/servers/{server}/exits/{exit}", tag = "game",
    params(("server" = String, Path), ("exit" = String, Path)), responses((status = 200, body = ExitBody)),
    security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts((server, exit)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    let exit_id: Name = exit.parse().map_err(|_| ErrorCode::NotFound)?;
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| views::exit_of(reader, &server, &exit_id)).await?;
    players_response(&shown(&found.ok_or(ErrorCode::NotFound)?), in_full)
}

/// A game server pays a player to the player's own wallets only: the one it names, or one that they have proved.
fn check_destination(gate: &Gate, order: &ExitOrder, given: Address) -> Result<(), ApiError> {
    let Some(PayoutTerms { to, .. }) = order.payout else { return Ok(()) };
    if to == given || gate.registry.proven_player(&order.chain, to) == Some(&order.player) {
        return Ok(());
    }
    Err(ApiError::with(ErrorCode::Forbidden, "to is none of the player's wallets"))
}
