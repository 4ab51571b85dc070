//! What a demo that was killed left behind: value in a world that nobody plays in, and payouts on their way, which the flows
//! go on with by themselves.

use bankroll_ledger::{Amount, Leg};
use bankroll_store::{Ledger, Reader};

use super::{arena::Arena, progress::open_payouts};

#[derive(Clone, Copy, Debug, Default)]
pub struct Leftovers {
    /// Payouts that are wanted and not paid yet.
    pub payouts: u64,
    pub paid_out: Amount,
    /// What was in the world.
    pub swept: Amount,
}

/// Counts what is on its way, and recycles what is in the world: the game that knew whose it was is gone.
pub fn settle(ledger: &Ledger, reader: &Reader, arena: &Arena) -> anyhow::Result<Leftovers> {
    let (payouts, paid_out) = open_payouts(reader)?;
    let swept = reader.account(arena.world)?.map_or(Amount::ZERO, |account| account.balance);
    if !swept.is_zero() {
        let leg = Leg::Move { from: arena.world, to: arena.ecosystem, amount: swept };
        ledger.apply(arena.of_server(format!("sweep/{}", arena.run), vec![leg]))?.effects()?;
    }
    Ok(Leftovers { payouts, paid_out, swept })
}
