//! Sound books: nothing is found, while a writer changes all that the scrub reads.

use std::sync::atomic::{AtomicBool, Ordering};

use bankroll_ledger::{
    AccountId, AccountKind, Amount, ColumnValue, Guard, HoldId, Leg, Namespace, Principal, Seq, Settler,
};
use fastrand::Rng;

use super::{DEPOSITS, PassEnd, Story, pass_with, set_deposit, sound_pass};
use crate::world::{World, game_server, hold, moving, request};

#[test]
fn a_pass_over_empty_books_and_one_over_a_story_count_what_they_read() {
    let empty = World::with(|_| {});
    let report = sound_pass(&empty);
    assert_eq!((report.records, report.rows, report.last), (1, 1, Seq(1)), "an asset");
    let Story { world, .. } = Story::new();
    let report = sound_pass(&world);
    let head = world.reader().head().unwrap();
    assert_eq!((report.records, report.last, report.head), (head.seq.0, head.seq, head.hash));
    // An asset, three accounts, a hold, a reversal, a flow's row.
    assert_eq!(report.rows, 7);
}

/// Random requests of every kind.
struct Stream<'a> {
    world: &'a World,
    rng: Rng,
    custody: AccountId,
    players: Vec<AccountId>,
    holds: Vec<HoldId>,
    deposits: Vec<(Seq, String)>,
    next_deposit: u32,
}

impl<'a> Stream<'a> {
    fn new(world: &'a World, seed: u64) -> Self {
        let custody = world.account(AccountKind::Custody, Some("hot"));
        let (rng, players) = (Rng::with_seed(seed), Vec::new());
        Self { world, rng, custody, players, holds: Vec::new(), deposits: Vec::new(), next_deposit: 0 }
    }

    fn next(&mut self) {
        let pick = |rng: &mut Rng, players: &[AccountId]| rng.choice(players).copied();
        match (self.rng.u8(0..8), pick(&mut self.rng, &self.players)) {
            (0, _) | (_, None) => {
                let name = format!("player-{}", self.players.len());
                self.players.push(self.world.player(&name, 500));
            }
            (1 | 2, Some(player)) => {
                let id = format!("d{}", self.next_deposit);
                self.next_deposit += 1;
                let leg = moving(self.custody, player, 40);
                let key = self.world.fresh_key(Namespace::Deposits);
                let mut credit = request(key, Principal::Indexer, vec![leg]);
                credit.facts.push(set_deposit(&id, Guard::Absent, "credited"));
                let answer = self.world.ledger().apply(credit).unwrap();
                answer.effects().unwrap();
                self.deposits.push((answer.seq.unwrap(), id));
            }
            (3, Some(player)) => {
                let answer = self.world.play(vec![hold(player, 3, None, Settler::Holder)]);
                if let Ok(effects) = answer.effects() {
                    self.holds.extend(effects.holds.iter().map(|change| change.hold.id));
                }
            }
            (4, Some(_)) if !self.holds.is_empty() => {
                let hold = self.holds.swap_remove(self.rng.usize(..self.holds.len()));
                self.world.play(vec![Leg::Release { hold }]).effects().unwrap();
            }
            // A row that a fact has set is set again.
            (5, Some(player)) if !self.deposits.is_empty() => {
                let (_, id) = &self.deposits[self.rng.usize(..self.deposits.len())];
                let state = ["noted", "credited", "closed"][self.rng.usize(..3)];
                let key = self.world.fresh_key(Namespace::Client);
                let mut again = request(key, game_server(), vec![moving(player, self.players[0], 1)]);
                let exists = Guard::Is(vec![("id".into(), ColumnValue::Text(id.clone()))]);
                again.facts.push(set_deposit(id, exists, state));
                self.world.ledger().apply(again).unwrap();
            }
            (6, Some(_)) if !self.deposits.is_empty() => {
                let (original, _) = self.deposits.swap_remove(self.rng.usize(..self.deposits.len()));
                let mut reversal = request(self.world.fresh_key(Namespace::Deposits), Principal::Indexer, Vec::new());
                reversal.action = bankroll_ledger::Action::Reverse(original);
                self.world.ledger().apply(reversal).unwrap();
            }
            (_, Some(player)) => {
                let to = pick(&mut self.rng, &self.players).unwrap_or(player);
                let leg = Leg::Move { from: player, to, amount: Amount::new(self.rng.u128(1..9)) };
                self.world.play(vec![leg]);
            }
        }
    }
}

/// Few keys in memory and short runs: both indexes change all the time, too.
fn busy_world() -> World {
    World::with(|options| {
        options.migrations = vec![DEPOSITS];
        options.keys_in_memory_max = 16;
        options.index_records_max = 16;
    })
}

#[test]
fn random_requests_between_any_two_pieces_are_never_taken_for_damage() {
    for seed in 0..4 {
        let world = busy_world();
        let mut stream = Stream::new(&world, seed);
        for _ in 0..300 {
            stream.next();
        }
        for _ in 0..3 {
            let mut rng = Rng::with_seed(seed);
            let (end, repaired) = pass_with(&world, |_| (0..rng.u8(0..4)).for_each(|_| stream.next()));
            let PassEnd::Sound(report) = end else { panic!("seed {seed}: {end:?}") };
            assert_eq!((report.unconfirmed, repaired), (None, Vec::new()), "seed {seed}");
            assert!(report.records > 300 && report.rows > 50 && report.entries > 0, "seed {seed}");
        }
        world.audit();
    }
}

/// The writer commits while a piece reads.
#[test]
fn requests_during_a_piece_are_never_taken_for_damage() {
    let world = busy_world();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut stream = Stream::new(&world, 7);
            while !over.load(Ordering::Relaxed) {
                stream.next();
            }
        });
        let ends: Vec<_> = (0..4).map(|_| pass_with(&world, |_| {})).collect();
        over.store(true, Ordering::Relaxed);
        for (end, repaired) in ends {
            let PassEnd::Sound(report) = end else { panic!("{end:?}") };
            assert_eq!((report.unconfirmed, repaired), (None, Vec::new()));
        }
    });
}

/// A pass is stopped by not going on with it: nothing of it stays, and no snapshot keeps the log from restarting.
#[test]
fn a_pass_that_is_dropped_at_any_piece_leaves_nothing_behind() {
    let Story { mut world, .. } = Story::new();
    for pieces in 0..12 {
        let mut scrub = bankroll_store::Scrub::new(&world.options.location);
        (0..pieces).for_each(|_| drop(scrub.piece().unwrap()));
        drop(scrub);
        world.reopen();
    }
    sound_pass(&world);
}
