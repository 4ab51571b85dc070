//! A receiver on this machine: it checks each delivery and prints it.

use std::{net::Ipv4Addr, time::Duration};

use anyhow::Context;
use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, Uri},
};
use bankroll_notify::WebhookSecret;
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Paint, StopSignal};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::secret::{DeliveryHeaders, verify};
use crate::events::event_line;

const BODY_MAX: usize = 1 << 20;
/// A stop is noticed at least so often.
const NAP: Duration = Duration::from_millis(50);

#[derive(Clone)]
struct Receiver {
    secret: Option<WebhookSecret>,
    json: bool,
}

pub(super) fn run(port: u16, secret: Option<WebhookSecret>, json: bool, stop: &StopSignal) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.with_context(|| format!("cannot listen at 127.0.0.1:{port}; try another --port"))?;
        let address = listener.local_addr()?;
        let checked = if secret.is_some() { "checked" } else { "not checked: there is no --secret" };
        match json {
            true => terminal::answer(&format!("{}\n", json!({ "listening": format!("http://{address}/") })))?,
            false => terminal::answer(&format!("listening at http://{address}/\n  signatures are {checked}\n"))?,
        }
        let router = Router::new()
            .fallback(receive)
            .layer(DefaultBodyLimit::max(BODY_MAX))
            .with_state(Receiver { secret, json });
        let stop = stop.clone();
        let stopped = async move {
            while !stop.is_requested() {
                tokio::time::sleep(NAP).await;
            }
        };
        axum::serve(listener, router).with_graceful_shutdown(stopped).await.context("cannot receive deliveries")
    })
}

async fn receive(
    State(receiver): State<Receiver>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let delivery = DeliveryHeaders {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
    };
    let now = Clock::machine().now().0 / 1_000_000;
    let text = String::from_utf8_lossy(&body);
    let verdict = receiver.secret.as_ref().map(|secret| verify(secret, &delivery, &text, now));
    let event: Value = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_ref()));
    // A terminal that is gone ends the program at the next delivery; the sender repeats this one.
    if print(&receiver, &uri, &delivery, verdict, &event).is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the receiver ends\n");
    }
    match verdict {
        Some(Err(why)) => (StatusCode::UNAUTHORIZED, why),
        Some(Ok(())) | None => (StatusCode::NO_CONTENT, ""),
    }
}

fn print(
    receiver: &Receiver,
    uri: &Uri,
    delivery: &DeliveryHeaders,
    verdict: Option<Result<(), &'static str>>,
    event: &Value,
) -> anyhow::Result<()> {
    if receiver.json {
        let (verified, error) = (verdict.map(|verdict| verdict.is_ok()), verdict.and_then(Result::err));
        let line = json!({
            "id": delivery.id, "path": uri.path(), "verified": verified, "error": error, "event": event,
        });
        return terminal::answer(&format!("{line}\n"));
    }
    let paint = Paint::stdout();
    let outcome = match verdict {
        Some(Ok(())) => paint.good("the signature is right"),
        Some(Err(why)) => paint.bad(&format!("refused: {why}")),
        None => paint.quiet("the signature was not checked"),
    };
    terminal::answer(&format!("{}  {outcome}\n", event_line(event, paint)))
}
