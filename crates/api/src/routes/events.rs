//! Events: what happened, in the order of the journal. A page as JSON, or as the frames of a stream.
//!
//! A game server sees the events of its own server, a player those about themselves, and operators all; without the
//! right to see players their names and wallets are redacted. The front makes a stream out of pages (`front/streams`):
//! each page is a request of its own with the caller's proof.

use std::{collections::BTreeSet, sync::Arc};

use axum::{extract::State, response::Response};
use bankroll_ledger::{FACTS_MAX, Seq, Time};
use bankroll_notify::{NotifyError, TypeFilter, sequence_of};
use bankroll_operators::Right;
use bankroll_registry::{Caller, SKEW_SECONDS};
use bankroll_store::{EventPosition, Reader};
use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    event_page_text::EventPageText,
    event_redaction::{PlayerSight, redacted},
    pages::page_size,
};
use crate::{
    ApiError, ErrorCode, Funds,
    events_page::{self, accepts_frames},
    input::{ApiCall, CallProof},
    state::{EventChunk, Gate, HeldBooks, ReadEvent},
};

/// Events that are read at once, and looked at in one page at most: what a caller may not see costs as much as what
/// they may.
const READ_AT_ONCE: usize = 100;
const LOOKED_AT_MAX: usize = 2_000;
/// A stream has one page in memory.
const FRAMES_MAX: usize = 100;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only events after this sequence; `newest` for those that are still to come. A page begins with the first event
    /// otherwise, and a stream with the next one. The header `Last-Event-ID` counts instead, if there is one.
    #[param(example = "1296")]
    pub after: Option<String>,
    /// Only these types, separated by commas: `deposit.credited`, `spawn.*`.
    pub types: Option<String>,
    /// 1 to 1,000; 100 by default. A stream has no limit.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// The form of an event, in pages, streams and webhooks.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventBody {
    /// The same for ever: receivers recognise a second delivery by it.
    #[schema(example = "evt_81_0")]
    pub id: String,
    #[serde(rename = "type")]
    #[schema(example = "deposit.credited")]
    pub kind: String,
    pub version: u32,
    /// Increases from event to event, with gaps.
    #[schema(example = 1296)]
    pub sequence: u64,
    /// What it is about.
    pub resource: String,
    /// Its number among the events about the same resource, from 1, without gaps.
    pub resource_sequence: u64,
    pub time: String,
    pub server: Option<String>,
    pub player: Option<String>,
    #[schema(value_type = Object)]
    pub data: Value,
}

/// The form of a page; `event_page_text` writes it.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventPage {
    pub events: Vec<EventBody>,
    /// `after` of the next page. It may be beyond the last event here: the events between are not the caller's.
    pub next: u64,
    /// Whether there are more events right now.
    pub more: bool,
}

/// Whose events a caller sees.
enum EventScope {
    All(PlayerSight),
    Server(String),
    /// The names of a player: their own, and those of their wallets.
    Player(BTreeSet<String>),
}

/// Events
///
/// In the order of the journal. With `Accept: text/event-stream` it is a stream that goes on (Server-Sent Events): `id`
/// is the sequence, `event` the type, `data` the event. After a disconnection the header `Last-Event-ID` resumes it. A
/// stream ends with the session, the key or the signature that opened it: its last event is then `stream.end`, and its
/// data says why.
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(EventsQuery, ("Last-Event-ID" = Option<u64>, Header, description = "The `id` of the last event.")),
    responses((status = 200, content((EventPage = "application/json"), (String = "text/event-stream")))),
    security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, headers: HeaderMap, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let scope = scope_of(&gate)?;
    let lasts = proof_seconds(&gate, &call)?;
    let caller = HeaderValue::from_str(&format!("{:?}", gate.session()?.caller)).map_err(|_| ErrorCode::Internal)?;
    let query: EventsQuery = call.query()?;
    let is_stream = headers.get_all(header::ACCEPT).iter().any(|accept| accepts_frames(accept.as_bytes()));
    let filter = types(query.types.as_deref())?;
    let from = position(&headers, query.after.as_deref(), is_stream)?;
    let most = page_size(query.limit.as_deref())?;
    let most = if is_stream { most.min(FRAMES_MAX) } else { most };
    let books = Arc::clone(&gate.books);
    drop(gate);
    let start = match from {
        Some(from) => from,
        None => sequence_of(books.pages.read(|reader| reader.newest_event()).await?),
    };
    let mut page = EventPageText::new(start, most, is_stream);
    fill(&books, &scope, &filter, &mut page).await?;
    page.response(lasts, caller)
}

fn scope_of(gate: &Gate) -> Result<EventScope, ApiError> {
    Ok(match &gate.session()?.caller {
        Caller::GameServer(own) => EventScope::Server(own.to_string()),
        Caller::Player(player) => {
            let wallets = gate.registry.wallets_of(player).map(|wallet| wallet.wallet.lower_hex());
            EventScope::Player(wallets.chain([player.to_string()]).collect())
        }
        _ => {
            gate.operator(Right::ReadMoney)?;
            EventScope::All(PlayerSight::of(|right| gate.operator(right).is_ok()))
        }
    })
}

/// For how long the proof lasts.
fn proof_seconds(gate: &Gate, call: &ApiCall) -> Result<u64, ApiError> {
    let now = gate.now.0 / 1_000_000;
    Ok(match &call.proof {
        CallProof::Signature { expires, .. } => expires.saturating_add(SKEW_SECONDS).saturating_sub(now),
        _ => {
            let Time(ends) = gate.session()?.expires_at;
            (ends / 1_000_000).saturating_sub(now)
        }
    })
}

fn types(types: Option<&str>) -> Result<TypeFilter, ApiError> {
    let filter = types.map_or_else(|| Ok(TypeFilter::all()), str::parse::<TypeFilter>);
    filter.map_err(|error| ApiError::with(ErrorCode::QueryInvalid, error.to_string()))
}

/// After which event the page begins; `None` for the newest.
fn position(headers: &HeaderMap, after: Option<&str>, is_stream: bool) -> Result<Option<u64>, ApiError> {
    let wrong = |what: &str| ApiError::with(ErrorCode::QueryInvalid, format!("{what} is the sequence of an event"));
    let number = |what: &str, text: &str| {
        let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        number.map(Some).ok_or_else(|| wrong(what))
    };
    let mut last = headers.get_all(&events_page::LAST_EVENT_ID).iter();
    match (last.next(), last.next(), after) {
        (Some(last), None, _) if !last.is_empty() => {
            number("Last-Event-ID", last.to_str().map_err(|_| wrong("Last-Event-ID"))?)
        }
        (Some(_), Some(_), _) => Err(wrong("Last-Event-ID")),
        (_, _, Some("newest")) => Ok(None),
        (_, _, Some(after)) => number("after", after),
        (_, _, None) => Ok(if is_stream { None } else { Some(0) }),
    }
}

/// Adds events until the page is full, or there are no more right now.
async fn fill(
    books: &Arc<HeldBooks>,
    scope: &EventScope,
    filter: &TypeFilter,
    page: &mut EventPageText,
) -> Result<(), ApiError> {
    let mut looked_at = 0;
    loop {
        let Some(chunk) = chunk_after(books, page.next).await? else { return Ok(()) };
        for read in chunk.events_after(page.next) {
            if page.is_full() || looked_at == LOOKED_AT_MAX {
                page.has_more = true;
                return Ok(());
            }
            looked_at += 1;
            page.next = read.event.sequence;
            if filter.accepts(&read.event.kind) {
                scope.show(read, page);
            }
        }
    }
}

/// The events after a sequence: those that were read lately, or from the books. `None` if there are none right now.
async fn chunk_after(books: &Arc<HeldBooks>, after: u64) -> Result<Option<Arc<EventChunk>>, ApiError> {
    if let Some(chunk) = books.events.find(after) {
        return Ok(Some(chunk));
    }
    let chunk = books.pages.read(move |reader| read_chunk(reader, after)).await?.map(Arc::new);
    chunk.iter().for_each(|chunk| books.events.insert(chunk));
    Ok(chunk)
}

fn read_chunk(reader: &Reader, after: u64) -> Result<Option<EventChunk>, ApiError> {
    let entries = reader.event_entries(position_of(after), READ_AT_ONCE)?;
    let chunk = EventChunk::new(after, &entries);
    if chunk.is_none() {
        let newest = sequence_of(reader.newest_event()?);
        if after > newest {
            // Other books, or an older copy of them: events that the caller has would come again as others.
            let detail = format!("there is no event {after} yet; the newest is {newest}");
            return Err(ApiError::with(ErrorCode::QueryInvalid, detail));
        }
    }
    Ok(chunk)
}

/// The place of an event by its sequence; the inverse of [`sequence_of`].
fn position_of(sequence: u64) -> EventPosition {
    let places = FACTS_MAX as u64;
    EventPosition { seq: Seq(sequence / places), place: u16::try_from(sequence % places).unwrap_or_default() }
}

impl EventScope {
    /// Adds the event as the caller may see it, if they may.
    fn show(&self, read: &ReadEvent, page: &mut EventPageText) {
        let event = &read.event;
        match self {
            Self::All(PlayerSight::Full) => page.add(event, &read.json),
            Self::All(sight) => {
                let event = redacted(event.clone(), *sight);
                page.add(&event, &event.to_json());
            }
            Self::Server(own) if event.server.as_ref() == Some(own) => page.add(event, &read.json),
            Self::Player(names) if event.player.as_ref().is_some_and(|player| names.contains(player)) => {
                page.add(event, &read.json);
            }
            Self::Server(_) | Self::Player(_) => {}
        }
    }
}

impl From<NotifyError> for ApiError {
    fn from(error: NotifyError) -> Self {
        match error {
            NotifyError::Store(error) => error.into(),
            NotifyError::Rows(_) => Self::new(ErrorCode::Unavailable).after(1),
            NotifyError::Row(_) => ErrorCode::BooksDamaged.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_read_as_it_is_written() {
        for (seq, place) in [(0, 0), (1, 0), (1, 15), (81, 3), (1 << 59, 15)] {
            let position = EventPosition { seq: Seq(seq), place };
            assert_eq!(position_of(sequence_of(position)), position);
        }
    }
}
