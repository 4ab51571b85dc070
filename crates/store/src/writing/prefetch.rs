//! Prefetch: loads what a batch names and memory does not have.

use std::collections::BTreeMap;

use bankroll_ledger::{
    AccountId, Action, Amount, Books, Hold, HoldId, HoldState, Leg, PastTransfer, Record, Request, Seq,
};

use crate::{StoreError, engine::Engine};

/// Loads everything that the requests name. Afterwards, what is not in the books does not exist.
pub(super) fn prefetch<'a>(
    engine: &mut dyn Engine,
    books: &mut Books,
    requests: impl Iterator<Item = &'a Request>,
) -> Result<(), StoreError> {
    let mut missing = MissingRows::default();
    for request in requests {
        missing.collect(books, request);
    }
    for fact in missing.facts {
        if let Some(row) = engine.row(&fact.row)? {
            books.put_row(fact.row.clone(), row);
        }
    }
    let holds = engine.source().holds(&missing.holds)?;
    for hold in &holds {
        missing.accounts.push(hold.account);
        books.put_hold(*hold);
    }
    for original in missing.originals {
        if let Some(past) = past_transfer(engine, original)? {
            missing.accounts.extend(past.postings.iter().flat_map(|posting| [posting.from, posting.to]));
            books.put_past(original, past);
        }
    }
    load_accounts(engine, books, missing.accounts)?;
    check_held(books, &holds)
}

/// Settling a hold frees the held amount of its account. If that amount is less than its open holds, the books were
/// edited, and the writer must not decide by them.
fn check_held(books: &Books, holds: &[Hold]) -> Result<(), StoreError> {
    let open: BTreeMap<HoldId, &Hold> =
        holds.iter().filter(|hold| hold.state == HoldState::Open).map(|hold| (hold.id, hold)).collect();
    let mut left = BTreeMap::<AccountId, Amount>::new();
    for hold in open.into_values() {
        let all = left.entry(hold.account).or_insert(Amount::ZERO);
        let held = books.account(hold.account).map(|account| account.held);
        match all.checked_add(hold.remaining).filter(|all| Some(*all) <= held) {
            Some(sum) => *all = sum,
            None => return Err(StoreError::diverged(hold.id.made_by(), "a hold holds more than its account")),
        }
    }
    Ok(())
}

/// Whether memory is enough to decide a request: it names no account that memory lacks, and no hold, past transfer or
/// fact, whose present state only the store knows.
pub(super) fn is_in_memory(books: &Books, request: &Request) -> bool {
    let mut missing = MissingRows::default();
    missing.collect(books, request);
    missing.accounts.is_empty() && missing.holds.is_empty() && missing.originals.is_empty() && missing.facts.is_empty()
}

/// Loads accounts, each with the debt account of its owner.
pub(super) fn load_accounts(
    engine: &mut dyn Engine,
    books: &mut Books,
    mut ids: Vec<AccountId>,
) -> Result<(), StoreError> {
    while !ids.is_empty() {
        ids.retain(|id| books.account(*id).is_none());
        ids.sort_unstable();
        ids.dedup();
        let loaded = engine.source().accounts(&ids)?;
        ids = loaded.iter().filter_map(|account| account.debt).collect();
        loaded.into_iter().for_each(|account| books.put_account(account));
    }
    Ok(())
}

#[derive(Default)]
struct MissingRows<'a> {
    accounts: Vec<AccountId>,
    holds: Vec<HoldId>,
    originals: Vec<Seq>,
    facts: Vec<&'a bankroll_ledger::Fact>,
}

impl<'a> MissingRows<'a> {
    fn collect(&mut self, books: &Books, request: &'a Request) {
        let mut name = |id: AccountId| {
            if books.account(id).is_none() {
                self.accounts.push(id);
            }
        };
        match &request.action {
            Action::Legs(legs) => {
                for leg in legs {
                    match *leg {
                        Leg::Move { from, to, .. } => [from, to].into_iter().for_each(&mut name),
                        Leg::Hold { account, .. } => name(account),
                        Leg::Post { hold, to, .. } => {
                            name(to);
                            self.holds.push(hold);
                        }
                        Leg::Release { hold } => self.holds.push(hold),
                    }
                }
            }
            Action::Reverse(original) => self.originals.push(*original),
        }
        self.facts.extend(&request.facts);
    }
}

fn past_transfer(engine: &mut dyn Engine, seq: Seq) -> Result<Option<PastTransfer>, StoreError> {
    let Some(bytes) = engine.source().record(seq)? else { return Ok(None) };
    let record = Record::decode(&bytes).map_err(StoreError::unreadable(seq))?;
    Ok(PastTransfer::of(record, engine.source().reversal_of(seq)?))
}
