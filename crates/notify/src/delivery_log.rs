//! What was delivered to an endpoint, and what was not: for people who look, page by page, the newest event first.

use bankroll_ledger::{ColumnValue, Row, Seq, Time};
use bankroll_store::{
    EventPosition, Reader,
    columns::{BadRow, int, maybe, number_of, text, text_of},
};

use crate::{EndpointId, NotifyError, event_id};

/// The most rows of one page.
const PAGE_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// Due, or waiting for its next attempt, for an earlier event of its resource, or for the endpoint to be enabled.
    Pending,
    Delivered,
}

impl DeliveryState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
        }
    }

    /// The state that a caller wrote.
    #[must_use]
    pub fn parse(state: &str) -> Option<Self> {
        [Self::Pending, Self::Delivered].into_iter().find(|known| known.as_str() == state)
    }
}

/// One event and one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryView {
    /// `evt_81_0`, or `evt_test_3_whe_...` for a test.
    pub event: String,
    /// Where the page after this row begins.
    pub position: (u64, u64),
    pub kind: String,
    pub resource: String,
    pub state: DeliveryState,
    pub attempts: u64,
    /// When the next attempt is due; `None` once it is delivered.
    pub next_at: Option<Time>,
    /// When the last attempt ended.
    pub last_at: Option<Time>,
    /// The status of the last answer, if there was one.
    pub last_status: Option<u64>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// The first KiB of the last answer, as text.
    pub answer: Option<String>,
    pub created_at: Time,
}

/// Which deliveries of an endpoint to list.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub state: Option<DeliveryState>,
    /// Only before this row: the `position` of the last row of the page before.
    pub before: Option<(u64, u64)>,
}

/// The deliveries of an endpoint, the newest event first.
///
/// # Errors
/// If the books cannot be read.
pub fn deliveries(
    reader: &Reader,
    endpoint: &EndpointId,
    filter: &DeliveryFilter,
    most: usize,
) -> Result<Vec<DeliveryView>, NotifyError> {
    let mut values = vec![text(endpoint.as_str())];
    let mut conditions = String::new();
    // The states are literals, because the partial index of what is pending needs one.
    match filter.state {
        Some(DeliveryState::Pending) => conditions.push_str(" AND state = 'pending'"),
        Some(DeliveryState::Delivered) => conditions.push_str(" AND state = 'delivered'"),
        None => {}
    }
    if let Some((seq, place)) = filter.before {
        conditions.push_str(" AND (seq, place) < ($2, $3)");
        values.extend([int(seq), int(place)]);
    }
    let most = most.min(PAGE_MAX);
    let sql = format!(
        "SELECT * FROM webhook_deliveries WHERE endpoint = $1{conditions} ORDER BY seq DESC, place DESC LIMIT {most}"
    );
    Ok(reader.rows(&sql, values)?.iter().map(|row| view_of(row, endpoint)).collect::<Result<_, _>>()?)
}

fn view_of(row: &Row, endpoint: &EndpointId) -> Result<DeliveryView, BadRow> {
    let state = DeliveryState::parse(text_of(row, "state")?).ok_or(BadRow { column: "state" })?;
    let (seq, place) = (number_of(row, "seq")?, number_of(row, "place")?);
    let time = |column| Ok::<_, BadRow>(maybe(row, column, number_of)?.map(Time));
    let shown = |column| Ok::<_, BadRow>(maybe(row, column, text_of)?.map(str::to_owned));
    Ok(DeliveryView {
        event: delivery_event_id(endpoint, seq, place),
        position: (seq, place),
        kind: text_of(row, "type")?.to_owned(),
        resource: text_of(row, "resource")?.to_owned(),
        state,
        attempts: number_of(row, "attempts")?,
        next_at: time("next_at")?.filter(|_| state == DeliveryState::Pending),
        last_at: time("last_at")?,
        last_status: match row.get("last_status") {
            Some(ColumnValue::Null) => None,
            _ => Some(number_of(row, "last_status")?),
        },
        last_error: shown("last_error")?,
        answer: shown("answer")?,
        created_at: Time(number_of(row, "created_at")?),
    })
}

/// The id that the receiver sees. Test events are numbered apart: they are in no stream.
pub(crate) fn delivery_event_id(endpoint: &EndpointId, seq: u64, place: u64) -> String {
    match (seq, u16::try_from(place)) {
        (1.., Ok(place)) => event_id(EventPosition { seq: Seq(seq), place }),
        _ => format!("evt_test_{place}_{endpoint}"),
    }
}
