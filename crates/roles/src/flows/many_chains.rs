//! Ten chains in one process: each is followed, credited and compared for itself, and one that is unreachable or lies
//! holds up no other.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use bankroll_chains_evm::{ChainIdentity, InProcessRpc, RpcNode};
use bankroll_chains_simulated::{NodeFault, Payment, SimulatedChain, SimulatedConfig, SimulatedKey, U256};
use bankroll_deposits::{BuyIn, view};
use bankroll_ledger::{
    AccountKind, AccountName, Amount, Asset, IdempotencyKey, Name, Namespace, Principal, Scope, Time, Unit,
};
use bankroll_orders::Address;
use bankroll_registry::{
    ChangeOrigin, PlayerWallet, Registry, RegistryChange, SignInProof, WalletEvidence, change_request,
};
use bankroll_store::{Ledger, LedgerOptions, Reader};
use bankroll_withdrawals::ApprovalPolicy;
use serde_json::Value;

use super::{
    AgreementRule, ChainProfile, FlowSetup, FlowThreads, RowsLocation, RpcEndpoint, RpcUrls, migrations, prepare_books,
};
use crate::{
    NodeLog,
    reconcile::{Finding, Wallet, reconcile},
};

const COUNT: u64 = 10;
/// Nothing listens there.
const UNREACHABLE: usize = 3;
/// Every one of its blocks lacks a payment.
const LIAR: usize = 6;
/// One wallet on all chains, as a signer with one key has it.
const WALLET: Address = Address([0xaa; 20]);
const CONFIRMATIONS: u64 = 3;
const QUEUE: usize = 1_024;

pub(crate) type SharedSimulation = Arc<Mutex<SimulatedChain>>;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn player() -> SimulatedKey {
    SimulatedKey::derived(1, 0)
}

struct Deployment {
    simulations: Vec<SharedSimulation>,
    chains: Vec<FlowSetup>,
    ledger: Ledger,
    reader: Reader,
    _folder: tempfile::TempDir,
}

fn simulation(id: u64) -> SharedSimulation {
    let million = U256::from(1_000_000_000_000_000_000_000_000_u128);
    let funded = vec![(player().address(), million)];
    let config = SimulatedConfig { chain_id: id, funded, ..SimulatedConfig::new(id) };
    Arc::new(Mutex::new(SimulatedChain::new(config)))
}

fn setup(place: usize, simulation: &SharedSimulation) -> FlowSetup {
    let (chain_id, genesis) = {
        let chain = simulation.lock().unwrap();
        (chain.config().chain_id, chain.genesis())
    };
    let is_first = place == 0;
    let here = InProcessRpc::new(SimulatedChain::in_process(Arc::clone(simulation), 0));
    let nowhere: RpcUrls = serde_json::from_value("http://127.0.0.1:1".into()).unwrap();
    FlowSetup {
        section: if is_first { "chain".into() } else { format!("chains.c{chain_id}") },
        endpoint: if place == UNREACHABLE { RpcEndpoint::Http(nowhere) } else { RpcEndpoint::Here(here) },
        heads: RpcUrls::default(),
        identity: ChainIdentity { chain_id, genesis },
        coin: Asset {
            chain: name(&format!("eip155:{chain_id}")),
            unit: Unit::Native,
            decimals: 18,
            symbol: format!("C{chain_id}"),
        },
        wallet: WALLET,
        wallet_name: if is_first { name("hot") } else { name(&format!("hot-{chain_id}")) },
        treasury: BTreeSet::new(),
        confirmations: CONFIRMATIONS,
        profile: ChainProfile::development(CONFIRMATIONS),
        agreement: AgreementRule { above: None, providers: 1 },
        start: 1,
        poll: Duration::from_millis(5),
        resend: Duration::from_secs(1),
        stuck: Duration::from_secs(5),
        in_flight_max: 1,
        fee_max: 1,
        signer: None,
        server: name("arena"),
        buy_in: is_first.then_some(BuyIn { amount: Amount::new(1_000), developer_bps: 0, world_bps: 0 }),
        policy: ApprovalPolicy { at_once: Amount::new(1) },
        node: "node-1".into(),
    }
}

/// A chain with its settings, for tests of other modules; the player has coins.
pub(crate) fn one_chain() -> (SharedSimulation, FlowSetup) {
    let simulation = simulation(100);
    let setup = setup(0, &simulation);
    (simulation, setup)
}

/// What the player pays on the chain at this place.
fn paid(place: usize) -> u128 {
    1_000 + place as u128
}

impl Deployment {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LedgerOptions { migrations: migrations(), ..LedgerOptions::new(folder.path()) };
        let ledger = Ledger::create(options).unwrap();
        let simulations: Vec<_> = (0..COUNT).map(|place| simulation(100 + place)).collect();
        let chains = simulations.iter().enumerate().map(|(place, chain)| setup(place, chain)).collect();
        let reader = Reader::open(folder.path()).unwrap();
        Self { simulations, chains, ledger, reader, _folder: folder }
    }

    fn log(&self) -> (NodeLog, mpsc::Receiver<Value>) {
        let (to, lines) = mpsc::channel();
        (NodeLog::lines(name("node-1").as_str().parse().unwrap(), to), lines)
    }

    /// The player proves their wallet: by its key, so on every chain.
    fn link_player(&self) {
        let wallet = Address(player().address().into_array());
        let wallet = PlayerWallet { wallet, player: name("alice"), proven_by: WalletEvidence::Key, linked_at: Time(3) };
        let origin = ChangeOrigin {
            principal: Principal::System,
            key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: "test/1".into() },
            by: name("owner:olga"),
            request_hash: [0; 32],
            now: Time(1),
        };
        let change = RegistryChange::PlayerWallet { wallet, proof: SignInProof::default() };
        let request = change_request(&origin, &[change]).unwrap();
        self.ledger.apply(request).unwrap().effects().unwrap();
    }

    fn pay_on_each(&self) {
        let to = bankroll_chains_simulated::Address::from(WALLET.0);
        for (place, simulation) in self.simulations.iter().enumerate() {
            let mut chain = simulation.lock().unwrap();
            let payment = Payment::new(chain.config().chain_id, 0, to, U256::from(paid(place)));
            chain.send(&player().sign(&payment)).unwrap();
            for _ in 0..CONFIRMATIONS {
                let time = chain.next_time();
                chain.mine(time);
            }
        }
    }

    fn balance(&self, place: usize, kind: AccountKind) -> u128 {
        let setup = &self.chains[place];
        let asset = setup.listed(&self.reader).unwrap().unwrap();
        let account = match kind {
            AccountKind::Custody => setup.custody(asset),
            kind => AccountName { scope: Scope::Server(name("arena")), kind, asset, owner: Some(name("alice")) },
        };
        let found = self.reader.account_named(&account).unwrap();
        found.map_or(0, |account| account.balance.units())
    }

    /// What the player has at the server in the coin of this chain.
    fn credited(&self, place: usize) -> u128 {
        let kind = if place == 0 { AccountKind::Funds } else { AccountKind::Unallocated };
        self.balance(place, kind)
    }

    fn wait_until(&self, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            thread::yield_now();
        }
    }

    fn finding(&self, place: usize) -> Finding {
        let setup = &self.chains[place];
        let rpc = InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&self.simulations[place]), 1));
        let node = RpcNode::in_process(rpc, setup.identity);
        let custody = setup.custody(setup.listed(&self.reader).unwrap().unwrap());
        let wallet = Wallet { chain: setup.chain().as_str(), address: WALLET, custody, since: 0 };
        reconcile(&node, &self.reader, &wallet).unwrap().finding(0, 0)
    }
}

#[test]
fn ten_chains_in_one_process_and_one_that_is_away_or_lies_holds_up_no_other() {
    let world = Deployment::new();
    let (log, lines) = world.log();
    prepare_books(&world.chains, &world.ledger, &log).unwrap();
    world.link_player();
    world.simulations[LIAR].lock().unwrap().inject(0, NodeFault::TransactionsOmitted, u32::MAX);
    let (mut threads, rows) = (FlowThreads::default(), RowsLocation::Writer(world.ledger.clone()));
    threads.book(&world.chains, &world.ledger, QUEUE, &log);
    threads.follow(&world.chains, &rows, &log);
    threads.pay(&world.chains, &rows, &log);
    world.pay_on_each();

    let sound: Vec<usize> = (0..world.chains.len()).filter(|place| ![UNREACHABLE, LIAR].contains(place)).collect();
    world.wait_until(|world| sound.iter().all(|place| world.credited(*place) == paid(*place)));
    assert_eq!(sound.iter().map(|place| world.finding(*place)).collect::<Vec<_>>(), [Finding::Agree; 8]);
    for place in [UNREACHABLE, LIAR] {
        assert_eq!((world.credited(place), world.balance(place, AccountKind::Custody)), (0, 0));
        let in_flight = Finding::InFlight { deposits: 1, payouts: 0 };
        assert_eq!(world.finding(place), in_flight, "its payment is on the chain, in a block that was not read");
    }
    assert_eq!(view::cursor(&world.reader, "eip155:103").unwrap().map(|cursor| cursor.number), None);

    // Each names its chain in the log, and no other chain has any trouble.
    let mut said = Vec::new();
    let troubled = BTreeSet::from(["eip155:103".to_owned(), "eip155:106".to_owned()]);
    while about(&said, "trouble") != troubled {
        said.push(lines.recv().unwrap());
    }

    // It tells the truth again: what it withheld is credited, in its own coin.
    world.simulations[LIAR].lock().unwrap().clear_faults(0);
    world.wait_until(|world| world.credited(LIAR) == paid(LIAR));
    assert_eq!(world.finding(LIAR), Finding::Agree);
    threads.stop();
    world.ledger.close();
    drop(log);

    said.extend(lines.iter());
    let all: BTreeSet<String> = (100..110).map(|id| format!("eip155:{id}")).collect();
    for event in ["registry_seeded", "follows", "pays_nothing"] {
        assert_eq!(about(&said, event), all, "{event}");
    }
    assert_eq!(about(&said, "trouble"), troubled);
}

/// The chains of the lines with this event.
fn about(lines: &[Value], event: &str) -> BTreeSet<String> {
    let lines = lines.iter().filter(|line| line["event"] == event);
    lines.filter_map(|line| line["chain"].as_str().map(str::to_owned)).collect()
}

#[test]
fn each_chain_has_a_wallet_of_its_own_name_and_the_server_plays_for_the_first() {
    let world = Deployment::new();
    let (log, _lines) = world.log();
    prepare_books(&world.chains, &world.ledger, &log).unwrap();
    prepare_books(&world.chains, &world.ledger, &log).unwrap();
    let registry = Registry::load(&world.reader, Time(0)).unwrap();
    let wallets: BTreeSet<&str> = registry.wallets().map(|wallet| wallet.name.as_str()).collect();
    assert_eq!(wallets.len(), 10);
    assert!(wallets.contains("hot") && wallets.contains("hot-109"), "{wallets:?}");
    let keys: Vec<_> = registry.custody_keys().map(|key| (key.id.as_str(), key.address)).collect();
    assert_eq!(keys, [("hot", WALLET)], "the key of all wallets is one key, and has one name");
    assert!(registry.wallets().all(|wallet| wallet.custody_key == Some(name("hot"))));
    let servers: Vec<_> = registry.servers().map(|server| (server.name.as_str(), server.chain.as_str())).collect();
    assert_eq!(servers, [("arena", "eip155:100")]);
    let watched: BTreeSet<&str> = registry.accounts_of(&name("arena")).map(|account| account.chain.as_str()).collect();
    assert_eq!(watched.len(), 10, "{watched:?}");
}

#[test]
fn a_wallet_that_contradicts_the_registry_is_refused_and_the_other_chains_go_on() {
    let mut world = Deployment::new();
    world.chains.truncate(4);
    world.chains[1].wallet_name = name("hot");
    world.chains[3].wallet = Address(player().address().into_array());
    let (log, lines) = world.log();
    prepare_books(&world.chains[..1], &world.ledger, &log).unwrap();
    world.link_player();
    prepare_books(&world.chains, &world.ledger, &log).unwrap();
    drop(log);
    let refused: Vec<Value> = lines.iter().filter(|line| line["event"] == "chain_not_prepared").collect();
    let name_taken = "the registry has a wallet \"hot\" on eip155:100; set chains.c101.wallet_name to another name";
    let of_player = format!("chains.c103.wallet {} is the wallet of a player", world.chains[3].wallet);
    let says =
        [format!("eip155:101 is not followed: {name_taken}"), format!("eip155:103 is not followed: {of_player}")];
    assert_eq!(refused.iter().map(|line| line["message"].as_str().unwrap()).collect::<Vec<_>>(), says);
    let registry = Registry::load(&world.reader, Time(0)).unwrap();
    let chains: Vec<&str> = registry.chains().map(|chain| chain.name.as_str()).collect();
    assert_eq!(chains, ["eip155:100", "eip155:102"]);
    assert_eq!(registry.wallet(&name("hot")).unwrap().chain, name("eip155:100"));
}
