//! Replay: rebuilds the books from the journal alone, and checks that each record follows from those before it.

use std::collections::{BTreeMap, HashMap};

use crate::{
    Account, AccountId, AccountName, Asset, AssetId, Books, GuardFailure, PastTransfer, Record, Rejection, Request,
    Seq, Time, Verdict, decide_checked,
};

/// Books that grow record by record, with every account in memory.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    pub books: Books,
    pub assets: BTreeMap<AssetId, Asset>,
    /// Reversed transfers, each with the record that reversed it.
    pub reversals: BTreeMap<Seq, Seq>,
    names: HashMap<AccountName, AccountId>,
}

/// A record that does not follow from the ones before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Divergence {
    pub what: String,
}

impl Replay {
    /// Applies a record without checking it.
    pub fn apply(&mut self, seq: Seq, record: &Record) {
        match record {
            Record::AssetListed { id, asset } => drop(self.assets.insert(*id, asset.clone())),
            Record::AccountOpened { id, name, policy, .. } => {
                let mut account = Account::open(*id, name.clone(), *policy);
                account.debt = name.debt().and_then(|debt| self.names.get(&debt)).copied();
                for debtor in name.debtors() {
                    if let Some(debtor) = self.names.get(&debtor) {
                        self.books.link_debt(*debtor, *id);
                    }
                }
                self.names.insert(name.clone(), *id);
                self.books.put_account(account);
            }
            Record::Decided { verdict: Verdict::Applied(effects), .. } => {
                // Facts belong to the flows' tables; replay covers money only.
                self.books.apply(seq, effects, &[]);
                self.reversals.extend(effects.reverses.map(|original| (original, seq)));
            }
            Record::Decided { verdict: Verdict::Rejected(_), .. } | Record::LossAccepted(_) => {}
            Record::HoldExpired(change) => self.books.apply_hold(change),
        }
    }

    /// Checks that the record follows from the current books: every request is decided again.
    ///
    /// `original` finds the record that a reversal reverses.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(
        &mut self,
        seq: Seq,
        at: Time,
        record: &Record,
        original: impl FnOnce(Seq) -> Option<Record>,
    ) -> Result<(), Divergence> {
        let divergence = |what: &str| Err(Divergence { what: what.to_owned() });
        match record {
            Record::AssetListed { id, asset } => {
                let known = self.assets.values().any(|known| known.is_same_coin(asset));
                if known || self.assets.contains_key(id) { divergence("the asset was listed before") } else { Ok(()) }
            }
            Record::AccountOpened { id, name, policy, by } => {
                if self.names.contains_key(name) || self.books.account(*id).is_some() {
                    divergence("the account was opened before")
                } else if name.check_open(by, policy).is_err() || !self.assets.contains_key(&name.asset) {
                    divergence("the account could not have been opened like this")
                } else {
                    Ok(())
                }
            }
            Record::HoldExpired(change) => {
                let due = self.books.hold(change.hold.id).is_some_and(|hold| hold.is_due(at));
                if due && self.books.expire(change.hold.id) == Some(*change) {
                    Ok(())
                } else {
                    divergence("the hold could not have expired like this")
                }
            }
            // Says what was lost; nothing follows from it.
            Record::LossAccepted(_) => Ok(()),
            Record::Decided { request, verdict } => self.check_decided(seq, at, request, verdict, original),
        }
    }

    fn check_decided(
        &mut self,
        seq: Seq,
        at: Time,
        request: &Request,
        verdict: &Verdict,
        original: impl FnOnce(Seq) -> Option<Record>,
    ) -> Result<(), Divergence> {
        if request.check().is_err() || matches!(verdict, Verdict::Rejected(rejection) if !rejection.is_remembered()) {
            return Err(Divergence { what: "the journal records a request that must not be recorded".into() });
        }
        if let crate::Action::Reverse(position) = request.action {
            let reversed_by = self.reversals.get(&position).copied();
            if let Some(past) = original(position).and_then(|record| PastTransfer::of(record, reversed_by)) {
                self.books.put_past(position, past);
            }
        }
        let again = if request.facts.is_empty() {
            decide_checked(&self.books, request, seq, at)
        } else {
            // Whether a guard passed depends on the flows' tables at that time, which the journal does not have.
            decide_checked(&self.books, &Request { facts: Vec::new(), ..request.clone() }, seq, at)
        };
        let guarded = request.facts.iter().any(|fact| fact.otherwise == GuardFailure::Conflict);
        let follows = match (verdict, &again) {
            (Verdict::Rejected(Rejection::GuardFailed), Verdict::Rejected(later)) => {
                guarded && *later > Rejection::GuardFailed
            }
            (Verdict::Rejected(Rejection::GuardFailed), Verdict::Applied(_)) => guarded,
            (Verdict::Rejected(Rejection::FactRefused), Verdict::Applied(_)) => {
                request.facts.iter().any(|fact| !fact.set.is_empty())
            }
            _ => again == *verdict,
        };
        let what = || format!("the request was decided differently: {verdict:?} instead of {again:?}");
        if follows { Ok(()) } else { Err(Divergence { what: what() }) }
    }
}
