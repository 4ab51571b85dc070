//! The registry, as the owner reads and changes it.

use axum::{extract::State, response::Response};
use bankroll_ledger::{Name, Time};
use bankroll_operators::Right;
use bankroll_orders::Address;
use bankroll_registry::{Registry, RegistryChange, RegistryRefusal, recorded_changes};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, IntoResponses, ToSchema};

use super::{
    pages::page_size,
    registry_bodies::{AssetBody, ChainBody, CustodyKeyBody, TreasuryBody, WalletBody},
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time, time},
    money::applied_response,
    state::ChangeGate,
};

/// The entries that a change wrote, each as it is afterwards. Empty if nothing had to change.
#[derive(Debug, Serialize, ToSchema, IntoResponses)]
#[response(status = 200)]
pub struct ChangedBody {
    #[schema(value_type = Vec<Object>)]
    pub changes: Vec<Value>,
}

/// Entries as they are now.
#[derive(Debug, Serialize, ToSchema, IntoResponses)]
#[response(status = 200)]
pub struct EntriesBody {
    #[schema(value_type = Vec<Object>)]
    pub entries: Vec<Value>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangesQuery {
    /// Only changes before this time.
    pub before: Option<String>,
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

macro_rules! entries {
    ($name:ident, $path:literal, $title:literal, $list:ident) => {
        #[doc = $title]
        #[utoipa::path(get, path = $path, responses(EntriesBody), security(("session" = [])))]
        pub async fn $name(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
            let gate = funds.enter(&call).await?;
            gate.operator(Right::ReadMoney)?;
            let entries = gate.registry.$list().map(shown).collect::<Result<_, _>>()?;
            applied_response(&EntriesBody { entries }, false)
        }
    };
}

macro_rules! adding {
    ($name:ident, $path:literal, $title:literal, $body:ty, $add:ident) => {
        #[doc = $title]
        #[utoipa::path(post, path = $path, request_body = $body, responses(ChangedBody), security(("session" = [])))]
        pub async fn $name(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
            let gate = funds.enter_to_change(&call).await?;
            gate.operator(Right::ChangeRegistry)?;
            let draft = call.body::<$body>()?.draft()?;
            changed(gate, &call, Right::ChangeRegistry, |registry, _, now| registry.$add(&draft, now)).await
        }
    };
}

entries!(chains, "/v1/registry/chains", "Chains (owner)", chains);
entries!(assets, "/v1/registry/assets", "Assets (owner)", assets);
entries!(wallets, "/v1/registry/wallets", "Our wallets (owner)", wallets);
entries!(custody_keys, "/v1/registry/custody-keys", "Custody keys (owner)", custody_keys);
entries!(treasury, "/v1/registry/treasury", "Treasury addresses (owner)", treasury_addresses);
adding!(add_chain, "/v1/registry/chains", "Registers a chain (owner)", ChainBody, add_chain);
adding!(add_wallet, "/v1/registry/wallets", "Registers one of our wallets (owner)", WalletBody, add_wallet);
adding!(
    add_custody_key,
    "/v1/registry/custody-keys",
    "Registers a custody key (owner)",
    CustodyKeyBody,
    add_custody_key
);
adding!(
    add_treasury,
    "/v1/registry/treasury",
    "Registers an address of the operator's capital (owner)",
    TreasuryBody,
    add_treasury
);

/// Registers an asset (owner)
///
/// The ledger lists it first and gives it its number.
#[utoipa::path(post, path = "/v1/registry/assets", request_body = AssetBody,
    responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn add_asset(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let author = gate.operator_author(&call, Right::ChangeRegistry)?;
    let draft = call.body::<AssetBody>()?.draft()?;
    if let Some(changes) = gate.earlier(&call, &author).await? {
        return answer(&changes, true);
    }
    gate.registry.check_asset(&draft)?;
    let (ledger, listed) = (gate.books.ledger.clone(), draft.listed());
    // Listing twice gives the same number, so a retry after a lost answer finds it.
    let number = tokio::task::spawn_blocking(move || ledger.list_asset(listed)).await;
    let number = number.map_err(|_| ErrorCode::OutcomeUnknown)??;
    let changes = gate.registry.add_asset(&draft, number, gate.now)?;
    answer(&gate.commit(author, changes).await?, false)
}

/// Removes an address of the operator's capital (owner)
///
/// Its payments count by their sender again, from the next block on.
#[utoipa::path(delete, path = "/v1/registry/treasury/{chain}/{address}",
    params(("chain" = String, Path), ("address" = String, Path)), responses((status = 200, body = ChangedBody)),
    security(("session" = [])))]
pub async fn remove_treasury(
    State(funds): State<Funds>,
    PathParts((chain, address)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let chain: Name = chain.parse().map_err(|_| ErrorCode::NotFound)?;
    let address: Address = address.parse().map_err(|_| ErrorCode::NotFound)?;
    changed(gate, &call, Right::ChangeRegistry, |registry, _, now| registry.remove_treasury(&chain, address, now)).await
}

/// Changes of the registry, the newest first (owner)
#[utoipa::path(get, path = "/v1/registry/changes", params(ChangesQuery),
    responses((status = 200, body = EntriesBody)), security(("session" = [])))]
pub async fn changes(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let query: ChangesQuery = call.query()?;
    let before = query.before.map(|text| time(&text, ErrorCode::QueryInvalid)).transpose()?;
    let most = page_size(query.limit.as_deref())?;
    let books = std::sync::Arc::clone(&gate.books);
    drop(gate);
    let before = before.map(|at| Time(at.0.min(i64::MAX.cast_unsigned())));
    let found = books.pages.read(move |reader| recorded_changes(reader, before.map(|at| (at, "")), most)).await?;
    let entry = |change: &bankroll_registry::RecordedChange| {
        let changes = change.changes.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({ "key": change.key, "by": change.by, "at": show_time(change.at), "changes": changes }))
    };
    let entries = found.iter().map(entry).collect::<Result<_, ApiError>>()?;
    applied_response(&EntriesBody { entries }, false)
}

/// Decides a change of a person with this right, commits it and answers with what was written. A retry gets the first
/// answer.
pub(super) async fn changed<E>(
    gate: ChangeGate,
    call: &ApiCall,
    right: Right,
    decide: impl FnOnce(&Registry, &Name, Time) -> Result<Vec<RegistryChange>, E>,
) -> Result<Response, ApiError>
where
    ApiError: From<E>,
{
    let author = gate.operator_author(call, right)?;
    if let Some(changes) = gate.earlier(call, &author).await? {
        return answer(&changes, true);
    }
    let changes = decide(&gate.registry, &author.by, gate.now)?;
    answer(&gate.commit(author, changes).await?, false)
}

fn answer(changes: &[RegistryChange], replayed: bool) -> Result<Response, ApiError> {
    let changes = changes.iter().filter(|change| change.is_configuration()).map(shown).collect::<Result<_, _>>()?;
    applied_response(&ChangedBody { changes }, replayed)
}

/// An entry as JSON, its times as text.
pub(super) fn shown(entry: &impl Serialize) -> Result<Value, ApiError> {
    let mut value = serde_json::to_value(entry).map_err(|_| ErrorCode::Internal)?;
    show_times(&mut value);
    Ok(value)
}

/// Times are numbers inside and RFC 3339 outside; their fields are named `..._at` and `..._until`.
fn show_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_u64().filter(|_| name.ends_with("_at") || name.ends_with("_until")) {
                    Some(micros) => *value = show_time(Time(micros)).into(),
                    None => show_times(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(show_times),
        _ => {}
    }
}

impl From<RegistryRefusal> for ApiError {
    fn from(refusal: RegistryRefusal) -> Self {
        let code = match refusal {
            RegistryRefusal::NotFound { .. } => ErrorCode::NotFound,
            RegistryRefusal::Malformed { .. } => ErrorCode::BodyInvalid,
            RegistryRefusal::AlreadyExists { .. }
            | RegistryRefusal::CustodyKeyTaken { .. }
            | RegistryRefusal::KeyMismatch { .. }
            | RegistryRefusal::RevokedKey { .. }
            | RegistryRefusal::ExclusionNotLater { .. }
            | RegistryRefusal::NoPlayerAddresses { .. } => ErrorCode::Conflict,
        };
        if code == ErrorCode::NotFound { code.into() } else { Self::with(code, refusal.to_string()) }
    }
}
