//! One faulty provider among two or three, by seed. It fails, lags, lies about everything that no header vouches for, and
//! shows branches with payments that nobody made; the chain of the others is reorganised, too.
//!
//! After each step: what stopped has moved nothing, and nothing above the threshold is final in a block that the honest
//! chain never had. At rest: the books are what the honest chain has, and no honest provider was called a liar.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use bankroll_chains_simulated::{
    B256, Distortion, Fate, NodeFault, NodeLie, Reorg, U256,
    contracts::{self, DOLLAR, SCRIPT, SPLITTER, ScriptStep, TAXED},
};
use fastrand::Rng;

use crate::{
    providers::{Followed, LARGE},
    world::{ALICE, BOB, STRANGER, TREASURY, address, hot},
};

/// Seeds of a usual run, and the fewest of a soak.
const SEEDS: u64 = 50;
const SOAK_SEEDS: u64 = 500;
const ACTS: usize = 34;

#[test]
fn one_faulty_provider_among_two_or_three_neither_credits_nor_loses_anything() {
    let first = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let soak = std::env::var("BANKROLL_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let until = soak.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (mut totals, mut exact) = (LifeCounts::default(), 0);
    for run in 0_u64.. {
        let seed = u64::wrapping_add(first, run);
        println!("BANKROLL_TEST_SEED={seed}");
        exact += u64::from(Life::new(seed, &mut totals).live());
        if until.map_or(run + 1 >= SEEDS, |until| run + 1 >= SOAK_SEEDS && Instant::now() > until) {
            println!("{} seeds, {exact} without a held deposit: {totals:?}", run + 1);
            assert!(exact * 4 > run, "held deposits hide what is compared");
            break;
        }
    }
    // The seeds of the usual run are always the same unless one is asked for.
    let kinds = [totals.disputes, totals.behind, totals.unwound, totals.noted, totals.held];
    assert!(kinds.iter().all(|count| *count > 0), "not everything happened: {totals:?}");
}

/// What happened at all.
#[derive(Debug, Default)]
struct LifeCounts {
    disputes: u64,
    behind: u64,
    unwound: u64,
    noted: u64,
    held: u64,
}

struct Life<'a> {
    followed: Followed,
    random: Rng,
    providers: usize,
    faulty: usize,
    /// Every block that the honest chain ever had.
    honest: BTreeSet<B256>,
    totals: &'a mut LifeCounts,
}

impl<'a> Life<'a> {
    fn new(seed: u64, totals: &'a mut LifeCounts) -> Self {
        let mut random = Rng::with_seed(seed);
        let providers = random.usize(2..=3);
        let mut followed = Followed::with(providers);
        for token in [DOLLAR, TAXED] {
            followed.world.mint(token, address(ALICE), U256::from(1_000_000));
        }
        let splitter = bankroll_chains_evm::Address(SPLITTER.into_array());
        followed.world.config.watch.proven.insert(splitter, crate::world::name("splitter"));
        let faulty = random.usize(..providers);
        Self { followed, random, providers, faulty, honest: BTreeSet::new(), totals }
    }

    /// Whether at rest no deposit is held, so that the books must have every wei.
    fn live(mut self) -> bool {
        self.mine(1);
        for _ in 0..ACTS {
            match self.random.u8(..20) {
                0..4 => self.pay(),
                4..8 => {
                    let blocks = self.random.u64(1..3);
                    self.mine(blocks);
                }
                8 => self.reorganise(),
                9..13 => self.misbehave(),
                13..18 => self.step(),
                18 => drop(self.followed.world.book()),
                _ => {
                    let (node, blocks) = (self.random.usize(..self.providers), self.random.u64(0..4));
                    self.followed.world.chain().lag(node, blocks);
                }
            }
        }
        self.rest()
    }

    fn pay(&mut self) {
        let (random, world) = (&mut self.random, &mut self.followed.world);
        let (ours, wei) = (hot().0.into(), random.u128(1..2 * LARGE));
        let person = *random.choice(&[ALICE, BOB, STRANGER, TREASURY]).unwrap();
        match random.u8(..8) {
            0..4 => world.pay(person, wei),
            4 => world.send_tokens(ALICE, DOLLAR, hot(), random.u64(1..900)),
            5 => world.send_tokens(ALICE, TAXED, hot(), random.u64(1..900)),
            6 => world.call(person, SPLITTER, wei, contracts::split_call(&[ours, address(BOB).0.into(), ours])),
            _ => {
                let send = ScriptStep::Send { to: ours, value: U256::from(wei) };
                let steps = [ScriptStep::Try { steps: vec![send.clone(), ScriptStep::Revert] }, send];
                world.call(person, SCRIPT, wei, contracts::script_call(&steps))
            }
        };
    }

    /// The honest chain goes on, and now and then the branch of the faulty node.
    fn mine(&mut self, blocks: u64) {
        self.followed.world.mine(blocks);
        if self.random.bool() {
            let blocks = self.random.u64(0..=blocks);
            self.followed.mine_branch(self.faulty, blocks);
        }
        self.note_honest();
    }

    fn note_honest(&mut self) {
        let chain = self.followed.world.chain();
        self.honest.extend((0..=chain.head().number()).map(|number| chain.block(number).unwrap().hash));
    }

    fn reorganise(&mut self) {
        let fate = *self.random.choice(&[Fate::Kept, Fate::Returned, Fate::Reordered]).unwrap();
        let depth = self.random.u64(1..6);
        let reorg = Reorg { depth, length: depth + self.random.u64(0..2), fate };
        if self.followed.world.chain().head().number() > depth {
            self.followed.world.chain().reorg(reorg);
        }
        self.note_honest();
    }

    fn misbehave(&mut self) {
        let (random, faulty, ours) = (&mut self.random, self.faulty, hot().0.into());
        let (value, times) = (U256::from(random.u128(1..2 * LARGE)), random.u32(1..4));
        let by = *random.choice(&[Distortion::Plus(value), Distortion::Minus(value)]).unwrap();
        let of = Some(ours);
        match random.u8(..12) {
            0..3 => {
                let depth = random.u64(0..5).min(self.followed.world.chain().head().number());
                self.followed.split(faulty, depth);
                self.followed.pay_on_branch(faulty, BOB, 1 + random.u128(..2 * LARGE));
                self.followed.mine_branch(faulty, depth + random.u64(1..5));
            }
            3..5 => {
                self.followed.pay_on_branch(faulty, ALICE, 1 + random.u128(..2 * LARGE));
                self.followed.mine_branch(faulty, random.u64(1..3));
            }
            5 => self.followed.world.chain().heal(faulty),
            6 => {
                let fault = *random.choice(NodeFault::ALL).unwrap();
                self.followed.world.chain().inject(faulty, fault, times);
            }
            7 => self.followed.lie(faulty, NodeLie::Balance { of, by }, times),
            8 => self.followed.lie(faulty, NodeLie::TokenBalance { of, by }, times),
            9 => {
                // The two that go together.
                self.followed.lie(faulty, NodeLie::TransferInvented { to: ours, value }, 1);
                self.followed.lie(faulty, NodeLie::Balance { of, by: Distortion::Minus(value) }, 1);
            }
            10 => self.followed.world.chain().crash(faulty, true),
            _ => self.followed.world.chain().restart(faulty),
        }
    }

    fn step(&mut self) {
        let (before, milliseconds) = (self.followed.cursor(), self.random.u64(1..30_000));
        match self.followed.step_after(milliseconds) {
            Ok(bankroll_deposits::ScanOutcome::Moved { unwound_to, .. }) => {
                self.totals.unwound += u64::from(unwound_to.is_some());
            }
            Ok(_) => {}
            Err(error) => {
                assert_eq!(self.followed.cursor(), before, "{error}");
                match error {
                    bankroll_deposits::ScanError::ProvidersDisagree { .. } => self.totals.disputes += 1,
                    bankroll_deposits::ScanError::Lagging { .. } => self.totals.behind += 1,
                    bankroll_deposits::ScanError::Node(_) | bankroll_deposits::ScanError::Balance(_) => {}
                    // A provider that shows another chain from the first block on: the next step asks another one.
                    bankroll_deposits::ScanError::Missing { .. } | bankroll_deposits::ScanError::TooDeep { .. } => {}
                    error => panic!("unexpected: {error}"),
                }
            }
        }
        for event in self.followed.world.events() {
            let is_final = event.change == bankroll_deposits::InclusionChange::Final;
            let is_made_up = !self.honest.contains(&event.inclusion.block.hash);
            assert!(!(is_final && event.inclusion.needs_agreement && is_made_up), "final on one word: {event:?}");
        }
    }

    fn rest(mut self) -> bool {
        let nodes = self.providers;
        for node in 0..nodes {
            self.followed.world.chain().heal(node);
        }
        // The honest chain grows beyond what was made up.
        self.followed.world.mine(4);
        let behind = self.followed.cursor().0.saturating_sub(self.followed.world.chain().head().number());
        self.followed.world.mine(behind + 4);
        // Longer than any pause.
        self.followed.now += 7 * 3_600 * 1_000_000;
        self.followed.settle();
        let world = &self.followed.world;
        assert_eq!(self.followed.cursor().0, world.chain().head().number());
        world.audit();
        for node in (0..nodes).filter(|node| *node != self.faulty) {
            assert!(!self.followed.is_noted_as_liar(node), "provider {node} never lied");
        }
        self.totals.noted += u64::from(self.followed.is_noted_as_liar(self.faulty));
        let held = world.pairs(
            "SELECT asset AS a, amount_raw AS b FROM deposits WHERE doubt = 'balance_unknown'
                                AND chain_state IN ('included', 'final')",
        );
        self.totals.held += held.len() as u64;
        let ours = hot().0.into();
        let on_chain = {
            let chain = world.chain();
            [chain.balance(ours), chain.token_balance(DOLLAR, ours), chain.token_balance(TAXED, ours)]
        };
        let on_chain = ["1", "2", "3"].into_iter().zip(on_chain);
        let custody = ["@house/custody/1/hot", "@house/custody/2/hot", "@house/custody/3/hot"];
        for ((asset, has), booked) in on_chain.zip(world.balances(custody)) {
            let booked = U256::from(booked);
            let is_exact = held.iter().all(|(of, _)| of != asset);
            assert!(booked <= has && (booked == has || !is_exact), "asset {asset}: {booked} booked, {has} on chain");
        }
        self.check_native();
        held.is_empty()
    }

    /// Payments without a contract need nobody's word: each is booked once, whole, and nothing else is.
    fn check_native(&self) {
        let world = &self.followed.world;
        let booked = world.pairs(
            "SELECT tx_hash AS a, amount_raw AS b FROM deposits WHERE kind = 'native'
                                  AND chain_state = 'final' AND ledger_state IN ('credited', 'suspense')",
        );
        let (mut paid, chain) = (BTreeSet::new(), world.chain());
        let blocks = (0..=chain.head().number()).filter_map(|number| chain.block(number));
        for included in blocks.flat_map(|block| &block.transactions).filter(|included| included.succeeded()) {
            let transaction = &included.transaction;
            if transaction.to() == Some(hot().0.into()) && !transaction.value().is_zero() {
                paid.insert((format!("{:#x}", transaction.hash), transaction.value().to_string()));
            }
        }
        assert_eq!(booked.len(), paid.len());
        assert_eq!(booked.into_iter().collect::<BTreeSet<_>>(), paid);
    }
}
