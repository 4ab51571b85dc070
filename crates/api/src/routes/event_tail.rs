//! What is new, for the fronts: it waits until there is something. No caller reaches it: fronts refuse its path.

use std::time::Duration;

use axum::{extract::State, response::Response};
use bankroll_notify::sequence_of;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{ApiError, ErrorCode, Funds, input::ApiCall, money::applied_response};

/// Less than any call between nodes may take.
const WAIT: Duration = Duration::from_secs(10);
/// How often the outbox is looked at, once for each front.
const LOOK_EVERY: Duration = Duration::from_millis(25);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewestQuery {
    after: String,
    rights: String,
}

/// The sequence of the newest event, and a number that changes when somebody's rights may have ended.
#[derive(Debug, Serialize)]
struct NewestBody {
    newest: u64,
    rights: u64,
}

pub(super) async fn newest(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let query: NewestQuery = call.query()?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| ErrorCode::QueryInvalid);
    let (after, known) = (number(&query.after)?, number(&query.rights)?);
    let until = Instant::now() + WAIT;
    loop {
        // Again each time: this node may have lost the books.
        let books = funds.books()?;
        let mut changes = books.rights.subscribe();
        let rights = *changes.borrow_and_update();
        let newest = sequence_of(books.pages.read(|reader| reader.newest_event()).await?);
        if newest > after || rights != known || Instant::now() >= until {
            return applied_response(&NewestBody { newest, rights }, false);
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}
