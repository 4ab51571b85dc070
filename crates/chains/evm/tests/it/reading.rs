//! The content of blocks, with every number visible.

use bankroll_chains_evm::{
    Address, B256, BlockTag, Bytes, Call, Disagreement, Fees, InternalTransfer, RpcError, TokenTransfer, TransferLog,
};
use bankroll_chains_evm::{ChainIdentity, FindOutcome, InProcessRpc, Quantity, RpcNode, U256, Unavailable};
use bankroll_chains_simulated::{Fate, Reorg, SimulatedChain, SimulatedConfig, contracts};
use bankroll_money::Amount;

use crate::world::{HOUSE, World, from_simulated};

const fn wei(amount: u64) -> Quantity {
    Quantity::new(U256::from_limbs([amount, 0, 0, 0]))
}

#[test]
fn a_payment_a_failed_payment_and_what_they_cost() {
    let world = World::new();
    let paid = world.pay(0, HOUSE, 5_000);
    let refused = world.call(1, contracts::REFUSING, 700, Bytes::new());
    world.mine();
    let block = world.head();
    assert_eq!((block.header.number, block.transactions.len()), (1, 2));

    let paid = block.transaction(paid).unwrap();
    assert_eq!(paid.native_transfer(), Some((HOUSE, wei(5_000))));
    assert_eq!(paid.sender(), Ok(world.address(0)));
    // The first block's base fee of 1 gwei falls by an eighth after an empty block; the tip is 1 gwei.
    assert_eq!((paid.gas_used, paid.gas_price), (21_000, 875_000_000 + 1_000_000_000));
    assert_eq!(paid.fee().amount(), Ok(Amount::new(21_000 * 1_875_000_000)));

    let refused = block.transaction(refused).unwrap();
    assert_eq!((refused.succeeded, refused.value, refused.native_transfer()), (false, wei(700), None));

    let node = world.node(0);
    assert_eq!(node.balance(HOUSE, BlockTag::Latest), Ok(wei(5_000)));
    assert_eq!(node.balance(HOUSE, BlockTag::Number(0)), Ok(wei(0)));
    assert_eq!(node.balance(HOUSE, BlockTag::Hash(block.header.hash)), Ok(wei(5_000)));
    assert_eq!(node.nonce(world.address(1), BlockTag::Latest), Ok(1), "a failed transaction counts");
}

#[test]
fn token_transfers_have_stable_log_indexes() {
    let world = World::new();
    let player = world.player(0).address();
    world.call(0, contracts::DOLLAR, 0, contracts::mint_call(player, U256::from(1_000)));
    world.call(0, contracts::TAXED, 0, contracts::mint_call(player, U256::from(1_000)));
    world.mine();
    let sent = world.call(0, contracts::DOLLAR, 0, contracts::transfer_call(HOUSE.0.into(), U256::from(400)));
    let taxed = world.call(0, contracts::TAXED, 0, contracts::transfer_call(HOUSE.0.into(), U256::from(1_000)));
    let declined = world.call(0, contracts::DECLINING, 0, contracts::transfer_call(HOUSE.0.into(), U256::from(5)));
    let short = world.call(0, contracts::DOLLAR, 0, contracts::transfer_call(HOUSE.0.into(), U256::from(601)));
    world.mine();
    let block = world.head();
    let reported = |hash| block.transaction(hash).unwrap().transfer_logs().collect::<Vec<_>>();
    let transfer = |contract, value| {
        let (contract, from) = (from_simulated(contract), from_simulated(player));
        TransferLog::Standard(TokenTransfer { ordinal: 0, contract, from, to: HOUSE, value: wei(value) })
    };
    assert_eq!(reported(sent), [transfer(contracts::DOLLAR, 400)]);
    assert_eq!(reported(taxed), [transfer(contracts::TAXED, 1_000)]);
    assert_eq!(reported(declined), []);
    assert_eq!(reported(short), []);
    let succeeded = [sent, taxed, declined, short].map(|hash| block.transaction(hash).unwrap().succeeded);
    assert_eq!(succeeded, [true, true, true, false]);

    // A log is only the contract's claim; the balance shows that the taxed token paid less.
    let node = world.node(0);
    let has = |token| node.token_balance(from_simulated(token), HOUSE, BlockTag::Latest);
    assert_eq!((has(contracts::DOLLAR), has(contracts::TAXED)), (Ok(wei(400)), Ok(wei(900))));
    assert_eq!(has(contracts::DECLINING), Ok(wei(0)));
    assert_eq!(node.token_decimals(from_simulated(contracts::DOLLAR), BlockTag::Latest), Ok(6));
}

#[test]
fn traces_show_transfers_by_contracts() {
    let world = World::new();
    let friend = Address([0xbb; 20]);
    let house = HOUSE.0.into();
    let payees = contracts::split_call(&[house, contracts::REFUSING, friend.0.into(), house]);
    let split = world.call(0, contracts::SPLITTER, 403, payees);
    let failed = world.call(1, contracts::SPLITTER, 50, contracts::split_call(&[]));
    world.pay(2, HOUSE, 9);
    world.mine();
    let block = world.head();
    let inside = |ordinal, to, value| InternalTransfer {
        transaction: split,
        ordinal,
        from: from_simulated(contracts::SPLITTER),
        to,
        value: wei(value),
    };
    // A quarter each, the remainder of three to the first; the refused share did not move.
    let expected = [inside(0, HOUSE, 103), inside(1, friend, 100), inside(2, HOUSE, 100)];
    assert_eq!(world.node(0).internal_transfers(&block), Ok(expected.to_vec()));
    assert!(!block.transaction(failed).unwrap().succeeded);
    assert_eq!(world.chain().balance(house), U256::from(103 + 100 + 9));
    assert_eq!(world.chain().balance(contracts::SPLITTER), U256::from(100));

    // Traces are requested by height, and another block may be there meanwhile.
    world.chain().reorg(Reorg { depth: 1, length: 1, fate: Fate::Kept });
    assert_eq!(world.node(0).internal_transfers(&block), Err(Unavailable::Incomplete("trace").into()));
}

#[test]
fn amounts_beyond_the_ledger_are_kept_and_reported() {
    let mut config = SimulatedConfig::new(7);
    config.funded = vec![(config.funded[0].0, U256::MAX)];
    let world = World::with(config);
    let huge = U256::from(u128::MAX) + U256::from(1);
    let mut payment = world.payment(0, HOUSE, 0);
    payment.value = huge;
    let sent = world.chain().send(&world.player(0).sign(&payment)).unwrap();
    world.mine();
    let block = world.head();
    let (to, value) = block.transaction(sent).unwrap().native_transfer().unwrap();
    assert_eq!((to, value.to_string().as_str()), (HOUSE, "340282366920938463463374607431768211456"));
    let reported = value.amount().unwrap_err().to_string();
    assert_eq!(
        reported,
        "340282366920938463463374607431768211456 is above the largest amount of the ledger (2^128 - 1)"
    );
    assert_eq!(Quantity::from(Amount::MAX).amount(), Ok(Amount::MAX));
}

#[test]
fn safe_and_finalized_follow_the_head_and_a_missing_block_is_none() {
    let mut config = SimulatedConfig::new(7);
    (config.safe_depth, config.finalized_depth) = (2, 4);
    let world = World::with(config);
    world.mine_many(10);
    let node = world.node(0);
    let number = |at| node.header(at).unwrap().map(|header| header.number);
    assert_eq!([BlockTag::Latest, BlockTag::Safe, BlockTag::Finalized].map(number), [Some(10), Some(8), Some(6)]);
    assert_eq!((number(BlockTag::Number(11)), node.block(BlockTag::Number(11))), (None, Ok(None)));
    assert_eq!(node.header(BlockTag::Hash(B256::repeat_byte(0xaa))), Ok(None));

    world.chain().lag(0, 3);
    assert_eq!([BlockTag::Latest, BlockTag::Safe, BlockTag::Finalized].map(number), [Some(7), Some(5), Some(3)]);
    let other = world.node(1);
    assert_eq!(other.header(BlockTag::Latest).unwrap().unwrap().number, 10, "only one node lags");
}

#[test]
fn a_transaction_is_found_where_it_is() {
    let world = World::new();
    let node = world.node(0);
    let raw = world.player(0).sign(&world.payment(0, HOUSE, 1));
    let hash = bankroll_chains_evm::transaction_hash(&raw);
    assert_eq!(node.find(hash), Ok(FindOutcome::Unheard));
    world.chain().send(&raw).unwrap();
    assert_eq!(node.find(hash), Ok(FindOutcome::Waiting));
    let block = world.mine();
    let Ok(FindOutcome::Included(found)) = node.find(hash) else { panic!("it is included") };
    assert_eq!((found.header.hash, found.transaction(hash).unwrap().index), (block, 0));
}

#[test]
fn gas_and_fees() {
    let world = World::new();
    let node = world.node(0);
    assert_eq!(node.fees(), Ok(Fees::Market { base_fee: 875_000_000, tip: 1_000_000_000 }));
    world.chain().set_base_fee(40_000_000_000);
    assert_eq!(node.fees(), Ok(Fees::Market { base_fee: 40_000_000_000, tip: 1_000_000_000 }));
    let call = |to, value, input| Call { from: world.address(0), to, value: wei(value), input };
    assert_eq!(node.estimate_gas(&call(HOUSE, 5, Bytes::new())), Ok(21_000));
    let reverts = node.estimate_gas(&call(from_simulated(contracts::REFUSING), 5, Bytes::new()));
    let Err(RpcError::Refused(refused)) = reverts else { panic!("{reverts:?}") };
    assert_eq!((refused.code, refused.message.as_str()), (3, "execution reverted"));
}

#[test]
fn a_node_of_another_chain_gets_no_requests() {
    let (ours, theirs) = (World::new(), World::with(SimulatedConfig::new(8)));
    theirs.pay(0, HOUSE, 5);
    let ChainIdentity { chain_id, genesis } = ours.identity();
    let wrong = RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(theirs.shared(), 0)), ours.identity());
    let found = theirs.identity().genesis;
    let expected = RpcError::Disagreeing(Disagreement::Genesis { expected: genesis, found });
    assert_eq!(wrong.header(BlockTag::Latest), Err(expected.clone()));
    assert_eq!(wrong.balance(HOUSE, BlockTag::Latest), Err(expected));
    assert_eq!(wrong.discover_identity(), Ok(ChainIdentity { chain_id, genesis: found }));
}
