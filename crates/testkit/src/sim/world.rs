//! The simulated system: a chain, our processes, people who pay and play, one clock.

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bankroll_chains_evm::{
    Address, ChainIdentity, FinalityMark, HealthRules, InProcessRpc, Provider, Providers, Quantity, RpcNode,
};
use bankroll_chains_simulated::{
    B256, Bytes, SimulatedChain, SimulatedConfig, U256,
    contracts::{DOLLAR, TAXED},
};
use bankroll_deposits::{
    DepositRules as ScanRules, ProviderAgreement, ScanConfig, Servers,
    crediting::{PreparedRequests, WatchLists},
};
use bankroll_ledger::{Asset, AssetId, Unit};
use bankroll_orders::ChainId;
use bankroll_signer_client::SignerClient;
use bankroll_withdrawals::{PayoutConfig, PayoutRules, price::FeeCeiling};

use super::{
    Bug, Counts,
    books::SimBooks,
    callers::Callers,
    chain::Payments,
    ground_truth::{DEPOSIT_DEPTH, GroundTruth, PAYOUT_DEPTH},
    people::{self, CHAIN, CHAIN_ID, HOT, People, hot_key, name},
    promises::BrokenPromise,
    signer_process::SignerProcess,
};

pub(super) const SECOND: u64 = 1_000_000;
const GWEI: u128 = 1_000_000_000;
/// The number of RPC nodes.
pub(super) const NODES: usize = 2;

pub(super) struct World {
    pub seed: u64,
    pub bug: Option<Bug>,
    /// The time, in microseconds since 1970.
    pub now: u64,
    started_at: u64,
    /// The number of the current step.
    pub step: u32,
    pub chain: Arc<Mutex<SimulatedChain>>,
    pub books: SimBooks,
    pub signer: Arc<Mutex<SignerProcess>>,
    pub client: SignerClient,
    /// The scanner's nodes; both must agree.
    pub scanner_nodes: Providers,
    pub payout_nodes: Vec<RpcNode>,
    pub scanning: ScanConfig,
    pub servers: Servers,
    /// What the books know of addresses, to attribute deposits themselves.
    pub watch: WatchLists,
    pub paying: PayoutConfig,
    /// What crediting had prepared when it was paused.
    pub stalled: Option<PreparedRequests>,
    /// Signed transactions by person and nonce, every version.
    pub wallets: BTreeMap<u64, Vec<Vec<Bytes>>>,
    pub people: People,
    pub payments: Payments,
    /// Tips of abandoned branches.
    pub left_branches: Vec<B256>,
    pub callers: Callers,
    pub truth: GroundTruth,
    pub counts: Counts,
    pub history: Vec<String>,
}

impl World {
    /// Books with two servers, three players with some money, and a house with capital of its own.
    pub fn new(seed: u64, bug: Option<Bug>) -> Self {
        let chain = SimulatedChain::new(SimulatedConfig::new(seed));
        let started_at = chain.config().genesis_time.saturating_mul(SECOND);
        let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.genesis() };
        let chain = Arc::new(Mutex::new(chain));
        let signer = SignerProcess::new(started_at, bug == Some(Bug::SignerWithoutMemory));
        let signer = Arc::new(Mutex::new(signer));
        let people = People::new(seed);
        let mut world = Self {
            seed,
            bug,
            now: started_at,
            started_at,
            step: 0,
            books: SimBooks::new(started_at),
            client: client(&signer),
            signer,
            scanner_nodes: providers(&chain, identity),
            payout_nodes: nodes(&chain, identity),
            chain,
            scanning: scanning(&people, bug),
            servers: people::servers(),
            watch: WatchLists::from([(name(CHAIN), people::watch_list(&people))]),
            paying: paying(),
            stalled: None,
            wallets: BTreeMap::new(),
            payments: Payments::new(),
            people,
            left_branches: Vec::new(),
            callers: Callers::default(),
            truth: GroundTruth::default(),
            counts: Counts::default(),
            history: Vec::new(),
        };
        let coin = Asset { chain: name(CHAIN), unit: Unit::Native, decimals: 18, symbol: "SIM".into() };
        world.books.ledger().list_asset(coin).expect("an asset can be listed");
        for (token, symbol) in [(DOLLAR, "DOLLAR"), (TAXED, "TAXED")] {
            let unit = Unit::Token(name(&Address(token.into_array()).lower_hex()));
            let token = Asset { chain: name(CHAIN), unit, decimals: 6, symbol: symbol.into() };
            world.books.ledger().list_asset(token).expect("an asset can be listed");
        }
        world.open_accounts();
        world.fund_house();
        world
    }

    pub fn chain(&self) -> MutexGuard<'_, SimulatedChain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn signer(&self) -> MutexGuard<'_, SignerProcess> {
        self.signer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances every clock.
    pub fn advance(&mut self, micros: u64) {
        self.now = self.now.saturating_add(micros);
        self.books.set_clock(self.now);
        let mut signer = self.signer();
        signer.now = signer.now.saturating_add(micros);
    }

    /// Simulated time since the start.
    pub fn simulated(&self) -> u64 {
        self.now.saturating_sub(self.started_at)
    }

    /// Adds a line to the history.
    pub fn note(&mut self, line: impl Display) {
        let seconds = self.simulated() / SECOND;
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
        let seconds = seconds % 60;
        self.history.push(format!("{:>4}  day {days} {hours:02}:{minutes:02}:{seconds:02}  {line}", self.step));
    }

    /// The same, with `Ok` for the caller to return.
    pub fn note_ok(&mut self, line: impl Display) -> Result<(), BrokenPromise> {
        self.note(line);
        Ok(())
    }

    pub fn restart_scanner(&mut self) {
        let identity = self.payout_nodes[0].identity();
        self.scanner_nodes = providers(&self.chain, identity);
    }

    pub fn restart_payouts(&mut self) {
        let identity = self.payout_nodes[0].identity();
        self.payout_nodes = nodes(&self.chain, identity);
        self.client = client(&self.signer);
    }

    /// The process of the books has restarted: what was only in its memory is lost.
    pub fn forget_memory(&mut self) {
        self.stalled = None;
        self.callers.deferred.clear();
    }
}

fn providers(chain: &Arc<Mutex<SimulatedChain>>, identity: ChainIdentity) -> Providers {
    let named = nodes(chain, identity).into_iter().enumerate();
    let list = named.map(|(number, node)| Provider { name: format!("node {number}"), node }).collect();
    Providers::new(list, HealthRules::default()).expect("two nodes of one chain")
}

fn nodes(chain: &Arc<Mutex<SimulatedChain>>, identity: ChainIdentity) -> Vec<RpcNode> {
    (0..NODES)
        .map(|number| {
            RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(Arc::clone(chain), number)), identity)
        })
        .collect()
}

fn client(signer: &Arc<Mutex<SignerProcess>>) -> SignerClient {
    let process = Arc::clone(signer);
    SignerClient::in_process(move |request| process.lock().unwrap_or_else(PoisonError::into_inner).answer(request))
}

fn scanning(people: &People, bug: Option<Bug>) -> ScanConfig {
    // From one buy-in of the more expensive server on; tokens always.
    let above = BTreeMap::from([(AssetId(1), Quantity::new(U256::from(11_000_000_000_000_000_u64)))]);
    let agreement = ProviderAgreement { above, required: 2, providers: NODES };
    let agreement = (!matches!(bug, Some(Bug::OneProvidersWord | Bug::LogsBelieved))).then_some(agreement);
    let confirmations = if bug == Some(Bug::CreditBeforeFinality) { 1 } else { DEPOSIT_DEPTH };
    ScanConfig {
        rules: ScanRules { chain: name(CHAIN), coin: AssetId(1), confirmations, agreement },
        watch: people::watch_list(people),
        start: 1,
        window: 24,
        blocks_per_step: 20,
        traces: true,
        finality: FinalityMark::Depth,
    }
}

fn paying() -> PayoutConfig {
    PayoutConfig {
        chain: name(CHAIN),
        chain_id: ChainId(CHAIN_ID),
        address: hot_key().address(),
        custody: HOT.parse().expect("an account's name"),
        elsewhere: std::collections::BTreeSet::new(),
        rules: PayoutRules {
            confirmations: PAYOUT_DEPTH,
            horizon: PAYOUT_DEPTH + 2,
            resend_after: 60 * SECOND,
            stuck_after: 300 * SECOND,
            ceiling: FeeCeiling { max: 500 * GWEI, priority: 50 * GWEI },
            gas_max: 150_000,
            in_flight_max: 8,
        },
        node_name: "simulated".into(),
    }
}
