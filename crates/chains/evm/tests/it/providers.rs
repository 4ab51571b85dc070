//! Two and three providers: a liar, one that is behind, one that answers half, none at all.

use bankroll_chains_evm::{
    AnswerSource, B256, BlockTag, Call, Disagreement, HealthRules, InvalidProviders, Provider, ProviderFault,
    Providers, Quantity, RpcError, U256,
};
use bankroll_chains_simulated::{Fate, NodeFault, Reorg, SimulatedConfig, contracts};

use crate::world::{HOUSE, World, from_simulated};

const RULES: HealthRules =
    HealthRules { pause: 100, pause_max: 1_000, lie_pause: 5_000, lie_pause_max: 40_000, lag_max: 3 };
const NAMES: [&str; 3] = ["ann", "bob", "cid"];

fn providers(world: &World, count: usize) -> Providers {
    let list = NAMES.iter().take(count).enumerate();
    let list = list.map(|(number, name)| Provider { name: (*name).into(), node: world.node(number) });
    Providers::new(list.collect(), RULES).unwrap()
}

fn is_well(providers: &Providers, now: u64) -> Vec<bool> {
    providers.health().iter().map(|(_, health)| health.is_well(now)).collect()
}

/// Ten blocks with a payment each; the finalized one is the sixth.
fn ten_blocks() -> World {
    let mut config = SimulatedConfig::new(7);
    (config.safe_depth, config.finalized_depth) = (2, 4);
    let world = World::with(config);
    for _ in 0..10 {
        world.pay(0, HOUSE, 5);
        world.mine();
    }
    world
}

/// The same chain up to its fifth block, and another one from there.
fn forked(ours: &World) -> World {
    let theirs = ten_blocks();
    assert_eq!(theirs.identity(), ours.identity());
    theirs.chain().reorg(Reorg { depth: 5, length: 5, fate: Fate::Dropped });
    theirs
}

/// Providers of which some show the other chain.
fn disagreeing(worlds: &[&World]) -> Providers {
    let list = worlds.iter().enumerate();
    let list = list.map(|(number, world)| Provider { name: NAMES[number].into(), node: world.node(number) });
    Providers::new(list.collect(), RULES).unwrap()
}

fn hash_of(world: &World, number: u64) -> B256 {
    world.node(9).header(BlockTag::Number(number)).unwrap().unwrap().hash
}

#[test]
fn when_one_fails_the_next_one_answers_and_the_first_is_asked_again_after_a_pause() {
    let world = ten_blocks();
    let providers = providers(&world, 2);
    let ask = |now| {
        let asked = providers.ask(now, AnswerSource::Node, |node| node.header(BlockTag::Number(3)));
        asked.map(|(header, provider)| (header.unwrap().number, provider.name.clone()))
    };
    assert_eq!(ask(0), Ok((3, "ann".into())));
    world.chain().crash(0, true);
    assert_eq!(ask(1), Ok((3, "bob".into())));
    world.chain().restart(0);
    assert_eq!(ask(100), Ok((3, "bob".into())), "it is left alone");
    assert_eq!(ask(101), Ok((3, "ann".into())));
    assert_eq!(providers.health()[0].1.failures, 0);
}

#[test]
fn if_all_are_down_the_best_one_is_still_asked_and_the_chain_comes_back_by_itself() {
    let world = ten_blocks();
    let providers = providers(&world, 3);
    (0..3).for_each(|node| world.chain().crash(node, true));
    let ask =
        |now| providers.ask(now, AnswerSource::Node, |node| node.header(BlockTag::Latest)).map(|(_, by)| &by.name);
    for now in 0..20 {
        assert!(matches!(ask(now), Err(RpcError::Unavailable(_))));
    }
    (0..3).for_each(|node| world.chain().restart(node));
    ask(20).unwrap();
}

#[test]
fn a_node_that_contradicts_its_own_commitments_is_left_alone_for_long() {
    let lies = [NodeFault::TransactionOmitted, NodeFault::LogOmitted, NodeFault::WrongStatus, NodeFault::WrongValue];
    for lie in lies {
        let world = ten_blocks();
        // A transaction of nothing would stay right with twice its value.
        if lie != NodeFault::WrongValue {
            world.call(1, contracts::DOLLAR, 0, contracts::mint_call(world.player(1).address(), U256::from(5)));
        }
        world.pay(2, HOUSE, 5);
        world.mine();
        let providers = providers(&world, 2);
        world.chain().inject(0, lie, 1);
        let ask = |now| {
            let asked = providers.ask(now, AnswerSource::Node, |node| node.block(BlockTag::Number(11)));
            asked.map(|(block, by)| (block == Some(world.head()), by.name.as_str()))
        };
        // The identity is asked for first, and is true.
        assert_eq!(ask(0), Ok((true, "bob")), "{lie:?}");
        assert_eq!(providers.health()[0].1.last_fault, Some(ProviderFault::Lying), "{lie:?}");
        assert_eq!((ask(4_999), ask(5_000)), (Ok((true, "bob")), Ok((true, "ann"))), "{lie:?}");
    }
}

#[test]
fn one_liar_about_the_chain_is_named_by_one_and_by_two_others() {
    let ours = ten_blocks();
    let theirs = forked(&ours);
    let (ours_8, theirs_8) = (hash_of(&ours, 8), hash_of(&theirs, 8));
    assert_ne!(ours_8, theirs_8);
    let two = disagreeing(&[&ours, &theirs]).agreement(0, 8, ours_8);
    assert_eq!((two.agree.clone(), two.contradict.clone()), (vec!["ann".into()], vec![("bob".into(), theirs_8)]));
    assert!(!two.is_reached(1) && !two.is_reached(2));
    let three = disagreeing(&[&ours, &theirs, &ours]).agreement(0, 8, ours_8);
    assert_eq!(three.agree, ["ann", "cid"]);
    assert_eq!(three.contradict, [("bob".to_owned(), theirs_8)]);
    assert!(!three.is_reached(2), "who contradicts must be judged by a person, or by later blocks");
    // Where both chains are the same, all agree.
    let below = disagreeing(&[&ours, &theirs, &ours]).agreement(0, 5, hash_of(&ours, 5));
    assert!(below.is_reached(3));
    // A provider that is handed back as a liar is not asked any more.
    let providers = disagreeing(&[&ours, &theirs, &ours]);
    providers.note_lie("bob", 0);
    let without = providers.agreement(1, 8, ours_8);
    assert_eq!((without.agree.len(), without.silent.clone()), (2, vec!["bob".to_owned()]));
    assert!(without.is_reached(2) && !without.is_reached(3));
}

#[test]
fn one_that_is_behind_or_answers_half_is_silent_and_no_contradiction() {
    let world = ten_blocks();
    let providers = providers(&world, 3);
    world.chain().lag(1, 5);
    world.chain().crash(2, true);
    let agreement = providers.agreement(0, 8, hash_of(&world, 8));
    assert_eq!(
        (agreement.agree.as_slice(), agreement.silent.as_slice()),
        (&["ann".to_owned()][..], &["cid".to_owned(), "bob".into()][..])
    );
    assert!(agreement.is_reached(1) && !agreement.is_reached(2));
    // The one that is behind is used after the others, and is well.
    world.chain().restart(2);
    providers.compare_heads(1_000);
    assert_eq!(is_well(&providers, 1_000), [true, true, true]);
    assert!(providers.health()[1].1.is_behind);
    world.chain().crash(0, true);
    let answered = providers.ask(1_000, AnswerSource::Node, |node| node.header(BlockTag::Number(3)));
    assert_eq!(answered.unwrap().1.name, "cid");
    world.chain().lag(1, 0);
    providers.compare_heads(2_000);
    assert!(!providers.health()[1].1.is_behind);
}

#[test]
fn half_an_answer_is_not_believed_and_the_other_provider_gives_the_whole() {
    for half in [NodeFault::AnswerCut, NodeFault::ReceiptsDenied, NodeFault::ReceiptDenied, NodeFault::AnswerLost] {
        let world = ten_blocks();
        let providers = providers(&world, 2);
        providers.ask(0, AnswerSource::Node, |node| node.check_identity()).unwrap();
        world.chain().inject(0, half, 1);
        let (block, by) = providers.ask(1, AnswerSource::Node, |node| node.block(BlockTag::Number(10))).unwrap();
        assert_eq!((block, by.name.as_str()), (Some(world.head()), "bob"), "{half:?}");
        assert_eq!(is_well(&providers, 1), [false, true], "{half:?}");
    }
}

#[test]
fn a_block_is_final_at_the_lowest_mark_of_the_required_number() {
    let world = ten_blocks();
    let three = providers(&world, 3);
    world.chain().lag(1, 1);
    world.chain().lag(2, 3);
    let mark = |required| {
        let mark = three.finalized(0, BlockTag::Finalized, required)?;
        assert_eq!(mark.header.hash, hash_of(&world, mark.header.number));
        Some((mark.header.number, mark.agreement.is_reached(required)))
    };
    assert_eq!([0, 1, 2, 3, 4].map(mark), [Some((6, true)), Some((6, true)), Some((5, true)), Some((3, true)), None]);
    assert_eq!(three.finalized(0, BlockTag::Safe, 2).unwrap().header.number, 7);
    // Two are down: their word is missing.
    world.chain().crash(1, true);
    world.chain().crash(2, true);
    assert_eq!(three.finalized(0, BlockTag::Finalized, 2), None);
}

#[test]
fn a_finalized_block_on_another_fork_is_no_agreement() {
    let ours = ten_blocks();
    let theirs = forked(&ours);
    // Both call their own sixth block final.
    for worlds in [[&ours, &theirs], [&theirs, &ours]] {
        let mark = disagreeing(&worlds).finalized(0, BlockTag::Finalized, 2).unwrap();
        assert_eq!((mark.header.number, mark.agreement.is_reached(2)), (6, false));
        assert_eq!(mark.agreement.contradict.len(), 1);
    }
}

#[test]
fn a_word_that_no_header_covers_counts_if_two_say_it() {
    let (ours, theirs) = (ten_blocks(), forked(&ten_blocks()));
    let balance = |providers: &Providers| {
        providers.ask_all(0, AnswerSource::Node, |node| node.balance(HOUSE, BlockTag::Number(10)))
    };
    let same = balance(&disagreeing(&[&ours, &ours]));
    assert_eq!(same.agreed(2), Some(&Quantity::new(U256::from(50))));
    assert_eq!(same.agreed(3), None);
    let different = balance(&disagreeing(&[&ours, &theirs, &ours]));
    assert!(different.is_contradictory());
    assert_eq!(different.agreed(1), None);
    ours.chain().crash(1, true);
    let alone = balance(&disagreeing(&[&ours, &ours]));
    assert_eq!((alone.agreed(1).is_some(), alone.agreed(2), alone.failed.len()), (true, None, 1));
}

#[test]
fn a_contract_can_make_no_provider_look_ill() {
    let world = ten_blocks();
    let providers = providers(&world, 3);
    let call = Call {
        from: world.address(0),
        to: from_simulated(contracts::REFUSING),
        value: Quantity::new(U256::from(5)),
        input: Default::default(),
    };
    for now in 0..10 {
        let estimated = providers.ask(now, AnswerSource::Contract, |node| node.estimate_gas(&call));
        assert!(matches!(estimated, Err(RpcError::Refused(_))), "{estimated:?}");
        // A contract that runs until the node gives up looks like a node that is down.
        world.chain().inject(0, NodeFault::RequestLost, 1);
        world.chain().inject(1, NodeFault::InternalError, 1);
        let answers = providers.ask_all(now, AnswerSource::Contract, |node| {
            node.token_balance(from_simulated(contracts::DOLLAR), HOUSE, BlockTag::Latest)
        });
        assert!(!answers.is_contradictory());
        (0..3).for_each(|node| world.chain().clear_faults(node));
        assert_eq!(is_well(&providers, now), [true; 3]);
    }
    // What is not a contract's doing counts all the same.
    world.chain().inject(0, NodeFault::RequestLost, 1);
    let _ = providers.ask(10, AnswerSource::Contract, |node| node.estimate_gas(&call));
    world.chain().inject(0, NodeFault::OtherChain, 1);
    let _ = providers.ask(10, AnswerSource::Contract, |node| node.estimate_gas(&call));
    assert_eq!(is_well(&providers, 10), [false, true, true]);
}

#[test]
fn what_a_caller_saw_by_itself_can_be_noted() {
    let world = ten_blocks();
    let providers = providers(&world, 2);
    let lie: Result<(), RpcError> = Err(Disagreement::Signature(B256::ZERO).into());
    providers.note_result("ann", 0, AnswerSource::Node, &lie);
    providers.note_result("unknown", 0, AnswerSource::Node, &lie);
    assert_eq!((is_well(&providers, 0), providers.best(0).name.as_str()), (vec![false, true], "bob"));
    providers.note_result("ann", 1, AnswerSource::Node, &Ok(()));
    assert_eq!(is_well(&providers, 4_999), [false, true]);
    assert_eq!(is_well(&providers, 5_000), [true, true]);
}

#[test]
fn a_set_of_providers_has_one_chain_and_different_names() {
    let (world, other) = (ten_blocks(), World::with(SimulatedConfig::new(8)));
    let named = |name: &str, world: &World| Provider { name: name.into(), node: world.node(0) };
    let refused = |list| Providers::new(list, RULES).map(drop).unwrap_err();
    assert_eq!(refused(Vec::new()), InvalidProviders::None);
    assert_eq!(refused(vec![named("a", &world), named("a", &world)]), InvalidProviders::SameName("a".into()));
    assert_eq!(refused(vec![named("a", &world), named("b", &other)]), InvalidProviders::OtherChain("b".into()));
}
