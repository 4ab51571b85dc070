//! A player comes: the game server opens their accounts, and they prove their wallet by signing in (EIP-4361), so that
//! their payments are theirs.

use anyhow::{Context, bail, ensure};
use bankroll_chains_simulated::SimulatedKey;
use bankroll_nodes::RelayedResponse;
use bankroll_orders::ChainId;
use bankroll_roles::{AuthKey, requests::signed_sign_in};
use k256::ecdsa::SigningKey;
use serde::Deserialize;
use serde_json::json;

use super::{GameClient, calls::problem_of};
use crate::{arena::SERVER, chain::CHAIN_ID};

#[derive(Deserialize)]
struct IssuedNonce {
    nonce: String,
}

impl GameClient {
    /// Opens a player's accounts and signs them in. From then on payments from their wallet are theirs.
    pub fn bring_in(&self, wallet: &SimulatedKey) -> anyhow::Result<()> {
        let key = AuthKey::new(SigningKey::from_slice(wallet.to_bytes().as_slice()).context("a wallet has no key")?);
        let player = key.address().lower_hex();
        let body = json!({ "player": player }).to_string();
        let opened = self.post(&format!("/v1/servers/{SERVER}/accounts"), Some(&player), body.as_bytes(), || {})?;
        check(&opened, "a player's accounts cannot be opened")?;
        self.sign_in(&key)
    }

    fn sign_in(&self, wallet: &AuthKey) -> anyhow::Result<()> {
        let issued = self.post_message("/v1/sign-in/nonce", b"{}")?;
        check(&issued, "a player gets no nonce")?;
        let IssuedNonce { nonce } = serde_json::from_slice(&issued.body).context("a nonce is missing")?;
        let body = signed_sign_in(wallet, self.session.sign_in_uri(), ChainId(CHAIN_ID), &nonce);
        let body = body.context("the domain of the service fits no sign-in message")?.to_string();
        let answer = self.post_message("/v1/sign-in", body.as_bytes())?;
        // The same message was sent before, and its answer was lost: the player is signed in.
        if problem_of(&answer).code == "nonce_used" {
            return Ok(());
        }
        check(&answer, "a player cannot sign in")
    }
}

fn check(answer: &RelayedResponse, what: &str) -> anyhow::Result<()> {
    if answer.status != 200 {
        let problem = problem_of(answer);
        ensure!(!problem.code.is_empty(), "{what}: status {}", answer.status);
        bail!("{what}: {} ({})", problem.detail, problem.code);
    }
    Ok(())
}
