//! A spawn and a payout want the same money: one of them gets it.

use std::{sync::Barrier, thread};

use serde_json::json;

use super::{
    caller::{Caller, Reply},
    casino::{ALICE_HAS, Casino},
    rounds,
    wallet::Wallet,
};

/// The price of a place, and all that Alice has available before each round.
const PRICE: u64 = 100;

/// Both at once: the answers to the spawn and to the payout.
fn race(arena: &Caller, alice: &Caller, wallet: &Wallet, round: u64) -> (Reply, Reply) {
    let key = format!("round-{round}");
    let start = Barrier::new(2);
    // With 1 for gas on top, the payout needs all of it, too.
    let (spawn, payout) = (json!({ "player": wallet.address() }), wallet.payout(&key, PRICE - 1));
    thread::scope(|scope| {
        let spawned = scope.spawn(|| {
            start.wait();
            arena.arena("spawns", &key, &spawn)
        });
        start.wait();
        let paid = alice.post("/v1/me/withdrawals", &key, &payout);
        (spawned.join().unwrap(), paid)
    })
}

#[test]
fn of_a_spawn_and_a_payout_for_the_same_money_exactly_one_wins() {
    let casino = Casino::open();
    let (arena, wallet) = (&casino.arena, Wallet::of("alice"));
    let (alice, funds) = (wallet.sign_in(arena), wallet.funds());
    let rest = json!({ "account": funds, "amount": (ALICE_HAS - PRICE).to_string() });
    arena.arena("withdraw", "all but the price", &rest).expect(200);
    let (mut spawns, mut payouts) = (0, 0);
    for round in rounds(24) {
        assert_eq!(arena.balance(&funds), (PRICE * (payouts + 1), PRICE), "round {round}");
        let (spawned, paid) = race(arena, &alice, &wallet, round);
        let loser = match (spawned.status, paid.status) {
            (200, 422) => {
                spawns += 1;
                assert_eq!(arena.balance(&funds).1, 0, "the price is held");
                let spawn = spawned.json()["spawn"].as_str().unwrap().to_owned();
                arena.arena(&format!("spawns/{spawn}/release"), &format!("release-{round}"), &json!({})).expect(200);
                paid
            }
            (422, 200) => {
                payouts += 1;
                assert_eq!(arena.balance(&funds), (PRICE * payouts, 0), "the payout holds it");
                let more = json!({ "account": funds, "amount": PRICE.to_string() });
                arena.arena("deposit", &format!("refill-{round}"), &more).expect(200);
                spawned
            }
            _ => panic!("round {round}: {spawned:?} {paid:?}"),
        };
        assert_eq!(loser.code(), "insufficient_funds");
    }
    println!("{spawns} spawns and {payouts} payouts won");
    casino.close();
}
