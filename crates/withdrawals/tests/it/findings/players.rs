//! Players who hold up the payouts of others.

use bankroll_ledger::{Amount, Principal, Rejection};
use bankroll_withdrawals::{GasPayer, IntentError, StepResult, WithdrawalRequest};

use super::{pair, run};
use crate::world::{ETHER, GWEI, TRANSFER_GAS, World, home, name};

/// F3: a payout whose fee cap is below the market keeps its nonce, and the next payout waits until it has bytes. The
/// payout should give its nonce back and wait as `pending`, and the others should be paid.
#[test]
fn f3_one_players_fee_cap_holds_up_every_other_payout() {
    let rush = 30 * u64::try_from(GWEI).unwrap();
    for is_capped in [false, true] {
        let mut world = World::new();
        if is_capped {
            // Enough for the price of this moment, and for nothing more.
            let base_fee = u128::from(world.chain().coming_base_fee());
            let cap = Amount::new(TRANSFER_GAS * (base_fee + 3 * GWEI));
            world
                .request(&WithdrawalRequest { gas: GasPayer::Player(cap), ..world.withdrawal("exit-1", home(1), 1) })
                .unwrap();
            world.step_until(|result| matches!(result, StepResult::Reserved { .. }));
        }
        let others = [2, 3, 4, 5].map(|player| world.alice(&format!("exit-{player}"), home(player), ETHER));
        for _ in 0..100 {
            world.chain().set_base_fee(rush);
            run(&mut world, 1);
        }
        let expected = if is_capped { "approved" } else { "completed" };
        assert_eq!(others.map(|other| world.status(&other)), [expected; 4]);
        if is_capped {
            let waiting = [0; 4].map(|_| pair("pending", ""));
            assert_eq!(
                world.jobs()[0],
                pair("reserved", "the chain asks more for gas than chain.max_fee_per_gas or the fee cap of the player")
            );
            assert_eq!(world.jobs()[1..], waiting);
            assert_eq!(world.payments(), []);
        }
    }
}

/// F7: an intent's id is made of server and request id alone, so a player takes the id of the game server's next exit,
/// and the exit is refused for good. The id should name who asks, and the exit should be accepted.
#[test]
fn f7_a_player_takes_the_request_id_of_the_game_servers_exit() {
    let world = World::new();
    let players =
        WithdrawalRequest { principal: Principal::User(name("alice")), ..world.withdrawal("exit-42", home(1), 1) };
    world.request(&players).unwrap();
    let (wallet, account) = (name("bob"), "arena/funds/1/bob".parse().unwrap());
    let exit = WithdrawalRequest { wallet, account, ..world.withdrawal("exit-42", home(2), ETHER) };
    for _ in 0..2 {
        let refused = world.request(&exit);
        assert!(matches!(refused, Err(IntentError::Rejected(Rejection::GuardFailed))), "{refused:?}");
    }
    assert_eq!(world.standing("arena/funds/1/bob"), (5 * ETHER, 0));
    let intents = world.pairs("SELECT request_id AS a, account AS b FROM withdrawal_requests");
    assert_eq!(intents, [pair("exit-42", "arena/funds/1/alice")]);
}

/// F7b: a player files a payout from an account of `arena` under a server that the account does not belong to. The
/// server should be the account's scope, and the request should be refused.
#[test]
fn f7b_a_player_files_a_payout_under_another_server() {
    let world = World::new();
    let principal = Principal::User(name("alice"));
    let intent = WithdrawalRequest { principal, server: name("other"), ..world.withdrawal("exit-7", home(1), ETHER) };
    assert!(world.request(&intent).unwrap().is_approved);
    let intents = world.pairs("SELECT server AS a, account AS b FROM withdrawal_requests");
    assert_eq!(intents, [pair("other", "arena/funds/1/alice")]);
    assert_eq!(world.standing("arena/funds/1/alice"), (10 * ETHER, ETHER));
}
