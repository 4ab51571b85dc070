//! Chains that were stored by earlier versions come out the same.

use bankroll_chains_simulated::{Address, Fate, Payment, Reorg, U256, contracts};

use crate::world::{HOUSE, chain, mine, pay, player, send};

fn call(nonce: u64, to: Address, wei: u64, input: bankroll_chains_simulated::Bytes) -> Payment {
    Payment { to: Some(to), ..pay(nonce, wei).calling(input) }
}

/// Every built-in contract of the first version: what worked, what failed, and what ran out of gas.
#[test]
fn the_first_contracts_give_the_hashes_that_they_always_gave() {
    let mut chain = chain();
    let amount = U256::from(1_000);
    let (us, them) = (player(0).address(), player(1).address());
    let mint = contracts::mint_call(us, amount);
    let tokens = [contracts::DOLLAR, contracts::TAXED, contracts::DECLINING];
    let mut nonce = 0;
    for token in tokens {
        for input in [
            mint.clone(),
            contracts::transfer_call(them, U256::from(300)),
            contracts::transfer_call(us, U256::from(7)),
            contracts::transfer_call(HOUSE, U256::MAX),
            contracts::transfer_call(Address::ZERO, U256::ZERO),
            "0x095ea7b3".parse().unwrap(),
        ] {
            send(&mut chain, 0, &call(nonce, token, 0, input)).unwrap();
            nonce += 1;
        }
        mine(&mut chain);
    }
    let payees = [HOUSE, HOUSE, contracts::REFUSING, contracts::DOLLAR, contracts::SPLITTER, them, us];
    let splits = [
        call(nonce, contracts::SPLITTER, 1_001, contracts::split_call(&payees)),
        call(nonce + 1, contracts::SPLITTER, 0, contracts::split_call(&payees)),
        call(nonce + 2, contracts::SPLITTER, 5, contracts::split_call(&[])),
        call(nonce + 3, contracts::REFUSING, 5, contracts::split_call(&[])),
        Payment { gas: 40_000, ..call(nonce + 4, contracts::SPLITTER, 5, contracts::split_call(&payees)) },
        Payment { gas: 40_000, ..call(nonce + 5, contracts::DOLLAR, 0, contracts::transfer_call(them, amount)) },
        Payment { gas: 60_000, ..call(nonce + 6, contracts::DOLLAR, 3, contracts::transfer_call(them, amount)) },
        pay(nonce + 7, 12),
    ];
    for payment in &splits {
        send(&mut chain, 0, payment).unwrap();
    }
    mine(&mut chain);
    chain.reorg(Reorg { depth: 2, length: 3, fate: Fate::Reordered });
    mine(&mut chain);
    let hash = chain.head().hash.to_string();
    assert_eq!(
        (chain.head().number(), hash.as_str()),
        (6, "0x916d452c970643ff2107c51608676eb5b35b70b3af137aa6234ff36b32075d98")
    );
}
