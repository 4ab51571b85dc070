//! The messages that a key signs to become a caller: a registration, and the opening of a session.

use bankroll_ledger::{Amount, Name};
use bankroll_orders::{
    Address,
    typed_data::{self, B256, OpenSession, Registration, U256},
};
use bankroll_registry::random_bytes;
use serde_json::{Value, json};

use super::{FundsCallError, FundsClient};

/// What a game server decides about itself.
#[derive(Clone, Debug)]
pub struct RegistrationOrder {
    pub server: Name,
    pub payout_address: Address,
    pub developer: Address,
    pub buy_in: Amount,
    pub developer_fee_bps: u32,
    pub world_fee_bps: u32,
    pub mass_per_coin: Amount,
    pub exit_hold_ms: u64,
}

/// For whom a session is opened.
#[derive(Clone, Copy, Debug)]
pub enum SessionSubject<'a> {
    Server(&'a Name),
    /// The owner of this name.
    Owner(&'a Name),
}

impl FundsClient {
    /// Registers a game server, or changes its terms. The answer has a session's token.
    ///
    /// # Errors
    /// See [`FundsCallError`].
    pub fn register(&self, order: &RegistrationOrder) -> Result<Value, FundsCallError> {
        let (nonce, expires) = (random_bytes::<32>()?, self.expires());
        let message = Registration {
            server: order.server.to_string(),
            audience: self.audience.clone(),
            payoutAddress: order.payout_address.into(),
            developer: order.developer.into(),
            buyIn: U256::from(order.buy_in.units()),
            developerFeeBps: order.developer_fee_bps,
            worldFeeBps: order.world_fee_bps,
            massPerCoin: U256::from(order.mass_per_coin.units()),
            exitHoldMs: order.exit_hold_ms,
            nonce: B256::from(nonce),
            expires,
        };
        let signature = self.key.sign(&typed_data::digest(&message, self.chain)).ok_or(FundsCallError::Unsigned)?;
        let body = json!({
            "server": message.server, "audience": message.audience, "chain_id": self.chain.0,
            "payout_address": order.payout_address.lower_hex(), "developer": order.developer.lower_hex(),
            "buy_in": order.buy_in.to_string(), "developer_fee_bps": order.developer_fee_bps,
            "world_fee_bps": order.world_fee_bps, "mass_per_coin": order.mass_per_coin.to_string(),
            "exit_hold_ms": order.exit_hold_ms, "nonce": shown(&nonce), "expires": expires,
            "signature": signature.to_string(),
        });
        self.send_message("/v1/register", &body)
    }

    /// Opens a session. The answer has its token.
    ///
    /// # Errors
    /// See [`FundsCallError`].
    pub fn open_session(&self, subject: SessionSubject<'_>) -> Result<Value, FundsCallError> {
        let (nonce, expires) = (random_bytes::<32>()?, self.expires());
        let (role, subject) = match subject {
            SessionSubject::Server(name) => ("server", name.to_string()),
            SessionSubject::Owner(name) => ("operator", name.to_string()),
        };
        let message = OpenSession {
            role: role.into(),
            subject: subject.clone(),
            audience: self.audience.clone(),
            nonce: B256::from(nonce),
            expires,
        };
        let signature = self.key.sign(&typed_data::digest(&message, self.chain)).ok_or(FundsCallError::Unsigned)?;
        let body = json!({
            "role": role, "subject": subject, "audience": self.audience, "chain_id": self.chain.0,
            "nonce": shown(&nonce), "expires": expires, "signature": signature.to_string(),
        });
        self.send_message("/v1/sessions", &body)
    }
}

fn shown(nonce: &[u8; 32]) -> String {
    format!("0x{}", hex::encode(nonce))
}
