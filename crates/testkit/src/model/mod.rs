//! A naive model of the ledger: plain maps, strings and `u128`, written from the documentation.
//!
//! It shares no rule with `bankroll-ledger`: requests are its input, and every table (sides, routes, owners, order of
//! the checks, what is remembered) is written here a second time. So where the two disagree, one of them is wrong.
//!
//! For every call it predicts the exact answer: position in the journal, replayed or not, each posting with both
//! balances after it, each hold after it, or the code of the first broken rule.
//!
//! It is slow on purpose (it copies all balances for each request) and knows nothing of batches, memory or disks.

mod form;
mod money;
mod outcome;
pub mod rights;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use bankroll_ledger::{AccountName, Action, Event, GuardFailure, Principal, Request};

pub use money::{ModelBalance, ModelHold, ModelMoney};
pub use outcome::{ModelEffect, ModelHoldChange, ModelOutcome, ModelPosting, ModelVerdict, role_name};
pub use rows::{ModelRows, TABLES, Ticket};

/// Roles by name.
pub type RoleSet = BTreeSet<&'static str>;

/// An account and the roles that may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAccount {
    pub scope: String,
    pub kind: String,
    pub asset: u32,
    pub owner: Option<String>,
    pub may_deposit: RoleSet,
    pub may_withdraw: RoleSet,
    pub may_transfer: RoleSet,
}

/// The parts of an applied request that a reversal needs.
#[derive(Clone, Debug)]
pub struct ModelTransfer {
    pub by: &'static str,
    pub moved: Vec<ModelPosting>,
    pub is_reversal: bool,
    pub reversed: bool,
}

/// The whole ledger in plain maps.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub accounts: BTreeMap<u64, ModelAccount>,
    pub money: ModelMoney,
    /// Holds that were settled or have expired.
    pub ended: BTreeMap<u64, ModelHold>,
    pub transfers: BTreeMap<u64, ModelTransfer>,
    pub rows: ModelRows,
    /// Events, each with the position of its record.
    pub events: Vec<(u64, Event)>,
    pub assets: u32,
    pub seq: u64,
    pub now: u64,
    last_batch_at: u64,
    names: BTreeMap<String, u64>,
    keys: BTreeMap<(String, String, String), (Request, ModelOutcome)>,
}

/// The code of a broken rule.
pub type RejectionCode = &'static str;

/// Rejections that are not recorded: form, keys of others, a pause, and what settlement must wait for.
const NOT_RECORDED: [RejectionCode; 12] = [
    "key_malformed",
    "legs_out_of_range",
    "amount_zero",
    "accounts_must_differ",
    "fact_malformed",
    "key_not_allowed",
    "not_confirmed",
    "hold_needs_intent",
    "key_reused",
    "server_paused",
    "custody_short",
    "debt_account_not_found",
];

impl Model {
    /// An empty ledger at this time.
    #[must_use]
    pub fn at(now: u64) -> Self {
        Self { now, ..Self::default() }
    }

    /// Lists a coin that was not listed before.
    pub fn list_asset(&mut self) -> u32 {
        self.assets += 1;
        self.next_seq();
        self.assets
    }

    /// Opens an account, or finds the one that has this name.
    ///
    /// # Errors
    /// The code of the first broken rule.
    pub fn open(&mut self, by: &Principal, name: &AccountName, rights: [&RoleSet; 3]) -> Result<u64, RejectionCode> {
        let account = ModelAccount {
            scope: name.scope.to_string(),
            kind: name.kind.to_string(),
            asset: name.asset.0,
            owner: name.owner.as_ref().map(ToString::to_string),
            may_deposit: rights[0].clone(),
            may_withdraw: rights[1].clone(),
            may_transfer: rights[2].clone(),
        };
        rights::check_open(by, &account)?;
        if let Some(id) = self.names.get(&account.full_name()) {
            return Ok(*id);
        }
        if !(1..=self.assets).contains(&account.asset) {
            return Err("asset_not_found");
        }
        let id = self.accounts.len() as u64 + 1;
        self.names.insert(account.full_name(), id);
        self.accounts.insert(id, account);
        self.money.balances.insert(id, ModelBalance::default());
        self.next_seq();
        Ok(id)
    }

    /// Sets the clock and expires the holds that are due, earliest first, as the writer does.
    pub fn tick(&mut self, clock: u64) {
        self.now = clock.max(self.last_batch_at);
        let is_due = |hold: &ModelHold| hold.expires.is_some_and(|expires| expires <= self.now);
        let mut due: Vec<(Option<u64>, u64)> =
            self.money.holds.iter().filter(|(_, hold)| is_due(hold)).map(|(id, hold)| (hold.expires, *id)).collect();
        due.sort_unstable();
        for (_, id) in due {
            self.money.expire(id);
            self.next_seq();
        }
        self.move_ended_holds();
    }

    /// Answers one request.
    pub fn submit(&mut self, request: &Request) -> ModelOutcome {
        if let Err(code) = form::check(request) {
            return ModelOutcome::unrecorded(code);
        }
        let key = &request.key;
        let key = (format!("{:?}", key.namespace), key.scope.to_string(), key.text.clone());
        if let Some((earlier, outcome)) = self.keys.get(&key) {
            let same = Request { key: request.key.clone(), ..earlier.clone() } == *request;
            return if same { outcome.again() } else { ModelOutcome::unrecorded("key_reused") };
        }
        let verdict = match self.try_apply(request) {
            Err(code) if NOT_RECORDED.contains(&code) => return ModelOutcome::unrecorded(code),
            Err(code) => ModelVerdict::Rejected(code.to_owned()),
            Ok(effect) => ModelVerdict::Applied(effect),
        };
        let outcome = ModelOutcome { seq: Some(self.next_seq()), replayed: false, verdict };
        self.keys.insert(key, (request.clone(), outcome.clone()));
        outcome
    }

    /// Executes the request on a copy, which replaces the original only if every rule holds.
    fn try_apply(&mut self, request: &Request) -> Result<ModelEffect, RejectionCode> {
        self.rows.check_guards(&request.facts, GuardFailure::Paused, "server_paused")?;
        let mut money = self.money.clone();
        let effect = match &request.action {
            Action::Legs(legs) => {
                self.check_legs(&request.principal, legs)?;
                self.rows.check_guards(&request.facts, GuardFailure::Conflict, "guard_failed")?;
                money.execute(self, rights::role(&request.principal), legs)?
            }
            Action::Reverse(original) => {
                let moved = self.check_reversal(&request.principal, original.0)?;
                self.rows.check_guards(&request.facts, GuardFailure::Conflict, "guard_failed")?;
                money.reverse(self, original.0, &moved)?
            }
        };
        // Constraints of tables come last: they are checked when the rows are written.
        if !request.facts.is_empty() {
            self.rows = self.rows.with_facts(&request.facts)?;
        }
        self.money = money;
        self.move_ended_holds();
        let seq = self.seq + 1;
        if let Some(original) = effect.reverses.and_then(|original| self.transfers.get_mut(&original)) {
            original.reversed = true;
        }
        let (by, is_reversal) = (rights::role(&request.principal), effect.reverses.is_some());
        self.transfers.insert(seq, ModelTransfer { by, moved: effect.moved.clone(), is_reversal, reversed: false });
        self.events.extend(request.events.iter().map(|event| (seq, event.clone())));
        Ok(effect)
    }

    fn check_reversal(&self, principal: &Principal, original: u64) -> Result<Vec<ModelPosting>, RejectionCode> {
        let transfer = self.transfers.get(&original).ok_or("transfer_not_found")?;
        if transfer.moved.is_empty() || transfer.is_reversal {
            return Err("not_reversible");
        }
        if transfer.reversed {
            return Err("already_reversed");
        }
        match rights::role(principal) {
            "system" | "admin" => Ok(transfer.moved.clone()),
            "indexer" if transfer.by == "indexer" => Ok(transfer.moved.clone()),
            _ => Err("not_allowed"),
        }
    }

    /// The account that keeps the debt of this account's owner.
    #[must_use]
    pub fn debt_of(&self, id: u64) -> Option<u64> {
        let account = self.accounts.get(&id).filter(|account| rights::may_owe(&account.kind))?;
        let debt = ModelAccount { kind: "debt".to_owned(), ..account.clone() };
        self.names.get(&debt.full_name()).copied()
    }

    /// An open or ended hold.
    #[must_use]
    pub fn hold(&self, id: u64) -> Option<&ModelHold> {
        self.money.holds.get(&id).or_else(|| self.ended.get(&id))
    }

    fn move_ended_holds(&mut self) {
        let holds = std::mem::take(&mut self.money.holds);
        let (open, ended): (BTreeMap<_, _>, BTreeMap<_, _>) =
            holds.into_iter().partition(|(_, hold)| hold.state == "open");
        self.money.holds = open;
        self.ended.extend(ended);
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.last_batch_at = self.now;
        self.seq
    }
}

impl ModelAccount {
    fn full_name(&self) -> String {
        format!("{} {} {} {:?}", self.scope, self.kind, self.asset, self.owner)
    }
}
