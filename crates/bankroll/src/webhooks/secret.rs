//! Secrets of webhooks on this machine: read, kept for the next start, and used to check a delivery.

use std::path::Path;

use anyhow::Context;
use bankroll_notify::{WebhookSecret, signatures};
use base64::{Engine, prelude::BASE64_STANDARD};
use zeroize::Zeroizing;

use crate::secret_file::write_secret;

/// The secret of `listen --forward-to`: the same after each start, so that a receiver is configured once.
const FILE: &str = "webhooks-listen.secret";
/// How far the clocks of sender and receiver may be apart, in seconds.
const TOLERANCE: u64 = 300;

/// A secret as receivers configure it.
pub(super) fn parse(text: &str) -> Result<WebhookSecret, String> {
    let bytes = text.trim().strip_prefix("whsec_").and_then(|text| BASE64_STANDARD.decode(text).ok());
    let bytes = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    bytes.map(WebhookSecret::new).ok_or_else(|| "a secret is whsec_ and 32 bytes in base64".into())
}

/// The secret of this folder; the first use makes it.
pub(super) fn of_folder(folder: &Path) -> anyhow::Result<WebhookSecret> {
    let path = folder.join(FILE);
    if !path.exists() {
        let secret = WebhookSecret::new(rand_bytes()?);
        write_secret(&path, &format!("{}\n", *Zeroizing::new(secret.reveal())))?;
        return Ok(secret);
    }
    let text = std::fs::read_to_string(&path).map(Zeroizing::new);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).map_err(|why| anyhow::anyhow!("{}: {why}; remove the file to make a new one", path.display()))
}

fn rand_bytes() -> anyhow::Result<[u8; 32]> {
    Ok(bankroll_registry::random_bytes()?)
}

/// What a delivery says about itself.
#[derive(Clone, Debug, Default)]
pub(super) struct DeliveryHeaders {
    pub id: String,
    pub timestamp: String,
    pub signature: String,
}

/// Checks a delivery as its receiver must. `now` is in seconds since 1970.
pub(super) fn verify(
    secret: &WebhookSecret,
    headers: &DeliveryHeaders,
    body: &str,
    now: u64,
) -> Result<(), &'static str> {
    if headers.id.is_empty() || headers.signature.is_empty() {
        return Err("it has no webhook-id or no webhook-signature");
    }
    let timestamp: u64 = headers.timestamp.parse().map_err(|_| "webhook-timestamp is no number of seconds")?;
    if now.abs_diff(timestamp) > TOLERANCE {
        return Err("it is too old, or from the future: the clocks differ by more than five minutes");
    }
    let expected = signatures(std::slice::from_ref(secret), &headers.id, timestamp, body);
    let is_signed = headers.signature.split(' ').any(|signature| same(signature.as_bytes(), expected.as_bytes()));
    if is_signed { Ok(()) } else { Err("no signature is of this secret") }
}

/// Compares in a time that does not depend on where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_is_nobody_elses_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let made = of_folder(folder.path()).unwrap();
        assert_eq!(of_folder(folder.path()).unwrap(), made, "the same after each start");
        let mode = std::os::unix::fs::PermissionsExt::mode(&folder.path().join(FILE).metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(parse(&made.reveal()).unwrap(), made);
        for wrong in ["", "whsec_", "whsec_AAAA", "AAAA"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_delivery_is_checked_as_receivers_must() {
        let (secret, other) = (WebhookSecret::new([7; 32]), WebhookSecret::new([8; 32]));
        let signed = |secrets: &[WebhookSecret]| DeliveryHeaders {
            id: "evt_81_0".into(),
            timestamp: "1000".into(),
            signature: signatures(secrets, "evt_81_0", 1_000, "{}"),
        };
        let check = |headers: &DeliveryHeaders, body: &str, now| verify(&secret, headers, body, now);
        assert_eq!(check(&signed(std::slice::from_ref(&secret)), "{}", 1_300), Ok(()));
        assert_eq!(check(&signed(&[other.clone(), secret.clone()]), "{}", 700), Ok(()), "one of two, in a rotation");
        assert_eq!(check(&signed(&[other]), "{}", 1_000), Err("no signature is of this secret"));
        assert_eq!(check(&signed(std::slice::from_ref(&secret)), "{ }", 1_000), Err("no signature is of this secret"));
        assert!(check(&signed(std::slice::from_ref(&secret)), "{}", 1_301).is_err());
        let renamed = DeliveryHeaders { id: "evt_82_0".into(), ..signed(std::slice::from_ref(&secret)) };
        assert!(check(&renamed, "{}", 1_000).is_err());
        assert!(check(&DeliveryHeaders::default(), "{}", 1_000).is_err());
    }
}
