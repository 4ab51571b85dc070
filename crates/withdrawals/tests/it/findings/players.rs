//! Players who hold up the payouts of others.

use bankroll_ledger::{Amount, Principal};
use bankroll_withdrawals::{GasPayer, IntentError, InvalidWithdrawal, StepResult, WithdrawalRequest};

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

/// F7: an intent's id was made of server and request id alone, so that a player took the id of the game server's next
/// payout, which was refused for good.
#[test]
fn f7_a_player_cannot_take_the_request_id_of_the_game_server() {
    let mut world = World::new();
    let players =
        WithdrawalRequest { principal: Principal::User(name("alice")), ..world.withdrawal("exit-42", home(1), 1) };
    let alices = world.request(&players).unwrap();
    let (wallet, account) = (name("bob"), "arena/funds/1/bob".parse().unwrap());
    let games = WithdrawalRequest { wallet, account, ..world.withdrawal("exit-42", home(2), ETHER) };
    let bobs = world.request(&games).unwrap();
    assert_eq!(world.request(&games).unwrap(), bobs);
    assert_ne!(alices.id, bobs.id);
    let intents = world.pairs("SELECT asker AS a, request_id AS b FROM withdrawal_requests ORDER BY asker");
    assert_eq!(intents, [pair("player/alice", "exit-42"), pair("server", "exit-42")]);
    world.finish();
    assert_eq!((world.status(&alices.id), world.status(&bobs.id)), ("completed".into(), "completed".into()));
    assert_eq!((world.paid(home(1), 1), world.paid(home(2), ETHER)), (1, 1));
    world.audit_at_rest();
}

/// F7b: a player filed a payout from an account of `arena` under a server that the account does not belong to, past
/// whatever hangs on the server.
#[test]
fn f7b_a_payout_is_filed_under_the_server_of_its_account() {
    let world = World::new();
    let principal = Principal::User(name("alice"));
    let intent = WithdrawalRequest { principal, server: name("other"), ..world.withdrawal("exit-7", home(1), ETHER) };
    let refused = world.request(&intent);
    assert!(matches!(refused, Err(IntentError::Invalid(InvalidWithdrawal::OtherServer))), "{refused:?}");
    assert_eq!(world.pairs("SELECT server AS a, account AS b FROM withdrawal_requests"), []);
    assert_eq!(world.standing("arena/funds/1/alice"), (10 * ETHER, 0));
}
