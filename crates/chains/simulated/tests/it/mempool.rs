//! What the mempool accepts, refuses and replaces, with geth's texts.

use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedConfig, U256, contracts};

use crate::world::{HOUSE, chain, mine, pay, player, send};

const GWEI: u128 = 1_000_000_000;

#[test]
fn refusals_have_the_texts_that_clients_parse() {
    let mut chain = chain();
    let first = send(&mut chain, 0, &pay(0, 1)).unwrap();
    let mut check = |payment: Payment, expected: &str| assert_eq!(send(&mut chain, 0, &payment), Err(expected.into()));
    check(pay(0, 1), "already known");
    check(pay(0, 2), "replacement transaction underpriced");
    check(Payment { chain_id: 5, ..pay(1, 1) }, "invalid chain id for signer: have 5 want 1337");
    check(Payment { to: None, ..pay(1, 1) }, "contract creation is not supported by this chain");
    check(Payment { gas: 20_999, ..pay(1, 1) }, "intrinsic gas too low: gas 20999, minimum needed 21000");
    check(Payment { gas: 30_000_001, ..pay(1, 1) }, "exceeds block gas limit");
    check(pay(1, 1).paying(GWEI, 0), "transaction underpriced: gas tip cap 0, minimum needed 1");
    check(
        pay(1, 1).paying(1, 2),
        "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: 2, maxFeePerGas: 1",
    );
    check(
        Payment { value: U256::from(10_u8).pow(U256::from(25)), ..pay(1, 1) },
        "insufficient funds for gas * price + value: balance 1000000000000000000000000, \
         queued cost 2100000000000001, tx cost 10000000002100000000000000",
    );
    mine(&mut chain);
    assert!(chain.find(first).is_some());
    assert_eq!(send(&mut chain, 0, &pay(0, 1)), Err("nonce too low: next nonce 1, tx nonce 0".into()));
}

#[test]
fn malformed_transactions_are_refused() {
    let mut chain = chain();
    let mut check = |raw: &[u8], expected: &str| {
        let reported = chain.send(raw).unwrap_err().to_string();
        assert!(reported.starts_with(expected), "{reported}");
    };
    check(&[], "rlp: ");
    check(&[0x02], "rlp: ");
    check(&[0x02, 0xc0], "rlp: ");
    check(&[0x03, 0xc0], "transaction type not supported");
    check(&[0x7e, 0xc0], "transaction type not supported");
    check(&[0xc0], "rlp: ");
    let sound = player(0).sign(&pay(0, 1));
    check(&[&sound[..], &[0]].concat(), "rlp: ");
    // A valid transaction with one byte changed is refused, or has another sender without coins.
    for place in 0..sound.len() {
        let mut other = sound.to_vec();
        other[place] ^= 1;
        assert!(chain.send(&other).is_err(), "byte {place}");
    }
    assert_eq!(chain.waiting_count(), 0);
}

#[test]
fn a_gap_waits_until_it_is_filled() {
    let mut chain = chain();
    let late = send(&mut chain, 0, &pay(1, 2)).unwrap();
    mine(&mut chain);
    assert!(chain.waiting(late).is_some());
    let early = send(&mut chain, 0, &pay(0, 1)).unwrap();
    mine(&mut chain);
    let places = [early, late].map(|hash| chain.find(hash).map(|(block, index)| (block.number(), index)));
    assert_eq!(places, [Some((2, 0)), Some((2, 1))]);
}

#[test]
fn higher_tips_come_first_and_too_low_fees_wait() {
    let mut chain = chain();
    let low = send(&mut chain, 0, &pay(0, 1).paying(100 * GWEI, GWEI)).unwrap();
    let high = send(&mut chain, 1, &pay(0, 1).paying(100 * GWEI, 3 * GWEI)).unwrap();
    let capped = send(&mut chain, 2, &pay(0, 1).paying(GWEI / 2, GWEI / 2)).unwrap();
    let middle = player(3).sign_legacy(&pay(0, 1).paying(2_875_000_000, 0));
    let middle = chain.send(&middle).unwrap();
    mine(&mut chain);
    // The base fee is 0.875 gwei; the legacy transaction's tip is what its price leaves: 2 gwei.
    let order: Vec<_> = chain.head().transactions.iter().map(|included| included.transaction.hash).collect();
    assert_eq!(order, [high, middle, low]);
    assert!(chain.waiting(capped).is_some());
}

#[test]
fn a_full_block_leaves_the_rest_for_the_next() {
    let mut config = SimulatedConfig::new(7);
    config.gas_limit = 50_000;
    let mut chain = SimulatedChain::new(config);
    for nonce in 0..5 {
        send(&mut chain, 0, &pay(nonce, 1)).unwrap();
    }
    let counts: Vec<usize> = (0..3)
        .map(|_| {
            mine(&mut chain);
            chain.head().transactions.len()
        })
        .collect();
    assert_eq!(counts, [2, 2, 1]);
}

#[test]
fn a_full_pool_accepts_only_replacements() {
    let mut config = SimulatedConfig::new(7);
    config.pool_limit = 2;
    let mut chain = SimulatedChain::new(config);
    send(&mut chain, 0, &pay(0, 1)).unwrap();
    send(&mut chain, 1, &pay(0, 1)).unwrap();
    assert_eq!(send(&mut chain, 2, &pay(0, 1)), Err("txpool is full".into()));
    // A replacement does not grow the pool.
    send(&mut chain, 1, &pay(0, 1).paying(110 * GWEI, 2 * GWEI)).unwrap();
}

#[test]
fn a_failed_call_pays_for_its_gas_and_moves_nothing() {
    let mut chain = chain();
    let before = chain.balance(player(0).address());
    let call = Payment { to: Some(contracts::REFUSING), gas: 100_000, ..pay(0, 500) };
    send(&mut chain, 0, &call).unwrap();
    let mut starved = pay(1, 0).calling(contracts::transfer_call(HOUSE, U256::ZERO));
    (starved.to, starved.gas) = (Some(contracts::DOLLAR), 25_000);
    send(&mut chain, 0, &starved).unwrap();
    mine(&mut chain);
    let reported: Vec<_> = chain.head().transactions.iter().map(|t| (t.succeeded(), t.gas_used)).collect();
    // The second ran out of gas and used all it had.
    assert_eq!(reported, [(false, 21_200), (false, 25_000)]);
    let price = U256::from(875_000_000_u64 + 1_000_000_000);
    assert_eq!(chain.balance(player(0).address()), before - price * U256::from(21_200 + 25_000));
    assert_eq!(chain.balance(contracts::REFUSING), U256::ZERO);
}
