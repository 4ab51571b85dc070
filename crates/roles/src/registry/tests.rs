//! The registry of a small deployment: its first entries, and what flows see after each change.

use std::{collections::BTreeSet, time::Duration};

use bankroll_chains_evm::ChainIdentity;
use bankroll_deposits::{BuyIn, Payer, WatchList};
use bankroll_ledger::{
    Action, Amount, Asset, AssetId, Fact, IdempotencyKey, Name, Namespace, Principal, References, Rejection, Request,
    Scope, Time, Unit,
};
use bankroll_orders::Address;
use bankroll_registry::{
    ChangeOrigin, Pauses, PlayerWallet, RegisteredServer, RegisteredWallet, Registry, RegistryChange, ServerAccount,
    ServerAccountStatus, ServerTerms, SignInProof, WalletEvidence, WalletRole, change_request,
};
use bankroll_store::{Ledger, LedgerOptions, Reader};
use bankroll_withdrawals::ApprovalPolicy;
use tempfile::TempDir;

use super::{BooksView, ChainView, record_owner, seed_registry};
use crate::{
    NodeLog,
    flows::{self, AgreementRule, ChainProfile, FlowSetup, RpcEndpoint, RpcUrls},
};

const HOT: Address = Address([0xaa; 20]);
const SECOND: Address = Address([0xbb; 20]);
const TREASURY: Address = Address([0x77; 20]);
const BUY_IN: BuyIn = BuyIn { amount: Amount::new(1_000), developer_bps: 250, world_bps: 100 };
const ALICE: Address = Address([0xa1; 20]);

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn setup() -> FlowSetup {
    FlowSetup {
        section: "chain".into(),
        heads: RpcUrls::default(),
        endpoint: RpcEndpoint::Http(RpcUrls::default()),
        identity: ChainIdentity { chain_id: 7, genesis: Default::default() },
        coin: Asset { chain: name("eip155:7"), unit: Unit::Native, decimals: 18, symbol: "SIM".into() },
        wallet: HOT,
        wallet_name: name("hot"),
        treasury: BTreeSet::from([TREASURY]),
        confirmations: 3,
        profile: ChainProfile::development(3),
        agreement: AgreementRule { above: None, providers: 1 },
        start: 5,
        poll: Duration::from_millis(1),
        resend: Duration::from_secs(1),
        stuck: Duration::from_secs(1),
        in_flight_max: 1,
        fee_max: 1,
        signer: None,
        server: name("arena"),
        buy_in: Some(BUY_IN),
        policy: ApprovalPolicy { at_once: Amount::new(1) },
        node: "node-1".into(),
    }
}

struct World {
    _folder: TempDir,
    ledger: Ledger,
    reader: Reader,
    asset: AssetId,
    changes: u64,
}

impl World {
    /// Books whose registry has the entries of the configuration.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LedgerOptions { migrations: flows::migrations(), ..LedgerOptions::new(folder.path()) };
        let ledger = Ledger::create(options).unwrap();
        let asset = ledger.list_asset(setup().coin).unwrap();
        let reader = Reader::open(folder.path()).unwrap();
        let world = Self { _folder: folder, ledger, reader, asset, changes: 0 };
        world.seed();
        world
    }

    fn seed(&self) -> bool {
        let (to, said) = std::sync::mpsc::channel();
        let log = NodeLog::notes("node-1".parse().unwrap(), to);
        seed_registry(&self.ledger, &self.reader, &setup(), self.asset, &log).unwrap();
        said.try_recv().is_ok_and(|line| line.contains("into the empty registry"))
    }

    /// What the books say to a request with this condition.
    fn is_still(&self, condition: &Fact, key: &str) -> Result<(), Rejection> {
        let request = Request {
            key: IdempotencyKey { namespace: Namespace::System, scope: Scope::House, text: key.into() },
            principal: Principal::System,
            confirmation: None,
            action: Action::Legs(Vec::new()),
            references: References::default(),
            facts: vec![condition.clone()],
            events: Vec::new(),
        };
        self.ledger.apply(request).unwrap().effects().map(drop)
    }

    fn change(&mut self, changes: &[RegistryChange]) {
        self.changes += 1;
        let origin = ChangeOrigin {
            principal: Principal::System,
            key: IdempotencyKey {
                namespace: Namespace::Registry,
                scope: Scope::House,
                text: format!("test/{}", self.changes),
            },
            by: name("owner:alice"),
            request_hash: [0; 32],
            now: Time(self.changes),
        };
        let request = change_request(&origin, changes).unwrap();
        let answers = self.ledger.submit(vec![request]).unwrap().wait().unwrap();
        answers[0].effects().unwrap();
    }

    fn view(&self) -> ChainView {
        let mut view = ChainView::new(&name("eip155:7"), self.asset);
        view.update(&self.reader).unwrap();
        view
    }

    fn registry(&self) -> Registry {
        Registry::load(&self.reader, Time(0)).unwrap()
    }

    fn books_view(&self) -> BooksView {
        let mut view = BooksView::default();
        view.update(&self.reader).unwrap();
        view
    }
}

#[test]
fn the_configuration_is_written_into_an_empty_registry_once() {
    let world = World::new();
    let registry = world.registry();
    let arena = registry.server(&name("arena")).unwrap();
    assert_eq!((arena.terms.buy_in, arena.terms.payout_address), (Amount::new(1_000), HOT));
    assert_eq!((arena.version, arena.changed_by.as_str()), (1, "system:configuration"));
    assert!(!world.seed(), "the registry is not empty any more");
    assert_eq!(world.registry(), registry);

    let view = world.view();
    assert!(view.is_registered());
    let books = world.books_view();
    let rules = &books.servers[&name("arena")];
    assert_eq!((rules.buy_in, rules.accepts, rules.version), (BUY_IN, true, 1));
    let [wallet] = &view.payout_wallets()[..] else { panic!("one wallet") };
    assert_eq!((wallet.address, wallet.custody.to_string()), (HOT, "@house/custody/1/hot".to_owned()));
    assert!(wallet.elsewhere.is_empty());
}

#[test]
fn a_pause_takes_effect_without_a_restart() {
    let mut world = World::new();
    let mut view = world.view();
    assert!(!view.update(&world.reader).unwrap(), "nothing has changed");
    let before = world.books_view().servers[&name("arena")].is_current.clone().unwrap();
    assert_eq!(world.is_still(&before, "before"), Ok(()));
    let pauses = Pauses { deposits: true, withdrawals: true, ..Pauses::default() };
    let paused = world.registry().set_pauses(&name("arena"), pauses, name("owner:alice"), Time(9)).unwrap();
    world.change(&paused);
    assert_eq!(world.is_still(&before, "after"), Err(Rejection::ServerPaused), "a credit that was built before");
    assert!(view.update(&world.reader).unwrap());
    let books = world.books_view();
    let rules = &books.servers[&name("arena")];
    assert_eq!((rules.accepts, rules.version), (false, 2));
    assert_eq!(view.paused_payouts(), BTreeSet::from([name("arena")]));
}

#[test]
fn a_second_server_has_its_own_address_wallet_and_rules() {
    let mut world = World::new();
    let mut view = world.view();
    let mut watch = WatchList::default();
    view.update_watch_list(&world.reader, &mut watch).unwrap();
    assert_eq!(watch.addresses.keys().copied().collect::<Vec<_>>(), [HOT]);
    assert_eq!((watch.treasury.clone(), watch.addresses[&HOT].since), (BTreeSet::from([TREASURY]), 5));

    let (asset, now, chain) = (world.asset, Time(9), name("eip155:7"));
    let arena = world.registry().server(&name("arena")).unwrap().clone();
    let terms = ServerTerms { payout_address: SECOND, buy_in: Amount::new(7), ..arena.terms.clone() };
    world.change(&[
        RegistryChange::Wallet(RegisteredWallet {
            name: name("second"),
            chain: chain.clone(),
            address: SECOND,
            role: WalletRole::Hot,
            custody_key: None,
            derivation_index: None,
            created_at: now,
            revision: 1,
        }),
        RegistryChange::Server(RegisteredServer {
            name: name("maze"),
            deposit_address: SECOND,
            terms,
            version: 1,
            ..arena
        }),
        RegistryChange::ServerAccount(ServerAccount {
            chain,
            address: SECOND,
            asset,
            server: name("maze"),
            wallet: name("second"),
            player: None,
            start_block: 90,
            status: ServerAccountStatus::Active,
            created_at: now,
            updated_at: now,
            revision: 1,
        }),
    ]);
    view.update(&world.reader).unwrap();
    view.update_watch_list(&world.reader, &mut watch).unwrap();
    let maze = &watch.addresses[&SECOND];
    assert_eq!((maze.server.as_str(), maze.since, &maze.payer), ("maze", 90, &Payer::Sender));
    assert_eq!(maze.custody.to_string(), "@house/custody/1/second");
    assert_eq!(world.books_view().servers[&name("maze")].buy_in.amount, Amount::new(7));
    let elsewhere =
        |address| view.payout_wallets().into_iter().find(|wallet| wallet.address == address).unwrap().elsewhere;
    assert_eq!(elsewhere(HOT), BTreeSet::from([name("maze")]));
    assert_eq!(elsewhere(SECOND), BTreeSet::from([name("arena")]));
}

#[test]
fn a_wallet_is_a_players_once_it_is_proven_and_on_the_chain_of_its_proof() {
    let mut world = World::new();
    let (mut view, mut watch) = (world.view(), WatchList::default());
    view.update_watch_list(&world.reader, &mut watch).unwrap();
    assert!(watch.proven.is_empty());
    let proven = |wallet: Address, proven_by| RegistryChange::PlayerWallet {
        wallet: PlayerWallet { wallet, player: name("alice"), proven_by, linked_at: Time(3) },
        proof: SignInProof::default(),
    };
    let contract = |chain: &str| WalletEvidence::Contract(name(chain));
    world.change(&[proven(ALICE, WalletEvidence::Key), proven(Address([1; 20]), contract("eip155:1"))]);
    view.update_watch_list(&world.reader, &mut watch).unwrap();
    assert_eq!(watch.proven.keys().copied().collect::<Vec<_>>(), [ALICE]);
    // Stamped earlier by another holder's clock, and committed later.
    let RegistryChange::PlayerWallet { mut wallet, proof } = proven(Address([2; 20]), contract("eip155:7")) else {
        unreachable!("a wallet")
    };
    wallet.linked_at = Time(1);
    world.change(&[RegistryChange::PlayerWallet { wallet, proof }]);
    view.update_watch_list(&world.reader, &mut watch).unwrap();
    assert_eq!(watch.proven[&Address([2; 20])], name("alice"));
}

#[test]
fn a_deployment_has_one_first_owner() {
    let world = World::new();
    record_owner(&world.ledger, ALICE).unwrap();
    assert_eq!(world.registry().operators().person_with(ALICE).unwrap().name, name("owner"));
    assert!(record_owner(&world.ledger, SECOND).is_err());
    assert!(world.registry().operators().person_with(SECOND).is_none());
}
