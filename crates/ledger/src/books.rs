//! Books: the current accounts, holds and rows, in memory.
//!
//! The writer loads what a batch touches and drops it when in doubt; the audit and the simulator load everything. What
//! is not in here does not exist for [`crate::decide`], so its caller must first load all that the request names.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasherDefault, Hasher},
};

use crate::{
    Account, AccountId, Amount, AssetId, Effects, Fact, Hold, HoldChange, HoldId, HoldState, Posting, Record, Role,
    Row, RowKey, Seq, Side, Total, Verdict,
};

/// Hashes the ledger's own numbers. They are assigned in order, so no caller can choose them to collide, and a keyed
/// hash would cost more than all other work with them.
#[derive(Clone, Copy, Debug, Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed here");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// The current accounts, holds, past transfers and flow rows.
#[derive(Clone, Debug, Default)]
pub struct Books {
    accounts: NumberMap<AccountId, Account>,
    holds: NumberMap<HoldId, Hold>,
    past: NumberMap<Seq, PastTransfer>,
    rows: HashMap<RowKey, Row>,
}

/// A past request that is about to be reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTransfer {
    /// The role that requested it.
    pub by: Role,
    /// What it moved.
    pub postings: Vec<Posting>,
    pub is_reversal: bool,
    /// The record of its reversal, if it was reversed.
    pub reversed_by: Option<Seq>,
}

impl PastTransfer {
    /// The transfer of an applied request; `None` for other records.
    #[must_use]
    pub fn of(record: Record, reversed_by: Option<Seq>) -> Option<Self> {
        let Record::Decided { request, verdict: Verdict::Applied(effects) } = record else { return None };
        Some(Self {
            by: request.principal.role(),
            postings: effects.postings,
            is_reversal: effects.reverses.is_some(),
            reversed_by,
        })
    }
}

impl Books {
    #[must_use]
    pub fn account(&self, id: AccountId) -> Option<&Account> {
        self.accounts.get(&id)
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    #[must_use]
    pub fn account_count(&self) -> usize {
        self.accounts.len()
    }

    pub fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.holds.values()
    }

    #[must_use]
    pub fn hold(&self, id: HoldId) -> Option<&Hold> {
        self.holds.get(&id)
    }

    #[must_use]
    pub fn past(&self, seq: Seq) -> Option<&PastTransfer> {
        self.past.get(&seq)
    }

    #[must_use]
    pub fn row(&self, key: &RowKey) -> Option<&Row> {
        self.rows.get(key)
    }

    pub fn put_account(&mut self, account: Account) {
        self.accounts.insert(account.id, account);
    }

    pub fn put_hold(&mut self, hold: Hold) {
        self.holds.insert(hold.id, hold);
    }

    pub fn put_past(&mut self, seq: Seq, past: PastTransfer) {
        self.past.insert(seq, past);
    }

    pub fn put_row(&mut self, key: RowKey, row: Row) {
        self.rows.insert(key, row);
    }

    /// Sets the account that keeps the owner's debt.
    pub fn link_debt(&mut self, account: AccountId, debt: AccountId) {
        if let Some(account) = self.accounts.get_mut(&account) {
            account.debt = Some(debt);
        }
    }

    /// Applies the effects of the request at `seq`.
    pub fn apply(&mut self, seq: Seq, effects: &Effects, facts: &[Fact]) {
        for posting in &effects.postings {
            self.apply_posting(posting);
        }
        for change in &effects.holds {
            self.apply_hold(change);
        }
        if let Some(original) = effects.reverses.and_then(|original| self.past.get_mut(&original)) {
            original.reversed_by = Some(seq);
        }
        for fact in facts.iter().filter(|fact| !fact.set.is_empty()) {
            let after = fact.apply(self.rows.get(&fact.row));
            self.rows.insert(fact.row.clone(), after);
        }
    }

    /// Applies a change of a hold, an expiry included.
    pub fn apply_hold(&mut self, change: &HoldChange) {
        self.holds.insert(change.hold.id, change.hold);
        if let Some(account) = self.accounts.get_mut(&change.hold.account) {
            account.held = change.held_after;
        }
    }

    fn apply_posting(&mut self, posting: &Posting) {
        for (id, after) in [(posting.from, posting.from_after), (posting.to, posting.to_after)] {
            if let Some(account) = self.accounts.get_mut(&id) {
                account.balance = after;
            }
        }
    }

    /// The change that expires a hold; `None` if it is not open.
    #[must_use]
    pub fn expire(&self, id: HoldId) -> Option<HoldChange> {
        let hold = self.hold(id).filter(|hold| hold.state == HoldState::Open)?;
        let held_after = self.account(hold.account)?.held.checked_sub(hold.remaining)?;
        let hold = Hold { state: HoldState::Expired, remaining: Amount::ZERO, ..*hold };
        Some(HoldChange { hold, held_after })
    }

    /// Drops what is only needed while one batch is decided.
    pub fn forget_all_but_accounts(&mut self) {
        self.holds.clear();
        self.past.clear();
        self.rows.clear();
    }

    pub fn forget_all(&mut self) {
        self.accounts.clear();
        self.forget_all_but_accounts();
    }

    /// For each asset, the sums of all debit-side and all credit-side balances: equal in sound books. Only meaningful
    /// when all accounts are in memory.
    #[must_use]
    pub fn totals(&self) -> BTreeMap<AssetId, (Total, Total)> {
        let mut totals = BTreeMap::<AssetId, (Total, Total)>::new();
        for account in self.accounts.values() {
            let (debit, credit) = totals.entry(account.name.asset).or_default();
            match account.name.kind.side() {
                Side::Debit => debit.add(account.balance),
                Side::Credit => credit.add(account.balance),
            }
        }
        totals
    }
}
