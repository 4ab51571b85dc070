//! Receipts under the root over the heads of all batches: a record and the names of its accounts, proven by one
//! published root, however long after the record it was published.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    AccountId, AccountName, Action, Leg, Receipt, Record, Verdict,
    merkle::{self, Hash},
};

/// A receipt with the path from the head of its batch to the root over the heads of the first batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootedReceipt {
    pub receipt: Receipt,
    /// The siblings on that path.
    pub path: Vec<Hash>,
}

/// A receipt with those of the records that opened the accounts it mentions, one for each account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedReceipt {
    pub record: RootedReceipt,
    pub openings: Vec<RootedReceipt>,
}

impl RootedReceipt {
    /// Whether the record is in the journal whose first `batches` heads have this root.
    #[must_use]
    pub fn proves_under(&self, batches: u64, root: &Hash) -> bool {
        let batch = &self.receipt.batch;
        let head = batch.head();
        let Some(index) = batch.number.checked_sub(1) else { return false };
        self.receipt.proves_under(&head)
            && merkle::climb(merkle::leaf(&head), index, batches, &self.path) == Some(*root)
    }
}

impl NamedReceipt {
    /// Whether the record and every opening are in that journal.
    #[must_use]
    pub fn proves_under(&self, batches: u64, root: &Hash) -> bool {
        self.openings.iter().chain([&self.record]).all(|one| one.proves_under(batches, root))
    }

    /// The names of the accounts that the record mentions, from the bytes of the openings. `None` unless the openings
    /// are those of exactly these accounts. What it returns is proven if [`NamedReceipt::proves_under`] says so.
    #[must_use]
    pub fn names(&self) -> Option<BTreeMap<AccountId, AccountName>> {
        let record = Record::decode(&self.record.receipt.record).ok()?;
        let mut names = BTreeMap::new();
        for opening in &self.openings {
            let Record::AccountOpened { id, name, .. } = Record::decode(&opening.receipt.record).ok()? else {
                return None;
            };
            if names.insert(id, name).is_some() {
                return None;
            }
        }
        names.keys().copied().eq(record.accounts()).then_some(names)
    }
}

impl Record {
    /// The accounts that the record mentions by their numbers. A record that opens an account names it itself.
    #[must_use]
    pub fn accounts(&self) -> BTreeSet<AccountId> {
        let mut found = BTreeSet::new();
        match self {
            Self::AssetListed { .. } | Self::AccountOpened { .. } | Self::LossAccepted(_) => {}
            Self::HoldExpired(change) => drop(found.insert(change.hold.account)),
            Self::Decided { request, verdict } => {
                if let Action::Legs(legs) = &request.action {
                    for leg in legs {
                        add_leg(leg, &mut found);
                    }
                }
                if let Verdict::Applied(effects) = verdict {
                    found.extend(effects.postings.iter().flat_map(|posting| [posting.from, posting.to]));
                    found.extend(effects.holds.iter().map(|change| change.hold.account));
                }
            }
        }
        found
    }
}

fn add_leg(leg: &Leg, found: &mut BTreeSet<AccountId>) {
    match leg {
        Leg::Move { from, to, .. } => found.extend([*from, *to]),
        Leg::Hold { account, .. } => drop(found.insert(*account)),
        Leg::Post { to, .. } => drop(found.insert(*to)),
        Leg::Release { .. } => {}
    }
}
