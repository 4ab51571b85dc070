//! The role `books`, while this process holds the ledger: credits final deposits, reverses orphaned ones, and
//! settles the outcomes of payouts.

use std::time::Duration;

use anyhow::Context;
use bankroll_deposits::{
    BookedDeposit, BookingOutcome, CreditError, PlayerStanding,
    crediting::{self, CreditRules},
};
use bankroll_ledger::{Name, Principal, Time};
use bankroll_registry::player_exclusion;
use bankroll_store::{Clock, InboxConsumer, Ledger, Reader, Rows};
use bankroll_terminal::Assets;
use bankroll_withdrawals::settlement;

use super::{
    FlowSetup, StopFlag, deposit_log,
    pace::{LoopRound, rounds},
};
use crate::{
    log::NodeLog,
    registry::{BooksView, SeedOutcome, read_error, seed_registry},
};

/// At most this many deposits are booked, or rows of the inbox settled, in one round.
const ROWS_MAX: usize = 256;
/// The pause after a round without work.
const REST: Duration = Duration::from_millis(10);

/// How many rows fit into half of the queue: a request with a fact needs as many permits as seventeen without.
pub fn rows_max(queue_max: usize) -> usize {
    ROWS_MAX.min(queue_max / 34).max(1)
}

/// Credits and reverses the deposits of all chains until a stop is requested.
pub fn credit(chains: &[FlowSetup], ledger: &Ledger, most: usize, log: &NodeLog, stop: &StopFlag) {
    let clock = Clock::machine();
    let standing = move |reader: &Reader, player: &Name| standing_of(reader, player, clock.now());
    let mut open = None::<(Rows, BooksView, Assets)>;
    let poll = chains.iter().map(|setup| setup.poll).min().map_or(REST, |poll| poll.min(REST));
    rounds("crediting", poll, log, stop, |_| {
        let (rows, mut view, mut assets) = match open.take() {
            Some(open) => open,
            None => (Rows::open(ledger)?, BooksView::default(), Assets::none()),
        };
        view.update(rows.reader())?;
        let rules = CreditRules { servers: &view.servers, watch: &view.watch, standing: &standing };
        let booked = crediting::step(&rules, ledger, &rows, most)?;
        if !booked.is_idle() {
            assets = Assets::new(rows.reader().assets()?);
        }
        for setup in chains {
            let log = log.of_chain(setup.chain(), chains.len() > 1);
            let booked = of_chain(&booked, setup.chain());
            deposit_log::write_booked(&log, &assets, &booked);
            deposit_log::write_unproven(&log, &booked);
        }
        open = Some((rows, view, assets));
        if booked.has_booked() {
            return Ok(LoopRound::Busy);
        }
        Ok(booked.refused.first().map_or(LoopRound::Idle, |(id, why)| {
            LoopRound::Waits(format!("the ledger refuses deposit {id}: {why}; see `bankroll explain {id}`"))
        }))
    });
}

/// Whether a player has excluded themselves, as the registry says now.
fn standing_of(reader: &Reader, player: &Name, now: Time) -> Result<PlayerStanding, CreditError> {
    let found = player_exclusion(reader, player, now).map_err(|error| match read_error(error) {
        Ok(store) => CreditError::from(store),
        Err(bad) => bad.into(),
    })?;
    Ok(found.map_or_else(PlayerStanding::default, |(is_excluded, fact)| PlayerStanding {
        is_excluded,
        is_current: Some(fact),
    }))
}

/// The deposits of one chain.
fn of_chain(booked: &BookingOutcome, chain: &Name) -> BookingOutcome {
    let prefix = format!("{chain}:");
    let of = |deposits: &[BookedDeposit]| {
        deposits.iter().filter(|deposit| deposit.id.as_str().starts_with(&prefix)).cloned().collect()
    };
    BookingOutcome {
        credited: of(&booked.credited),
        suspended: of(&booked.suspended),
        reversed: of(&booked.reversed),
        refused: Vec::new(),
        unproven: booked.unproven.iter().filter(|(id, _)| id.as_str().starts_with(&prefix)).cloned().collect(),
    }
}

/// Writes what must be in the books before a flow or the Funds API begins: the coin of each chain, the account of its
/// fees, and its first entries in the registry. What is there already stays. A chain that cannot be entered is logged,
/// and its flows wait; the other chains go on.
///
/// # Errors
/// If the ledger has no answer, or the registry cannot be read.
pub fn prepare_books(chains: &[FlowSetup], ledger: &Ledger, log: &NodeLog) -> anyhow::Result<()> {
    let rows = Rows::open(ledger)?;
    for setup in chains {
        // The coin is listed before anything is credited in it; listing it again changes nothing.
        let asset = ledger.list_asset(setup.coin.clone()).context("the chain's coin cannot be added to the ledger")?;
        // Settlement needs it, and another node that requests a payout may not open it.
        let opened = ledger.open_accounts(&Principal::System, vec![setup.network_fees(asset)])?;
        opened.into_iter().collect::<Result<Vec<_>, _>>()?;
        if let SeedOutcome::Refused(why) = seed_registry(ledger, rows.reader(), setup, asset, log)? {
            let sentence = format!("{} is not followed: {why}", setup.chain());
            log.of_chain(setup.chain(), false).write("chain_not_prepared", &sentence, &[]);
        }
    }
    Ok(())
}

/// Settles until a stop is requested.
pub fn settle(ledger: &Ledger, most: usize, log: &NodeLog, stop: &StopFlag) {
    let (clock, mut open) = (Clock::machine(), None::<InboxConsumer>);
    rounds("settling", REST, log, stop, |_| {
        let mut consumer = match open.take() {
            Some(consumer) => consumer,
            None => settlement::consumer(ledger.location(), most)?,
        };
        let round = consumer.round(ledger, clock.now())?;
        open = Some(consumer);
        if round.refused > 0 {
            let sentence = format!("{} outcomes of payouts were refused; each row says why", round.refused);
            log.write("refused_rows", &sentence, &[("rows", round.refused.into())]);
        }
        Ok(if round.rows() > 0 { LoopRound::Busy } else { LoopRound::Idle })
    });
}
