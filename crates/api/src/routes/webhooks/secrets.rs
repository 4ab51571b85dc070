//! The secret that a request makes: written before the change that names it, shown in the answer of that request alone.

use bankroll_ledger::Time;
use bankroll_notify::{EndpointId, NewSecret, NotifyError, WebhookEndpoint, secrets_of};
use bankroll_registry::random_bytes;
use bankroll_store::Reader;
use sha2::{Digest, Sha256};

use super::place::WebhookManager;
use crate::{ApiError, ErrorCode, input::ApiCall, state::HeldBooks};

/// Makes the secret of this request, durable when it returns. Its id follows from the request's key: a retry finds the
/// secret that the first try wrote, whether that try got any further or not.
pub(super) async fn written_secret(
    books: &HeldBooks,
    manager: &WebhookManager,
    call: &ApiCall,
    endpoint: &EndpointId,
    now: Time,
) -> Result<NewSecret, ApiError> {
    let digest = Sha256::new()
        .chain_update("webhook secret")
        .chain_update([0])
        .chain_update(manager.author())
        .chain_update([0])
        .chain_update(endpoint.as_str())
        .chain_update([0])
        .chain_update(call.key()?)
        .finalize();
    let (mut id, random) = ([0; 16], random_bytes().map_err(|_| ErrorCode::Internal)?);
    id.copy_from_slice(digest.get(..16).ok_or(ErrorCode::Internal)?);
    let secret = NewSecret::new(id, random);
    let insert = secret.insert(endpoint, now);
    // Refused if a first try has written it: then that one counts, and this one's random bytes are forgotten.
    let _ = books.ledger.write_rows(vec![insert])?.await?;
    Ok(secret)
}

/// The newest secret of a webhook, as receivers configure it.
pub(super) fn shown_secret(reader: &Reader, endpoint: &WebhookEndpoint) -> Result<String, ApiError> {
    let newest = WebhookEndpoint { previous_secret: None, ..endpoint.clone() };
    let secrets = secrets_of(reader, &newest, Time(0)).map_err(|error: NotifyError| ApiError::from(error))?;
    secrets.first().map(|secret| secret.reveal()).ok_or_else(|| ErrorCode::BooksDamaged.into())
}
