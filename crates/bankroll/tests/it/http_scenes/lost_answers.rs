//! Answers are lost, and the node is killed: a caller that repeats its request has it applied once.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use bankroll_store::{Audit, Reader};
use fastrand::Rng;
use serde_json::json;

use super::{
    caller::{Caller, Reply},
    casino::{ALICE_HAS, Casino, WORLD, WORLD_HAS},
    cutting_proxy::CuttingProxy,
    deployment::Deployment,
    rounds, seed, wait_until,
    wallet::Wallet,
};
use crate::running::Running;

const CALLERS: usize = 4;
const REQUESTS: usize = 24;

/// One request: into the world or out of it.
struct Move {
    key: String,
    into_world: bool,
    amount: u64,
}

impl Move {
    fn choose(rng: &mut Rng, key: String) -> Self {
        Self { key, into_world: rng.bool(), amount: rng.u64(1..=100) }
    }

    fn path(&self) -> &'static str {
        if self.into_world { "/v1/servers/arena/withdraw" } else { "/v1/servers/arena/deposit" }
    }

    fn body(&self) -> String {
        json!({ "account": Wallet::of("alice").funds(), "amount": self.amount.to_string() }).to_string()
    }
}

/// All moves through the proxy, each repeated until it is answered; the answers by key.
fn send_all(arena: &Caller, moves: &[Vec<Move>], answered: &AtomicUsize) -> BTreeMap<String, Reply> {
    thread::scope(|scope| {
        let caller = |moves: &'_ [Move]| -> Vec<(String, Reply)> {
            let send = |one: &Move| {
                let reply = arena.post_until_answered(one.path(), &one.key, &one.body());
                answered.fetch_add(1, Ordering::SeqCst);
                (one.key.clone(), reply)
            };
            moves.iter().map(send).collect()
        };
        let callers: Vec<_> = moves.iter().map(|moves| scope.spawn(move || caller(moves))).collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    })
}

/// What Alice and the world have if each move was made once.
fn model(moves: &[Vec<Move>]) -> (u64, u64) {
    moves.iter().flatten().fold((ALICE_HAS, WORLD_HAS), |(alice, world), one| {
        if one.into_world { (alice - one.amount, world + one.amount) } else { (alice + one.amount, world - one.amount) }
    })
}

fn check(arena: &Caller, moves: &[Vec<Move>], answers: &BTreeMap<String, Reply>) {
    let (alice, world) = model(moves);
    assert_eq!((arena.balance(&Wallet::of("alice").funds()).0, arena.balance(WORLD).0), (alice, world));
    for one in moves.iter().flatten() {
        let again = arena.post_until_answered(one.path(), &one.key, &one.body());
        assert_eq!(again.body, answers[&one.key].body, "{}: one key, one body", one.key);
        assert!(again.status == 200 && again.is_replay(), "{again:?}");
    }
    assert_eq!(arena.balance(WORLD).0, world, "the repeated requests moved nothing");
}

/// Sends moves through a proxy that cuts, with an interruption in the middle of them, which may return another address.
fn interrupted(
    arena: &Caller,
    seed: u64,
    interrupt: impl FnOnce() -> SocketAddr,
) -> (Vec<Vec<Move>>, BTreeMap<String, Reply>) {
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let mut moves_of = |caller: usize| -> Vec<Move> {
        (0..REQUESTS).map(|number| Move::choose(&mut rng, format!("{caller}-{number}"))).collect()
    };
    let moves: Vec<Vec<Move>> = (0..CALLERS).map(&mut moves_of).collect();
    let proxy = CuttingProxy::start(arena.address, seed);
    let (through, answered) = (Caller { address: proxy.address, ..arena.clone() }, AtomicUsize::new(0));
    let answers = thread::scope(|scope| {
        let sending = scope.spawn(|| send_all(&through, &moves, &answered));
        wait_until("half of the answers", || answered.load(Ordering::SeqCst) >= CALLERS * REQUESTS / 2);
        proxy.set_target(interrupt());
        sending.join().unwrap()
    });
    assert!(proxy.cuts.load(Ordering::SeqCst) > REQUESTS, "the proxy has cut little");
    (moves, answers)
}

#[test]
fn each_request_whose_answer_was_lost_is_applied_once_although_the_node_was_killed() {
    for round in rounds(1) {
        let mut casino = Some(Casino::open());
        let arena = casino.as_ref().unwrap().arena.clone();
        let restart = || {
            let restarted = casino.take().unwrap().kill_and_start();
            casino.insert(restarted).arena.address
        };
        let (moves, answers) = interrupted(&arena, seed().wrapping_add(round), restart);
        let casino = casino.unwrap();
        check(&casino.arena, &moves, &answers);
        casino.close();
    }
}

#[test]
fn each_request_through_a_front_is_applied_once_although_the_holder_of_the_books_was_killed() {
    let Deployment { folder, url, books, front, arena, .. } = Deployment::open();
    let mut holder = None;
    let take_over = || {
        books.signal("-KILL");
        books.ended();
        let next = Running::start(folder.path(), &url, "books-1", "books");
        next.until("took");
        holder = Some(next);
        arena.address
    };
    let (moves, answers) = interrupted(&arena, seed(), take_over);
    check(&arena, &moves, &answers);
    drop((front, holder));
    Audit::new(Reader::open(url).unwrap()).run(|_| {}).unwrap();
}
