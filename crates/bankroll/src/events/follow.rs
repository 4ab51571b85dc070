//! Following events: page after page, each request signed anew, so that no session and no signature runs out.

use std::{thread, time::Duration};

use bankroll_roles::requests::{FundsCall, FundsCallError, FundsClient};
use bankroll_terminal::StopSignal;
use serde_json::Value;

use crate::funds_call::{in_path, list};

/// The pause while nothing is new.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// The pause after a failure of the service.
const REST: Duration = Duration::from_secs(1);
/// A stop is noticed at least so often.
const NAP: Duration = Duration::from_millis(50);

/// Where a follower is.
pub struct EventFollower {
    client: FundsClient,
    types: String,
    /// The sequence of the last event; `newest` before the first page.
    after: String,
    is_lost: bool,
}

/// Why following ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowEnd {
    Stopped,
    /// This process has the books itself, so that nothing can happen meanwhile.
    NoNode,
}

impl EventFollower {
    /// Follows from the event with this sequence on, or from now on.
    pub fn new(client: FundsClient, types: &[String], after: Option<u64>) -> Self {
        let after = after.map_or_else(|| "newest".to_owned(), |after| after.to_string());
        Self { client, types: types_query(types), after, is_lost: false }
    }

    /// Calls `take` with each event, until a stop is requested.
    pub fn run(
        mut self,
        stop: &StopSignal,
        mut take: impl FnMut(&Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<FollowEnd> {
        let end = self.follow(stop, &mut take);
        self.client.close();
        end
    }

    fn follow(
        &mut self,
        stop: &StopSignal,
        take: &mut impl FnMut(&Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<FollowEnd> {
        while !stop.is_requested() {
            let path = format!("/v1/events?after={}{}", self.after, self.types);
            let page = self.client.call(FundsCall { method: "GET", path: &path, idempotency_key: None, body: None });
            let page = match page {
                Ok(page) => page,
                Err(error) => {
                    self.lost(error)?;
                    nap(REST, stop);
                    continue;
                }
            };
            if std::mem::take(&mut self.is_lost) {
                eprintln!("note: the Funds API answers again; nothing was missed");
            }
            for event in list(&page, "events")? {
                take(event)?;
                self.after = event["sequence"].to_string();
            }
            self.after = page["next"].to_string();
            if page["more"] == true {
                continue;
            }
            if self.client.has_books() {
                return Ok(FollowEnd::NoNode);
            }
            nap(LOOK_EVERY, stop);
        }
        Ok(FollowEnd::Stopped)
    }

    /// An error that may pass is waited for; a refusal of the caller is not.
    fn lost(&mut self, error: FundsCallError) -> anyhow::Result<()> {
        let may_pass = match &error {
            FundsCallError::Refused(refusal) => refusal.status >= 500 || refusal.status == 429,
            FundsCallError::Call(_) | FundsCallError::Http(_) => true,
            _ => false,
        };
        if !may_pass {
            return Err(error.into());
        }
        if !std::mem::replace(&mut self.is_lost, true) {
            eprintln!("note: {error}; waiting");
        }
        Ok(())
    }
}

/// `&types=...`, or nothing for all types.
pub fn types_query(types: &[String]) -> String {
    let types = types.iter().map(|kind| in_path(kind)).collect::<Vec<_>>().join(",");
    if types.is_empty() { types } else { format!("&types={types}") }
}

fn nap(mut left: Duration, stop: &StopSignal) {
    while !left.is_zero() && !stop.is_requested() {
        let nap = left.min(NAP);
        thread::sleep(nap);
        left = left.saturating_sub(nap);
    }
}
