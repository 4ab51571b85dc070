//! Calls that are forwarded to nodes while these are killed, stopped and drained: each is answered and applied once.

use std::{
    collections::HashMap,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Instant,
};

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Asset, AssetId, IdempotencyKey, Leg, Name, Namespace,
    Principal, Record, References, Request, Scope, Seq, Time, Unit,
};
use bankroll_nodes::{BooksLocation, CallError, CallRefusal, Forwarder, NodeIdentity};
use bankroll_store::{Audit, Clock, DatabaseUrl, LeaseWatch, Ledger, LedgerOptions, Reader};
use bankroll_testkit::postgres::needed_database;

use crate::running::{PATIENCE, Running, deployment};

const CALLERS: usize = 4;

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Books with a wallet, a player who has this much, and the world of the game.
pub fn set_up(url: &DatabaseUrl, wei: u128) -> [AccountId; 3] {
    let ledger = Ledger::create(LedgerOptions::new(url.clone())).unwrap();
    let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(ether).unwrap();
    let account = |(kind, owner)| AccountName {
        scope: Scope::Server(name("arena")),
        kind,
        asset: AssetId(1),
        owner: Option::map(owner, name),
    };
    let names = [(AccountKind::Custody, Some("hot")), (AccountKind::Funds, Some("alice")), (AccountKind::World, None)];
    let opened = ledger.open_accounts(&Principal::System, names.map(account).to_vec()).unwrap();
    let accounts = [0, 1, 2].map(|place: usize| opened[place].unwrap());
    ledger.apply(credit(accounts, "deposit", wei)).unwrap().effects().unwrap();
    ledger.close();
    accounts
}

/// A deposit of Alice's, which only the books themselves may credit.
fn credit([custody, alice, _]: [AccountId; 3], key: &str, wei: u128) -> Request {
    let leg = Leg::Move { from: custody, to: alice, amount: Amount::new(wei) };
    request(Namespace::Deposits, Principal::Indexer, key.into(), leg)
}

/// Alice stakes one wei.
fn stake([_, alice, world]: [AccountId; 3], key: String) -> Request {
    let leg = Leg::Move { from: alice, to: world, amount: Amount::new(1) };
    request(Namespace::Client, Principal::GameServer(name("arena")), key, leg)
}

fn request(namespace: Namespace, principal: Principal, key: String, leg: Leg) -> Request {
    Request {
        key: IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: key },
        principal,
        confirmation: None,
        action: Action::Legs(vec![leg]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    }
}

pub fn forwarder(folder: &Path, url: &DatabaseUrl, node: &str) -> Forwarder {
    let now: Time = Clock::machine().now();
    let identity = NodeIdentity::load(&folder.join("nodes"), &node.parse().unwrap(), now).unwrap();
    let mut watch = LeaseWatch::new(url.clone());
    let find = move || {
        let holder = watch.holder().map_err(|error| error.to_string())?;
        let holder = holder.filter(|holder| !holder.address.is_empty());
        Ok(holder.map(|holder| BooksLocation { holder: holder.name, address: holder.address }))
    };
    Forwarder::start(&identity, find).unwrap()
}

/// How often each key is in the journal; the books are sound.
fn journal(url: &DatabaseUrl) -> HashMap<String, usize> {
    Audit::new(Reader::open(url.clone()).unwrap()).run(|_| {}).unwrap();
    let reader = Reader::open(url.clone()).unwrap();
    let mut found = HashMap::new();
    for seq in 1..=reader.head().unwrap().seq.0 {
        let bytes = reader.record(Seq(seq)).unwrap().unwrap();
        if let Record::Decided { request, .. } = Record::decode(&bytes).unwrap() {
            *found.entry(request.key.text).or_default() += 1;
        }
    }
    found
}

#[test]
fn calls_survive_nodes_that_are_killed_stopped_and_drained() {
    let nodes = [("books-1", "books"), ("books-2", "books"), ("api-1", "api")];
    let (folder, url) = (deployment(&nodes), needed_database());
    let accounts = set_up(&url, 1_000_000);
    let start = |name: &str| Running::start(folder.path(), &url, name, "books");
    let (first, second) = (start("books-1"), start("books-2"));
    first_to_take(&[&first, &second]);
    let api = forwarder(folder.path(), &url, "api-1");
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let asked: usize = std::thread::scope(|scope| {
        let caller = |number: usize| {
            let (api, is_over, answered) = (&api, &is_over, &answered);
            scope.spawn(move || {
                let mut asked = 0;
                while !is_over.load(Ordering::SeqCst) {
                    let requests = (0..10).map(|place| stake(accounts, format!("{number}-{asked}-{place}"))).collect();
                    let answers = api.apply(requests, PATIENCE).unwrap().wait().unwrap();
                    assert!(answers.len() == 10 && answers.iter().all(|answer| answer.seq.is_some()), "{answers:?}");
                    asked += 1;
                    answered.fetch_add(1, Ordering::SeqCst);
                }
                asked
            })
        };
        let callers: Vec<_> = (0..CALLERS).map(caller).collect();
        let some_more = || {
            let (from, deadline) = (answered.load(Ordering::SeqCst), Instant::now() + PATIENCE);
            while answered.load(Ordering::SeqCst) < from + 3 * CALLERS {
                assert!(Instant::now() < deadline && !callers.iter().any(|caller| caller.is_finished()), "no answers");
                std::thread::yield_now();
            }
        };
        some_more();
        // The holder of the books hangs: its connections stay open, and answer nothing.
        let (holder, other) = holder_first(&url, first, second);
        holder.signal("-STOP");
        other.until("took");
        some_more();
        holder.signal("-CONT");
        holder.until("lost");
        // Killed.
        other.signal("-KILL");
        holder.until("took");
        some_more();
        // Drained, with another one there to take over.
        let third = Running::start(folder.path(), &url, "books-2", "books");
        third.until("waiting");
        holder.signal("-TERM");
        third.until("took");
        some_more();
        is_over.store(true, Ordering::SeqCst);
        let asked = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
        third.signal("-TERM");
        assert_eq!(third.ended(), (0, String::new()));
        asked
    });
    let journal = journal(&url);
    assert_eq!((journal.len(), journal.values().max()), (1 + asked * 10, Some(&1)), "each once");
    let reader = Reader::open(url).unwrap();
    let staked = reader.account(accounts[2]).unwrap().unwrap().balance;
    assert_eq!(staked, Amount::new(asked as u128 * 10));
}

fn first_to_take(nodes: &[&Running]) {
    let deadline = Instant::now() + PATIENCE;
    while !nodes.iter().any(|node| node.has_said("took")) {
        assert!(Instant::now() < deadline, "no node acquired the books");
        std::thread::yield_now();
    }
}

/// The two nodes, the holder of the books first.
fn holder_first(url: &DatabaseUrl, a: Running, b: Running) -> (Running, Running) {
    let holder = LeaseWatch::new(url.clone()).holder().unwrap().unwrap().name;
    if holder.starts_with(&format!("process {}-", a.process())) { (a, b) } else { (b, a) }
}

#[test]
fn a_node_of_another_role_is_refused_by_the_books() {
    let nodes = [("books-1", "books"), ("api-1", "api"), ("indexer-1", "indexer")];
    let (folder, url) = (deployment(&nodes), needed_database());
    let accounts = set_up(&url, 1);
    let books = Running::start(folder.path(), &url, "books-1", "books");
    books.until("took");
    for node in ["api-1", "indexer-1"] {
        let forged = credit(accounts, "forged", 1);
        let outcome = forwarder(folder.path(), &url, node).apply(vec![forged], PATIENCE).unwrap().wait();
        assert!(matches!(outcome, Err(CallError::Refused(CallRefusal::NotAllowed(_)))), "{node}: {outcome:?}");
    }
    assert_eq!(journal(&url), HashMap::from([("deposit".into(), 1)]));
}
