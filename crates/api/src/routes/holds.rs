//! Holds: money reserved in its account until it is posted, released or expired.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, amount, hold_id, time},
    money::{AppliedBody, Operation, operate},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHoldBody {
    pub account: String,
    #[schema(example = "1500")]
    pub amount: String,
    /// When the rest becomes available again by itself; never, if it is missing.
    #[serde(default)]
    #[schema(example = "2026-11-15T08:30:00Z")]
    pub expires: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PostHoldBody {
    /// The account that receives the money.
    pub to: String,
    /// All of the hold or a part; the rest stays held.
    #[schema(example = "1500")]
    pub amount: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EmptyBody {}

/// Reserves money in an account
#[utoipa::path(post, path = "/v1/servers/{server}/holds", tag = "money", security(("session" = [])),
    params(("server" = String, Path)), request_body = NewHoldBody, responses((status = 200, body = AppliedBody)))]
pub async fn hold(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |_, _, NewHoldBody { account, amount: units, expires }| {
        let expires = expires.map(|text| time(&text, ErrorCode::BodyInvalid)).transpose()?;
        Ok(Operation::Hold { account, amount: amount(&units)?, expires })
    })
    .await
}

/// Moves held money to another account
#[utoipa::path(post, path = "/v1/servers/{server}/holds/{hold}/post", tag = "money", security(("session" = [])),
    params(("server" = String, Path), ("hold" = String, Path, example = "hold_19264")), request_body = PostHoldBody,
    responses((status = 200, body = AppliedBody)))]
pub async fn post(
    State(funds): State<Funds>,
    PathParts((server, hold)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |_, _, PostHoldBody { to, amount: units }| {
        Ok(Operation::Post { hold: hold_id(&hold)?, to, amount: amount(&units)? })
    })
    .await
}

/// Makes the rest of a hold available again
#[utoipa::path(post, path = "/v1/servers/{server}/holds/{hold}/release", tag = "money", security(("session" = [])),
    params(("server" = String, Path), ("hold" = String, Path, example = "hold_19264")), request_body = EmptyBody,
    responses((status = 200, body = AppliedBody)))]
pub async fn release(
    State(funds): State<Funds>,
    PathParts((server, hold)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |_, _, EmptyBody {}| Ok(Operation::Release { hold: hold_id(&hold)? })).await
}
