//! Accounts of a game server: opening, listing, balances, statements.

use axum::{extract::State, response::Response};
use bankroll_ledger::{
    Account, AccountId, AccountKind, AccountName, Action, IdempotencyKey, Name, Namespace, Principal, References,
    Rejection, Request, Scope,
};
use bankroll_store::{AccountFilter, Direction, StatementChange, StatementLine, StatementQuery};
use bankroll_withdrawals::{key_fact, request_of_key};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{pages::page_size, redacted::players_response};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time, time},
    money::applied_response,
    state::HeldBooks,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccountBody {
    /// The wallet of the player, `0x` and 40 digits. Only the wallet's own signature attributes payments from it.
    pub player: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AccountBody {
    #[schema(example = "arena/funds/1/0x9c1885f0c36b4a1d5e1f0c5e7a5e3f1d2c3b4a59")]
    pub account: String,
    pub kind: &'static str,
    pub asset: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Held amounts included.
    pub balance: String,
    pub held: String,
    /// What can be spent now.
    pub available: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OpenedBody {
    /// The names of the player's accounts.
    pub accounts: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AccountPage {
    pub accounts: Vec<AccountBody>,
    /// For `after` of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AccountQuery {
    /// `funds`, `world`, ...
    pub kind: Option<String>,
    pub owner: Option<String>,
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LineQuery {
    pub from: Option<String>,
    pub to: Option<String>,
    /// `ascending` (by default) or `descending`.
    pub order: Option<String>,
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct StatementBody {
    pub account: String,
    pub lines: Vec<LineBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LineBody {
    pub record: String,
    pub line: u16,
    pub at: String,
    /// `in`, `out`, `held`, `posted`, `released` or `expired`.
    pub change: &'static str,
    /// The other account of a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    pub amount: String,
    pub balance: String,
    pub held: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverses: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversed_by: Option<String>,
}

/// Opens the accounts of a player
///
/// `funds` and `unallocated`; accounts that exist stay as they are.
#[utoipa::path(post, path = "/v1/servers/{server}/accounts", tag = "accounts", security(("session" = [])),
    params(("server" = String, Path)), request_body = NewAccountBody, responses((status = 200, body = OpenedBody)))]
pub async fn open(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.game_server(&server)?;
    let key = call.key()?.to_owned();
    let NewAccountBody { player } = call.body()?;
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let (asset, owner) = (entry.asset, player_of(&gate.registry, &entry.chain, &player)?);
    let wanted = format!("accounts/{}", super::sessions::address_of("player", &player)?.lower_hex());
    let books = std::sync::Arc::clone(&gate.books);
    drop(gate);
    let is_repeated = claim_key(&books, &server, key, wanted).await?;
    let name = |kind| AccountName { scope: Scope::Server(server.clone()), kind, asset, owner: Some(owner.clone()) };
    let names = vec![name(AccountKind::Funds), name(AccountKind::Unallocated)];
    let accounts = names.iter().map(ToString::to_string).collect();
    open_accounts(&books, Principal::GameServer(server), names).await?;
    applied_response(&OpenedBody { accounts }, is_repeated)
}

/// Writes a game server's key for what it wants, in a record of its own: opening accounts is no request that could have
/// the row. Returns whether it was there; a key that was sent with something else is a mismatch.
async fn claim_key(books: &HeldBooks, server: &Name, key: String, wanted: String) -> Result<bool, ApiError> {
    let asker = format!("server/{server}");
    let request = Request {
        key: IdempotencyKey {
            namespace: Namespace::Client,
            scope: Scope::Server(server.clone()),
            text: format!("accounts/{key}"),
        },
        principal: Principal::GameServer(server.clone()),
        confirmation: None,
        action: Action::Legs(Vec::new()),
        references: References::default(),
        facts: vec![key_fact(&asker, &key, &wanted)],
        events: Vec::new(),
    };
    match books.readers.read(move |reader| request_of_key(reader, &asker, &key)).await? {
        Some(known) if known == wanted => return Ok(true),
        Some(_) => return Err(ErrorCode::IdempotencyMismatch.into()),
        None => {}
    }
    let answers = books.ledger.submit(vec![request])?.await?;
    match answers.first().ok_or(ErrorCode::OutcomeUnknown)?.effects() {
        Ok(_) => Ok(false),
        // Another request was faster.
        Err(Rejection::ServerPaused | Rejection::KeyReused) => Err(ErrorCode::IdempotencyMismatch.into()),
        Err(rejection) => Err(rejection.into()),
    }
}

/// The player that a game server of this chain means by a wallet: one of several wallets of a player is that player's.
pub(super) fn player_of(registry: &bankroll_registry::Registry, chain: &Name, wallet: &str) -> Result<Name, ApiError> {
    let wallet = super::sessions::address_of("player", wallet)?;
    match registry.player_wallet(wallet) {
        Some(proven) if proven.is_proven_on(chain) => Ok(proven.player.clone()),
        // Here the address may be another person's contract.
        Some(_) => Err(ApiError::with(ErrorCode::Conflict, "the wallet is a contract on another chain")),
        None => wallet.lower_hex().parse().map_err(|_| ErrorCode::Internal.into()),
    }
}

/// Opens accounts on a thread that may block; accounts that exist stay as they are.
pub(super) async fn open_accounts(
    books: &HeldBooks,
    by: Principal,
    names: Vec<AccountName>,
) -> Result<Vec<AccountId>, ApiError> {
    let (ledger, opening) = (books.ledger.clone(), names.clone());
    let opened = tokio::task::spawn_blocking(move || ledger.open_accounts(&by, opening)).await;
    let opened = opened.map_err(|_| ErrorCode::OutcomeUnknown)??;
    let numbers = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
    names.iter().zip(&numbers).for_each(|(name, id)| books.accounts.insert(&name.to_string(), *id));
    Ok(numbers)
}

/// Lists accounts
#[utoipa::path(get, path = "/v1/servers/{server}/accounts", tag = "accounts", security(("session" = [])),
    params(("server" = String, Path), AccountQuery), responses((status = 200, body = AccountPage)))]
pub async fn list(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    let query: AccountQuery = call.query()?;
    let wrong = |what: &'static str| ApiError::with(ErrorCode::QueryInvalid, what);
    let kind = query.kind.map(|kind| kind.parse()).transpose();
    let owner = query.owner.map(|owner| owner.parse()).transpose();
    let after = query.after.map(|after| after.parse().map(AccountId)).transpose();
    let filter = AccountFilter {
        scope: Some(server.to_string()),
        kind: kind.map_err(|_| wrong("kind is a kind of account"))?,
        owner: owner.map_err(|_| wrong("owner is the name of an owner"))?,
        non_zero: false,
        after: after.map_err(|_| ErrorCode::CursorInvalid)?,
    };
    let most = page_size(query.limit.as_deref())?;
    let (books, in_full) = (std::sync::Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let accounts = books.pages.read(move |reader| reader.accounts(&filter, most)).await?;
    let next = accounts.last().filter(|_| accounts.len() == most).map(|last| last.id.to_string());
    players_response(&AccountPage { accounts: accounts.iter().map(shown).collect(), next }, in_full)
}

/// An account with its balance
///
/// The account's name is part of the path, with its slashes written as `%2F`.
#[utoipa::path(get, path = "/v1/servers/{server}/accounts/{account}", tag = "accounts", security(("session" = [])),
    params(("server" = String, Path), ("account" = String, Path)), responses((status = 200, body = AccountBody)))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts((server, account)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let name = own_account(&gate.reader_of(&server)?, &account)?;
    let (books, in_full) = (std::sync::Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let account = books.pages.read(move |reader| reader.account_named(&name)).await?;
    players_response(&shown(&account.ok_or(ErrorCode::NotFound)?), in_full)
}

/// The changes of an account, line by line
#[utoipa::path(get, path = "/v1/servers/{server}/accounts/{account}/statement", tag = "accounts",
    security(("session" = [])), params(("server" = String, Path), ("account" = String, Path), LineQuery),
    responses((status = 200, body = StatementBody)))]
pub async fn statement(
    State(funds): State<Funds>,
    PathParts((server, account)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let name = own_account(&gate.reader_of(&server)?, &account)?;
    let (books, in_full) = (std::sync::Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    players_response(&read_statement(&books, name, call.query()?).await?, in_full)
}

/// A page of an account's statement.
pub(super) async fn read_statement(
    books: &HeldBooks,
    name: AccountName,
    query: LineQuery,
) -> Result<StatementBody, ApiError> {
    let account = name.to_string();
    books.learn(std::iter::once(account.as_str())).await?;
    let id = books.accounts.number(&account).ok_or(ErrorCode::NotFound)?;
    let at = |text: Option<String>| text.map(|text| time(&text, ErrorCode::QueryInvalid)).transpose();
    let descending = match query.order.as_deref() {
        None | Some("ascending") => false,
        Some("descending") => true,
        Some(_) => return Err(ApiError::with(ErrorCode::QueryInvalid, "order is ascending or descending")),
    };
    let asked = StatementQuery {
        account: id,
        from: at(query.from)?,
        to: at(query.to)?,
        descending,
        after: query.after.map(|cursor| cursor.parse()).transpose()?,
        most: page_size(query.limit.as_deref())?,
    };
    let page = books.pages.read(move |reader| reader.statement(&asked)).await?;
    let mut lines = Vec::with_capacity(page.items.len());
    for line in &page.items {
        lines.push(line_of(books, line).await?);
    }
    Ok(StatementBody { account, lines, next: page.next.map(|next| next.to_string()) })
}

async fn line_of(books: &HeldBooks, line: &StatementLine) -> Result<LineBody, ApiError> {
    let (change, other, hold) = match line.change {
        StatementChange::Moved { direction: Direction::In, other } => ("in", Some(other), None),
        StatementChange::Moved { direction: Direction::Out, other } => ("out", Some(other), None),
        StatementChange::Held(hold) => ("held", None, Some(hold)),
        StatementChange::Posted(hold) => ("posted", None, Some(hold)),
        StatementChange::Released(hold) => ("released", None, Some(hold)),
        StatementChange::Expired(hold) => ("expired", None, Some(hold)),
    };
    let other = match other {
        Some(id) => Some(books.name_of(id).await?.to_string()),
        None => None,
    };
    Ok(LineBody {
        record: format!("rec_{}", line.seq),
        line: line.line,
        at: show_time(line.at),
        change,
        other,
        hold: hold.map(|hold| format!("hold_{hold}")),
        amount: line.amount.to_string(),
        balance: line.balance.to_string(),
        held: line.held.to_string(),
        deposit: line.references.deposit.clone(),
        withdrawal: line.references.intent.clone(),
        tx_hash: line.references.tx_hash.clone(),
        reverses: line.reverses.map(|seq| format!("rec_{seq}")),
        reversed_by: line.reversed_by.map(|seq| format!("rec_{seq}")),
    })
}

/// The name of an account of this server; another server's is not found.
fn own_account(server: &Name, text: &str) -> Result<AccountName, ApiError> {
    let name: AccountName = text.parse().map_err(|_| ErrorCode::NotFound)?;
    match &name.scope {
        Scope::Server(of) if of == server => Ok(name),
        _ => Err(ErrorCode::NotFound.into()),
    }
}

pub(super) fn shown(account: &Account) -> AccountBody {
    AccountBody {
        account: account.name.to_string(),
        kind: account.name.kind.as_str(),
        asset: account.name.asset.0,
        owner: account.name.owner.as_ref().map(ToString::to_string),
        balance: account.balance.to_string(),
        held: account.held.to_string(),
        available: account.available().to_string(),
    }
}
