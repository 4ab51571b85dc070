//! One request to the Funds API, repeated until it has an answer that says what happened.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail};
use bankroll_nodes::{RelayedRequest, RelayedResponse};
use bankroll_roles::{
    flows::StopFlag,
    requests::{FundsCallError, FundsUrl},
};
use serde::Deserialize;

use super::session::ArenaSession;
use crate::disk::DiskFull;

/// Long enough for a takeover of the books, and far longer than anything else takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(5);

/// One caller with connections of its own: each game has one, and each thread that signs players in.
#[derive(Clone, Debug)]
pub struct GameClient {
    url: FundsUrl,
    pub(super) session: Arc<ArenaSession>,
    /// Requested when the game cannot continue: no request is repeated any more.
    over: StopFlag,
}

/// The part of a problem document that a program compares, and the part for people.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProblemText {
    pub code: String,
    pub detail: String,
}

/// What to do after an answer, or after none.
enum NextStep {
    Answered,
    Repeat,
    Renew,
}

impl GameClient {
    pub fn new(session: &Arc<ArenaSession>, over: &StopFlag) -> Self {
        Self { url: FundsUrl::new(session.url()), session: Arc::clone(session), over: over.clone() }
    }

    /// A change by the game server. `busy` is called each time the ledger's queue was full.
    pub fn post(&self, path: &str, key: Option<&str>, body: &[u8], busy: impl Fn()) -> anyhow::Result<RelayedResponse> {
        let mut token = self.session.token();
        let request = |token: &str| {
            let mut headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
            headers.extend(key.map(|key| ("idempotency-key".to_owned(), key.to_owned())));
            posted(path, headers, body)
        };
        let until = Instant::now() + PATIENCE;
        loop {
            let response = self.answered(&request(&token), until, &busy)?;
            if !matches!(next_step(&response)?, NextStep::Renew) {
                return Ok(response);
            }
            token = self.session.renew(&token, &self.over)?;
        }
    }

    /// A message that proves its sender by itself.
    pub(super) fn post_message(&self, path: &str, body: &[u8]) -> anyhow::Result<RelayedResponse> {
        self.answered(&posted(path, Vec::new(), body), Instant::now() + PATIENCE, &|| {})
    }

    /// Repeats a request until it has an answer that is not "try again".
    fn answered(&self, request: &RelayedRequest, until: Instant, busy: &impl Fn()) -> anyhow::Result<RelayedResponse> {
        loop {
            let failure = match self.url.send(request.clone()) {
                Ok(response) => match next_step(&response)? {
                    NextStep::Answered | NextStep::Renew => return Ok(response),
                    NextStep::Repeat => {
                        let problem = problem_of(&response);
                        if problem.code == "busy" {
                            busy();
                        }
                        anyhow!("{} ({})", problem.detail, problem.code)
                    }
                },
                // It may have happened: only the same request again can say.
                Err(error @ FundsCallError::Http(_)) => error.into(),
                Err(error) => return Err(error.into()),
            };
            if self.over.is_requested() || Instant::now() >= until {
                return Err(failure).context("the Funds API does not answer");
            }
            thread::sleep(PAUSE);
        }
    }
}

fn posted(path: &str, mut headers: Vec<(String, String)>, body: &[u8]) -> RelayedRequest {
    headers.push(("content-type".into(), "application/json".into()));
    RelayedRequest { method: "POST".into(), path: path.into(), headers, body: body.to_vec() }
}

fn next_step(response: &RelayedResponse) -> anyhow::Result<NextStep> {
    if !matches!(response.status, 401 | 429 | 503) {
        return Ok(NextStep::Answered);
    }
    let problem = problem_of(response);
    Ok(match problem.code.as_str() {
        "session_expired" => NextStep::Renew,
        "storage_full" => return Err(DiskFull.into()),
        "books_damaged" => bail!("{} ({})", problem.detail, problem.code),
        _ if response.status == 401 => NextStep::Answered,
        _ => NextStep::Repeat,
    })
}

pub(super) fn problem_of(response: &RelayedResponse) -> ProblemText {
    serde_json::from_slice(&response.body).unwrap_or_default()
}

/// Repeats a call of a client that signs each of its requests, until it has an answer.
pub(super) fn patiently<T>(over: &StopFlag, mut call: impl FnMut() -> Result<T, FundsCallError>) -> anyhow::Result<T> {
    let until = Instant::now() + PATIENCE;
    loop {
        let failure = match call() {
            Ok(answer) => return Ok(answer),
            Err(FundsCallError::Refused(refusal)) if refusal.code == "storage_full" => return Err(DiskFull.into()),
            Err(FundsCallError::Refused(refusal)) if matches!(refusal.status, 429 | 503) => refusal.into(),
            Err(FundsCallError::Refused(refusal)) => return Err(refusal.into()),
            Err(failure) => failure,
        };
        if over.is_requested() || Instant::now() >= until {
            return Err(FundsCallError::into(failure));
        }
        thread::sleep(PAUSE);
    }
}
