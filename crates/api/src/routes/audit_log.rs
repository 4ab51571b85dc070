//! The audit log: every privileged act, hashed one after the other.

use axum::{extract::State, response::Response};
use bankroll_operators::{AuthorName, Proof, Right};
use bankroll_registry::{LoggedAct, log_page};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{pages::page_size, redacted::players_response};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, show_time},
};

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLogBody {
    /// The newest first.
    pub entries: Vec<AuditEntryBody>,
    /// For `below` of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditEntryBody {
    /// From 1, without gaps.
    pub number: u64,
    pub at: String,
    /// `init`, `person:NAME` or `program:ID`.
    pub author: String,
    #[schema(value_type = Object)]
    pub act: Value,
    /// What proves it: `init`, `signature`, `key`, `session` or `program_key`.
    pub proof: &'static str,
    /// The text that is hashed, with the signed request in it; missing for callers who may not see players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// SHA-256 of `bankroll audit log 1`, a zero byte, the hash before it and the text.
    pub hash: String,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditLogQuery {
    /// Only what this person did.
    pub person: Option<String>,
    /// Only entries below this number.
    #[param(value_type = Option<u64>)]
    pub below: Option<String>,
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// What people did, the newest first (`read_audit_log`)
#[utoipa::path(get, path = "/v1/audit-log", tag = "operators", params(AuditLogQuery),
    responses((status = 200, body = AuditLogBody)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadAuditLog)?;
    let query: AuditLogQuery = call.query()?;
    let wrong = |what: &'static str| ApiError::with(ErrorCode::QueryInvalid, what);
    let person = query.person.map(|person| person.parse()).transpose();
    let author = person.map_err(|_| wrong("person is the name of a person"))?.map(AuthorName::Person);
    let below = query.below.map(|below| below.parse::<u64>().ok().filter(|below| i64::try_from(*below).is_ok()));
    let below = below.map(|below| below.ok_or_else(|| wrong("below is the number of an entry"))).transpose()?;
    let most = page_size(query.limit.as_deref())?;
    let (books, in_full) = (std::sync::Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| log_page(reader, author.as_ref(), below, most)).await?;
    let next = found.last().filter(|last| found.len() == most && last.entry.number > 1);
    let next = next.map(|last| last.entry.number);
    let entries = found.iter().map(|act| shown(act, in_full)).collect::<Result<_, _>>()?;
    players_response(&AuditLogBody { entries, next }, in_full)
}

fn shown(logged: &LoggedAct, in_full: bool) -> Result<AuditEntryBody, ApiError> {
    let entry = &logged.entry;
    Ok(AuditEntryBody {
        number: entry.number,
        at: show_time(entry.at),
        author: match &entry.author {
            AuthorName::Init => "init".to_owned(),
            AuthorName::Person(person) => format!("person:{person}"),
            AuthorName::Program(id) => format!("program:{id}"),
        },
        act: serde_json::to_value(&entry.act).map_err(|_| ErrorCode::Internal)?,
        proof: match entry.proof {
            Proof::Init => "init",
            Proof::Signed(_) => "signature",
            Proof::Key(_) => "key",
            Proof::Session(_) => "session",
            Proof::ProgramKey(_) => "program_key",
        },
        text: in_full.then(|| entry.text()),
        hash: hex::encode(logged.hash.0),
    })
}
