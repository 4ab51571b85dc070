//! Webhooks: where events are delivered to. Operators manage those of the deployment, a game server its own.
//!
//! | file | what it does |
//! | --- | --- |
//! | `place` | whose webhooks a path names, and who may manage them |
//! | `reading` | lists, one webhook, its deliveries |
//! | `changing`, `secrets` | changes, each with its entry in the journal; what signs deliveries |
//! | `bodies` | the forms of requests and answers |

mod bodies;
mod changing;
mod place;
mod reading;
mod secrets;

use axum::{extract::State, response::Response};

use bodies::{
    DeliveriesPage, DeliveriesQuery, NewWebhookBody, ResendBody, RotationBody, WebhookBody, WebhookRequestBody,
    WebhookUpdateBody, WebhooksBody,
};
use place::WebhookPath;

use crate::{
    ApiError, Funds,
    input::{ApiCall, PathParts},
};

/// Two operations: on all webhooks of the deployment, and on all of a game server.
macro_rules! on_all {
    ($name:ident, $of_server:ident, $method:ident, $title:literal, $server_title:literal, ($($more:tt)*), $act:path) => {
        #[doc = $title]
        #[utoipa::path($method, path = "/v1/webhooks", tag = "webhooks", $($more)*, security(("session" = [])))]
        pub async fn $name(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
            $act(funds, call, WebhookPath { server: None, webhook: String::new() }).await
        }

        #[doc = $server_title]
        #[utoipa::path($method, path = "/v1/servers/{server}/webhooks", tag = "webhooks",
            params(("server" = String, Path)), $($more)*, security(("session" = [])))]
        pub async fn $of_server(
            State(funds): State<Funds>,
            PathParts(server): PathParts<String>,
            call: ApiCall,
        ) -> Result<Response, ApiError> {
            $act(funds, call, WebhookPath { server: Some(server), webhook: String::new() }).await
        }
    };
}

/// Two operations: on one webhook, as an operator and as its game server.
macro_rules! on_one {
    ($name:ident, $of_server:ident, $method:ident, $path:literal, $server_path:literal, $title:literal,
        $server_title:literal, ($($param:tt)*), ($($more:tt)*), $act:path) => {
        #[doc = $title]
        #[utoipa::path($method, path = $path, tag = "webhooks", params(("webhook" = String, Path) $($param)*),
            $($more)*, security(("session" = [])))]
        pub async fn $name(
            State(funds): State<Funds>,
            PathParts(webhook): PathParts<String>,
            call: ApiCall,
        ) -> Result<Response, ApiError> {
            $act(funds, call, WebhookPath { server: None, webhook }).await
        }

        #[doc = $server_title]
        #[utoipa::path($method, path = $server_path, tag = "webhooks",
            params(("server" = String, Path), ("webhook" = String, Path) $($param)*), $($more)*,
            security(("session" = [])))]
        pub async fn $of_server(
            State(funds): State<Funds>,
            PathParts((server, webhook)): PathParts<(String, String)>,
            call: ApiCall,
        ) -> Result<Response, ApiError> {
            $act(funds, call, WebhookPath { server: Some(server), webhook }).await
        }
    };
}

on_all!(
    list,
    list_of_server,
    get,
    "Webhooks (operators)",
    "Webhooks of a game server",
    (responses((status = 200, body = WebhooksBody))),
    reading::list
);
on_all!(
    create,
    create_of_server,
    post,
    "Makes a webhook (operators); its secret is shown once",
    "Makes a webhook of a game server; its secret is shown once",
    (request_body = NewWebhookBody, responses((status = 200, body = WebhookBody))),
    changing::create
);
on_one!(
    show,
    show_of_server,
    get,
    "/v1/webhooks/{webhook}",
    "/v1/servers/{server}/webhooks/{webhook}",
    "A webhook (operators)",
    "A webhook of a game server",
    (),
    (responses((status = 200, body = WebhookBody))),
    reading::show
);
on_one!(
    update,
    update_of_server,
    patch,
    "/v1/webhooks/{webhook}",
    "/v1/servers/{server}/webhooks/{webhook}",
    "Changes the URL or the types of a webhook (operators)",
    "Changes the URL or the types of a game server's webhook",
    (),
    (request_body = WebhookUpdateBody, responses((status = 200, body = WebhookBody))),
    changing::update
);
on_one!(
    enable,
    enable_of_server,
    post,
    "/v1/webhooks/{webhook}/enable",
    "/v1/servers/{server}/webhooks/{webhook}/enable",
    "Enables a webhook; what it missed is delivered first (operators)",
    "Enables a webhook of a game server; what it missed is delivered first",
    (),
    (responses((status = 200, body = WebhookBody))),
    changing::enable
);
on_one!(
    disable,
    disable_of_server,
    post,
    "/v1/webhooks/{webhook}/disable",
    "/v1/servers/{server}/webhooks/{webhook}/disable",
    "Disables a webhook (operators)",
    "Disables a webhook of a game server",
    (),
    (responses((status = 200, body = WebhookBody))),
    changing::disable
);
on_one!(
    rotate,
    rotate_of_server,
    post,
    "/v1/webhooks/{webhook}/rotate",
    "/v1/servers/{server}/webhooks/{webhook}/rotate",
    "Makes the next secret of a webhook; it is shown once (operators)",
    "Makes the next secret of a game server's webhook; it is shown once",
    (),
    (request_body = RotationBody, responses((status = 200, body = WebhookBody))),
    changing::rotate
);
on_one!(
    resend,
    resend_of_server,
    post,
    "/v1/webhooks/{webhook}/resend",
    "/v1/servers/{server}/webhooks/{webhook}/resend",
    "Delivers events once more (operators)",
    "Delivers events of a game server once more",
    (),
    (request_body = ResendBody, responses((status = 200, body = WebhookRequestBody))),
    changing::resend
);
on_one!(
    test,
    test_of_server,
    post,
    "/v1/webhooks/{webhook}/test",
    "/v1/servers/{server}/webhooks/{webhook}/test",
    "Delivers a test event (operators)",
    "Delivers a test event to a game server's webhook",
    (),
    (responses((status = 200, body = WebhookRequestBody))),
    changing::test
);
on_one!(deliveries, deliveries_of_server, get,
    "/v1/webhooks/{webhook}/deliveries", "/v1/servers/{server}/webhooks/{webhook}/deliveries",
    "Deliveries of a webhook, the newest event first (operators)",
    "Deliveries of a game server's webhook, the newest event first", (, DeliveriesQuery),
    (responses((status = 200, body = DeliveriesPage))), reading::deliveries);
