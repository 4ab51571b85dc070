//! The loop of the role `books`, one for each chain: a round after each change, and not more often than the pause.

use std::time::Duration;

use bankroll_chains_evm::Providers;
use bankroll_deposits::{follower::BlockPoint, outgoing};
use bankroll_ledger::{Name, Seq, Time};
use bankroll_store::{Clock, Ledger, Reader, Rows};
use bankroll_withdrawals::views;

use super::{books_side, chain_side::reconcile_at, rows};
use crate::{
    flows::{
        FlowSetup, StopFlag,
        pace::{LoopRound, rounds},
    },
    log::NodeLog,
};

/// Between two looks at whether something changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Between two comparisons, in microseconds. A difference that was seen once is looked at again at once.
const COMPARE_EVERY: u64 = 30 * 1_000_000;
/// The same on a development chain, whose blocks cost nothing.
const COMPARE_OFTEN: u64 = 2 * 1_000_000;
/// At most so many of our own transactions are matched with their payouts in one write.
const MATCHED_MAX: usize = 1_000;

/// Compares until a stop is requested.
pub(crate) fn watch(setup: &FlowSetup, ledger: &Ledger, log: &NodeLog, stop: &StopFlag) {
    let mut watch = Watch { setup, clock: Clock::machine(), open: None, last: None };
    rounds("reconciliation", LOOK_EVERY, log, stop, |_| watch.round(ledger));
}

struct Watch<'a> {
    setup: &'a FlowSetup,
    clock: Clock,
    open: Option<(Rows, Providers)>,
    /// What was compared last, when, and whether it left something open.
    last: Option<(BlockPoint, Seq, Time, bool)>,
}

impl Watch<'_> {
    fn round(&mut self, ledger: &Ledger) -> anyhow::Result<LoopRound> {
        let (rows, providers) = match self.open.take() {
            Some(open) => open,
            None => (Rows::open(ledger)?, self.setup.providers()?),
        };
        let now = self.clock.now();
        match_makers(&rows, self.setup.chain())?;
        let done = if self.is_due(rows.reader(), now)? { self.compare(&rows, &providers, now)? } else { None };
        self.open = Some((rows, providers));
        Ok(done.map_or(LoopRound::Idle, LoopRound::Waits))
    }

    fn is_due(&self, reader: &Reader, now: Time) -> anyhow::Result<bool> {
        let Some((cursor, head, at, is_open)) = &self.last else { return Ok(true) };
        let pause = if self.setup.profile.is_development { COMPARE_OFTEN } else { COMPARE_EVERY };
        let has_changed = books_side::position(reader, self.setup.chain())? != Some((*cursor, *head));
        Ok(*is_open || (has_changed && now.0.saturating_sub(at.0) >= pause))
    }

    /// Returns what could not be compared.
    fn compare(&mut self, rows: &Rows, providers: &Providers, now: Time) -> anyhow::Result<Option<String>> {
        let chain = self.setup.chain();
        let (done, trouble) = round(rows, providers, chain, now)?;
        self.last = done.map(|(books, is_open)| (books.cursor, books.head, now, is_open));
        Ok(trouble)
    }
}

/// Notes which payout made each of our transactions.
pub(super) fn match_makers(rows: &Rows, chain: &Name) -> anyhow::Result<()> {
    let without = outgoing::without_maker(rows.reader(), Some(chain), MATCHED_MAX)?;
    let hashes: Vec<String> = without.iter().map(|sent| sent.tx_hash.clone()).collect();
    let mut makers = views::makers_of(rows.reader(), chain.as_str(), &hashes)?;
    let found = without.into_iter().filter_map(|sent| {
        let maker = makers.remove(&sent.tx_hash)?;
        Some((sent, maker))
    });
    let found: Vec<_> = found.collect();
    if !found.is_empty() {
        rows.write(outgoing::note_makers(&found))?;
    }
    Ok(())
}

/// One comparison, written to the rows. Returns where it was made and whether a difference waits for its second
/// round; and what could not be compared.
pub(super) type RoundDone = (Option<(books_side::BooksAtBlock, bool)>, Option<String>);

pub(super) fn round(rows: &Rows, providers: &Providers, chain: &Name, now: Time) -> anyhow::Result<RoundDone> {
    let Some(books) = books_side::read(rows.reader(), chain, None, now)? else { return Ok((None, None)) };
    let ((number, hash), compared) = reconcile_at(providers, now.0 / 1_000, &books)?;
    let (mut found, mut trouble) = (Vec::new(), None);
    for (wallet, balance) in compared {
        match balance {
            Ok(balance) => found.push((wallet, balance)),
            Err(unknown) => trouble = Some(unknown.to_string()),
        }
    }
    let before = rows::known(rows.reader(), chain)?;
    rows::write(rows, chain, (number, format!("{hash:#x}")), &found, &before, now)?;
    let waits = rows::known(rows.reader(), chain)?.iter().any(|known| !known.difference.is_none() && !known.differs());
    Ok((Some((books, waits)), trouble))
}
