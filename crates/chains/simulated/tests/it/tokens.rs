//! The zoo of tokens: what is logged, and what really moves.

use bankroll_chains_simulated::{
    Address, B256, Bytes, Payment, SYSTEM, SimulatedChain, SimulatedConfig, U256,
    contracts::{self, TokenManner, batch_call, mint_call, transfer_call, transfer_from_call},
};
use serde_json::{Value, json};

use crate::world::{HOUSE, SEED, answer, ask, chain, mine, pay, player, send};

fn wei(number: u64) -> U256 {
    U256::from(number)
}

/// One call of a token by player 0, in a block of its own: whether it succeeded, and its logs.
fn call(chain: &mut SimulatedChain, to: Address, input: Bytes) -> (bool, Value) {
    let nonce = chain.nonce(player(0).address());
    let hash = send(chain, 0, &Payment { to: Some(to), ..pay(nonce, 0).calling(input) }).unwrap();
    mine(chain);
    let mut receipt = ask(chain, "eth_getTransactionReceipt", json!([hash]));
    (receipt["status"] == "0x1", receipt["logs"].take())
}

fn minted(token: Address) -> SimulatedChain {
    let mut chain = chain();
    let mint = mint_call(player(0).address(), wei(5_000));
    assert!(call(&mut chain, token, mint).0);
    chain
}

/// Transfers 1,000 to the house: how many logs, topics and bytes of data, and what arrives.
fn check(token: Address, logs: &[(usize, usize)], arrives: u64) {
    let mut chain = minted(token);
    let (succeeded, shown) = call(&mut chain, token, transfer_call(HOUSE, wei(1_000)));
    let form = |log: &Value| (log["topics"].as_array().unwrap().len(), (log["data"].as_str().unwrap().len() - 2) / 2);
    assert!(succeeded);
    assert_eq!(shown.as_array().unwrap().iter().map(form).collect::<Vec<_>>(), logs, "{token}");
    assert_eq!(chain.token_balance(token, HOUSE), wei(arrives), "{token}");
    // The node says the same about the balance, at this block and at the one before.
    let held = |chain: &mut SimulatedChain, number: u64| {
        let (hash, input) = (chain.block(number).unwrap().hash, format!("0x70a08231{:0>64}", &HOUSE.to_string()[2..]));
        ask(chain, "eth_call", json!([{ "to": token, "input": input }, { "blockHash": hash }]))
    };
    let head = chain.head().number();
    let answered = [held(&mut chain, head), held(&mut chain, head - 1)];
    assert_eq!(answered, [json!(B256::from(wei(arrives))), json!(B256::ZERO)], "{token}");
}

#[test]
fn what_tokens_log_and_what_they_move() {
    check(contracts::EURO, &[(3, 32)], 1_000);
    check(contracts::LOOKALIKE, &[(3, 32)], 1_000);
    check(contracts::MANAGED, &[(3, 32)], 1_000);
    check(contracts::DECLINING, &[], 0);
    check(contracts::BOASTING, &[(3, 32)], 0);
    check(contracts::SILENT, &[], 1_000);
    check(contracts::TAXED, &[(3, 32)], 900);
    check(contracts::REBASING, &[(3, 32)], 1_000);
    check(contracts::COLLECTIBLE, &[(4, 0)], 1);
    check(contracts::UNINDEXED, &[(1, 96)], 1_000);
}

#[test]
fn a_rebasing_token_changes_balances_without_a_transfer() {
    let mut chain = minted(contracts::REBASING);
    call(&mut chain, contracts::REBASING, transfer_call(HOUSE, wei(1_000)));
    let rebased = call(&mut chain, contracts::REBASING, contracts::rebase_call(900_000));
    assert_eq!((rebased, chain.token_balance(contracts::REBASING, HOUSE)), ((true, json!([])), wei(900)));
}

#[test]
fn strangers_move_nothing_from_anyone_and_more_only_with_an_allowance() {
    let mut chain = minted(contracts::EURO);
    let (us, them) = (player(0).address(), player(1).address());
    let (succeeded, logs) = call(&mut chain, contracts::EURO, transfer_from_call(them, HOUSE, U256::ZERO));
    assert!(succeeded);
    assert_eq!(logs[0]["topics"][1], json!(them.into_word()));
    assert_eq!(logs[0]["data"], json!(B256::ZERO));
    assert!(!call(&mut chain, contracts::EURO, transfer_from_call(them, HOUSE, wei(1))).0);
    assert!(!call(&mut chain, contracts::EURO, transfer_from_call(us, HOUSE, wei(1))).0);
    call(&mut chain, contracts::EURO, contracts::approve_call(us, wei(5)));
    assert!(call(&mut chain, contracts::EURO, transfer_from_call(us, HOUSE, wei(4))).0);
    assert!(!call(&mut chain, contracts::EURO, transfer_from_call(us, HOUSE, wei(2))).0);
    assert_eq!(chain.token_balance(contracts::EURO, HOUSE), wei(4));
}

#[test]
fn one_transaction_pays_several_times_and_twice_the_same() {
    let mut chain = chain();
    call(&mut chain, contracts::EURO, mint_call(contracts::SCRIPT, wei(100)));
    let payments = [(HOUSE, wei(7)), (player(1).address(), wei(9)), (HOUSE, wei(7))];
    let (succeeded, logs) = call(&mut chain, contracts::SCRIPT, batch_call(contracts::EURO, &payments));
    assert!(succeeded);
    let amounts: Vec<&Value> = logs.as_array().unwrap().iter().map(|log| &log["data"]).collect();
    assert_eq!(amounts, [&json!(B256::from(wei(7))), &json!(B256::from(wei(9))), &json!(B256::from(wei(7)))]);
    assert_eq!(chain.token_balance(contracts::EURO, HOUSE), wei(14));
    // One payment that cannot be made takes the others with it.
    let (succeeded, logs) =
        call(&mut chain, contracts::SCRIPT, batch_call(contracts::EURO, &[(HOUSE, wei(1)), (HOUSE, wei(99))]));
    assert_eq!((succeeded, logs), (false, json!([])));
    assert_eq!(chain.token_balance(contracts::EURO, HOUSE), wei(14));
}

#[test]
fn a_managed_token_stops_addresses_and_everyone() {
    let mut chain = minted(contracts::MANAGED);
    let mut paid = |commands: &[Bytes]| {
        for command in commands {
            assert!(call(&mut chain, contracts::MANAGED, command.clone()).0);
        }
        call(&mut chain, contracts::MANAGED, transfer_call(HOUSE, wei(1))).0
    };
    assert!(paid(&[]));
    assert!(!paid(&[contracts::pause_call(true)]));
    assert!(paid(&[contracts::pause_call(false)]));
    assert!(!paid(&[contracts::block_call(HOUSE, true)]));
    assert!(paid(&[contracts::block_call(HOUSE, false)]));
    assert!(!paid(&[contracts::block_call(player(0).address(), true)]));
}

#[test]
fn a_token_changes_its_mind_at_a_height_and_its_decimals_on_command() {
    let mut chain = minted(contracts::MANAGED);
    let from = chain.head().number() + 3;
    call(&mut chain, contracts::MANAGED, contracts::set_manner_call(TokenManner::Boasting, from));
    let transfer = transfer_call(HOUSE, wei(10));
    let mut next = || {
        let (succeeded, logs) = call(&mut chain, contracts::MANAGED, transfer.clone());
        (succeeded, logs.as_array().unwrap().len(), chain.token_balance(contracts::MANAGED, HOUSE))
    };
    assert_eq!([next(), next()], [(true, 1, wei(10)), (true, 1, wei(10))]);
    let decimals = |chain: &mut SimulatedChain, at: u64| {
        let hash = chain.block(at).unwrap().hash;
        ask(chain, "eth_call", json!([{ "to": contracts::MANAGED, "input": "0x313ce567" }, { "blockHash": hash }]))
    };
    let before = chain.head().number();
    call(&mut chain, contracts::MANAGED, contracts::set_decimals_call(18));
    assert_eq!(decimals(&mut chain, before), json!(B256::from(wei(6))));
    assert_eq!(decimals(&mut chain, before + 1), json!(B256::from(wei(18))));
}

#[test]
fn the_system_address_logs_moves_of_coins_since_a_height() {
    let mut config = SimulatedConfig::new(SEED);
    config.transfer_logs_from = Some(2);
    let mut chain = SimulatedChain::new(config);
    let logs_of = |chain: &mut SimulatedChain, nonce: u64| {
        let split = contracts::split_call(&[HOUSE, contracts::REFUSING]);
        let payment = Payment { to: Some(contracts::SPLITTER), ..pay(nonce, 10).calling(split) };
        let hash = send(chain, 0, &payment).unwrap();
        mine(chain);
        ask(chain, "eth_getTransactionReceipt", json!([hash]))["logs"].take()
    };
    assert_eq!(logs_of(&mut chain, 0), json!([]));
    let logs = logs_of(&mut chain, 1);
    // The transaction's own coins and the share that was accepted.
    let shown: Vec<_> = logs.as_array().unwrap().iter().map(|log| (&log["topics"][2], &log["data"])).collect();
    let expected = [
        (json!(contracts::SPLITTER.into_word()), json!(B256::from(wei(10)))),
        (json!(HOUSE.into_word()), json!(B256::from(wei(5)))),
    ];
    assert_eq!(shown, expected.iter().map(|(to, value)| (to, value)).collect::<Vec<_>>());
    assert_eq!(logs[0]["address"], json!(SYSTEM));
    // Before that height its logs are what anyone makes it say.
    let (succeeded, logs) = call(&mut self::chain(), SYSTEM, transfer_call(HOUSE, wei(77)));
    assert!(succeeded);
    assert_eq!((&logs[0]["address"], &logs[0]["data"]), (&json!(SYSTEM), &json!(B256::from(wei(77)))));
}

#[test]
fn contracts_answer_an_estimate_and_fail_the_block() {
    let mut chain = chain();
    let fickle = json!([{ "from": player(0).address(), "to": contracts::FICKLE, "value": "0x5" }]);
    assert_eq!(ask(&mut chain, "eth_estimateGas", fickle), format!("{:#x}", 21_000 + 2_300));
    send(&mut chain, 0, &Payment { to: Some(contracts::FICKLE), gas: 60_000, ..pay(0, 5) }).unwrap();
    mine(&mut chain);
    let paid = &chain.head().transactions[0];
    assert_eq!((paid.succeeded(), paid.gas_used, chain.balance(contracts::FICKLE)), (false, 60_000, U256::ZERO));

    let moody = json!([{ "from": player(0).address(), "to": contracts::MOODY, "value": "0x5" }]);
    assert_eq!(ask(&mut chain, "eth_estimateGas", moody.clone()), format!("{:#x}", 21_000 + 2_300));
    assert!(call(&mut chain, contracts::MOODY, contracts::switch_call(false)).0);
    assert_eq!(answer(&mut chain, "eth_estimateGas", moody.clone())["error"]["message"], "execution reverted");
    assert!(call(&mut chain, contracts::MOODY, contracts::switch_call(true)).0);
    assert!(answer(&mut chain, "eth_estimateGas", moody)["error"].is_null());
}
