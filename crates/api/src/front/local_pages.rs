//! Pages that the front answers itself: health, the OpenAPI document, the documentation, the pages of error codes.
//!
//! All of it is in the program: the documentation page needs no network.

use std::sync::Arc;

use axum::{
    Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::SwaggerUi;

use super::ReadyCheck;
use crate::{
    ApiError, ErrorCode,
    errors::{RenderErrors, pages},
};

type Checks = Arc<dyn Fn() -> Vec<ReadyCheck> + Send + Sync>;

/// Whether a path is one of these pages.
pub(super) fn is_local(path: &str) -> bool {
    matches!(path, "/livez" | "/readyz" | "/openapi.json" | "/docs") || is_page(path)
}

/// Whether a path is part of the documentation, which is made of HTML and scripts.
pub(super) fn is_docs(path: &str) -> bool {
    path == "/docs" || path.starts_with("/docs/")
}

fn is_page(path: &str) -> bool {
    path.starts_with("/docs/") || path.starts_with("/errors/")
}

pub(super) fn router(openapi: OpenApi, checks: Checks) -> Router {
    let router: Router = SwaggerUi::new("/docs").url("/openapi.json", openapi).into();
    router
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(move || async move { ready(&checks()) }))
        .route("/errors/{code}", get(error_page))
        .method_not_allowed_fallback(|| async { ApiError::new(ErrorCode::MethodNotAllowed) })
        .layer(RenderErrors)
}

fn ready(checks: &[ReadyCheck]) -> Response {
    let is_ready = checks.iter().all(|check| check.problem.is_none() || !check.is_needed);
    let shown =
        |check: &ReadyCheck| json!({ "name": check.name, "ok": check.problem.is_none(), "problem": check.problem });
    let body = json!({ "ready": is_ready, "checks": checks.iter().map(shown).collect::<Vec<_>>() });
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

async fn error_page(Path(name): Path<String>) -> Response {
    let code = ErrorCode::ALL.iter().find(|code| code.as_str() == name);
    code.map_or_else(
        || ApiError::new(ErrorCode::NotFound).into_response(),
        |code| ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], pages::page(*code)).into_response(),
    )
}
