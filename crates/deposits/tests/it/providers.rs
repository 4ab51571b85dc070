//! Several providers of one chain, one of which lags, fails or lies: stories.
//!
//! What is promised with two or more providers that must agree:
//! - nothing above the threshold is final in a block that only one provider has;
//! - what is below it may be credited on one provider's word, and is taken back when another one shows the truth;
//! - what no header vouches for (tokens, what contracts moved) needs as many providers, whatever its value;
//! - a step that finds a contradiction writes nothing.
//!
//! Not promised: that a transfer by a contract is seen whose trace the provider leaves out. Reconciliation finds it.

use std::{collections::BTreeMap, sync::Arc};

use bankroll_chains_evm::{
    Address, BlockTag, ChainIdentity, FinalityMark, HealthRules, InProcessRpc, Provider, ProviderFault, ProviderHealth,
    Providers, Quantity, RpcNode,
};
use bankroll_chains_simulated::{
    B256, Distortion, Fate, NodeLie, Payment, Reorg, SimulatedChain, SimulatedKey, U256,
    contracts::{self, DOLLAR, SCRIPT, SPLITTER, ScriptStep},
};
use bankroll_deposits::{ChainSource, Indexer, ProviderAgreement, ProviderChoice, ScanError, ScanOutcome, attention};
use bankroll_ledger::{Asset, AssetId, Time, Unit};

use crate::world::{ALICE, BOB, World, address, hot, name};

/// From this value on providers must agree.
pub const LARGE: u128 = 5_000;
/// The chain's seed in `world.rs`, for transactions of another branch.
const SEED: u64 = 11;

/// A world that is followed as the role `indexer` does it.
pub struct Followed {
    pub world: World,
    pub providers: Providers,
    choice: ProviderChoice,
    indexer: Option<Indexer>,
    /// In microseconds.
    pub now: u64,
}

impl Followed {
    /// Two providers must agree. The first one is preferred.
    pub fn with(count: usize) -> Self {
        let mut world = World::with_tokens();
        let genesis = world.chain().block(0).unwrap().hash;
        let identity = ChainIdentity { chain_id: 1337, genesis };
        let provider = |number| {
            let rpc = InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&world.chain), number));
            Provider { name: format!("provider {number}"), node: RpcNode::in_process(rpc, identity) }
        };
        let providers = Providers::new((0..count).map(provider).collect(), HealthRules::default()).unwrap();
        let above = BTreeMap::from([(AssetId(1), Quantity::new(U256::from(LARGE)))]);
        world.config.rules.agreement = Some(ProviderAgreement { above, required: 2, providers: count });
        world.config.window = 64;
        Self { world, providers, choice: ProviderChoice::default(), indexer: None, now: 1_000_000_000 }
    }

    /// One round of the role, some milliseconds after the last one.
    pub fn step_after(&mut self, milliseconds: u64) -> Result<ScanOutcome, ScanError> {
        self.now += milliseconds * 1_000;
        let now = self.now / 1_000;
        let provider = self.providers.best(now);
        let mut indexer = self.indexer.take().unwrap_or_else(|| Indexer::new(self.world.config.clone()));
        let source = ChainSource { node: &provider.node, providers: Some(&self.providers) };
        let scanned = indexer.step(Time(self.now), source, self.world.rows(), |_, _| Ok(()));
        self.choice.note(&self.providers, &provider.name, now, &scanned);
        if scanned.is_ok() {
            self.indexer = Some(indexer);
        }
        scanned
    }

    fn step(&mut self) -> Result<ScanOutcome, ScanError> {
        self.step_after(100)
    }

    /// Steps until nothing is new, with whichever provider, for as long as the longest pause; then everything is booked.
    pub fn settle(&mut self) {
        let (mut rounds, mut idle) = (0, 0);
        while idle < 3 {
            idle = if matches!(self.step_after(60_000), Ok(ScanOutcome::UpToDate)) { idle + 1 } else { 0 };
            rounds += 1;
            assert!(rounds < 600, "it does not end: {:?}", self.step());
        }
        while !self.world.book().is_idle() {}
    }

    pub fn health(&self, provider: usize) -> ProviderHealth {
        self.providers.health()[provider].1
    }

    pub fn is_noted_as_liar(&self, provider: usize) -> bool {
        self.health(provider).last_fault == Some(ProviderFault::Lying)
    }

    /// The scanner's position.
    pub fn cursor(&self) -> (u64, String) {
        let found = self.world.pairs("SELECT block_number AS a, block_hash AS b FROM chain_cursor");
        found[0].0.parse().map(|number| (number, found[0].1.clone())).unwrap()
    }

    /// Puts a node on a branch without the newest blocks.
    pub fn split(&mut self, node: usize, depth: u64) {
        self.world.chain().split_off(node, Reorg { depth, length: 0, fate: Fate::Dropped });
    }

    /// A payment that only a node's own branch has, once it is mined there.
    pub fn pay_on_branch(&mut self, node: usize, person: u64, wei: u128) -> Option<B256> {
        let mut chain = self.world.chain();
        let branch = chain.branch(node)?;
        let nonce = branch.nonce(address(person).0.into());
        let payment = Payment::new(1337, nonce, hot().0.into(), U256::from(wei));
        branch.send(&SimulatedKey::derived(SEED, person).sign(&payment)).ok()
    }

    pub fn mine_branch(&mut self, node: usize, blocks: u64) {
        let mut chain = self.world.chain();
        let Some(branch) = chain.branch(node) else { return };
        for _ in 0..blocks {
            let time = branch.next_time();
            branch.mine(time);
        }
    }

    pub fn lie(&mut self, node: usize, lie: NodeLie, times: u32) {
        self.world.chain().lie_from(node, lie, times);
    }
}

fn shown(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect()
}

const WHY: &str = "SELECT review_state AS a, doubt AS b FROM deposits WHERE doubt IS NOT NULL";

#[test]
fn of_two_providers_that_disagree_about_a_large_deposit_nothing_is_written() {
    for liar in [0, 1] {
        let mut followed = Followed::with(2);
        let paid = followed.world.pay(ALICE, 10_000);
        followed.world.mine(3);
        followed.split(liar, 3);
        // The liar's branch has a payment that was never made.
        let invented = followed.pay_on_branch(liar, BOB, 20_000).unwrap();
        followed.mine_branch(liar, 3);
        let before = followed.cursor();
        for _ in 0..5 {
            let stopped = followed.step();
            assert!(matches!(stopped, Err(ScanError::ProvidersDisagree { number: 1, .. })), "{stopped:?}");
            assert_eq!(followed.cursor(), before);
        }
        assert_eq!(followed.world.events(), []);
        followed.world.chain().heal(liar);
        followed.settle();
        assert_eq!(followed.world.status(paid), "credited");
        assert_eq!(followed.world.status(invented), "");
        assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [10_000]);
        followed.world.audit();
    }
}

#[test]
fn of_three_providers_the_liar_is_outvoted_and_named_even_if_it_is_the_preferred_one() {
    for liar in 0..3 {
        let mut followed = Followed::with(3);
        followed.world.pay(ALICE, 10_000);
        followed.world.mine(3);
        followed.split(liar, 3);
        followed.pay_on_branch(liar, BOB, 20_000).unwrap();
        followed.mine_branch(liar, 3);
        // One step finds it out, and the next one uses another provider.
        assert_eq!(followed.step().is_ok(), liar != 0);
        followed.step().unwrap();
        let noted = [0, 1, 2].map(|provider| followed.is_noted_as_liar(provider));
        assert_eq!(noted, [0, 1, 2].map(|provider| provider == liar));
        while !followed.world.book().is_idle() {}
        assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [10_000]);
        followed.world.audit();
    }
}

#[test]
fn what_is_small_may_be_credited_on_a_liars_word_and_is_taken_back_when_the_truth_is_seen() {
    let mut followed = Followed::with(2);
    followed.split(0, 0);
    let invented = followed.pay_on_branch(0, BOB, 2_000).unwrap();
    followed.mine_branch(0, 3);
    followed.step().unwrap();
    while !followed.world.book().is_idle() {}
    assert_eq!(followed.world.balances(["arena/unallocated/1/bob", "arena/funds/1/bob"]), [875, 1_000]);
    followed.world.chain().heal(0);
    followed.world.mine(4);
    followed.settle();
    assert_eq!(followed.world.status(invented), "reversed");
    assert_eq!(followed.world.balances(["arena/unallocated/1/bob", "arena/funds/1/bob"]), [0, 0]);
    followed.world.audit();
}

#[test]
fn a_large_deposit_of_a_chain_with_one_provider_is_held_for_a_person() {
    let mut followed = Followed::with(1);
    followed.world.pay(ALICE, 10_000);
    followed.world.pay(BOB, 2_000);
    followed.world.mine(4);
    followed.settle();
    assert_eq!(shown(&followed.world.pairs(WHY)), [("none", "one_provider")]);
    assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [2_000], "the small one is believed");
}

#[test]
fn a_finalized_mark_that_one_of_two_tells_too_high_makes_nothing_final() {
    for liar in [0, 1] {
        let mut followed = Followed::with(2);
        followed.world.config.finality = FinalityMark::Finalized;
        followed.lie(liar, NodeLie::Finalized { ahead: 64 }, u32::MAX);
        let paid = followed.world.pay(ALICE, 2_000);
        followed.world.mine(40);
        followed.settle();
        assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [0]);
        followed.world.mine(40);
        followed.settle();
        assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [2_000], "final for both");
        assert_eq!(followed.world.status(paid), "credited");
    }
}

#[test]
fn of_three_providers_one_on_another_branch_does_not_stop_finality() {
    let mut followed = Followed::with(3);
    followed.world.config.finality = FinalityMark::Finalized;
    followed.world.mine(5);
    followed.split(2, 5);
    followed.mine_branch(2, 80);
    followed.world.pay(ALICE, 2_000);
    followed.world.mine(75);
    followed.settle();
    assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [2_000]);
    assert!(followed.is_noted_as_liar(2) && !followed.is_noted_as_liar(0) && !followed.is_noted_as_liar(1));
}

/// Coins that no contract moved, in a block that is on the chain: only balances tell.
#[test]
fn coins_that_a_liar_invents_with_a_balance_that_fits_are_never_credited() {
    for (count, value) in [(2, 10_000), (2, 100), (3, 10_000), (3, 100)] {
        let mut followed = Followed::with(count);
        followed.world.pay(ALICE, 20_000);
        followed.world.mine(3);
        followed.settle();
        followed.world.call(BOB, SPLITTER, 10, contracts::split_call(&[address(BOB).0.into()]));
        followed.world.mine(1);
        let (of, by) = (Some(hot().0.into()), Distortion::Minus(U256::from(value)));
        followed.lie(0, NodeLie::TransferInvented { to: hot().0.into(), value: U256::from(value) }, 1);
        followed.lie(0, NodeLie::Balance { of, by }, 1);
        followed.step().unwrap();
        let lies = followed.world.chain().lies_told().clone();
        assert_eq!((lies.get("transferInvented"), lies.get("balance")), (Some(&1), Some(&1)));
        followed.world.mine(3);
        followed.settle();
        assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [20_000], "{count} providers, {value}");
        let doubtful = if count == 2 { vec![("none", "balance_unknown")] } else { vec![] };
        assert_eq!(shown(&followed.world.pairs(WHY)), doubtful, "a person decides, or the majority");
        assert_eq!(followed.is_noted_as_liar(0), count == 3);
        followed.world.audit();
    }
}

#[test]
fn a_token_deposit_that_a_liar_denies_is_not_lost() {
    for (count, liar) in [(2, 0), (2, 1), (3, 0), (3, 2)] {
        let mut followed = Followed::with(count);
        followed.world.mint(DOLLAR, address(ALICE), U256::from(5_000));
        followed.world.mine(1);
        followed.settle();
        followed.world.send_tokens(ALICE, DOLLAR, hot(), 700);
        followed.world.mine(1);
        let (of, by) = (Some(hot().0.into()), Distortion::Plus(U256::from(700)));
        followed.lie(liar, NodeLie::TokenBalance { of, by }, 1);
        followed.step().unwrap();
        followed.world.mine(3);
        followed.settle();
        let (credited, doubtful) = if count == 3 { (700, vec![]) } else { (0, vec![("none", "balance_unknown")]) };
        assert_eq!(followed.world.balances(["@house/custody/2/hot"]), [credited], "{count} providers, liar {liar}");
        assert_eq!(shown(&followed.world.pairs(WHY)), doubtful);
        // A contract may answer each node differently: that is nothing against a node.
        assert!((0..count).all(|provider| followed.health(provider).last_fault.is_none()));
        followed.world.audit();
    }
}

#[test]
fn a_doubt_that_only_a_later_block_gives_is_held_for_a_person_too() {
    let mut followed = Followed::with(2);
    let payment = followed.world.call(BOB, SPLITTER, 700, contracts::split_call(&[hot().0.into()]));
    followed.world.mine(1);
    followed.step().unwrap();
    followed.world.chain().crash(1, true);
    followed.world.chain().reorg(Reorg { depth: 1, length: 2, fate: Fate::Kept });
    followed.world.mine(3);
    followed.settle();
    assert_eq!(shown(&followed.world.pairs(WHY)), [("none", "balance_unknown")]);
    let held = attention::held(followed.world.reader()).unwrap();
    assert_eq!(held.iter().map(|group| group.count).collect::<Vec<_>>(), [1]);
    assert_eq!(followed.world.status(payment), "on_hold");
    followed.world.audit();
}

#[test]
fn a_block_whose_balances_another_provider_cannot_say_yet_is_waited_for() {
    let mut followed = Followed::with(2);
    followed.world.mint(DOLLAR, address(ALICE), U256::from(5_000));
    followed.world.mine(1);
    followed.settle();
    followed.world.send_tokens(ALICE, DOLLAR, hot(), 700);
    followed.world.mine(1);
    followed.world.chain().lag(1, 1);
    let before = followed.cursor();
    for _ in 0..3 {
        assert!(matches!(followed.step(), Err(ScanError::Lagging { theirs: 1, ours: 2 })));
        assert_eq!(followed.cursor(), before);
    }
    followed.world.chain().lag(1, 0);
    followed.world.mine(3);
    followed.settle();
    assert_eq!(followed.world.balances(["@house/custody/2/hot"]), [700]);
    followed.world.audit();
}

#[test]
fn a_preferred_provider_that_stands_still_does_not_stop_the_chain() {
    let mut followed = Followed::with(2);
    followed.settle();
    followed.world.pay(ALICE, 2_000);
    followed.world.mine(10);
    followed.world.chain().lag(0, 10);
    followed.settle();
    assert_eq!(followed.cursor().0, 10);
    assert!(followed.health(0).is_behind && followed.health(0).last_fault.is_none());
    followed.world.chain().lag(0, 0);
    followed.world.mine(1);
    followed.settle();
    assert!(!followed.health(0).is_behind, "it is the preferred one again");
}

#[test]
fn a_provider_that_shows_another_chain_altogether_is_left_for_the_others() {
    let mut followed = Followed::with(3);
    followed.world.config.window = 8;
    followed.world.mine(20);
    followed.settle();
    followed.split(0, 20);
    followed.mine_branch(0, 21);
    assert!(matches!(followed.step(), Err(ScanError::TooDeep { .. })));
    assert!(followed.is_noted_as_liar(0));
    followed.world.pay(ALICE, 2_000);
    followed.world.mine(4);
    followed.settle();
    assert_eq!(followed.world.balances(["@house/custody/1/hot"]), [2_000]);
}

/// Blocks of one chain that do not continue each other: it was reorganised between two requests.
#[test]
fn a_reorganisation_in_the_middle_of_a_step_makes_no_provider_a_liar() {
    let mut followed = Followed::with(2);
    let provider = followed.providers.best(0).name.clone();
    let head = followed.providers.best(0).node.header(BlockTag::Latest).unwrap().unwrap();
    let broken = bankroll_deposits::follower::BrokenParent { number: 1, expected: head.hash, parent: B256::ZERO };
    followed.choice.note(&followed.providers, &provider, 0, &Err(ScanError::BrokenParent(broken)));
    assert_eq!(followed.health(0).last_fault, Some(ProviderFault::Unavailable));
    assert!(followed.health(0).is_well(1_000), "after a second");
}

fn list(world: &mut World, contract: Address) {
    if world.config.watch.tokens.contains_key(&contract) {
        return;
    }
    let unit = Unit::Token(name(&contract.lower_hex()));
    let token = Asset { chain: name("eip155:1337"), unit, decimals: 6, symbol: "TOKEN".into() };
    let asset = world.ledger().list_asset(token).unwrap();
    world.config.watch.tokens.insert(contract, asset);
}

/// Everything that a player can put into a block: the providers stay well, and the chain is followed.
#[test]
fn a_player_cannot_make_a_provider_look_ill() {
    let mut followed = Followed::with(2);
    let ours = hot().0.into();
    let transfer = contracts::transfer_call(ours, U256::from(5));
    let scripts = [
        vec![ScriptStep::Try { steps: vec![ScriptStep::Send { to: ours, value: U256::ONE }, ScriptStep::Revert] }],
        vec![ScriptStep::Revert],
        vec![ScriptStep::BurnGas],
        vec![ScriptStep::Nest { depth: 200, steps: vec![ScriptStep::Send { to: ours, value: U256::ONE }] }],
        vec![ScriptStep::CallCode { to: ours, value: U256::ONE }, ScriptStep::DelegateCall { to: ours }],
        vec![ScriptStep::Create { value: U256::ONE, steps: vec![ScriptStep::SelfDestruct { to: ours }] }],
        vec![ScriptStep::Log { topics: vec![B256::repeat_byte(7); 4], data: vec![0xff; 5_000].into() }],
    ];
    for steps in scripts {
        followed.world.call(ALICE, SCRIPT, 3, contracts::script_call(&steps));
    }
    for (_, contract, _) in contracts::ALL {
        list(&mut followed.world, Address(contract.into_array()));
        followed.world.call(BOB, *contract, 0, transfer.clone());
        followed.world.call(BOB, *contract, 1, contracts::split_call(&[ours, ours]));
    }
    followed.world.mine(6);
    for _ in 0..6 {
        followed.step().unwrap();
    }
    assert_eq!(followed.cursor().0, 6);
    assert!((0..2).all(|provider| followed.health(provider) == ProviderHealth::default()));
}
