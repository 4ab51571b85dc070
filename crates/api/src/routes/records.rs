//! Records of the journal. Reversing one is an override: the ledger wants two people for it.

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
/// An override, which a second person must confirm. Until operators can confirm, the owner gets `confirmation_needed`.
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
    Err(ErrorCode::ConfirmationNeeded.into())
}
