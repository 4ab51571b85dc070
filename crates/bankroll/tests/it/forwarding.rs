//! Calls that are forwarded to nodes while these are killed, stopped and drained: each is answered and applied once.

use std::{
    collections::HashMap,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Instant,
};

use bankroll_ledger::{Amount, Record, Seq, Time};
use bankroll_nodes::{BooksLocation, Forwarder, NodeIdentity};
use bankroll_store::{Audit, Clock, DatabaseUrl, LeaseWatch, Reader};
use serde_json::{Value, json};

use crate::{
    house::{self, ALICES_FUNDS, House, relay},
    running::{PATIENCE, Running},
};

const CALLERS: usize = 4;
const WORLD: &str = "arena/world/1";

/// Ten stakes of one wei each, in one call of the game.
fn stakes(prefix: &str) -> Value {
    let stake = |place: usize| {
        json!({
            "key": format!("stake-{prefix}-{place}"), "type": "transfer", "from": ALICES_FUNDS, "to": WORLD,
            "amount": "1",
        })
    };
    json!({ "operations": (0..10).map(stake).collect::<Vec<_>>() })
}

/// Sends the stakes until they are answered, as a game does: a node that has just lost the books says so.
fn stake_until_answered(api: &Forwarder, token: &str, prefix: &str) {
    let (body, deadline) = (stakes(prefix), Instant::now() + PATIENCE);
    let ask = || house::request("POST", "/v1/servers/arena/batch", Some(token), Some(prefix), Some(&body));
    loop {
        let response = relay(api, ask()).unwrap();
        if response.status == 200 {
            let results = house::json(&response);
            let applied = results["results"].as_array().unwrap().iter().filter(|one| one["applied"].is_object());
            assert_eq!(applied.count(), 10, "{results}");
            return;
        }
        assert!(response.status == 503 && Instant::now() < deadline, "{}", house::json(&response));
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
    let house = House::new(&[("books-1", "books"), ("books-2", "books"), ("api-1", "api")], 1_000_000);
    let (url, start) = (&house.url, |name: &str| house.start(name, "books"));
    let (first, second) = (start("books-1"), start("books-2"));
    first_to_take(&[&first, &second]);
    house.register("api-1");
    let (api, token) = (house.forwarder("api-1", "api"), house.session("api-1", "arena"));
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let asked: usize = std::thread::scope(|scope| {
        let caller = |number: usize| {
            let (api, token, is_over, answered) = (&api, &token, &is_over, &answered);
            scope.spawn(move || {
                let mut asked = 0;
                while !is_over.load(Ordering::SeqCst) {
                    stake_until_answered(api, token, &format!("{number}-{asked}"));
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
        let (holder, other) = holder_first(url, first, second);
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
        let third = start("books-2");
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
    let mut journal = journal(url);
    journal.retain(|key, _| key.contains("stake-"));
    assert_eq!((journal.len(), journal.values().max()), (asked * 10, Some(&1)), "each once");
    let reader = Reader::open(url.clone()).unwrap();
    let staked = reader.account_named(&WORLD.parse().unwrap()).unwrap().unwrap().balance;
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
