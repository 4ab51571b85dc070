//! Records of the journal. Reversing one is an override: people propose and confirm it.

use axum::{extract::State, response::Response};
use bankroll_operators::Right;

use super::holds::EmptyBody;
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, record_seq},
    money::AppliedBody,
};

/// Reverses what a record moved
///
/// An override, which a second person must confirm: this always answers `confirmation_needed`. Propose `reverse` with
/// `POST /v1/proposals`.
#[utoipa::path(post, path = "/v1/servers/{server}/records/{record}/reverse", tag = "money",
    security(("session" = [])), params(("server" = String, Path), ("record" = String, Path, example = "rec_1204")),
    request_body = EmptyBody, responses((status = 200, body = AppliedBody)))]
pub async fn reverse(
    State(funds): State<Funds>,
    PathParts((server, record)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.reader_of(&server)?;
    gate.operator(Right::ReadMoney)?;
    call.key()?;
    let EmptyBody {} = call.body()?;
    record_seq(&record)?;
    let advice = "reversing a record needs several people: propose reverse with POST /v1/proposals";
    Err(ApiError::with(ErrorCode::ConfirmationNeeded, advice))
}
