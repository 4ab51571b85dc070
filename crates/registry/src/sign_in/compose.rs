//! The message as a client writes it that has no web page: a command, the demo.

use bankroll_orders::{Address, ChainId};

/// What a wallet signs to sign in.
#[derive(Clone, Copy, Debug)]
pub struct SignInOrder<'a> {
    /// As the service is configured (`api.domain`).
    pub domain: &'a str,
    /// `http` or `https`, and the domain.
    pub uri: &'a str,
    pub wallet: Address,
    pub chain: ChainId,
    /// Issued by the service.
    pub nonce: &'a str,
    /// RFC 3339.
    pub issued_at: &'a str,
}

/// The message; `None` if one of its parts does not fit into one.
#[must_use]
pub fn sign_in_text(order: &SignInOrder<'_>) -> Option<String> {
    let SignInOrder { domain, uri, wallet, chain, nonce, issued_at } = *order;
    let text = format!(
        "{domain} wants you to sign in with your Ethereum account:\n{wallet}\n\n\nURI: {uri}\nVersion: 1\n\
         Chain ID: {}\nNonce: {nonce}\nIssued At: {issued_at}",
        chain.0
    );
    // As the service reads it: a line break in a part would be another message.
    let read: siwe::Message = text.parse().ok()?;
    (read.to_string() == text).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_form_of_eip_4361_and_no_part_can_add_a_line() {
        let wallet: Address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".parse().unwrap();
        let order = SignInOrder {
            domain: "play.example",
            uri: "https://play.example",
            wallet,
            chain: ChainId(31_337),
            nonce: "a1b2c3d4",
            issued_at: "2026-11-16T08:00:00Z",
        };
        let text = "play.example wants you to sign in with your Ethereum account:\n\
                    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\n\n\nURI: https://play.example\nVersion: 1\n\
                    Chain ID: 31337\nNonce: a1b2c3d4\nIssued At: 2026-11-16T08:00:00Z";
        assert_eq!(sign_in_text(&order).as_deref(), Some(text));
        assert_eq!(sign_in_text(&SignInOrder { nonce: "a1b2c3d4\nRequest ID: link:0x01", ..order }), None);
        assert_eq!(sign_in_text(&SignInOrder { domain: "play example", ..order }), None);
    }
}
