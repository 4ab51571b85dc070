//! Traces of every kind of call, in both forms, against what really moved.

use std::collections::BTreeMap;

use bankroll_chains_simulated::{
    Address, Payment, SimulatedChain, U256,
    contracts::{self, ScriptStep, script_call, split_call},
};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::world::{HOUSE, answer, ask, chain, mine, pay, player, send};

const W: Address = HOUSE;

fn wei(number: u64) -> U256 {
    U256::from(number)
}

/// Runs a script in a block of its own, with coins.
fn run(chain: &mut SimulatedChain, value: u64, steps: &[ScriptStep]) {
    let nonce = chain.nonce(player(0).address());
    let payment =
        Payment { to: Some(contracts::SCRIPT), gas: 2_000_000, ..pay(nonce, value).calling(script_call(steps)) };
    send(chain, 0, &payment).unwrap();
    mine(chain);
}

/// The calls of the head: path, kind, receiver, value and error, as `trace_block` has them.
fn flat(chain: &mut SimulatedChain) -> Vec<String> {
    let traces = ask(chain, "trace_block", json!(["latest"]));
    let line = |call: &Value| {
        let action = &call["action"];
        let kind = action["callType"].as_str().or(call["type"].as_str()).unwrap();
        let to = [&action["to"], &action["refundAddress"], &call["result"]["address"]];
        let to = to.iter().find_map(|to| to.as_str()).unwrap_or("-").to_owned();
        let value = [&action["value"], &action["balance"]].iter().find_map(|value| value.as_str()).unwrap().to_owned();
        let error = call["error"].as_str().unwrap_or("");
        format!("{} {kind} {} {value} {error}", call["traceAddress"], name(&to)).trim().to_owned()
    };
    traces.as_array().unwrap().iter().map(line).collect()
}

fn name(address: &str) -> String {
    let known: Address = address.parse().unwrap_or_default();
    match known {
        W => "W".into(),
        contracts::SCRIPT => "script".into(),
        _ => address.to_owned(),
    }
}

/// The same from `callTracer`, its paths counted here.
fn nested(chain: &mut SimulatedChain) -> Vec<String> {
    let hash = chain.head().hash;
    let traces = ask(chain, "debug_traceBlockByHash", json!([hash, { "tracer": "callTracer" }]));
    let mut lines = Vec::new();
    for traced in traces.as_array().unwrap() {
        walk(&traced["result"], Vec::new(), &mut lines);
    }
    lines
}

fn walk(call: &Value, path: Vec<usize>, lines: &mut Vec<String>) {
    let kind = call["type"].as_str().unwrap().to_lowercase().replace("selfdestruct", "suicide");
    let (to, value) = (call["to"].as_str().unwrap_or("-"), call["value"].as_str().unwrap());
    let error = match call["error"].as_str() {
        Some("execution reverted") => "Reverted",
        Some("out of gas") => "Out of gas",
        Some("insufficient balance for transfer") => "Insufficient balance for transfer",
        Some(other) => panic!("{other}"),
        None => "",
    };
    lines.push(format!("{} {kind} {} {value} {error}", json!(path), name(to)).trim().to_owned());
    for (place, inner) in call["calls"].as_array().into_iter().flatten().enumerate() {
        walk(inner, [&path[..], &[place]].concat(), lines);
    }
}

/// Runs steps with 100 wei, and checks both traces, the status, and what W got.
fn check(steps: &[ScriptStep], expected: &[&str], succeeds: bool, got: u64) {
    let mut chain = chain();
    run(&mut chain, 100, steps);
    assert_eq!(flat(&mut chain), expected);
    assert_eq!(nested(&mut chain), expected);
    assert_eq!((chain.head().transactions[0].succeeded(), chain.balance(W)), (succeeds, wei(got)), "{expected:?}");
}

#[test]
fn two_equal_sends_to_one_address_are_two_calls() {
    let send = ScriptStep::Send { to: W, value: wei(5) };
    let expected = ["[] call script 0x64", "[0] call W 0x5", "[1] call W 0x5"];
    check(&[send.clone(), send], &expected, true, 10);
    let mut chain = chain();
    let split = Payment { to: Some(contracts::SPLITTER), ..pay(0, 10).calling(split_call(&[W, W])) };
    send_one(&mut chain, &split);
    assert_eq!((chain.balance(W), flat(&mut chain).len()), (wei(10), 3));
}

fn send_one(chain: &mut SimulatedChain, payment: &Payment) {
    send(chain, 0, payment).unwrap();
    mine(chain);
}

#[test]
fn a_caught_failure_marks_the_call_and_not_what_it_called() {
    let steps = [
        ScriptStep::Try { steps: vec![ScriptStep::Send { to: W, value: wei(5) }, ScriptStep::Revert] },
        ScriptStep::Send { to: W, value: wei(7) },
    ];
    let expected = ["[] call script 0x64", "[0] call script 0x0 Reverted", "[0,0] call W 0x5", "[1] call W 0x7"];
    check(&steps, &expected, true, 7);
}

#[test]
fn a_failure_after_a_send_fails_the_transaction() {
    let send = ScriptStep::Send { to: W, value: wei(5) };
    let reverted = ["[] call script 0x64 Reverted", "[0] call W 0x5"];
    check(&[send.clone(), ScriptStep::Revert], &reverted, false, 0);
    let burnt = ["[] call script 0x64 Out of gas", "[0] call W 0x5"];
    check(&[send, ScriptStep::BurnGas], &burnt, false, 0);
}

#[test]
fn code_of_another_account_moves_nothing() {
    let steps = [ScriptStep::CallCode { to: W, value: wei(9) }, ScriptStep::DelegateCall { to: W }];
    let expected = ["[] call script 0x64", "[0] callcode W 0x9", "[1] delegatecall W 0x64"];
    check(&steps, &expected, true, 0);
}

#[test]
fn a_contract_that_destroys_itself_sends_all_it_has() {
    let steps = [ScriptStep::Send { to: W, value: wei(1) }, ScriptStep::SelfDestruct { to: W }, ScriptStep::Revert];
    let expected = ["[] call script 0x64", "[0] call W 0x1", "[1] suicide W 0x63"];
    check(&steps, &expected, true, 100);
}

#[test]
fn a_new_contract_gets_coins_and_a_failed_one_does_not() {
    let inner = vec![ScriptStep::Send { to: W, value: wei(2) }];
    let failing = ScriptStep::Create { value: wei(4), steps: vec![ScriptStep::Revert] };
    let steps = [ScriptStep::Create { value: wei(6), steps: inner }, failing];
    let made = contracts::SCRIPT.create(1);
    let shown = format!("[0] create {made:#x} 0x6");
    let expected = ["[] call script 0x64", &shown, "[0,0] call W 0x2", "[1] create - 0x4 Reverted"];
    check(&steps, &expected, true, 2);
    let mut chain = chain();
    run(&mut chain, 100, &steps);
    assert_eq!((chain.balance(made), chain.balance(contracts::SCRIPT)), (wei(4), wei(94)));
}

#[test]
fn a_send_without_coins_fails_alone() {
    let steps = [ScriptStep::Send { to: W, value: wei(101) }, ScriptStep::Send { to: W, value: wei(1) }];
    let expected = ["[] call script 0x64", "[0] call W 0x65 Insufficient balance for transfer", "[1] call W 0x1"];
    check(&steps, &expected, true, 1);
}

#[test]
fn calls_nest_a_thousand_deep_in_both_forms() {
    let mut chain = chain();
    let deepest = |depth| [ScriptStep::Nest { depth, steps: vec![ScriptStep::Send { to: W, value: wei(3) }] }];
    run(&mut chain, 100, &deepest(1_023));
    let flat = ask(&mut chain, "trace_block", json!(["latest"]));
    let last = flat.as_array().unwrap().last().unwrap().clone();
    assert_eq!((flat.as_array().unwrap().len(), last["traceAddress"].as_array().unwrap().len()), (1_025, 1_024));
    assert_eq!((&last["action"]["to"], &last["action"]["value"]), (&json!(W), &json!("0x3")));
    assert_eq!(chain.balance(W), wei(3));
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "debug_traceBlockByHash",
        "params": [chain.head().hash, { "tracer": "callTracer" }] });
    let text = match chain.answer(0, request.to_string().as_bytes()) {
        bankroll_chains_simulated::RpcReply::Body(body) => String::from_utf8(body).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!((text.matches(r#""calls":["#).count(), text.matches(r#""type":"CALL""#).count()), (1_024, 1_025));
    assert_eq!(text.matches(['{', '[']).count(), text.matches(['}', ']']).count());
    // One call more is too many, and takes its block of calls with it.
    run(&mut chain, 0, &deepest(1_100));
    assert_eq!((chain.head().transactions[0].succeeded(), chain.balance(W)), (false, wei(3)));
}

#[test]
fn the_two_forms_count_precompiled_contracts_differently() {
    let mut chain = chain();
    let identity = Address::with_last_byte(4);
    let call = ScriptStep::Call { to: identity, value: U256::ZERO, input: Default::default() };
    run(&mut chain, 100, &[call, ScriptStep::Send { to: W, value: wei(5) }]);
    assert_eq!(flat(&mut chain), ["[] call script 0x64", "[0] call W 0x5"]);
    let shown = format!("[0] call {identity:#x} 0x0");
    assert_eq!(nested(&mut chain), ["[] call script 0x64", &shown, "[1] call W 0x5"]);
}

#[test]
fn a_forwarded_deposit_comes_from_the_contract() {
    let mut chain = chain();
    run(&mut chain, 8, &[ScriptStep::Send { to: W, value: wei(8) }]);
    let traces = ask(&mut chain, "trace_block", json!(["latest"]));
    let senders = [&traces[0]["action"]["from"], &traces[1]["action"]["from"]];
    assert_eq!(senders, [&json!(player(0).address()), &json!(contracts::SCRIPT)]);
}

#[test]
fn any_bytes_are_run_or_refused() {
    let mut random = Rng::with_seed(11);
    let mut chain = chain();
    for _ in 0..300 {
        let mut input = script_call(&random_steps(&mut random, 0)).to_vec();
        let place = random.usize(..input.len());
        input[place] ^= random.u8(..);
        input.truncate(random.usize(4..=input.len()));
        let call = json!([{ "to": contracts::SCRIPT, "input": alloy_hex(&input) }, "latest"]);
        let reported = answer(&mut chain, "eth_call", call);
        assert!(reported["result"].is_string() || reported["error"]["code"].is_i64(), "{reported}");
    }
}

fn alloy_hex(bytes: &[u8]) -> String {
    bankroll_chains_simulated::Bytes::copy_from_slice(bytes).to_string()
}

fn random_steps(random: &mut Rng, depth: usize) -> Vec<ScriptStep> {
    (0..random.usize(..5)).map(|_| random_step(random, depth)).collect()
}

fn random_step(random: &mut Rng, depth: usize) -> ScriptStep {
    let to = [W, player(1).address(), contracts::REFUSING, contracts::SCRIPT, Address::with_last_byte(2)];
    let (to, value) = (to[random.usize(..to.len())], wei(random.u64(..40)));
    match random.u8(..if depth < 4 { 12 } else { 7 }) {
        0..3 => ScriptStep::Send { to, value },
        3 => ScriptStep::CallCode { to, value },
        4 => ScriptStep::DelegateCall { to },
        5 => ScriptStep::SelfDestruct { to },
        6 => [ScriptStep::Revert, ScriptStep::BurnGas][random.usize(..2)].clone(),
        7 | 8 => ScriptStep::Try { steps: random_steps(random, depth + 1) },
        9 => ScriptStep::Nest { depth: random.u16(..4), steps: random_steps(random, depth + 1) },
        10 => ScriptStep::Create { value, steps: random_steps(random, depth + 1) },
        _ => {
            let input = script_call(&random_steps(random, depth + 1));
            ScriptStep::Call { to: contracts::SCRIPT, value, input }
        }
    }
}

/// An independent reader of both forms: a call counts unless it or one above it has an error.
#[test]
fn the_transfers_of_both_traces_are_the_changes_of_the_balances() {
    let seed = std::env::var("BANKROLL_TEST_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("BANKROLL_TEST_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let mut chain = chain();
    for _ in 0..60 {
        run(&mut chain, random.u64(..200), &random_steps(&mut random, 0));
        let (flat, nested) = (moves_of(&flat(&mut chain)), moves_of(&nested(&mut chain)));
        assert_eq!(flat, nested);
        let number = chain.head().number();
        let delta = chain.balance(W) - chain.balance_at(W, number - 1);
        let traced: U256 = flat.iter().filter(|(to, _)| to == "W").map(|(_, value)| *value).sum();
        assert_eq!(traced, delta);
        let mut real = BTreeMap::<String, U256>::new();
        chain.head().transactions[0]
            .coin_moves()
            .for_each(|frame| *real.entry(name(&format!("{:#x}", frame.to))).or_default() += frame.value);
        let mut shown = BTreeMap::<String, U256>::new();
        flat.into_iter().for_each(|(to, value)| *shown.entry(to).or_default() += value);
        assert_eq!(shown, real);
    }
}

fn moves_of(lines: &[String]) -> Vec<(String, U256)> {
    let mut failed: Vec<Vec<usize>> = Vec::new();
    let mut moves = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let path: Vec<usize> = serde_json::from_str(words[0]).unwrap();
        if words.len() > 4 {
            failed.push(path.clone());
        }
        let value = U256::from_str_radix(&words[3][2..], 16).unwrap();
        let counts = !failed.iter().any(|above| path.starts_with(above)) && !value.is_zero();
        if counts && matches!(words[1], "call" | "create" | "suicide") {
            moves.push((words[2].to_owned(), value));
        }
    }
    moves
}
