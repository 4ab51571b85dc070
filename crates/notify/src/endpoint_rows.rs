//! Endpoints as their rows state them.

use bankroll_ledger::{Row, Seq, Time};
use bankroll_store::{
    EventPosition, Reader,
    columns::{BadRow, maybe, number_of, parsed, text, text_of},
};

use crate::{DisabledEndpoint, EndpointId, NotifyError, SecretId, WebhookEndpoint};

/// All endpoints, in the order of their ids.
///
/// # Errors
/// If the books cannot be read.
pub fn endpoints(reader: &Reader) -> Result<Vec<WebhookEndpoint>, NotifyError> {
    let rows = reader.rows("SELECT * FROM webhook_endpoints ORDER BY id", vec![])?;
    Ok(rows.iter().map(of_row).collect::<Result<_, _>>()?)
}

/// One endpoint.
///
/// # Errors
/// If the books cannot be read.
pub fn endpoint(reader: &Reader, id: &EndpointId) -> Result<Option<WebhookEndpoint>, NotifyError> {
    let rows = reader.rows("SELECT * FROM webhook_endpoints WHERE id = $1", vec![text(id.as_str())])?;
    Ok(rows.first().map(of_row).transpose()?)
}

fn of_row(row: &Row) -> Result<WebhookEndpoint, BadRow> {
    let secret = |column| SecretId::parse(text_of(row, column)?).ok_or(BadRow { column });
    let disabled = match text_of(row, "state")? {
        "enabled" => None,
        _ => Some(DisabledEndpoint {
            reason: maybe(row, "disabled_reason", text_of)?.unwrap_or_default().to_owned(),
            at: Time(maybe(row, "disabled_at", number_of)?.unwrap_or(0)),
        }),
    };
    let previous_secret = match maybe(row, "previous_secret", text_of)? {
        None => None,
        Some(_) => Some((secret("previous_secret")?, Time(number_of(row, "previous_until")?))),
    };
    Ok(WebhookEndpoint {
        id: EndpointId::parse(text_of(row, "id")?).ok_or(BadRow { column: "id" })?,
        url: text_of(row, "url")?.to_owned(),
        types: parsed(row, "types")?,
        server: maybe(row, "server", parsed)?,
        disabled,
        secret: secret("secret")?,
        previous_secret,
        from: position_of(row, "from_seq", "from_place")?,
        created_at: Time(number_of(row, "created_at")?),
        revision: number_of(row, "revision")?,
    })
}

pub(crate) fn position_of(row: &Row, seq: &'static str, place: &'static str) -> Result<EventPosition, BadRow> {
    let number = u16::try_from(number_of(row, place)?).map_err(|_| BadRow { column: place })?;
    Ok(EventPosition { seq: Seq(number_of(row, seq)?), place: number })
}
