//! What a demo that was killed left behind: payouts set aside and not settled, and value in a world that nobody plays in.

use bankroll_ledger::{Account, Amount, Kind, Leg, References, Request, Role};
use bankroll_store::{AccountFilter, Ledger, Reader};

use super::{
    arena::{Arena, ROOMS},
    tally::add,
};

/// Accounts read, and requests sent, at a time.
const PAGE: usize = 1_024;

/// What was found and set right.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leftovers {
    pub payouts: u64,
    pub paid_out: Amount,
    pub swept: Amount,
}

/// Settles open payouts, and recycles what is in the world: the game that knew whose it was is gone.
pub fn settle(ledger: &Ledger, reader: &Reader, arena: &Arena) -> anyhow::Result<Leftovers> {
    let mut found = Leftovers::default();
    let scope = Some(arena.server.to_string());
    let mut filter = AccountFilter { scope, kind: Some(Kind::Funds), non_zero: true, ..AccountFilter::default() };
    loop {
        let accounts = reader.accounts(&filter, PAGE)?;
        let Some(last) = accounts.last() else { break };
        filter.after = Some(last.id);
        let payouts = open_payouts(reader, arena, &accounts, &mut found)?;
        send(ledger, payouts)?;
    }
    let world = reader.account(arena.world)?.map_or(Amount::ZERO, |account| account.balance);
    if !world.is_zero() {
        found.swept = world;
        let leg = Leg::Move { from: arena.world, to: arena.ecosystem, amount: world };
        send(ledger, vec![arena.of_server(format!("sweep/{}", arena.run), vec![leg], References::default())])?;
    }
    Ok(found)
}

fn open_payouts(
    reader: &Reader,
    arena: &Arena,
    accounts: &[Account],
    found: &mut Leftovers,
) -> anyhow::Result<Vec<Request>> {
    let mut payouts = Vec::new();
    for account in accounts.iter().filter(|account| !account.held.is_zero()) {
        for hold in reader.open_holds(account.id)?.into_iter().filter(|hold| hold.settler == Role::System) {
            found.payouts += 1;
            add(&mut found.paid_out, hold.remaining);
            // A room that no player is in.
            payouts.push(arena.payout(hold.id, hold.remaining, ROOMS as usize, found.payouts));
        }
    }
    Ok(payouts)
}

fn send(ledger: &Ledger, requests: Vec<Request>) -> anyhow::Result<()> {
    if requests.is_empty() {
        return Ok(());
    }
    for answer in ledger.submit(requests)?.wait()? {
        answer.effects()?;
    }
    Ok(())
}
