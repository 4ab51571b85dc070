//! A player with a wallet: signs in, and signs payouts.

use bankroll_ledger::Time;
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, Payout, U256, WalletSignature},
};
use bankroll_store::Clock;
use bankroll_terminal::when;
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

use super::caller::Caller;

/// The default of `api.audience` and `api.domain`.
const HERE: &str = "localhost:8640";
const CHAIN: ChainId = ChainId(31_337);

pub struct Wallet(SigningKey);

impl Wallet {
    /// The wallet of this name, the same in every test.
    pub fn of(name: &str) -> Self {
        Self(SigningKey::from_slice(&Keccak256::digest(name)).unwrap())
    }

    pub fn address(&self) -> Address {
        Address::of(self.0.verifying_key())
    }

    /// The account of the player at the server `arena`.
    pub fn funds(&self) -> String {
        format!("arena/funds/1/{}", self.address().lower_hex())
    }

    /// The player, signed in at the node that this caller knows.
    pub fn sign_in(&self, at: &Caller) -> Caller {
        let nonce = at.post("/v1/sign-in/nonce", "none", &json!({})).expect(200);
        let issued = when::show(Time(seconds() * 1_000_000)).replace(".000000Z", "Z");
        let text = format!(
            "{HERE} wants you to sign in with your Ethereum account:\n{}\n\nPlay.\n\nURI: http://{HERE}\nVersion: 1\n\
             Chain ID: {}\nNonce: {}\nIssued At: {issued}",
            self.address(),
            CHAIN.0,
            nonce["nonce"].as_str().unwrap(),
        );
        let prefixed = format!("\u{19}Ethereum Signed Message:\n{}{text}", text.len());
        let signature = WalletSignature::by(&self.0, &Keccak256::digest(prefixed).into()).unwrap();
        let body = json!({ "message": text, "signature": signature.to_string() });
        let token = at.post("/v1/sign-in", "none", &body).expect(200)["token"].as_str().unwrap().to_owned();
        Caller { token, ..at.clone() }
    }

    /// The body of a payout to the wallet itself; the player pays 1 for gas at most, on top.
    pub fn payout(&self, request_id: &str, amount: u64) -> Value {
        let account = format!("arena/funds/1/{}", self.address().lower_hex());
        let message = Payout {
            server: "arena".into(),
            requestId: request_id.into(),
            audience: HERE.into(),
            wallet: self.address().into(),
            account: account.clone(),
            to: self.address().into(),
            asset: "ETH".into(),
            amount: U256::from(amount),
            feeCap: U256::from(1),
            expires: seconds() + 300,
        };
        let signature = WalletSignature::by(&self.0, &typed_data::digest(&message, CHAIN)).unwrap();
        json!({
            "server": "arena", "request_id": request_id, "account": account, "wallet": self.address(),
            "to": self.address(), "asset": "ETH", "amount": amount.to_string(), "fee_cap": "1",
            "expires": message.expires, "signature": signature.to_string(),
        })
    }
}

fn seconds() -> u64 {
    Clock::machine().now().0 / 1_000_000
}
