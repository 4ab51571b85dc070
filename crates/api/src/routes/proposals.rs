//! Proposals: acts that need several people. Each signs the exact content; the last signature carries it out, once.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_deposits::review;
use bankroll_ledger::Time;
use bankroll_operators::{Proposal, ProposalContent, ProposalId, ProposalStatus as Status, Right};
use bankroll_registry::{ConfirmedProposal, Registry};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{holds::EmptyBody, pages::page_size, redacted::players_response};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
    state::{EnteredAct, HeldBooks, ProposalOutcome, confirmed_money, deposit_of, outcome, settle},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProposalBody {
    /// What is proposed: `{"kind": "reverse", "record": "rec_1204", "reason": "..."}`. The kinds: `add_person`,
    /// `set_roles`, `add_key`, `reinstate`, `set_quorum`, `set_audience`, `unfreeze_player`, `resume_server`, `transfer`,
    /// `reverse`, `release_deposit`, `refuse_deposit`, `assign_deposit`. The last three name the `deposit`, its
    /// `inclusion` and a `reason`; `assign_deposit` also the `amount`, the `server` and the `player`.
    #[schema(value_type = Object)]
    pub content: Value,
    /// When it expires, if earlier than in three days.
    #[serde(default)]
    #[expect(dead_code, reason = "the act is read from the signed text; this is its strict form")]
    pub lifetime_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationBody {
    /// The content of the proposal again, so that the signature covers it.
    #[schema(value_type = Object)]
    #[expect(dead_code, reason = "the act is read from the signed text; this is its strict form")]
    pub content: Value,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProposalBody {
    #[schema(example = "prp_0123456789abcdef0123456789abcdef")]
    pub proposal: String,
    #[schema(value_type = Object)]
    pub content: Value,
    pub author: String,
    /// `open`, `confirmed`, `rejected` or `expired`.
    pub status: &'static str,
    /// Everyone who signed it, the author included.
    pub signed_by: Vec<ProposalSignerBody>,
    /// How many people must sign it, as things are now.
    pub needed: u8,
    pub proposed_at: String,
    pub expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// What came of a confirmed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ProposalOutcomeBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProposalSignerBody {
    pub person: String,
    pub key: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProposalOutcomeBody {
    /// `executed`, `failed` for ever, or `pending`: the books carry it out as soon as they can.
    pub state: &'static str,
    /// The record of the money that it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "rec_1204")]
    pub record: Option<String>,
    /// Why the ledger rejected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "insufficient_funds")]
    pub reason: Option<&'static str>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProposalPage {
    /// The newest first.
    pub proposals: Vec<ProposalBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProposalQuery {
    /// `open`, `confirmed`, `rejected` or `expired`.
    pub status: Option<String>,
    /// `next` of the page before.
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// Proposes an act that needs several people
///
/// Needs `manage_operators` where it is about people, `propose` otherwise. With a quorum of one it is carried out at once.
#[utoipa::path(post, path = "/v1/proposals", tag = "operators", request_body = NewProposalBody,
    responses((status = 200, body = ProposalBody)), security(("session" = [])))]
pub async fn propose(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let person = gate.signer()?;
    let found = gate.registry.operators().person(&person);
    if !found.is_some_and(|found| found.may(Right::Propose) || found.may(Right::ManageOperators)) {
        return Err(ErrorCode::Forbidden.into());
    }
    let NewProposalBody { content, .. } = call.body()?;
    let content = serde_json::from_value(content)
        .map_err(|error| ApiError::with(ErrorCode::BodyInvalid, format!("content: {error}")))?;
    if gate.earlier_act(&call).await?.is_none() {
        check_exists(&gate.books, &gate.registry, &content).await?;
    }
    let id = ProposalId::of(&person, call.key()?);
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    answer(&funds, id, replayed).await
}

/// Proposals (`read_money`)
#[utoipa::path(get, path = "/v1/proposals", tag = "operators", params(ProposalQuery),
    responses((status = 200, body = ProposalPage)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let ProposalQuery { status, after, limit } = call.query()?;
    let (most, now) = (page_size(limit.as_deref())?, gate.now);
    let after = after.map(|after| after.parse::<ProposalId>().map_err(|_| ErrorCode::CursorInvalid)).transpose()?;
    let status = status.map(|status| status_of(&status)).transpose()?;
    let operators = gate.registry.operators();
    let mut found: Vec<&Proposal> = operators.proposals().collect();
    found.sort_by_key(|proposal| (std::cmp::Reverse(proposal.proposed_at), proposal.id));
    if let Some(after) = after {
        let place = found.iter().position(|proposal| proposal.id == after).ok_or(ErrorCode::CursorInvalid)?;
        found.drain(..=place);
    }
    found.retain(|proposal| status.is_none_or(|status| proposal.status_at(now) == status));
    let next = found.get(most.saturating_sub(1)).filter(|_| found.len() > most).map(|last| last.id.to_string());
    let page: Vec<(Proposal, u8)> =
        found.into_iter().take(most).map(|found| (found.clone(), operators.needed_for(&found.content))).collect();
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let shown = move |reader: &bankroll_store::Reader| {
        let one = |(proposal, needed): &(Proposal, u8)| {
            let moved = confirmed_money(proposal).map(|confirmed| outcome(reader, &confirmed)).transpose()?;
            body_of(proposal, *needed, moved, now)
        };
        page.iter().map(one).collect::<Result<Vec<_>, ApiError>>()
    };
    players_response(&ProposalPage { proposals: books.pages.read(shown).await?, next }, in_full)
}

/// A proposal (`read_money`)
#[utoipa::path(get, path = "/v1/proposals/{proposal}", tag = "operators", params(("proposal" = String, Path)),
    responses((status = 200, body = ProposalBody)), security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(proposal): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let in_full = gate.sees_players();
    drop(gate);
    let id = proposal.parse().map_err(|_| ErrorCode::NotFound)?;
    players_response(&settled(&funds, id).await?, in_full)
}

/// Confirms exactly this content (`confirm`)
///
/// The last signature that is needed carries it out. Until the ledger has answered about money, `outcome` is `pending`; if
/// its answer was lost, this answers `outcome_unknown`, and the same request again says what happened.
#[utoipa::path(post, path = "/v1/proposals/{proposal}/confirm", tag = "operators",
    params(("proposal" = String, Path)), request_body = ConfirmationBody,
    responses((status = 200, body = ProposalBody)), security(("session" = [])))]
pub async fn confirm(
    State(funds): State<Funds>,
    PathParts(proposal): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::Confirm)?;
    let id = proposal.parse().map_err(|_| ErrorCode::NotFound)?;
    gate.registry.operators().proposal(id).ok_or(ErrorCode::NotFound)?;
    let ConfirmationBody { .. } = call.body()?;
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    answer(&funds, id, replayed).await
}

/// Ends an open proposal without effect (`confirm`, or its author)
#[utoipa::path(post, path = "/v1/proposals/{proposal}/reject", tag = "operators",
    params(("proposal" = String, Path)), request_body = EmptyBody,
    responses((status = 200, body = ProposalBody)), security(("session" = [])))]
pub async fn reject(
    State(funds): State<Funds>,
    PathParts(proposal): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let person = gate.signer()?;
    let id: ProposalId = proposal.parse().map_err(|_| ErrorCode::NotFound)?;
    let found = gate.registry.operators().proposal(id);
    if found.is_none_or(|found| found.author != person) {
        gate.operator(Right::Confirm)?;
    }
    let EmptyBody {} = call.body()?;
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    answer(&funds, id, replayed).await
}

async fn answer(funds: &Funds, id: ProposalId, replayed: bool) -> Result<Response, ApiError> {
    let body = settled(funds, id).await.map_err(ApiError::after_commit)?;
    applied_response(&body, replayed)
}

/// A proposal as it is now. What it makes the ledger do, and has not yet, is done first.
async fn settled(funds: &Funds, id: ProposalId) -> Result<ProposalBody, ApiError> {
    let books = funds.books()?;
    let (proposal, needed) = {
        let registry = books.registry.read().await;
        let found = registry.operators().proposal(id).ok_or(ErrorCode::NotFound)?;
        (found.clone(), registry.operators().needed_for(&found.content))
    };
    let confirmed: Option<ConfirmedProposal> = confirmed_money(&proposal);
    let moved = match confirmed {
        Some(confirmed) => Some(settle(&books, confirmed).await?),
        None => None,
    };
    body_of(&proposal, needed, moved, funds.now())
}

/// What a content names must be there: the ledger could never carry it out, nor say so for ever.
async fn check_exists(books: &HeldBooks, registry: &Registry, content: &ProposalContent) -> Result<(), ApiError> {
    let missing = |what: String| ApiError::with(ErrorCode::BodyInvalid, format!("there is no {what}"));
    match content {
        ProposalContent::Transfer { from, to, .. } => {
            let names = [from.to_string(), to.to_string()];
            books.learn(names.iter().map(String::as_str)).await?;
            let unknown = names.into_iter().find(|name| books.accounts.number(name).is_none());
            unknown.map_or(Ok(()), |name| Err(missing(format!("account {name}"))))
        }
        ProposalContent::ResumeServer { server, .. } if registry.server(server).is_none() => {
            Err(missing(format!("game server {server}")))
        }
        ProposalContent::ReleaseDeposit { .. } | ProposalContent::RefuseDeposit { .. } => {
            check_deposit(books, content).await
        }
        ProposalContent::AssignDeposit { server, player, .. } => {
            if registry.server(server).is_none() {
                return Err(missing(format!("game server {server}")));
            }
            // Money in an account under another wallet of theirs would not be shown to them.
            let known = registry.player_behind(player);
            if known != player {
                return Err(ApiError::with(ErrorCode::BodyInvalid, format!("{player} is a wallet of player {known}")));
            }
            if registry.player(player).is_none() {
                return Err(missing(format!("player {player}: they sign in with the wallet first")));
            }
            check_deposit(books, content).await
        }
        _ => Ok(()),
    }
}

/// What could not be carried out now is not proposed.
async fn check_deposit(books: &HeldBooks, content: &ProposalContent) -> Result<(), ApiError> {
    let asked = content.clone();
    let deposit = books.pages.read(move |reader| deposit_of(reader, &asked)).await?;
    let deposit = deposit.ok_or_else(|| ApiError::with(ErrorCode::BodyInvalid, "there is no such deposit"))?;
    review::check(&deposit, content).map_err(|why| ApiError::with(ErrorCode::Conflict, why.to_string()))
}

fn body_of(
    proposal: &Proposal,
    needed: u8,
    moved: Option<ProposalOutcome>,
    now: Time,
) -> Result<ProposalBody, ApiError> {
    let status = proposal.status_at(now);
    let moved = moved.or((status == Status::Confirmed).then_some(ProposalOutcome::Executed(None)));
    let signed_by = proposal.signed_by.iter();
    Ok(ProposalBody {
        proposal: proposal.id.to_string(),
        content: serde_json::to_value(&proposal.content).map_err(|_| ErrorCode::Internal)?,
        author: proposal.author.to_string(),
        status: status_text(status),
        signed_by: signed_by
            .map(|(person, key)| ProposalSignerBody { person: person.to_string(), key: key.to_string() })
            .collect(),
        needed,
        proposed_at: show_time(proposal.proposed_at),
        expires_at: show_time(proposal.expires_at),
        ended_at: proposal.ended_at.map(show_time),
        outcome: moved.map(outcome_body),
    })
}

fn outcome_body(outcome: ProposalOutcome) -> ProposalOutcomeBody {
    let (state, record, reason) = match outcome {
        ProposalOutcome::Executed(seq) => ("executed", seq.map(|seq| format!("rec_{seq}")), None),
        ProposalOutcome::Failed(rejection) => ("failed", None, Some(rejection.code())),
        ProposalOutcome::Pending => ("pending", None, None),
    };
    ProposalOutcomeBody { state, record, reason }
}

const fn status_text(status: Status) -> &'static str {
    match status {
        Status::Open => "open",
        Status::Confirmed => "confirmed",
        Status::Rejected => "rejected",
        Status::Expired => "expired",
    }
}

fn status_of(text: &str) -> Result<Status, ApiError> {
    let all = [Status::Open, Status::Confirmed, Status::Rejected, Status::Expired];
    let wrong = || ApiError::with(ErrorCode::QueryInvalid, "status is open, confirmed, rejected or expired");
    all.into_iter().find(|status| status_text(*status) == text).ok_or_else(wrong)
}
