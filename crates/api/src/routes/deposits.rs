//! `deposit` and `withdraw`: money into and out of one account of a game server.

use axum::{extract::State, response::Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    ApiError, Funds,
    input::{ApiCall, PathParts, amount},
    money::{AppliedBody, Operation, operate},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoneyBody {
    #[schema(example = "arena/funds/1/0x9c1885f0c36b4a1d5e1f0c5e7a5e3f1d2c3b4a59")]
    pub account: String,
    #[schema(example = "1500")]
    pub amount: String,
    /// The other account; by default the server's `world`.
    #[serde(default)]
    pub counter: Option<String>,
}

/// Moves money into an account
///
/// From the server's world, unless `counter` names another account of the server.
#[utoipa::path(post, path = "/v1/servers/{server}/deposit", tag = "money", security(("session" = [])),
    params(("server" = String, Path)), request_body = MoneyBody, responses((status = 200, body = AppliedBody)))]
pub async fn deposit(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |_, server, body: MoneyBody| {
        Operation::deposit(server, body.account, amount(&body.amount)?, body.counter)
    })
    .await
}

/// Moves money out of an account
///
/// Into the server's world, unless `counter` names another account of the server.
#[utoipa::path(post, path = "/v1/servers/{server}/withdraw", tag = "money", security(("session" = [])),
    params(("server" = String, Path)), request_body = MoneyBody, responses((status = 200, body = AppliedBody)))]
pub async fn withdraw(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |_, server, body: MoneyBody| {
        Operation::withdraw(server, body.account, amount(&body.amount)?, body.counter)
    })
    .await
}
