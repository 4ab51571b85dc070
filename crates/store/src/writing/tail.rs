//! The rows that follow from the last records of the journal, to be compared with their tables when the books are
//! opened.
//!
//! Bounds: what the records of the tail name, at most 200,000 records.

use std::collections::{BTreeMap, HashMap};

use bankroll_ledger::{
    Account, AccountId, AccountName, AccountPolicy, Amount, Asset, AssetId, Hold, HoldChange, HoldId, Posting, Record,
    Seq, Verdict,
};

use crate::{
    StoreError, StoredEvent,
    engine::{JournalHead, Source},
};

/// Rows compared at a time.
const PAGE: usize = 1_000;

#[derive(Default)]
pub(super) struct ExpectedRows {
    balances: HashMap<AccountId, Amount>,
    held: HashMap<AccountId, Amount>,
    holds: BTreeMap<HoldId, Hold>,
    reversals: Vec<(Seq, Seq)>,
    opened: BTreeMap<AccountId, (AccountName, AccountPolicy)>,
    listed: Vec<(AssetId, Asset)>,
    /// The announcements of the page that is being read.
    events: Vec<StoredEvent>,
}

impl ExpectedRows {
    pub fn note(&mut self, seq: Seq, record: Record) {
        match record {
            Record::Decided { request, verdict: Verdict::Applied(effects) } => {
                for Posting { from, to, from_after, to_after, .. } in &effects.postings {
                    self.balances.extend([(*from, *from_after), (*to, *to_after)]);
                }
                effects.holds.iter().for_each(|change| self.note_hold(change));
                self.reversals.extend(effects.reverses.map(|original| (original, seq)));
                self.events.extend(request.events.into_iter().zip(0..).map(|(event, place)| StoredEvent {
                    seq,
                    place,
                    kind: event.kind.to_string(),
                    resource: event.resource,
                    body: event.body,
                }));
            }
            Record::HoldExpired(change) => self.note_hold(&change),
            Record::AccountOpened { id, name, policy, .. } => {
                self.opened.insert(id, (name, policy));
            }
            Record::AssetListed { id, asset } => self.listed.push((id, asset)),
            Record::Decided { .. } | Record::LossAccepted(_) => {}
        }
    }

    fn note_hold(&mut self, change: &HoldChange) {
        self.held.insert(change.hold.account, change.held_after);
        self.holds.insert(change.hold.id, change.hold);
    }

    /// Compares the announcements of the records from `first` to `last`, which were noted since the last call.
    pub fn compare_events(&mut self, source: &dyn Source, first: Seq, last: Seq) -> Result<(), StoreError> {
        let expected = std::mem::take(&mut self.events);
        let mut stored = source.events_after(Seq(first.0.saturating_sub(1)), expected.len().saturating_add(1))?;
        stored.retain(|event| event.seq <= last);
        if stored == expected {
            Ok(())
        } else {
            Err(StoreError::diverged(first, "the announcements are not what the journal says they are"))
        }
    }

    /// Compares everything else with the tables.
    pub fn compare(&self, source: &dyn Source, head: &JournalHead) -> Result<(), StoreError> {
        let differs = |what: String| Err(StoreError::diverged(head.seq, what));
        let mut ids: Vec<AccountId> =
            self.balances.keys().chain(self.held.keys()).chain(self.opened.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for page in ids.chunks(PAGE) {
            let stored: HashMap<_, _> = source.accounts(page)?.into_iter().map(|one| (one.id, one)).collect();
            if let Some(id) = page.iter().find(|id| stored.get(id).is_none_or(|account| !self.fits(account))) {
                return differs(format!("account {id} is not what the journal says it is"));
            }
        }
        let opened: Vec<(AccountId, &AccountName)> = self.opened.iter().map(|(id, (name, _))| (*id, name)).collect();
        for page in opened.chunks(PAGE) {
            let names: Vec<AccountName> = page.iter().map(|(_, name)| (*name).clone()).collect();
            let found: HashMap<_, _> =
                source.accounts_named(&names)?.into_iter().map(|one| (one.name, one.id)).collect();
            if let Some((id, name)) = page.iter().find(|(id, name)| found.get(*name) != Some(id)) {
                return differs(format!("account {id} is not found by its name {name}"));
            }
        }
        let holds: Vec<HoldId> = self.holds.keys().copied().collect();
        for page in holds.chunks(PAGE) {
            let stored: HashMap<_, _> = source.holds(page)?.into_iter().map(|hold| (hold.id, hold)).collect();
            if let Some(id) = page.iter().find(|id| stored.get(id) != self.holds.get(id)) {
                return differs(format!("hold {id} is not what the journal says it is"));
            }
        }
        for (original, reversal) in &self.reversals {
            if source.reversal_of(*original)? != Some(*reversal) {
                return differs(format!("the reversal of record {original} is not what the journal says it is"));
            }
        }
        let assets = source.assets()?;
        match self.listed.iter().find(|listed| !assets.contains(listed)) {
            Some((id, _)) => differs(format!("asset {id} is not what the journal says it is")),
            None => Ok(()),
        }
    }

    fn fits(&self, account: &Account) -> bool {
        let is = |said: Option<&Amount>, stored: Amount| said.is_none_or(|said| *said == stored);
        is(self.balances.get(&account.id), account.balance)
            && is(self.held.get(&account.id), account.held)
            && self.opened.get(&account.id).is_none_or(|opened| *opened == (account.name.clone(), account.policy))
    }
}
