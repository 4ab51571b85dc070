//! `[chain]`, `[chains.NAME]` and `[server]`: which chains are followed and paid on; and the first entries of the
//! registry for each: by which wallet, and for which game server.
//!
//! Without `rpc` a table is no chain, and its keys may be empty. What is set must be right all the same, and with a
//! chain everything must be: a wallet with a mistyped digit belongs to another person.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use bankroll_chains_evm::{ChainIdentity, FeeKind, FinalityMark, HeadStream, RpcLimits, RpcNode, Tracer};
use bankroll_deposits::BuyIn;
use bankroll_ledger::{Amount, Asset, Name, Unit};
use bankroll_orders::Address;
use bankroll_withdrawals::ApprovalPolicy;
use serde::{Deserialize, Serialize};

use super::{Config, by_chain::ByChain, known_chains::KnownChain, units::Units};
use crate::flows::{AgreementRule, ChainProfile, FlowSetup, HOT_WALLET, RpcEndpoint, RpcUrls};

/// The table of the first chain; further ones are `chains.NAME`.
pub(super) const CHAIN: &str = "chain";
pub(super) const CHAINS: &str = "chains";
/// As many providers must say the same, unless a key says otherwise.
const AGREEMENT: u32 = 2;

/// Numbers that are 0, and texts that are empty or "auto", follow from the chain's id ([`KnownChain`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainConfig {
    pub rpc: RpcUrls,
    pub ws: RpcUrls,
    pub id: u64,
    pub genesis: String,
    pub symbol: String,
    pub confirmations: u64,
    pub finality: ByChain<FinalityMark>,
    pub window: u64,
    pub block_time_ms: u64,
    pub tracer: ByChain<Tracer>,
    pub fees: ByChain<FeeKind>,
    pub agreement: u32,
    pub agreement_above: Units,
    pub start: u64,
    pub wallet: String,
    pub wallet_name: String,
    /// Several are separated by commas.
    pub treasury: String,
    /// Empty: nothing is paid on this chain.
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
            ws: RpcUrls::default(),
            id: 1,
            genesis: String::new(),
            symbol: String::new(),
            confirmations: 0,
            finality: ByChain::Auto,
            window: 0,
            block_time_ms: 0,
            tracer: ByChain::Auto,
            fees: ByChain::Auto,
            agreement: AGREEMENT,
            agreement_above: Units(Amount::ZERO),
            start: 1,
            wallet: String::new(),
            wallet_name: String::new(),
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
pub(super) type Problem = (String, String);

/// What a table of a chain does not say itself.
struct Surroundings<'a> {
    /// `chain`, or `chains.NAME`.
    section: &'a str,
    /// `None`: its name is a problem.
    server: Option<&'a Name>,
    /// What a place in the server's world costs, if it plays for this chain's coin.
    buy_in: Option<BuyIn>,
    base: &'a Path,
    node: &'a str,
}

/// The flows of every chain that has `rpc`, `[chain]` first; or every problem that the values' forms do not show.
pub(super) fn setups(config: &Config, base: &Path) -> Result<Vec<FlowSetup>, Vec<Problem>> {
    let (mut wrong, mut wrong_server) = (Vec::new(), Vec::new());
    let server = read::<Name>(&config.server.name, "server.name".into(), "the game server", &mut wrong_server);
    let node = config.node.name.to_string();
    let further = config.chains.iter().map(|(name, chain)| (format!("{CHAINS}.{name}"), chain));
    let mut setups: Vec<FlowSetup> = Vec::new();
    for (section, chain) in [(CHAIN.to_owned(), &config.chain)].into_iter().chain(further) {
        let buy_in = (section == CHAIN).then(|| config.server.buy_in());
        let around = Surroundings { section: &section, server: server.as_ref(), buy_in, base, node: &node };
        match chain.setup(&around) {
            Ok(Some(setup)) => {
                wrong.extend(setups.iter().flat_map(|other| conflicts(&setup, other)));
                setups.push(setup);
            }
            Ok(None) => {}
            Err(problems) => wrong.extend(problems),
        }
    }
    wrong.extend(wrong_server);
    if wrong.is_empty() { Ok(setups) } else { Err(wrong) }
}

/// Two loops on one chain would write the same rows, and two wallets with one name would be one account.
fn conflicts(setup: &FlowSetup, other: &FlowSetup) -> Vec<Problem> {
    let (section, id, name) = (&other.section, setup.identity.chain_id, &setup.wallet_name);
    let mut found = Vec::new();
    if other.identity.chain_id == id {
        let what = format!("[{section}] has the chain {id}, too; give each chain one table, with all its URLs in rpc");
        found.push((setup.key("id"), what));
    } else if other.wallet_name == *name {
        let what =
            format!("the wallet of [{section}] has the name \"{name}\", too; give each wallet a name of its own");
        found.push((setup.key("wallet_name"), what));
    }
    found
}

impl GameServerConfig {
    fn buy_in(&self) -> BuyIn {
        BuyIn { amount: self.buy_in.0, developer_bps: self.developer_bps, world_bps: self.world_bps }
    }
}

impl ChainConfig {
    /// What `[chains.NAME]` has for keys that are not given: as `[chain]`, but its id must be given.
    pub(super) fn further() -> Self {
        Self { id: 0, ..Self::default() }
    }

    /// Whether there is a chain.
    pub(super) fn is_set(&self) -> bool {
        !self.rpc.urls().is_empty()
    }

    /// The settings of the flows, if there is a chain.
    fn setup(&self, around: &Surroundings<'_>) -> Result<Option<FlowSetup>, Vec<Problem>> {
        let section = around.section;
        let key = |name: &str| format!("{section}.{name}");
        let mut wrong = Vec::new();
        let needed = |text: &str| self.is_set() || !text.is_empty();
        let genesis = needed(&self.genesis).then(|| {
            let genesis = hash(&self.genesis);
            genesis.map_err(|problem| wrong.push((key("genesis"), problem))).ok()
        });
        let identity = ChainIdentity { chain_id: self.id, genesis: genesis.flatten().unwrap_or_default() };
        wrong.extend(self.url_problems(identity, &key));
        let what = "the wallet that players pay to and are paid from";
        let wallet = needed(&self.wallet).then(|| read::<Address>(&self.wallet, key("wallet"), what, &mut wrong));
        let wallet = wallet.flatten();
        if wallet == Some(Address::ZERO) {
            wrong.push((key("wallet"), "this is the zero address, which has no key".into()));
        }
        let treasury = self.treasury(wallet, &key, &mut wrong);
        let wallet_name = match self.wallet_name.as_str() {
            "" if section == CHAIN => HOT_WALLET.parse().ok(),
            "" => format!("{HOT_WALLET}-{}", self.id).parse().ok(),
            name => read::<Name>(name, key("wallet_name"), "the wallet's name in the books", &mut wrong),
        };
        wrong.extend(self.agreement_problem().map(|what| (key("agreement"), what)));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let name = format!("eip155:{}", self.id).parse();
        let (true, Some(wallet), Some(wallet_name), Some(server), Ok(name)) =
            (self.is_set(), wallet, wallet_name, around.server, name)
        else {
            return Ok(None);
        };
        let known = KnownChain::of(self.id);
        let symbol = if self.symbol.is_empty() { known.symbol } else { &self.symbol };
        Ok(Some(FlowSetup {
            section: section.to_owned(),
            endpoint: RpcEndpoint::Http(self.rpc.clone()),
            heads: self.ws.clone(),
            identity,
            coin: Asset { chain: name, unit: Unit::Native, decimals: 18, symbol: symbol.to_owned() },
            wallet,
            wallet_name,
            treasury,
            confirmations: or_known(self.confirmations, known.traits.confirmations),
            profile: self.profile(&known),
            agreement: self.agreement(&known),
            start: self.start,
            poll: Duration::from_millis(self.poll_ms),
            resend: Duration::from_millis(self.resend_ms),
            stuck: Duration::from_millis(self.resend_ms.saturating_mul(5)),
            in_flight_max: self.in_flight_max,
            fee_max: self.max_fee_per_gas.0.units(),
            signer: Some(&self.signer).filter(|path| !path.as_os_str().is_empty()).map(|path| around.base.join(path)),
            server: server.clone(),
            buy_in: around.buy_in,
            policy: ApprovalPolicy { at_once: self.pay_at_once.0 },
            node: around.node.to_owned(),
        }))
    }

    /// What the values say, and where they say nothing, the chain's id.
    fn profile(&self, known: &KnownChain) -> ChainProfile {
        let of_id = known.profile();
        // A depth that was given is followed further than one that is known to be enough.
        let window = of_id.window.max(ChainProfile::window_of(self.confirmations));
        ChainProfile {
            finality: self.finality.unwrap_or(of_id.finality),
            block_time: Duration::from_millis(or_known(self.block_time_ms, known.traits.block_time_ms)),
            tracer: self.tracer.unwrap_or(of_id.tracer),
            fees: self.fees.unwrap_or(of_id.fees),
            window: or_known(self.window, window),
            is_development: of_id.is_development,
        }
    }

    fn agreement(&self, known: &KnownChain) -> AgreementRule {
        let given = Some(self.agreement_above.0).filter(|above| !above.is_zero());
        AgreementRule { above: given.or_else(|| known.agreement_above()), providers: self.agreement }
    }

    /// More providers than the default must be there; with fewer, deposits above the bound wait for a person.
    fn agreement_problem(&self) -> Option<String> {
        let providers = u32::try_from(self.rpc.providers()).unwrap_or(u32::MAX);
        let is_possible = !self.is_set() || self.agreement <= AGREEMENT.max(providers);
        (!is_possible).then(|| {
            let are = if providers == 1 { "there is one" } else { &format!("there are {providers}") };
            format!("{} providers must agree, and in rpc {are}; add a URL of another one", self.agreement)
        })
    }

    fn url_problems(&self, identity: ChainIdentity, key: &dyn Fn(&str) -> String) -> Vec<Problem> {
        let urls = self.rpc.urls();
        let rpc = urls.iter().any(|url| RpcNode::http(url, identity, RpcLimits::default()).is_err());
        let rpc = rpc.then(|| (key("rpc"), "write it http://host:port/path, several separated by commas".to_owned()));
        let ws = self.ws.urls().iter().any(|url| HeadStream::check_url(url).is_err());
        let ws = ws.then(|| (key("ws"), "write it wss://host:port/path, several separated by commas".to_owned()));
        rpc.into_iter().chain(ws).collect()
    }

    fn treasury(
        &self,
        wallet: Option<Address>,
        key: &dyn Fn(&str) -> String,
        wrong: &mut Vec<Problem>,
    ) -> BTreeSet<Address> {
        let what = "the address that the house's capital comes from";
        let read = |text| read::<Address>(text, key("treasury"), what, wrong);
        let treasury: BTreeSet<_> = words(&self.treasury).filter_map(read).collect();
        if wallet.is_some_and(|wallet| treasury.contains(&wallet)) {
            wrong.push((key("treasury"), "the wallet itself cannot be a treasury address".into()));
        }
        treasury
    }
}

const fn or_known(given: u64, known: u64) -> u64 {
    if given == 0 { known } else { given }
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
    key: String,
    what: &str,
    wrong: &mut Vec<Problem>,
) -> Option<T> {
    let problem =
        |error: T::Err| if text.is_empty() { format!("set this to {what}") } else { format!("\"{text}\": {error}") };
    text.parse().map_err(|error| wrong.push((key, problem(error)))).ok()
}
