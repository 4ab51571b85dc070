//! Play: what a wallet put into a game, took out of it, and moved elsewhere. Pure.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_ledger::{AccountKind, AccountName, Amount, AssetId, Time};
use bankroll_terminal::{Assets, thousands, when};

use crate::journal::MoneyDirection;

/// Other accounts that a summary names; more of them are counted.
const OTHERS_NAMED: usize = 3;

/// One move of the wallet's money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    pub at: Time,
    pub asset: AssetId,
    pub amount: Amount,
    pub what: PlayKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlayKind {
    /// Into the books.
    PaidIn,
    /// Out of the books.
    PaidOut,
    /// Into the world of this server.
    Entered(String),
    /// Out of the world of this server.
    Left(String),
    /// To another account.
    Sent(String),
    /// From another account.
    Received(String),
    /// Between two accounts of the wallet.
    Own(String),
}

impl Play {
    /// The move as this wallet sees it; `None` if it touches no account of the wallet.
    pub fn new(
        at: Time,
        amount: Amount,
        direction: MoneyDirection,
        (first, second): (&AccountName, &AccountName),
        is_own: impl Fn(&AccountName) -> bool,
    ) -> Option<Self> {
        let server = |name: &AccountName| name.scope.to_string();
        let what = match (direction, is_own(first), is_own(second)) {
            (_, false, false) => return None,
            (MoneyDirection::Move, true, true) => PlayKind::Own(format!("from {} to {}", first.kind, second.kind)),
            (MoneyDirection::Move, true, false) if second.kind == AccountKind::World => {
                PlayKind::Entered(server(second))
            }
            (MoneyDirection::Move, false, true) if first.kind == AccountKind::World => PlayKind::Left(server(first)),
            (MoneyDirection::Move, true, false) => PlayKind::Sent(second.to_string()),
            (MoneyDirection::Move, false, true) => PlayKind::Received(first.to_string()),
            (MoneyDirection::In, true, _) if second.kind == AccountKind::Custody => PlayKind::PaidIn,
            (MoneyDirection::Out, true, _) if second.kind == AccountKind::Custody => PlayKind::PaidOut,
            (MoneyDirection::In, is_first, _) => {
                PlayKind::Received(if is_first { second.to_string() } else { first.to_string() })
            }
            (MoneyDirection::Out, is_first, _) => {
                PlayKind::Sent(if is_first { second.to_string() } else { first.to_string() })
            }
        };
        Some(Self { at, asset: first.asset, amount, what })
    }
}

/// What a wallet has at stake in each world since it last left it.
#[derive(Debug, Default)]
pub struct Stakes(BTreeMap<(String, AssetId), Amount>);

impl Stakes {
    /// The play in words, with what was won or lost if it is known.
    pub fn words(&mut self, play: &Play, assets: &Assets) -> String {
        let coins = |amount| assets.with_symbol(play.asset, amount);
        let amount = coins(play.amount);
        match &play.what {
            PlayKind::Entered(server) => {
                self.enter(server, play);
                format!("entered {server} with {amount}")
            }
            PlayKind::Left(server) => {
                let stake = self.0.remove(&(server.clone(), play.asset));
                let result = stake.map_or_else(String::new, |stake| result_words(stake, play.amount, coins));
                format!("left {server} with {amount}{result}")
            }
            PlayKind::PaidIn => format!("paid {amount} (credited)"),
            PlayKind::PaidOut => format!("was paid {amount}"),
            PlayKind::Sent(other) => format!("moved {amount} to {other}"),
            PlayKind::Received(other) => format!("received {amount} from {other}"),
            PlayKind::Own(words) => format!("moved {amount} {words}"),
        }
    }

    fn enter(&mut self, server: &str, play: &Play) {
        let stake = self.0.entry((server.to_owned(), play.asset)).or_insert(Amount::ZERO);
        *stake = stake.checked_add(play.amount).unwrap_or(play.amount);
    }

    /// A long stretch of play in a few words: what went each way, in all.
    pub fn summary(&mut self, plays: &[Play], assets: &Assets) -> Vec<String> {
        for play in plays {
            // The stakes go on after the stretch.
            self.words(play, assets);
        }
        let until = plays.last().map_or_else(String::new, |play| when::seconds(play.at));
        let mut lines = vec![format!("{} moves until {until}, in all:", thousands(plays.len() as u64))];
        for ((what, asset), PlaySum { count, amount }) in sums(plays) {
            let amount =
                amount.map_or_else(|| "more than the ledger can count".into(), |sum| assets.with_symbol(asset, sum));
            let times = if count == 1 { "once".to_owned() } else { format!("{} times", thousands(count)) };
            lines.push(match what {
                PlayKind::PaidIn => format!("  paid {amount}, {times}"),
                PlayKind::PaidOut => format!("  was paid {amount}, {times}"),
                PlayKind::Entered(server) => format!("  entered {server} {times} with {amount}"),
                PlayKind::Left(server) => format!("  left {server} {times} with {amount}"),
                PlayKind::Sent(other) => format!("  moved {amount} to {other}, {times}"),
                PlayKind::Received(other) => format!("  received {amount} from {other}, {times}"),
                PlayKind::Own(words) => format!("  moved {amount} {words}, {times}"),
            });
        }
        lines
    }
}

/// How often, and how much in all; `None` if it is more than 128 bits.
struct PlaySum {
    count: u64,
    amount: Option<Amount>,
}

/// The plays by kind and asset. Many other accounts are one line.
fn sums(plays: &[Play]) -> BTreeMap<(PlayKind, AssetId), PlaySum> {
    let others = |is: fn(&PlayKind) -> bool| {
        let all: BTreeSet<&PlayKind> = plays.iter().map(|play| &play.what).filter(|what| is(what)).collect();
        all.len()
    };
    let sent_to = others(|what| matches!(what, PlayKind::Sent(_)));
    let received_from = others(|what| matches!(what, PlayKind::Received(_)));
    let mut sums = BTreeMap::new();
    for play in plays {
        let what = match &play.what {
            PlayKind::Sent(_) if sent_to > OTHERS_NAMED => PlayKind::Sent(format!("{sent_to} accounts")),
            PlayKind::Received(_) if received_from > OTHERS_NAMED => {
                PlayKind::Received(format!("{received_from} accounts"))
            }
            what => what.clone(),
        };
        let sum = sums.entry((what, play.asset)).or_insert(PlaySum { count: 0, amount: Some(Amount::ZERO) });
        sum.count += 1;
        sum.amount = sum.amount.and_then(|amount| amount.checked_add(play.amount));
    }
    sums
}

fn result_words(stake: Amount, left: Amount, coins: impl Fn(Amount) -> String) -> String {
    match (left.checked_sub(stake), stake.checked_sub(left)) {
        (Some(won), _) if !won.is_zero() => format!(" (won {})", coins(won)),
        (_, Some(lost)) if !lost.is_zero() => format!(" (lost {})", coins(lost)),
        _ => " (neither won nor lost)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assets() -> Assets {
        let unit = bankroll_ledger::Unit::Native;
        let asset =
            bankroll_ledger::Asset { chain: "eip155:1".parse().unwrap(), unit, decimals: 2, symbol: "X".into() };
        Assets::new([(AssetId(1), asset)])
    }

    fn play(amount: u128, what: PlayKind) -> Play {
        Play { at: Time(0), asset: AssetId(1), amount: Amount::new(amount), what }
    }

    #[test]
    fn leaving_says_what_was_won_or_lost_since_entering() {
        let (assets, mut stakes) = (assets(), Stakes::default());
        let mut check = |amount, what: PlayKind, expected: &str| {
            assert_eq!(stakes.words(&play(amount, what), &assets), expected);
        };
        let (entered, left) = (PlayKind::Entered("arena".into()), PlayKind::Left("arena".into()));
        check(100, entered.clone(), "entered arena with 1 X");
        check(130, left.clone(), "left arena with 1.3 X (won 0.3 X)");
        check(100, entered.clone(), "entered arena with 1 X");
        // Eaten, and back again.
        check(100, entered, "entered arena with 1 X");
        check(150, left.clone(), "left arena with 1.5 X (lost 0.5 X)");
        check(10, left, "left arena with 0.1 X");
    }

    #[test]
    fn a_long_stretch_is_summed_up() {
        let plays: Vec<Play> = (0..1_000)
            .flat_map(|_| [play(100, PlayKind::Entered("arena".into())), play(90, PlayKind::Left("arena".into()))])
            .collect();
        let expected = [
            "2,000 moves until 1970-01-01 00:00:00, in all:",
            "  entered arena 1,000 times with 1000 X",
            "  left arena 1,000 times with 900 X",
        ];
        assert_eq!(Stakes::default().summary(&plays, &assets()), expected);
    }

    #[test]
    fn many_other_accounts_are_counted_and_few_are_named() {
        let from = |count: u64| {
            let plays = (0..count * 2).map(|n| play(10, PlayKind::Received(format!("arena/funds/1/p{}", n % count))));
            Stakes::default().summary(&plays.collect::<Vec<_>>(), &assets())
        };
        assert_eq!(from(5)[1..], ["  received 1 X from 5 accounts, 10 times"]);
        let named =
            ["  received 0.2 X from arena/funds/1/p0, 2 times", "  received 0.2 X from arena/funds/1/p1, 2 times"];
        assert_eq!(from(2)[1..], named);
    }
}
