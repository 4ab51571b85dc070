//! From two key files to a session of the game server: the owner sets a quorum of one, and allow-lists the server's key;
//! the server registers.
//!
//! A demo in the folder of an earlier one does the same again: the key is allow-listed already, and the same terms are
//! no change.

use std::{
    fmt,
    sync::{PoisonError, RwLock},
};

use anyhow::Context;
use bankroll_ledger::{Amount, Name};
use bankroll_orders::{Address, ChainId};
use bankroll_roles::{
    AuthKey,
    flows::StopFlag,
    requests::{FundsCall, FundsClient, FundsUrl, RegistrationOrder, SessionSubject},
};
use serde_json::{Value, json};

use super::{ArenaKeys, calls::patiently};
use crate::{
    arena::Arena,
    chain::{CHAIN_ID, developer},
};

/// The custody key of the wallet in the registry's first entries.
const CUSTODY_KEY: &str = "hot";
/// The allow-list bounds what the server may ask of its players: ten times what it asks.
const BUY_IN_BOUND: u128 = 10;
const FEE_BPS_MAX: u32 = 500;
const MASS_PER_COIN: u128 = 1_000;

/// The names by which callers sign for the service.
#[derive(Clone, Debug)]
pub struct ServiceNames {
    pub audience: String,
    /// Where players sign in: `http://localhost:8640`.
    pub sign_in: String,
}

/// The session of the game server; all games share it.
pub struct ArenaSession {
    /// `http://127.0.0.1:8640`.
    url: String,
    sign_in: String,
    client: FundsClient,
    server: Name,
    token: RwLock<String>,
}

impl ArenaSession {
    /// `wallet` is the address that players pay to and are paid from.
    pub fn open(
        url: &str,
        names: ServiceNames,
        keys: ArenaKeys,
        arena: &Arena,
        wallet: Address,
        over: &StopFlag,
    ) -> anyhow::Result<Self> {
        let ArenaKeys { owner, server } = keys;
        let (service, chain) = (FundsUrl::new(url), ChainId(CHAIN_ID));
        let client = |key: AuthKey| FundsClient::at(&service, key, &names.audience, chain);
        let owner = client(owner);
        act_alone(&owner, over).context("the owner cannot set the quorum")?;
        allow_list(&owner, arena, server.address(), over).context("the owner cannot allow-list the server")?;
        let client = client(server);
        let order = RegistrationOrder {
            server: arena.server.clone(),
            payout_address: wallet,
            developer: Address(developer().address().into_array()),
            buy_in: arena.buy_in.amount,
            developer_fee_bps: arena.buy_in.developer_bps,
            world_fee_bps: arena.buy_in.world_bps,
            mass_per_coin: Amount::new(MASS_PER_COIN),
            exit_hold_ms: 0,
        };
        let registered = patiently(over, || client.register(&order)).context("the game server cannot register")?;
        let token = RwLock::new(token_of(&registered)?);
        Ok(Self { url: url.to_owned(), sign_in: names.sign_in, client, server: arena.server.clone(), token })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn sign_in_uri(&self) -> &str {
        &self.sign_in
    }

    pub fn token(&self) -> String {
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a new session after the one with this token has ended, and returns its token. One game does it for all.
    pub fn renew(&self, ended: &str, over: &StopFlag) -> anyhow::Result<String> {
        let mut token = self.token.write().unwrap_or_else(PoisonError::into_inner);
        if *token == ended {
            let opened = patiently(over, || self.client.open_session(SessionSubject::Server(&self.server)));
            *token = token_of(&opened.context("the game server cannot renew its session")?)?;
        }
        Ok(token.clone())
    }
}

/// Without the token.
impl fmt::Debug for ArenaSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArenaSession({}, {})", self.server, self.url)
    }
}

/// The demo has one person: they say so themselves, as a studio of one does. Under the same idempotency key in every run:
/// a reader who raises the quorum afterwards keeps it raised.
fn act_alone(owner: &FundsClient, over: &StopFlag) -> anyhow::Result<Value> {
    let body = json!({ "content": { "kind": "set_quorum", "quorum": 1 } });
    let key = Some("demo-quorum");
    let call = FundsCall { method: "POST", path: "/v1/proposals", idempotency_key: key, body: Some(&body) };
    patiently(over, || owner.call(call))
}

/// Under the same idempotency key in every run: a key is allow-listed once.
fn allow_list(owner: &FundsClient, arena: &Arena, server: Address, over: &StopFlag) -> anyhow::Result<Value> {
    let buy_in_max = arena.buy_in.amount.units().saturating_mul(BUY_IN_BOUND);
    let body = json!({
        "address": server.lower_hex(), "server": arena.server.as_str(), "chain": arena.chain.as_str(),
        "asset": arena.asset.0, "custody_key": CUSTODY_KEY, "buy_in_min": "1",
        "buy_in_max": buy_in_max.to_string(), "developer_bps_max": FEE_BPS_MAX, "world_bps_max": FEE_BPS_MAX,
    });
    let key = format!("demo-{}", server.lower_hex());
    let call =
        FundsCall { method: "POST", path: "/v1/registry/server-keys", idempotency_key: Some(&key), body: Some(&body) };
    patiently(over, || owner.call(call))
}

fn token_of(session: &Value) -> anyhow::Result<String> {
    Ok(session["token"].as_str().context("the Funds API answered without a session")?.to_owned())
}
