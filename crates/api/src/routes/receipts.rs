//! Receipts: proof that a record is in the journal, with the names of its accounts, under a published head.

use axum::{extract::State, response::Response};
use bankroll_heads::{receipts, views};
use bankroll_ledger::{AccountName, Name, Principal, Record, Scope, Seq, Verdict};
use bankroll_operators::Right;
use bankroll_registry::Caller;
use bankroll_store::{Reader, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    heads::{HeadBody, number},
    players::is_own,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, record_seq},
    money::applied_response,
    state::Gate,
};

/// `record` and `siblings` lead to `batch.root`, the batch to `head`, `path` from there to the root of `published`.
/// `accounts` has the same for each record that opened an account that the record mentions. Hashes are SHA-256, trees
/// have the shape of RFC 9162. `bankroll receipt check` verifies all of it offline.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct ReceiptBody {
    /// `bankroll receipt 3`
    pub format: String,
    pub seq: u64,
    /// The bytes of the record, in hexadecimal digits.
    pub record: String,
    pub siblings: Vec<String>,
    pub batch: ReceiptBatchBody,
    /// The head of the hash chain after the batch.
    pub head: String,
    pub path: Vec<String>,
    pub published: HeadBody,
    pub accounts: Vec<OpeningBody>,
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct ReceiptBatchBody {
    pub number: u64,
    pub first: u64,
    pub count: u32,
    /// In microseconds since 1970.
    pub at: u64,
    pub root: String,
    pub previous: String,
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct OpeningBody {
    pub seq: u64,
    pub record: String,
    pub siblings: Vec<String>,
    pub batch: ReceiptBatchBody,
    pub path: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReceiptQuery {
    /// The batch of the published head that proves it; the newest one by default.
    #[param(value_type = Option<u64>)]
    pub under: Option<String>,
}

/// The receipt of a record
///
/// For operators, for a game server and for a player whose accounts the record touches.
#[utoipa::path(get, path = "/v1/receipts/{record}", tag = "heads", security(("session" = [])),
    params(("record" = String, Path, example = "rec_1204"), ReceiptQuery),
    responses((status = 200, body = ReceiptBody)))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(record): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let caller = gate.session()?.caller.clone();
    let is_operator = !matches!(caller, Caller::GameServer(_) | Caller::Player(_) | Caller::Developer(..));
    if is_operator {
        gate.operator(Right::ReadMoney)?;
    }
    let seq = record_seq(&record)?;
    let ReceiptQuery { under } = call.query()?;
    let under = under.map(|under| number(Some(&under), "under")).transpose()?;
    let books = std::sync::Arc::clone(&gate.books);
    drop(gate);
    let (found, names) = books.pages.read(move |reader| with_names(reader, seq)).await?.ok_or(ErrorCode::NotFound)?;
    if !is_operator {
        // Again, because reading did not hold the registry.
        let gate = funds.enter(&call).await?;
        if !touches(&gate, &caller, &found, &names) {
            return Err(ErrorCode::NotFound.into());
        }
    }
    let body = books.pages.read(move |reader| receipt(reader, seq, under)).await?;
    applied_response(&body, false)
}

/// The record, and the names of the accounts that it mentions.
fn with_names(reader: &Reader, seq: Seq) -> Result<Option<(Record, Vec<AccountName>)>, StoreError> {
    // A place beyond the journal is no damage.
    if !(1..=reader.head()?.seq.0).contains(&seq.0) {
        return Ok(None);
    }
    let Some(bytes) = reader.record(seq)? else { return Ok(None) };
    let unreadable = |_| StoreError::Diverged { at: seq, what: "the record cannot be read".into() };
    let record = Record::decode(&bytes).map_err(unreadable)?;
    let mut names = Vec::new();
    for account in record.accounts() {
        names.extend(reader.account(account)?.map(|account| account.name));
    }
    Ok(Some((record, names)))
}

/// Whether a game server or a player may see the record: it changed an account of theirs, or they asked for it. A
/// request of another caller that names their account and was rejected is not theirs to read.
fn touches(gate: &Gate, caller: &Caller, record: &Record, names: &[AccountName]) -> bool {
    let is_of = |name: &AccountName| match caller {
        Caller::GameServer(server) => name.scope == Scope::Server(server.clone()),
        Caller::Player(player) => is_own(gate, player, name),
        _ => false,
    };
    match record {
        Record::AssetListed { .. } | Record::LossAccepted(_) => false,
        Record::AccountOpened { name, .. } => is_of(name),
        Record::Decided { request, verdict: Verdict::Rejected(_) } => match caller {
            Caller::GameServer(server) => request.principal == Principal::GameServer(server.clone()),
            Caller::Player(player) => is_of_player(gate, player, &request.principal),
            _ => false,
        },
        Record::Decided { .. } | Record::HoldExpired(_) => names.iter().any(is_of),
    }
}

fn is_of_player(gate: &Gate, player: &Name, principal: &Principal) -> bool {
    let Principal::User(wallet) = principal else { return false };
    let linked = wallet.as_str().parse().ok().and_then(|wallet| gate.registry.player_wallet(wallet));
    wallet == player || linked.is_some_and(|linked| linked.player == *player)
}

fn receipt(reader: &Reader, seq: Seq, under: Option<u64>) -> Result<ReceiptBody, ApiError> {
    let published = match under {
        Some(batch) => views::at(reader, batch)?.ok_or(ErrorCode::NotFound)?,
        None => views::latest(reader)?.ok_or(ErrorCode::HeadNotPublished)?,
    };
    let found = receipts::receipt_under(reader, seq, &published)?;
    let proof = found.ok_or_else(|| match under {
        Some(_) => ApiError::with(ErrorCode::QueryInvalid, "the head is older than the record"),
        None => ErrorCode::HeadNotPublished.into(),
    })?;
    let plain = &proof.named.record.receipt;
    let value = receipts::to_json(plain, &plain.batch.head(), Some(&proof));
    serde_json::from_value(value).map_err(|_| ErrorCode::Internal.into())
}
