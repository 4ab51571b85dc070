//! `[chain]` and `[server]`: which chain is followed and paid on; and the first entries of an empty registry: by which
//! wallet, and for which game server.
//!
//! Without `chain.rpc` there is no chain, and keys may be empty. What is set must be right all the same, and with a
//! chain everything must be: a wallet with a mistyped digit belongs to another person.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use bankroll_chains_evm::{ChainIdentity, RpcLimits, RpcNode};
use bankroll_deposits::BuyIn;
use bankroll_ledger::{Amount, Asset, Unit};
use bankroll_orders::Address;
use bankroll_withdrawals::ApprovalPolicy;
use serde::{Deserialize, Serialize};

use super::units::Units;
use crate::flows::{FlowSetup, RpcEndpoint, RpcUrls};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainConfig {
    pub rpc: RpcUrls,
    pub id: u64,
    pub genesis: String,
    pub symbol: String,
    pub confirmations: u64,
    pub start: u64,
    pub wallet: String,
    /// Several are separated by commas.
    pub treasury: String,
    pub signer: PathBuf,
    pub poll_ms: u64,
    pub resend_ms: u64,
    pub in_flight_max: usize,
    pub max_fee_per_gas: Units,
    pub pay_at_once: Units,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameServerConfig {
    pub name: String,
    pub buy_in: Units,
    pub developer_bps: u32,
    pub world_bps: u32,
}

impl Default for ChainConfig {
    fn default() -> Self {
        Self {
            rpc: RpcUrls::default(),
            id: 1,
            genesis: String::new(),
            symbol: "ETH".into(),
            confirmations: 12,
            start: 1,
            wallet: String::new(),
            treasury: String::new(),
            signer: "signer/signer.sock".into(),
            poll_ms: 1_000,
            resend_ms: 60_000,
            in_flight_max: 8,
            max_fee_per_gas: Units(Amount::new(200_000_000_000)),
            pay_at_once: Units(Amount::new(1_000_000_000_000_000_000)),
        }
    }
}

impl Default for GameServerConfig {
    fn default() -> Self {
        let buy_in = Units(Amount::new(10_000_000_000_000_000));
        Self { name: "arena".into(), buy_in, developer_bps: 250, world_bps: 100 }
    }
}

/// A key, and what is wrong with its value.
type Problem = (&'static str, String);

impl ChainConfig {
    /// Whether there is a chain.
    pub(super) fn is_set(&self) -> bool {
        !self.rpc.urls().is_empty()
    }

    /// The settings of the flows, if there is a chain; or every problem that the values' forms do not show.
    pub(super) fn setup(
        &self,
        server: &GameServerConfig,
        base: &Path,
        node: &str,
    ) -> Result<Option<FlowSetup>, Vec<Problem>> {
        let urls = self.rpc.urls();
        let mut wrong = Vec::new();
        let needed = |text: &str| !urls.is_empty() || !text.is_empty();
        let genesis = needed(&self.genesis).then(|| {
            let genesis = hash(&self.genesis);
            genesis.map_err(|problem| wrong.push(("chain.genesis", problem))).ok()
        });
        let genesis = genesis.flatten();
        let identity = ChainIdentity { chain_id: self.id, genesis: genesis.unwrap_or_default() };
        if urls.iter().any(|url| RpcNode::http(url, identity, RpcLimits::default()).is_err()) {
            wrong.push(("chain.rpc", "write it http://host:port/path, several separated by commas".into()));
        }
        let what = "the wallet that players pay to and are paid from";
        let wallet = needed(&self.wallet).then(|| read::<Address>(&self.wallet, "chain.wallet", what, &mut wrong));
        let wallet = wallet.flatten();
        if wallet == Some(Address::ZERO) {
            wrong.push(("chain.wallet", "this is the zero address, which has no key".into()));
        }
        let treasury: BTreeSet<_> = words(&self.treasury)
            .filter_map(|text| {
                read::<Address>(text, "chain.treasury", "the address that the house's capital comes from", &mut wrong)
            })
            .collect();
        if wallet.is_some_and(|wallet| treasury.contains(&wallet)) {
            wrong.push(("chain.treasury", "the wallet itself cannot be a treasury address".into()));
        }
        let chain = format!("eip155:{}", self.id).parse();
        let name = read(&server.name, "server.name", "the game server", &mut wrong);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let (false, Some(wallet), Some(name), Ok(chain)) = (urls.is_empty(), wallet, name, chain) else {
            return Ok(None);
        };
        let buy_in =
            BuyIn { amount: server.buy_in.0, developer_bps: server.developer_bps, world_bps: server.world_bps };
        Ok(Some(FlowSetup {
            endpoint: RpcEndpoint::Http(self.rpc.clone()),
            identity,
            coin: Asset { chain, unit: Unit::Native, decimals: 18, symbol: self.symbol.clone() },
            wallet,
            treasury,
            confirmations: self.confirmations,
            start: self.start,
            poll: Duration::from_millis(self.poll_ms),
            resend: Duration::from_millis(self.resend_ms),
            stuck: Duration::from_millis(self.resend_ms.saturating_mul(5)),
            in_flight_max: self.in_flight_max,
            fee_max: self.max_fee_per_gas.0.units(),
            signer: base.join(&self.signer),
            server: name,
            buy_in,
            policy: ApprovalPolicy { at_once: self.pay_at_once.0 },
            node: node.to_owned(),
        }))
    }
}

fn hash<T: FromStr>(text: &str) -> Result<T, String> {
    let what = "the chain's genesis hash, 0x and 64 hexadecimal digits";
    let read = text.strip_prefix("0x").is_some_and(|digits| digits.len() == 64).then(|| text.parse().ok()).flatten();
    let problem = || if text.is_empty() { format!("set this to {what}") } else { format!("\"{text}\" is not {what}") };
    read.ok_or_else(problem)
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn read<T: FromStr<Err: std::fmt::Display>>(
    text: &str,
    key: &'static str,
    what: &str,
    wrong: &mut Vec<Problem>,
) -> Option<T> {
    let problem =
        |error: T::Err| if text.is_empty() { format!("set this to {what}") } else { format!("\"{text}\": {error}") };
    text.parse().map_err(|error| wrong.push((key, problem(error)))).ok()
}
