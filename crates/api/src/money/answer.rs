//! Answers about money: built from the ledger's stored answer, so that a replay has the same body.

use std::{collections::HashMap, sync::Arc};

use axum::{body::Body, response::Response};
use bankroll_ledger::{AccountId, Amount, Answer, Effects, HoldState};
use http::{HeaderName, HeaderValue, header};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::{
    ApiError, ErrorCode,
    input::show_time,
    state::{HeldBooks, LockedNumbers},
};

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
    #[schema(value_type = String)]
    pub from: AccountText,
    #[schema(value_type = String)]
    pub to: AccountText,
    #[schema(value_type = String, example = "1500")]
    pub amount: Amount,
    /// The balance of `from` after it, held amounts included.
    #[schema(value_type = String)]
    pub from_balance: Amount,
    /// The balance of `to` after it.
    #[schema(value_type = String)]
    pub to_balance: Amount,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HoldBody {
    #[schema(example = "hold_19264")]
    pub id: String,
    #[schema(value_type = String)]
    pub account: AccountText,
    /// What is still reserved.
    #[schema(value_type = String)]
    pub remaining: Amount,
    /// When the rest becomes available again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// `open`, `settled` or `expired`.
    pub state: &'static str,
    /// The sum of all holds in the account after it.
    #[schema(value_type = String)]
    pub account_held: Amount,
}

/// The name of an account. Answers share it: a batch has thousands.
#[derive(Clone, Debug)]
pub struct AccountText(Arc<str>);

impl Serialize for AccountText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The body for an answer of the ledger. An error is never "nothing was changed": the answer says that it was.
pub(crate) async fn applied(books: &HeldBooks, answer: &Answer) -> Result<AppliedBody, ApiError> {
    let known = applied_by(&books.accounts.locked(), answer);
    if let Some(body) = known.map_err(ApiError::after_commit)? {
        return Ok(body);
    }
    read_names(books, answer).await.map_err(ApiError::after_commit)
}

/// The same, if all its names are in memory.
pub(crate) fn applied_by(numbers: &LockedNumbers<'_>, answer: &Answer) -> Result<Option<AppliedBody>, ApiError> {
    let mut is_missing = false;
    let body = body_of(answer, |id| {
        numbers.name(id).unwrap_or_else(|| {
            is_missing = true;
            Arc::default()
        })
    })?;
    Ok(Some(body).filter(|_| !is_missing))
}

async fn read_names(books: &HeldBooks, answer: &Answer) -> Result<AppliedBody, ApiError> {
    let Effects { postings, holds, .. } = answer.effects()?;
    let moved = postings.iter().flat_map(|posting| [posting.from, posting.to]);
    let mut names = HashMap::new();
    for id in moved.chain(holds.iter().map(|change| change.hold.account)) {
        names.insert(id, books.name_of(id).await?);
    }
    body_of(answer, |id| names.get(&id).cloned().unwrap_or_default())
}

fn body_of(answer: &Answer, mut name: impl FnMut(AccountId) -> Arc<str>) -> Result<AppliedBody, ApiError> {
    let Effects { postings, holds, .. } = answer.effects()?;
    let seq = answer.seq.ok_or(ErrorCode::Internal)?;
    let mut text = |id| AccountText(name(id));
    let postings = postings.iter().map(|posting| PostingBody {
        from: text(posting.from),
        to: text(posting.to),
        amount: posting.amount,
        from_balance: posting.from_after,
        to_balance: posting.to_after,
    });
    let postings = postings.collect();
    let holds = holds.iter().map(|change| HoldBody {
        id: format!("hold_{}", change.hold.id),
        account: text(change.hold.account),
        remaining: change.hold.remaining,
        expires: change.hold.expires.map(show_time),
        state: match change.hold.state {
            HoldState::Open => "open",
            HoldState::Settled => "settled",
            HoldState::Expired => "expired",
        },
        account_held: change.held_after,
    });
    Ok(AppliedBody { record: format!("rec_{seq}"), postings, holds: holds.collect() })
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
