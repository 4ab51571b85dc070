//! Signatures of deliveries, as Standard Webhooks 1.0 defines them.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::WebhookSecret;

/// The value of `webhook-signature`: one for each secret, separated by spaces, each over `id.timestamp.body`.
#[must_use]
pub fn signatures(secrets: &[WebhookSecret], id: &str, timestamp: u64, body: &str) -> String {
    let sign = |secret: &WebhookSecret| {
        // HMAC takes a key of any length.
        let mac = <Hmac<Sha256> as Mac>::new_from_slice(secret.bytes());
        let mac = mac.map(|mac| mac.chain_update(format!("{id}.{timestamp}.")).chain_update(body));
        mac.map(|mac| format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes())))
    };
    secrets.iter().filter_map(|secret| sign(secret).ok()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's own libraries.
    #[test]
    fn a_signature_is_the_one_of_the_specification() {
        let bytes = BASE64_STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let mut secret = [0; 32];
        // The example's key has 24 bytes; HMAC pads a shorter key with zeros, so these 32 are the same key.
        secret[..24].copy_from_slice(&bytes);
        let secret = WebhookSecret::new(secret);
        let signed = signatures(
            &[secret.clone(), secret],
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        let one = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signed, format!("{one} {one}"));
    }
}
