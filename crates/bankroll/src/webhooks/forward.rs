//! Events to a developer's own program, as a webhook would send them.

use std::time::{Duration, Instant};

use bankroll_notify::{WebhookSecret, signatures};
use bankroll_roles::requests::FundsClient;
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Paint, StopSignal};
use serde_json::{Value, json};
use ureq::{Agent, http::Uri};

use crate::{
    events::{EventFollower, FollowEnd, event_line},
    funds_call::text,
};

const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// A URL of the command line.
pub(super) fn url(text: &str) -> Result<String, String> {
    let is_http = text.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    if is_http { Ok(text.to_owned()) } else { Err("a URL is written http://127.0.0.1:3000/hook".into()) }
}

pub(super) fn run(
    client: FundsClient,
    (types, after): (&[String], Option<u64>),
    url: &str,
    secret: &WebhookSecret,
    json: bool,
    stop: &StopSignal,
) -> anyhow::Result<()> {
    if !json {
        terminal::answer(&format!("forwarding events to {url}\n  secret  {}\n", secret.reveal()))?;
    }
    let config = Agent::config_builder()
        .timeout_global(Some(ANSWER_WITHIN))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("bankroll/", env!("CARGO_PKG_VERSION")))
        .build();
    let agent = config.new_agent();
    let end = EventFollower::new(client, types, after).run(stop, |event| {
        let begun = Instant::now();
        let sent = send(&agent, url, secret, event);
        let millis = begun.elapsed().as_millis();
        report(event, sent, u64::try_from(millis).unwrap_or(u64::MAX), json)
    })?;
    if end == FollowEnd::NoNode {
        eprintln!("note: no node runs here, so that nothing happens; start one with `bankroll serve`");
    }
    Ok(())
}

/// The status of the answer, or why there is none.
fn send(agent: &Agent, url: &str, secret: &WebhookSecret, event: &Value) -> Result<u16, String> {
    let (id, body) = (text(&event["id"]), event.to_string());
    let now = Clock::machine().now().0 / 1_000_000;
    let signature = signatures(std::slice::from_ref(secret), &id, now, &body);
    let request = agent
        .post(url)
        .header("content-type", "application/json")
        .header("webhook-id", &id)
        .header("webhook-timestamp", now.to_string())
        .header("webhook-signature", signature);
    request.send(body).map(|answer| answer.status().as_u16()).map_err(|error| error.to_string())
}

fn report(event: &Value, sent: Result<u16, String>, millis: u64, json: bool) -> anyhow::Result<()> {
    if json {
        let (status, error) = (sent.as_ref().ok(), sent.as_ref().err());
        let line = json!({ "event": event, "status": status, "error": error, "millis": millis });
        return terminal::answer(&format!("{line}\n"));
    }
    let paint = Paint::stdout();
    let outcome = match sent {
        Ok(status @ 200..=299) => paint.good(&format!("{status} in {millis} ms")),
        Ok(status) => paint.bad(&format!("{status} in {millis} ms")),
        Err(error) => paint.bad(&error),
    };
    terminal::answer(&format!("{}  -> {outcome}\n", event_line(event, paint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        for good in ["http://127.0.0.1:3000/hook", "https://hooks.example", "http://localhost:1"] {
            assert_eq!(url(good).as_deref(), Ok(good));
        }
        for wrong in ["", "127.0.0.1:3000", "ftp://a/b", "http://", "http:///x", "hook"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
