//! How far the worker has come with an endpoint.

use bankroll_ledger::{Row, Time};
use bankroll_store::{
    EventPosition,
    columns::{BadRow, maybe, number_of},
};

use crate::{WebhookEndpoint, endpoint_rows::position_of};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointProgress {
    /// The revision of the endpoint that it works for.
    pub revision: u64,
    /// The last event that was taken.
    pub position: EventPosition,
    /// The last request that is done.
    pub request: u64,
    /// Within the request after it: the last event that was taken again.
    pub resent: EventPosition,
    pub stopped_at: Option<Time>,
}

impl EndpointProgress {
    pub fn new(endpoint: &WebhookEndpoint) -> Self {
        Self {
            revision: endpoint.revision,
            position: endpoint.from,
            request: 0,
            resent: EventPosition::default(),
            stopped_at: None,
        }
    }

    pub fn of_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            revision: number_of(row, "revision")?,
            position: position_of(row, "seq", "place")?,
            request: number_of(row, "request")?,
            resent: position_of(row, "resent_seq", "resent_place")?,
            stopped_at: maybe(row, "stopped_at", number_of)?.map(Time),
        })
    }
}
