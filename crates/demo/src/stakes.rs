//! Whose stakes are in the world of an interrupted demo, and what each player gets back.
//!
//! The books know who put a stake into the world and who has left it since. They do not know who ate whom: only the
//! game knew. So every player who has not left gets their stakes back: in full if the world holds that much, else the
//! same share each, to the wei. What the world holds beyond the stakes came from the game's budget.

use std::{
    thread,
    time::{Duration, Instant},
};

use bankroll_chains_simulated::U256;
use bankroll_ledger::{AccountId, AccountKind, Amount};
use bankroll_store::{AccountFilter, Direction, Reader, StatementChange, StatementQuery};

use super::{
    arena::Arena,
    tally::{add, take},
};

/// Entries of a statement read at a time; a player has few.
const PAGE: usize = 100;
/// How long the statement index may stand still before statements are read without it, which is slower.
const INDEX_PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(20);

/// An amount that a player has in the world, or gets back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerStake {
    /// The name of the player's account.
    pub funds: String,
    pub amount: Amount,
}

/// The stakes of the players of the last run who have not left the world, in the order of their accounts.
pub fn in_world(reader: &Reader, arena: &Arena) -> anyhow::Result<Vec<PlayerStake>> {
    wait_for_index(reader)?;
    let filter = AccountFilter { kind: Some(AccountKind::Funds), ..AccountFilter::default() };
    let (mut last_run, mut stakes) = (None, Vec::new());
    for account in reader.accounts(&filter, usize::MAX)?.into_iter().rev() {
        let Some((run, amount)) = stake_of(reader, arena.world, account.id)? else { continue };
        // Each run has players of its own, so the accounts of the last one are the newest.
        if *last_run.get_or_insert(run) != run {
            break;
        }
        if !amount.is_zero() {
            stakes.push(PlayerStake { funds: account.name.to_string(), amount });
        }
    }
    stakes.reverse();
    Ok(stakes)
}

/// The run in which a player was in the world, and what they have put into it since they last left it.
fn stake_of(reader: &Reader, world: AccountId, funds: AccountId) -> anyhow::Result<Option<(u64, Amount)>> {
    let mut query = StatementQuery { descending: true, most: PAGE, ..StatementQuery::of(funds) };
    let (mut run, mut amount, mut has_left) = (None, Amount::ZERO, false);
    loop {
        let page = reader.statement(&query)?;
        for line in &page.items {
            match line.change {
                StatementChange::Moved { direction: Direction::In, other } if other == world => has_left = true,
                StatementChange::Moved { direction: Direction::Out, other } if other == world => {
                    run = run.or(line.key.as_ref().and_then(|key| run_of(&key.text)));
                    if !has_left {
                        add(&mut amount, line.amount);
                    }
                }
                _ => {}
            }
        }
        match page.next {
            Some(next) if !(has_left && run.is_some()) => query.after = Some(next),
            _ => return Ok(run.map(|run| (run, amount))),
        }
    }
}

/// The run in the key of a move: see `Arena::call`. The service puts its own word in front.
fn run_of(key: &str) -> Option<u64> {
    key.strip_prefix("key/")?.split_once('-')?.0.parse().ok()
}

/// What each player gets back of what the world holds, and the rest, which is the game's.
pub fn share(world: Amount, stakes: &[PlayerStake]) -> (Vec<PlayerStake>, Amount) {
    let all = sum(stakes);
    if let Some(rest) = world.checked_sub(all) {
        return (stakes.to_vec(), rest);
    }
    let part = |stake: Amount| {
        let part = U256::from(stake.units()) * U256::from(world.units()) / U256::from(all.units());
        Amount::new(u128::try_from(part).expect("a part is less than the whole"))
    };
    let mut shares: Vec<PlayerStake> =
        stakes.iter().map(|stake| PlayerStake { amount: part(stake.amount), funds: stake.funds.clone() }).collect();
    // Rounding down leaves fewer wei than there are players: the first of them get one more each.
    let mut left = world;
    take(&mut left, sum(&shares));
    for share in &mut shares {
        let one = left.min(Amount::new(1));
        take(&mut left, one);
        add(&mut share.amount, one);
    }
    shares.retain(|share| !share.amount.is_zero());
    (shares, left)
}

pub fn sum(stakes: &[PlayerStake]) -> Amount {
    let mut all = Amount::ZERO;
    stakes.iter().for_each(|stake| add(&mut all, stake.amount));
    all
}

/// Waits until the index covers the journal: without it, each statement would scan the rest of the journal.
fn wait_for_index(reader: &Reader) -> anyhow::Result<()> {
    let mut last = (None, Instant::now());
    loop {
        let state = reader.index_state()?;
        if last.0 != Some(state.covered) {
            last = (Some(state.covered), Instant::now());
        }
        if state.covered >= state.last || last.1.elapsed() >= INDEX_PATIENCE {
            return Ok(());
        }
        thread::sleep(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(world: u128, stakes: &[u128], shares: &[u128], rest: u128) {
        let stake = |amount: &u128| PlayerStake { funds: "arena/funds/1/0xab".into(), amount: Amount::new(*amount) };
        let stakes: Vec<PlayerStake> = stakes.iter().map(stake).collect();
        let (given, left) = share(Amount::new(world), &stakes);
        let given: Vec<u128> = given.iter().map(|share| share.amount.units()).collect();
        assert_eq!((given, left.units()), (shares.to_vec(), rest));
    }

    #[test]
    fn stakes_come_back_in_full_if_the_world_holds_them_and_the_rest_is_the_games() {
        check(35, &[10, 10, 10], &[10, 10, 10], 5);
        check(30, &[10, 20], &[10, 20], 0);
        check(7, &[], &[], 7);
    }

    #[test]
    fn a_world_that_holds_less_is_shared_in_proportion_to_the_wei() {
        check(20, &[10, 10, 10], &[7, 7, 6], 0);
        check(9, &[10, 20], &[3, 6], 0);
        check(2, &[10, 10, 10], &[1, 1], 0);
        check(1, &[1, 1_000_000], &[1], 0);
    }

    #[test]
    fn large_amounts_do_not_overflow() {
        let coin = 1_000_000_000_000_000_000;
        check(1_000_000 * coin, &[1_500_000 * coin, 500_000 * coin], &[750_000 * coin, 250_000 * coin], 0);
    }

    #[test]
    fn the_run_is_read_from_a_key() {
        assert_eq!(run_of("key/218-3-000000017"), Some(218));
        assert_eq!(run_of("key/return/218/arena/funds/1/0xab"), None);
    }
}
