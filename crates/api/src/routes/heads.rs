//! The public log of heads: what the deployment has signed about its journal. It needs no proof, and a proxy may keep
//! what can never change.

use axum::{extract::State, response::Response};
use bankroll_heads::{HeadForm, SignedHead, views};
use bankroll_store::Reader;
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::pages::{PageQuery, page_size};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts},
    money::applied_response,
};

/// A published head never changes; the newest one does about once a second.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const NEWEST: &str = "public, max-age=1";

/// The deployment signs `PublishedHead(string audience,uint64 batch,bytes32 head,bytes32 root,uint64 time)` as EIP-712,
/// in the domain `Bankroll`, version `1` and `chain_id`; `time` is `seconds`.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct HeadBody {
    /// `bankroll head 1`
    pub format: String,
    pub audience: String,
    pub chain_id: u64,
    pub batch: u64,
    /// The head of the hash chain after this batch.
    pub head: String,
    /// The root of the Merkle tree (RFC 9162, SHA-256) over the heads of batches 1 to this one.
    pub root: String,
    /// When it was signed, since 1970.
    pub seconds: u64,
    /// Whose key signed it.
    pub address: String,
    pub signature: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HeadPage {
    /// The newest first.
    pub heads: Vec<HeadBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ConsistencyBody {
    pub from: HeadBody,
    pub to: HeadBody,
    /// Hashes as RFC 9162, section 2.1.4, orders them.
    pub proof: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ConsistencyQuery {
    /// The batch of the earlier head.
    #[param(value_type = u64)]
    pub from: Option<String>,
    /// The batch of the later head.
    #[param(value_type = u64)]
    pub to: Option<String>,
}

/// Published heads
///
/// The public log, newest first. `after` is the batch of the last head of the page before.
#[utoipa::path(get, path = "/v1/heads", tag = "heads", params(PageQuery), responses((status = 200, body = HeadPage)))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let PageQuery { after, limit } = call.query()?;
    let most = page_size(limit.as_deref())?;
    let after = after.map(|after| number(Some(&after), "after")).transpose()?;
    let found = funds.books()?.pages.read(move |reader| views::newest(reader, after, most)).await?;
    let next = found.last().filter(|last| found.len() == most && last.batch > 1).map(|last| last.batch.to_string());
    let page = HeadPage { heads: found.iter().map(HeadBody::from).collect(), next };
    kept(applied_response(&page, false)?, NEWEST)
}

/// The newest published head
#[utoipa::path(get, path = "/v1/heads/latest", tag = "heads", responses((status = 200, body = HeadBody)))]
pub async fn latest(State(funds): State<Funds>) -> Result<Response, ApiError> {
    let found = funds.books()?.pages.read(views::latest).await?.ok_or(ErrorCode::NotFound)?;
    kept(applied_response(&HeadBody::from(&found), false)?, NEWEST)
}

/// The head that was published after a batch
#[utoipa::path(get, path = "/v1/heads/{batch}", tag = "heads", params(("batch" = u64, Path)),
    responses((status = 200, body = HeadBody)))]
pub async fn show(State(funds): State<Funds>, PathParts(batch): PathParts<String>) -> Result<Response, ApiError> {
    let batch = number(Some(&batch), "batch").map_err(|_| ErrorCode::NotFound)?;
    let found = funds.books()?.pages.read(move |reader| views::at(reader, batch)).await?;
    kept(applied_response(&HeadBody::from(&found.ok_or(ErrorCode::NotFound)?), false)?, FOR_EVER)
}

/// Proof that a later head continues an earlier one
///
/// Both must be published heads. The proof shows that the journal of the later one begins with that of the earlier one.
#[utoipa::path(get, path = "/v1/heads/consistency", tag = "heads", params(ConsistencyQuery),
    responses((status = 200, body = ConsistencyBody)))]
pub async fn consistency(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let ConsistencyQuery { from, to } = call.query()?;
    let (from, to) = (number(from.as_deref(), "from")?, number(to.as_deref(), "to")?);
    if from > to {
        return Err(ApiError::with(ErrorCode::QueryInvalid, "from is later than to"));
    }
    let read = move |reader: &Reader| {
        let head = |batch| views::at(reader, batch)?.ok_or_else(|| ApiError::from(ErrorCode::NotFound));
        let (from, to) = (head(from)?, head(to)?);
        let proof = views::consistency_of(reader, &from, &to)?.ok_or(ErrorCode::NotFound)?;
        Ok::<_, ApiError>((from, to, proof))
    };
    let (from, to, proof) = funds.books()?.pages.read(read).await?;
    let proof = proof.iter().map(|hash| format!("0x{}", hex::encode(hash))).collect();
    let body = ConsistencyBody { from: HeadBody::from(&from), to: HeadBody::from(&to), proof };
    kept(applied_response(&body, false)?, FOR_EVER)
}

impl From<&SignedHead> for HeadBody {
    fn from(head: &SignedHead) -> Self {
        let HeadForm { format, audience, chain_id, batch, head, root, seconds, address, signature } = head.into();
        Self { format, audience, chain_id, batch, head, root, seconds, address, signature }
    }
}

fn kept(mut response: Response, how: &'static str) -> Result<Response, ApiError> {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(how));
    Ok(response)
}

/// The number of a batch, written as digits alone.
pub(super) fn number(text: Option<&str>, name: &str) -> Result<u64, ApiError> {
    let parsed = text.and_then(|text| text.parse::<u64>().ok().filter(|number| number.to_string() == text));
    let wrong = || ApiError::with(ErrorCode::QueryInvalid, format!("{name} is the number of a batch"));
    parsed.filter(|number| (1..=i64::MAX.cast_unsigned()).contains(number)).ok_or_else(wrong)
}
