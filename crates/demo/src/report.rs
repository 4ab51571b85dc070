//! The report of a demo: its figures, and the books recomputed from the journal.

use std::collections::BTreeMap;

use anyhow::Context;
use bankroll_ledger::{Account, AccountId, AccountKind, Amount, AssetId, Side};
use bankroll_roles::{
    audit::AuditOutcome,
    reconcile::{Finding, Reconciliation},
};
use bankroll_store::StoreError;
use bankroll_terminal::{self as terminal, Exit, decimal};
use serde_json::{Value, json};

use super::{DemoArgs, arena::Arena, leftovers::Leftovers, play::Played, progress::DemoProgress};

mod text;

pub struct DemoReport<'a> {
    pub args: &'a DemoArgs,
    pub arena: &'a Arena,
    pub leftovers: Leftovers,
    /// Players who came for the first time.
    pub signed_in: u64,
    pub played: Played,
    /// Deposits and payouts before the run, and after it.
    pub before: DemoProgress,
    pub after: DemoProgress,
    /// Nodes that were killed from outside, and how.
    pub ended_early: Vec<String>,
    pub reconciled: Reconciliation,
    pub audited: Result<AuditOutcome, StoreError>,
}

/// The sum over all accounts of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct KindTotal {
    accounts: u64,
    balance: Amount,
}

impl DemoReport<'_> {
    pub fn print(self, json: bool) -> anyhow::Result<Exit> {
        let exit = match &self.audited {
            Ok(_) if self.is_sound() => Exit::Ok,
            Ok(_) => Exit::Unsound,
            Err(error) if error.is_unsound() => Exit::Unsound,
            Err(_) => Exit::Failed,
        };
        if json {
            return terminal::answer_json(&self.json()).map(|()| exit);
        }
        match &self.audited {
            Ok(audited) => terminal::answer(&self.text(audited)?).map(|()| exit),
            Err(_) => self.audited.map(|_| exit).context("the books could not be recomputed"),
        }
    }

    fn is_sound(&self) -> bool {
        self.audited.as_ref().is_ok_and(|audited| self.world_is_empty(audited)) && self.adds_up()
    }

    /// What the chain and the books, side by side, come to.
    fn finding(&self) -> Finding {
        let after = &self.after;
        self.reconciled.finding(after.confirming + after.due + after.capital_open, after.open)
    }

    /// The chain and the books agree, nothing is in flight, and every transaction is known to both.
    fn adds_up(&self) -> bool {
        self.finding() == Finding::Agree
    }

    /// Players' deposits that were credited in this run, those that an interrupted demo left included.
    fn credited(&self) -> u64 {
        self.after.since(&self.before).credited
    }

    /// Payouts that were settled as paid in this run, those that an interrupted demo left included.
    fn paid(&self) -> u64 {
        self.after.since(&self.before).paid
    }

    /// All money that entered the world has left it when the arena is closed.
    fn world_is_empty(&self, audited: &AuditOutcome) -> bool {
        balance(audited, self.arena.world).is_zero()
    }

    fn json(&self) -> Value {
        let (tally, took, chain) = (&self.played.tally, self.played.took, &self.reconciled);
        let mut value = json!({
            "transfers": tally.transfers,
            "transfers_per_s": terminal::per_second(tally.transfers, took),
            "players": tally.players(),
            "signed_in": self.signed_in,
            "seconds": took.as_secs_f64(),
            "interrupted": self.played.interrupted,
            "ended_early": self.ended_early,
            "rejected": tally.rejected,
            "replayed": tally.replayed,
            "busy": tally.busy,
            "deposits_credited": self.credited(),
            "withdrawals_paid": self.paid(),
            "onchain_paid_wei": chain.paid.wei.to_string(),
            "reconciliation": {
                "ok": self.adds_up(),
                "difference": chain.difference(),
                "chain": chain.on_chain.to_string(),
                "books": chain.in_books.to_string(),
                "uncredited": chain.uncredited.wei.to_string(),
                "unreversed": chain.unreversed.wei.to_string(),
                "unsettled": chain.unsettled.wei.to_string(),
                "foreign": chain.foreign,
                "missing": chain.missing,
                "contradicted": chain.contradicted,
                "open": { "deposits": self.after.confirming + self.after.due, "payouts": self.after.open },
            },
            "moves": {
                "deposits": tally.deposits,
                "spawns": tally.spawns,
                "pellets": tally.pellets,
                "recycled": tally.recycled,
                "exits": tally.exits,
                "returns": tally.returns,
            },
            "chain": {
                "deposits": chain.came.count,
                "deposited": chain.came.wei.to_string(),
                "payouts": chain.paid.count,
                "paid_out": chain.paid.wei.to_string(),
                "fees": chain.fees.to_string(),
                "holds": chain.on_chain.to_string(),
            },
            "leftovers": {
                "payouts": self.leftovers.payouts,
                "paid_out": self.leftovers.paid_out,
                "swept": self.leftovers.swept,
                "players": self.leftovers.players,
                "stakes": self.leftovers.stakes,
                "returned": self.leftovers.returned,
                "to_ecosystem": self.leftovers.to_ecosystem,
            },
            "dir": self.args.dir,
        });
        match &self.audited {
            Ok(audited) => self.add_books(&mut value, audited),
            Err(error) => value["audit"] = json!({ "ok": false, "rows": null, "error": error.to_string() }),
        }
        value
    }

    fn add_books(&self, value: &mut Value, audited: &AuditOutcome) {
        let report = &audited.report;
        let total = |((_, kind), total): (&(AssetId, AccountKind), &KindTotal)| {
            json!({
                "kind": kind,
                "side": match kind.side() { Side::Credit => "credit", Side::Debit => "debit" },
                "accounts": total.accounts,
                "balance": total.balance,
                "balance_decimal": decimal(total.balance, self.arena.decimals),
            })
        };
        let head: String = report.head.iter().map(|byte| format!("{byte:02x}")).collect();
        value["audit"] = json!({
            "ok": self.is_sound(),
            "rows": report.rows,
            "batches": report.batches,
            "head": head,
            "seconds": audited.took.as_secs_f64(),
            "rows_per_s": audited.rows_per_s(),
            "world_is_empty": self.world_is_empty(audited),
            "custody_is_what_the_chain_holds": self.adds_up(),
        });
        value["accounts"] = json!(report.accounts);
        value["totals"] = totals(audited).iter().map(total).collect();
    }
}

fn balance(audited: &AuditOutcome, id: AccountId) -> Amount {
    audited.accounts.iter().find(|account| account.id == id).map_or(Amount::ZERO, |account| account.balance)
}

fn totals(audited: &AuditOutcome) -> BTreeMap<(AssetId, AccountKind), KindTotal> {
    let mut totals: BTreeMap<_, KindTotal> = BTreeMap::new();
    for Account { name, balance, .. } in &audited.accounts {
        let total = totals.entry((name.asset, name.kind)).or_default();
        total.accounts += 1;
        super::tally::add(&mut total.balance, *balance);
    }
    totals
}
