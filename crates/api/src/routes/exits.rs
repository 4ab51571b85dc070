//! Exits: a player's value leaves the world and becomes their money, once per exit id.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_ledger::{AccountKind, AccountName, Amount, AssetId, Name, Principal, Rejection, Request, Scope};
use bankroll_orders::Address;
use bankroll_registry::SpendSide;
use bankroll_spawns::{SpawnId, exit_fact};
use bankroll_store::Reader;
use bankroll_withdrawals::{
    EndedSpawn, GasPayer, Intents, KeptExit, WithdrawalRequest, WorldExit,
    views::{self, ExitView},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    accounts::{open_accounts, player_of},
    sessions::address_of,
    withdrawals::check_to,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, amount},
    money::{applied_response, count},
    state::{Gate, HeldBooks},
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
    /// The spawn that ends with it.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn: Option<String>,
}

/// An exit that was asked for.
#[derive(Clone)]
struct ExitOrder {
    server: Name,
    exit_id: Name,
    player: Name,
    asset: AssetId,
    chain: Name,
    amount: Amount,
    payout: Option<(Address, GasPayer)>,
    spawn: Option<SpawnId>,
}

/// Takes a player out of the world
///
/// Moves their value into their funds and, with `payout: auto`, requests its payout in the same commit. `exit_id` decides
/// what the same request is: with another body it is a mismatch, and with another `Idempotency-Key` it is still one exit.
#[utoipa::path(post, path = "/v1/servers/{server}/exits", tag = "game", params(("server" = String, Path)),
    request_body = NewExitBody, responses((status = 200, body = ExitBody)), security(("session" = [])))]
pub async fn exit(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.game_server(&server)?;
    call.key()?;
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let (asset, chain) = (entry.asset, entry.chain.clone());
    let body: NewExitBody = call.body()?;
    let player = player_of(&gate.registry, &body.player)?;
    let given = address_of("player", &body.player)?;
    let order = ExitOrder::read(body, server, player, asset, chain)?;
    check_destination(&gate, &order, given)?;
    let books = Arc::clone(&gate.books);
    if let Some(known) = known(&books, &order).await? {
        return applied_response(&known, true);
    }
    if let Some((to, _)) = order.payout {
        check_to(&gate, &order.chain, to)?;
    }
    let [account, world] = ensure_accounts(&books, &order).await?;
    let request = order.request(&Intents::new(funds.settings().approval), account, world)?;
    // The player can have it paid out, if it is not at once: a stolen key must not empty the world.
    let spent = count(&gate, [(SpendSide::Given, asset, order.amount)])?;
    let pending = Intents::submit(&books.ledger, vec![request]);
    drop(gate);
    let answered = match pending {
        Ok(pending) => pending.answered().await.map_err(ApiError::from),
        Err(refusal) => Err(refusal.into()),
    };
    let answers = answered.inspect_err(|error| spent.failed(&books, error))?;
    let answer = answers.first().ok_or(ErrorCode::OutcomeUnknown)?;
    spent.settle(&books, answer);
    match answer.effects() {
        Ok(_) => applied_response(&order.body(), answer.replayed),
        // Decided before, maybe under another policy: the row says whether it is the same exit.
        Err(Rejection::KeyReused) => match known(&books, &order).await.map_err(ApiError::after_commit)? {
            Some(known) => applied_response(&known, true),
            None => Err(ErrorCode::IdempotencyMismatch.into()),
        },
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
    let books = Arc::clone(&gate.books);
    drop(gate);
    let found = books.readers.read(move |reader| views::exit_of(reader, &server, &exit_id)).await?;
    applied_response(&shown(&found.ok_or(ErrorCode::NotFound)?), false)
}

/// A game server pays a player to the player's own wallets only: the one it names, or one that they have proved.
fn check_destination(gate: &Gate, order: &ExitOrder, given: Address) -> Result<(), ApiError> {
    let Some((to, _)) = order.payout else { return Ok(()) };
    if to == given || gate.registry.proven_player(&order.chain, to) == Some(&order.player) {
        return Ok(());
    }
    Err(ApiError::with(ErrorCode::Forbidden, "to is none of the player's wallets"))
}

/// The exit that was made under this id, if it is the same one.
async fn known(books: &HeldBooks, order: &ExitOrder) -> Result<Option<ExitBody>, ApiError> {
    let order = order.clone();
    let read = move |reader: &Reader| {
        let Some(found) = views::exit_of(reader, &order.server, &order.exit_id)? else { return Ok(None) };
        let paid_to = found.intent.as_ref().map(|intent| views::payout_of(reader, intent)).transpose()?.flatten();
        let is_same = found.wallet == order.player
            && found.amount == order.amount
            && found.spawn.as_deref() == order.spawn.as_ref().map(SpawnId::as_str)
            && found.intent.is_some() == order.payout.is_some()
            && order.payout.is_none_or(|(to, gas)| {
                paid_to
                    .is_some_and(|paid| paid.to == to && paid.fee_cap.map_or(GasPayer::House, GasPayer::Player) == gas)
            });
        if is_same { Ok(Some(shown(&found))) } else { Err(ApiError::new(ErrorCode::IdempotencyMismatch)) }
    };
    books.readers.read(read).await
}

/// The player's funds and the world; opened if this is the first time.
async fn ensure_accounts(books: &HeldBooks, order: &ExitOrder) -> Result<[bankroll_ledger::AccountId; 2], ApiError> {
    let world = AccountName { kind: AccountKind::World, owner: None, ..order.account() };
    let fees = AccountName { scope: Scope::House, kind: AccountKind::NetworkFees, asset: order.asset, owner: None };
    let names = vec![order.account(), world, fees];
    let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
    books.learn(texts.iter().map(String::as_str)).await?;
    let known = texts.iter().map(|text| books.accounts.number(text)).collect::<Option<Vec<_>>>();
    let numbers = match known {
        Some(numbers) => numbers,
        None => open_accounts(books, Principal::System, names).await?,
    };
    let [account, world, _] = numbers[..] else { return Err(ErrorCode::Internal.into()) };
    Ok([account, world])
}

impl ExitOrder {
    fn read(body: NewExitBody, server: Name, player: Name, asset: AssetId, chain: Name) -> Result<Self, ApiError> {
        let wrong = |detail: &'static str| ApiError::with(ErrorCode::BodyInvalid, detail);
        let exit_id = body
            .exit_id
            .parse()
            .map_err(|error| ApiError::with(ErrorCode::BodyInvalid, format!("exit_id: {error}")))?;
        let spawn = body.spawn.map(|spawn| SpawnId::parse(&spawn).ok_or(ErrorCode::NotFound)).transpose()?;
        let payout = match body.payout {
            ExitPayout::Keep if body.to.is_some() || body.fee_cap.is_some() => {
                return Err(wrong("to and fee_cap belong to payout auto"));
            }
            ExitPayout::Keep => None,
            ExitPayout::Auto => {
                let to = address_of("to", body.to.as_deref().unwrap_or(&body.player))?;
                Some((to, gas_payer(body.fee_cap.as_deref())?))
            }
        };
        Ok(Self { server, exit_id, player, asset, chain, amount: amount(&body.amount)?, payout, spawn })
    }

    fn account(&self) -> AccountName {
        let (scope, owner) = (Scope::Server(self.server.clone()), Some(self.player.clone()));
        AccountName { scope, kind: AccountKind::Funds, asset: self.asset, owner }
    }

    fn request(
        &self,
        intents: &Intents,
        account: bankroll_ledger::AccountId,
        world: bankroll_ledger::AccountId,
    ) -> Result<Request, ApiError> {
        let ended = |id: &SpawnId| EndedSpawn { id: id.to_string(), fact: exit_fact(id, &self.server, &self.player) };
        let exit = WorldExit { amount: self.amount, spawn: self.spawn.as_ref().map(ended) };
        let principal = Principal::GameServer(self.server.clone());
        let (server, exit_id, wallet) = (self.server.clone(), self.exit_id.clone(), self.player.clone());
        let Some((to, gas)) = self.payout else {
            let kept = KeptExit { principal, server, exit_id, wallet, account: self.account(), exit };
            return Ok(Intents::keep_request(&kept, account, world)?);
        };
        let withdrawal = WithdrawalRequest {
            principal,
            server,
            request_id: exit_id,
            wallet,
            account: self.account(),
            chain: self.chain.clone(),
            to,
            amount: self.amount,
            gas,
            exit: Some(exit),
            consent: None,
        };
        Ok(intents.request(&withdrawal, account, world)?)
    }

    /// What the row says once the request is applied.
    fn body(&self) -> ExitBody {
        let withdrawal = self.payout.map(|_| bankroll_withdrawals::Asker::Exit.intent_id(&self.server, &self.exit_id));
        ExitBody {
            exit_id: self.exit_id.to_string(),
            player: self.player.to_string(),
            account: self.account().to_string(),
            amount: self.amount.to_string(),
            withdrawal: withdrawal.map(|id| id.to_string()),
            spawn: self.spawn.as_ref().map(ToString::to_string),
        }
    }
}

/// Who pays for gas: the player up to a cap, or the house.
pub(super) fn gas_payer(fee_cap: Option<&str>) -> Result<GasPayer, ApiError> {
    let cap = fee_cap.map(amount).transpose()?.filter(|cap| !cap.is_zero());
    Ok(cap.map_or(GasPayer::House, GasPayer::Player))
}

fn shown(exit: &ExitView) -> ExitBody {
    ExitBody {
        exit_id: exit.exit_id.to_string(),
        player: exit.wallet.to_string(),
        account: exit.account.clone(),
        amount: exit.amount.to_string(),
        withdrawal: exit.intent.as_ref().map(ToString::to_string),
        spawn: exit.spawn.clone(),
    }
}
