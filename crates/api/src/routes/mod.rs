//! The operations, one file per resource. Each handler states its documentation, so that routes and the OpenAPI
//! document are one thing.
//!
//! A handler enters the gate (who is it), picks the resource (may they), reads the body (what), and asks the books.

mod accounts;
mod alerts;
mod audit_log;
mod batch;
mod deposit_reviews;
mod deposits;
mod documentation;
mod event_page_text;
mod event_redaction;
mod event_tail;
mod events;
mod exit_order;
mod exits;
mod heads;
mod holds;
mod operators;
mod pages;
mod payout_requests;
mod player_views;
mod players;
mod program_keys;
mod proposals;
mod receipts;
mod records;
mod redacted;
mod registry;
mod registry_bodies;
mod server_deposits;
mod server_keys;
mod servers;
mod sessions;
mod sign_in;
mod spawns;
mod transfers;
mod webhooks;
mod withdrawals;

use axum::{Router, routing::get};
use utoipa::{OpenApi as _, openapi::OpenApi};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ApiError, ErrorCode, Funds, errors::RenderErrors, events_page::NEWEST_PATH};

/// The Funds API. It decides everything itself, from the raw request.
pub fn router(funds: Funds) -> Router {
    let (router, _) = operations().split_for_parts();
    router
        .route(NEWEST_PATH, get(event_tail::newest))
        .fallback(|| async { ApiError::new(ErrorCode::NotFound) })
        .method_not_allowed_fallback(|| async { ApiError::new(ErrorCode::MethodNotAllowed) })
        .with_state(funds)
        .layer(RenderErrors)
}

/// The document of all operations.
#[must_use]
pub fn openapi() -> OpenApi {
    documentation::finished(operations().into_openapi())
}

fn operations() -> OpenApiRouter<Funds> {
    OpenApiRouter::with_openapi(documentation::ApiDocument::openapi())
        .routes(routes!(sessions::time))
        .routes(routes!(sessions::register))
        .routes(routes!(sessions::open))
        .routes(routes!(sessions::close))
        .routes(routes!(sign_in::nonce))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(heads::list))
        .routes(routes!(heads::latest))
        .routes(routes!(heads::consistency))
        .routes(routes!(heads::show))
        .routes(routes!(receipts::show))
        .routes(routes!(servers::list))
        .routes(routes!(servers::show))
        .routes(routes!(servers::versions))
        .routes(routes!(servers::set_pauses))
        .routes(routes!(servers::set_labels))
        .routes(routes!(servers::set_player_addresses))
        .routes(routes!(accounts::open, accounts::list))
        .routes(routes!(accounts::show))
        .routes(routes!(accounts::statement))
        .routes(routes!(server_deposits::list))
        .routes(routes!(server_deposits::show))
        .routes(routes!(deposits::deposit))
        .routes(routes!(deposits::withdraw))
        .routes(routes!(transfers::transfer))
        .routes(routes!(transfers::pellets))
        .routes(routes!(transfers::recycle))
        .routes(routes!(holds::hold))
        .routes(routes!(holds::post))
        .routes(routes!(holds::release))
        .routes(routes!(records::reverse))
        .routes(routes!(batch::batch))
        .routes(routes!(spawns::eligibility))
        .routes(routes!(spawns::reserve, spawns::list))
        .routes(routes!(spawns::show))
        .routes(routes!(spawns::commit))
        .routes(routes!(spawns::release))
        .routes(routes!(spawns::refund))
        .routes(routes!(exits::exit))
        .routes(routes!(exits::show))
        .routes(routes!(withdrawals::of_server))
        .routes(routes!(withdrawals::show_of_server))
        .routes(routes!(payout_requests::request, withdrawals::of_player))
        .routes(routes!(withdrawals::show_of_player))
        .routes(routes!(payout_requests::request_as_developer))
        .routes(routes!(players::me))
        .routes(routes!(players::balances))
        .routes(routes!(players::deposit_address))
        .routes(routes!(players::history))
        .routes(routes!(players::link_wallet))
        .routes(routes!(players::exclude))
        .routes(routes!(players::developer, servers::set_developer))
        .routes(routes!(registry::chains, registry::add_chain))
        .routes(routes!(registry::assets, registry::add_asset))
        .routes(routes!(registry::wallets, registry::add_wallet))
        .routes(routes!(registry::custody_keys, registry::add_custody_key))
        .routes(routes!(registry::treasury, registry::add_treasury))
        .routes(routes!(registry::remove_treasury))
        .routes(routes!(registry::changes))
        .routes(routes!(alerts::list))
        .routes(routes!(alerts::show))
        .routes(routes!(alerts::acknowledge))
        .routes(routes!(alerts::close))
        .routes(routes!(server_keys::list, server_keys::add))
        .routes(routes!(server_keys::revoke, server_keys::update))
        .routes(routes!(events::list))
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::show, webhooks::update))
        .routes(routes!(webhooks::enable))
        .routes(routes!(webhooks::disable))
        .routes(routes!(webhooks::rotate))
        .routes(routes!(webhooks::resend))
        .routes(routes!(webhooks::test))
        .routes(routes!(webhooks::deliveries))
        .routes(routes!(webhooks::list_of_server, webhooks::create_of_server))
        .routes(routes!(webhooks::show_of_server, webhooks::update_of_server))
        .routes(routes!(webhooks::enable_of_server))
        .routes(routes!(webhooks::disable_of_server))
        .routes(routes!(webhooks::rotate_of_server))
        .routes(routes!(webhooks::resend_of_server))
        .routes(routes!(webhooks::test_of_server))
        .routes(routes!(webhooks::deliveries_of_server))
        .routes(routes!(operators::list))
        .routes(routes!(operators::me))
        .routes(routes!(operators::show))
        .routes(routes!(operators::suspend))
        .routes(routes!(operators::revoke_key))
        .routes(routes!(operators::sessions))
        .routes(routes!(operators::revoke_session))
        .routes(routes!(program_keys::list, program_keys::create))
        .routes(routes!(program_keys::revoke))
        .routes(routes!(proposals::list, proposals::propose))
        .routes(routes!(proposals::show))
        .routes(routes!(proposals::confirm))
        .routes(routes!(proposals::reject))
        .routes(routes!(audit_log::list))
        .routes(routes!(deposit_reviews::list))
        .routes(routes!(deposit_reviews::show))
        .routes(routes!(deposit_reviews::hold))
        .routes(routes!(player_views::show))
        .routes(routes!(player_views::freeze))
}
