//! What a player's wallet signs: a sign-in, and the consent to a payout.

use bankroll_ledger::{AccountName, Amount, Name};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, Payout, U256},
};
use bankroll_registry::{SignInOrder, personal_digest, sign_in_text};
use bankroll_store::Clock;
use bankroll_terminal::when;
use serde_json::{Value, json};

use super::{FundsCall, FundsCallError, FundsClient};
use crate::AuthKey;

/// A payout of a player's own money, to be signed.
#[derive(Clone, Debug)]
pub struct PlayerPayout {
    pub server: Name,
    /// The player's own name for it: the same id is paid once.
    pub request_id: Name,
    /// The player's funds or unallocated money.
    pub account: AccountName,
    pub to: Address,
    /// The symbol of the server's asset.
    pub asset: String,
    pub amount: Amount,
    /// The most that the player pays for gas.
    pub fee_cap: Amount,
}

/// The body of a sign-in (EIP-4361) with this nonce of the service; `None` if the origin or the nonce fits no message.
#[must_use]
pub fn signed_sign_in(key: &AuthKey, origin: &str, chain: ChainId, nonce: &str) -> Option<Value> {
    let domain = origin.split_once("://").map_or(origin, |(_, domain)| domain);
    let issued_at = when::show(Clock::machine().now());
    let order = SignInOrder { domain, uri: origin, wallet: key.address(), chain, nonce, issued_at: &issued_at };
    let message = sign_in_text(&order)?;
    let signature = key.sign(&personal_digest(&message))?;
    Some(json!({ "message": message, "signature": signature.to_string() }))
}

impl FundsClient {
    /// Signs in as a player (EIP-4361). `origin` is where the service says that players sign in: `https://play.example`.
    /// The answer has the token of a session.
    ///
    /// # Errors
    /// See [`FundsCallError`].
    pub fn sign_in(&self, origin: &str) -> Result<Value, FundsCallError> {
        let answer = self.send_message("/v1/sign-in/nonce", &json!({}))?;
        let nonce = answer["nonce"].as_str().ok_or(FundsCallError::NotJson)?;
        let body = signed_sign_in(&self.key, origin, self.chain, nonce).ok_or(FundsCallError::Unsigned)?;
        self.send_message("/v1/sign-in", &body)
    }

    /// Requests a payout of the player's own money, with their signature, in the session of `token`.
    ///
    /// # Errors
    /// See [`FundsCallError`].
    pub fn request_payout(&self, token: &str, payout: &PlayerPayout) -> Result<Value, FundsCallError> {
        let (wallet, expires) = (self.key.address(), self.expires());
        let message = Payout {
            server: payout.server.to_string(),
            requestId: payout.request_id.to_string(),
            audience: self.audience.clone(),
            wallet: wallet.into(),
            account: payout.account.to_string(),
            to: payout.to.into(),
            asset: payout.asset.clone(),
            amount: U256::from(payout.amount.units()),
            feeCap: U256::from(payout.fee_cap.units()),
            expires,
        };
        let signature = self.key.sign(&typed_data::digest(&message, self.chain)).ok_or(FundsCallError::Unsigned)?;
        let body = json!({
            "server": message.server, "request_id": message.requestId, "account": message.account,
            "wallet": wallet.lower_hex(), "to": payout.to.lower_hex(), "asset": payout.asset,
            "amount": payout.amount.to_string(), "fee_cap": payout.fee_cap.to_string(), "expires": expires,
            "signature": signature.to_string(),
        });
        let key = format!("payout-{}", payout.request_id);
        let call =
            FundsCall { method: "POST", path: "/v1/me/withdrawals", idempotency_key: Some(&key), body: Some(&body) };
        self.call_with_token(token, call)
    }
}
