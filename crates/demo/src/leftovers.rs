//! What an interrupted demo left: stakes in a world without players, and payouts in flight, which the flows continue by
//! themselves.
//!
//! Guarantees: what was in the world is moved out of it, to the wei. Players get back their stakes before the game's
//! budget gets anything. A start that is interrupted while it does this is continued by the next one.

use bankroll_ledger::{AccountKind, Amount};
use bankroll_store::Reader;
use bankroll_terminal::counted;

use super::{
    arena::Arena,
    funds::{BatchMove, GameClient},
    progress::open_payouts,
    stakes::{self, PlayerStake},
};

/// Players who get their stakes back in one call: fits the smallest queue.
const RETURNS_AT_ONCE: usize = 512;

#[derive(Clone, Copy, Debug, Default)]
pub struct Leftovers {
    /// Payouts that are requested and not paid yet.
    pub payouts: u64,
    pub paid_out: Amount,
    /// The amount that was in the world.
    pub swept: Amount,
    /// The players who had stakes in it, and the sum of these.
    pub players: u64,
    pub stakes: Amount,
    /// What these players got back.
    pub returned: Amount,
    /// What the game's budget got back.
    pub to_ecosystem: Amount,
}

impl Leftovers {
    /// Counts the payouts in flight and what is in the world, before any flow continues them.
    pub fn read(reader: &Reader, arena: &Arena) -> anyhow::Result<Self> {
        let (payouts, paid_out) = open_payouts(reader)?;
        let swept = reader.account(arena.world)?.map_or(Amount::ZERO, |account| account.balance);
        Ok(Self { payouts, paid_out, swept, ..Self::default() })
    }

    /// The game server moves what is in the world back to its owners. The tag makes the keys of these moves.
    pub fn return_stakes(
        &mut self,
        reader: &Reader,
        arena: &Arena,
        client: &GameClient,
        tag: &str,
    ) -> anyhow::Result<()> {
        if self.swept.is_zero() {
            return Ok(());
        }
        let staked = stakes::in_world(reader, arena)?;
        let (shares, rest) = stakes::share(self.swept, &staked);
        (self.players, self.stakes) = (staked.len() as u64, stakes::sum(&staked));
        (self.returned, self.to_ecosystem) = (stakes::sum(&shares), rest);
        let world = arena.account(AccountKind::World, None).to_string();
        let returned = |PlayerStake { funds, amount }: PlayerStake| BatchMove {
            key: format!("return/{tag}/{funds}"),
            kind: "transfer",
            from: Some(world.clone()),
            to: Some(funds),
            amount,
        };
        let mut moves: Vec<BatchMove> = shares.into_iter().map(returned).collect();
        if !rest.is_zero() {
            let key = format!("sweep/{tag}");
            moves.push(BatchMove { key, kind: "recycle", from: None, to: None, amount: rest });
        }
        for moves in moves.chunks(RETURNS_AT_ONCE) {
            for outcome in client.batch(moves, &|| {})? {
                outcome.result?;
            }
        }
        Ok(())
    }

    /// What was left, and where it went. Nothing if the last demo ended by itself.
    pub fn lines(&self, money: impl Fn(Amount) -> String) -> Vec<String> {
        if self.payouts == 0 && self.swept.is_zero() {
            return Vec::new();
        }
        let mut lines = vec!["the last demo was interrupted; this one finishes what it left:".to_owned()];
        if self.payouts > 0 {
            let payouts = counted(self.payouts, "payout", "payouts");
            lines.push(format!("  {payouts} of {} in all: paid now", money(self.paid_out)));
        }
        let players = counted(self.players, "player", "players");
        if self.returned < self.stakes {
            lines.push(format!(
                "  {} in its world: back to the {players} who had staked {}, to each in proportion to their stakes, to \
                 the wei",
                money(self.returned),
                money(self.stakes)
            ));
        } else if self.players > 0 {
            lines.push(format!("  {} of stakes in its world: back to {players}, in full", money(self.returned)));
        }
        if !self.to_ecosystem.is_zero() {
            lines.push(format!("  {} of the game's own: back to its budget (ecosystem)", money(self.to_ecosystem)));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(leftovers: &Leftovers, expected: &[&str]) {
        assert_eq!(leftovers.lines(|amount| format!("{amount} wei")), expected);
    }

    #[test]
    fn a_reader_learns_where_the_money_went() {
        let [ten, twelve, two] = [10, 12, 2].map(Amount::new);
        let full = Leftovers {
            swept: twelve,
            players: 5,
            stakes: ten,
            returned: ten,
            to_ecosystem: two,
            ..Leftovers::default()
        };
        let first = "the last demo was interrupted; this one finishes what it left:";
        check(
            &Leftovers { payouts: 1, paid_out: two, ..full },
            &[
                first,
                "  1 payout of 2 wei in all: paid now",
                "  10 wei of stakes in its world: back to 5 players, in full",
                "  2 wei of the game's own: back to its budget (ecosystem)",
            ],
        );
        check(
            &Leftovers { swept: ten, stakes: twelve, returned: ten, players: 1, ..Leftovers::default() },
            &[
                first,
                "  10 wei in its world: back to the 1 player who had staked 12 wei, to each in proportion to their \
                 stakes, to the wei",
            ],
        );
        check(&Leftovers::default(), &[]);
    }
}
