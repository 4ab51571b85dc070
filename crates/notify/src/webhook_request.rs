//! What people ask of an endpoint: events once more, or a test event. Pure: a request is a fact for the journal; the
//! worker finds its row.

use bankroll_ledger::{Fact, Guard, GuardFailure, Row, RowKey, Time};
use bankroll_store::{
    EventPosition, Reader,
    columns::{BadRow, int, number_of, text, text_of, time},
};

use crate::{EndpointId, NotifyError, endpoint::column, endpoint_rows::position_of};

/// The events from the first to the last position, both included; one event if they are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResendRange {
    pub from: EventPosition,
    pub to: EventPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookRequestKind {
    /// Those of the events in the range that the endpoint's filter accepts.
    Resend(ResendRange),
    /// One event of the type `webhook.test`, which is in no stream.
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRequest {
    pub endpoint: EndpointId,
    /// From 1, without gaps; see [`next_request_number`]. Of two requests with one number, the books accept one.
    pub number: u64,
    pub kind: WebhookRequestKind,
    pub requested_at: Time,
}

impl WebhookRequest {
    /// The fact that records it.
    #[must_use]
    pub fn fact(&self) -> Fact {
        let (kind, range) = match self.kind {
            WebhookRequestKind::Resend(range) => ("resend", range),
            WebhookRequestKind::Test => {
                ("test", ResendRange { from: EventPosition::default(), to: EventPosition::default() })
            }
        };
        let key = vec![column("endpoint", text(self.endpoint.as_str())), column("number", int(self.number))];
        Fact {
            row: RowKey { table: "webhook_requests".into(), columns: key },
            guard: Guard::Absent,
            otherwise: GuardFailure::Conflict,
            set: vec![
                column("kind", text(kind)),
                column("from_seq", int(range.from.seq.0)),
                column("from_place", int(range.from.place.into())),
                column("to_seq", int(range.to.seq.0)),
                column("to_place", int(range.to.place.into())),
                column("requested_at", time(self.requested_at)),
            ],
        }
    }

    pub(crate) fn of_row(row: &Row) -> Result<Self, BadRow> {
        let range = ResendRange {
            from: position_of(row, "from_seq", "from_place")?,
            to: position_of(row, "to_seq", "to_place")?,
        };
        let kind = match text_of(row, "kind")? {
            "resend" => WebhookRequestKind::Resend(range),
            "test" => WebhookRequestKind::Test,
            _ => return Err(BadRow { column: "kind" }),
        };
        Ok(Self {
            endpoint: EndpointId::parse(text_of(row, "endpoint")?).ok_or(BadRow { column: "endpoint" })?,
            number: number_of(row, "number")?,
            kind,
            requested_at: Time(number_of(row, "requested_at")?),
        })
    }
}

/// The number of an endpoint's next request.
///
/// # Errors
/// If the books cannot be read.
pub fn next_request_number(reader: &Reader, endpoint: &EndpointId) -> Result<u64, NotifyError> {
    let sql = "SELECT number FROM webhook_requests WHERE endpoint = $1 ORDER BY number DESC LIMIT 1";
    let rows = reader.rows(sql, vec![text(endpoint.as_str())])?;
    let newest = rows.first().map_or(Ok(0), |row| number_of(row, "number"))?;
    Ok(newest.saturating_add(1))
}
