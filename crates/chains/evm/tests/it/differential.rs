//! Random signed transactions, sent both to anvil and to the simulated chain: balances and costs must be equal on
//! both, to the wei.
//!
//! Both begin with the same base fee. Where they differ is listed here, and nothing else is accepted: hashes of blocks
//! (other producers, times and state roots), the wording of refusals, and what anvil accepts where geth and we refuse:
//! gas below the intrinsic gas, replacements that raise fees by less than a tenth, legacy transactions of other
//! chains.

use std::time::{Duration, Instant};

use bankroll_chains_evm::{Address, Block, BlockTag, Bytes, RpcNode, SendOutcome, U256};
use bankroll_chains_simulated::{SimulatedConfig, SimulatedKey};
use fastrand::Rng;
use serde_json::json;

use crate::{anvil::Anvil, world::World};

const PLAYERS: u64 = 5;

#[test]
fn random_transactions_end_the_same_on_both_chains() {
    let seed = std::env::var("BANKROLL_TEST_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("BANKROLL_TEST_SEED={seed}");
    let soak = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    let (mut random, started) = (Rng::with_seed(seed), Instant::now());
    let mut rounds = 0;
    while rounds < 2 || soak.is_some_and(|soak| started.elapsed() < soak) {
        one_world(&mut random);
        rounds += 1;
    }
    println!("{rounds} worlds");
}

fn one_world(random: &mut Rng) {
    let mut config = SimulatedConfig::new(random.u64(..));
    let coins = U256::from(1_000_000_000_000_000_000_u64);
    config.funded = (0..PLAYERS).map(|number| (SimulatedKey::derived(config.seed, number).address(), coins)).collect();
    let anvil = Anvil::start();
    for (address, coins) in &config.funded {
        anvil.ask("anvil_setBalance", json!([address, coins]));
    }
    let world = World::with(config);
    // anvil's first block has the configured base fee; from then on both follow the rule.
    world.chain().set_base_fee(1_000_000_000);
    let (theirs, ours) = (anvil.node(), world.node(0));
    for _ in 0..8 {
        for _ in 0..random.usize(..12) {
            let raw = transaction(&world, random);
            assert_eq!(taken(theirs.send(&raw)), taken(ours.send(&raw)), "{raw}");
        }
        anvil.mine();
        world.mine();
        compare(&world, &theirs, &ours);
    }
}

/// A payment of any form between players and strangers, mostly sound.
fn transaction(world: &World, random: &mut Rng) -> Bytes {
    let from = random.u64(..PLAYERS);
    let to = match random.u8(..3) {
        0 => Address([random.u8(0x40..0x50); 20]),
        _ => world.address(random.u64(..PLAYERS)),
    };
    let mut payment = world.payment(from, to, 0);
    payment.value = U256::from(random.u64(..1_000_000_000_000_000));
    if random.u8(..4) == 0 {
        let bytes: Vec<u8> = (0..random.usize(1..200)).map(|_| random.u8(..) & random.u8(..) & random.u8(..)).collect();
        payment = payment.calling(bytes.into());
        payment.gas = random.u64(30_000..60_000);
    }
    let tip = random.u64(1..3_000_000_000);
    payment = payment.paying(u128::from(random.u64(2_000_000_000..60_000_000_000).max(tip)), tip.into());
    match random.u8(..20) {
        // A used nonce.
        0 => {
            let used = world.chain().nonce(world.player(from).address()).checked_sub(1);
            payment.nonce = used.unwrap_or(payment.nonce);
        }
        1 => {
            payment.chain_id = 1;
            return world.player(from).sign(&payment);
        }
        2 => payment.value = U256::from(u128::MAX),
        _ => {}
    }
    let key = world.player(from);
    if random.bool() { key.sign(&payment) } else { key.sign_legacy(&payment) }
}

fn taken(sent: SendOutcome) -> &'static str {
    match sent {
        SendOutcome::Accepted => "accepted",
        SendOutcome::AlreadyKnown => "already known",
        SendOutcome::NonceTooLow => "nonce too low",
        SendOutcome::Underpriced(_) => "underpriced",
        SendOutcome::Refused(_) => "refused",
        SendOutcome::Unknown(error) => panic!("{error:?}"),
    }
}

fn compare(world: &World, theirs: &RpcNode, ours: &RpcNode) {
    let block = |node: &RpcNode| node.block(BlockTag::Latest).unwrap().unwrap();
    let (their_block, our_block) = (block(theirs), block(ours));
    assert_eq!(their_block.header.number, our_block.header.number);
    assert_eq!(their_block.header.base_fee, our_block.header.base_fee, "block {}", our_block.header.number);
    assert_eq!(outcomes(&their_block), outcomes(&our_block));
    let people = (0..PLAYERS).map(|number| world.address(number));
    for address in people.chain((0x40..0x50).map(|byte| Address([byte; 20]))) {
        assert_eq!(
            theirs.balance(address, BlockTag::Latest),
            ours.balance(address, BlockTag::Latest),
            "coins of {address}"
        );
        assert_eq!(
            theirs.nonce(address, BlockTag::Latest),
            ours.nonce(address, BlockTag::Latest),
            "nonce of {address}"
        );
        assert_eq!(theirs.pending_nonce(address), ours.pending_nonce(address), "pending nonce of {address}");
    }
}

/// The result of each transaction, by hash, because two producers may order equal tips differently.
fn outcomes(block: &Block) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let reported = |t: &bankroll_chains_evm::Transaction| {
        (t.hash, t.sender().unwrap(), t.succeeded, t.gas_used, t.gas_price, t.native_transfer())
    };
    let mut outcomes: Vec<_> = block.transactions.iter().map(reported).collect();
    outcomes.sort_by_key(|outcome| outcome.0);
    outcomes
}
