//! What a killed demo left: money in a world without players, and payouts in flight, which the flows continue by
//! themselves.

use bankroll_ledger::{Amount, Leg};
use bankroll_store::{Ledger, Reader};

use super::{arena::Arena, progress::open_payouts};

#[derive(Clone, Copy, Debug, Default)]
pub struct Leftovers {
    /// Payouts that are requested and not paid yet.
    pub payouts: u64,
    pub paid_out: Amount,
    /// The amount that was in the world.
    pub swept: Amount,
}

/// Counts the payouts in flight, and recycles the money in the world: only the killed game knew its owners.
pub fn settle(ledger: &Ledger, reader: &Reader, arena: &Arena) -> anyhow::Result<Leftovers> {
    let (payouts, paid_out) = open_payouts(reader)?;
    let swept = reader.account(arena.world)?.map_or(Amount::ZERO, |account| account.balance);
    if !swept.is_zero() {
        let leg = Leg::Move { from: arena.world, to: arena.ecosystem, amount: swept };
        ledger.apply(arena.of_server(format!("sweep/{}", arena.run), vec![leg]))?.effects()?;
    }
    Ok(Leftovers { payouts, paid_out, swept })
}
