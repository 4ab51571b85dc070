//! Answers about money: built from the ledger's stored answer, so that a replay has the same body.

use axum::{body::Body, response::Response};
use bankroll_ledger::{Answer, Effects, HoldState};
use http::{HeaderName, HeaderValue, header};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{ApiError, ErrorCode, input::show_time, state::HeldBooks};

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// What a request did.
#[derive(Debug, Serialize, ToSchema)]
pub struct AppliedBody {
    /// Its record in the journal.
    #[schema(example = "rec_1204")]
    pub record: String,
    /// Money that moved, in order. A credit first repays what the owner owes, which is a posting of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub postings: Vec<PostingBody>,
    /// Holds that were made or changed, each as it is afterwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HoldBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PostingBody {
    pub from: String,
    pub to: String,
    #[schema(example = "1500")]
    pub amount: String,
    /// The balance of `from` after it, held amounts included.
    pub from_balance: String,
    /// The balance of `to` after it.
    pub to_balance: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HoldBody {
    #[schema(example = "hold_19264")]
    pub id: String,
    pub account: String,
    /// What is still reserved.
    pub remaining: String,
    /// When the rest becomes available again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// `open`, `settled` or `expired`.
    pub state: &'static str,
    /// The sum of all holds in the account after it.
    pub account_held: String,
}

/// The body for an answer of the ledger. An error is never "nothing was changed": the answer says that it was.
pub(crate) async fn applied(books: &HeldBooks, answer: &Answer) -> Result<AppliedBody, ApiError> {
    read_names(books, answer).await.map_err(ApiError::after_commit)
}

async fn read_names(books: &HeldBooks, answer: &Answer) -> Result<AppliedBody, ApiError> {
    let Effects { postings, holds, .. } = answer.effects()?;
    let seq = answer.seq.ok_or(ErrorCode::Internal)?;
    let mut body = AppliedBody {
        record: format!("rec_{seq}"),
        postings: Vec::with_capacity(postings.len()),
        holds: Vec::with_capacity(holds.len()),
    };
    for posting in postings {
        body.postings.push(PostingBody {
            from: books.name_of(posting.from).await?.to_string(),
            to: books.name_of(posting.to).await?.to_string(),
            amount: posting.amount.to_string(),
            from_balance: posting.from_after.to_string(),
            to_balance: posting.to_after.to_string(),
        });
    }
    for change in holds {
        body.holds.push(HoldBody {
            id: format!("hold_{}", change.hold.id),
            account: books.name_of(change.hold.account).await?.to_string(),
            remaining: change.hold.remaining.to_string(),
            expires: change.hold.expires.map(show_time),
            state: match change.hold.state {
                HoldState::Open => "open",
                HoldState::Settled => "settled",
                HoldState::Expired => "expired",
            },
            account_held: change.held_after.to_string(),
        });
    }
    Ok(body)
}

/// A body as JSON, with the mark of a replay.
pub(crate) fn applied_response(body: &impl Serialize, replayed: bool) -> Result<Response, ApiError> {
    let mut bytes = Vec::with_capacity(512);
    serde_json::to_writer(&mut bytes, body).map_err(|_| ErrorCode::Internal)?;
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if replayed {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}
