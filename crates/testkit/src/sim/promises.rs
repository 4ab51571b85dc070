//! The safety promises, and the checks after each step: the new records, and what our wallet did on the chain.
//!
//! A credit is compared with the payment that was made; a settlement with what the signer released and what the chain
//! has. Nothing here relies on the state of a flow, except the scanner's cursor, which names the branch that it
//! follows.

use std::collections::BTreeMap;

use bankroll_chains_evm::B256;
use bankroll_ledger::{Action, Leg, Namespace, Record, Request, Seq, Side, Verdict};
use bankroll_store::{
    AccountFilter,
    columns::{parsed, text},
};

use super::{
    callers::short,
    ground_truth::{DEPOSIT_DEPTH, PAYOUT_DEPTH, custody, leads_to, ours, payments_of, shares},
    people::CHAIN,
    world::World,
};

/// A property that must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SafetyPromise {
    /// Debits equal credits, nothing is negative, and no more is held than is there.
    DoubleEntry,
    /// The books follow from the journal.
    Recomputed,
    /// Nothing is credited before it is final.
    CreditedWhenFinal,
    /// Nothing is credited from a block that the scanner has abandoned.
    CreditedOnItsBranch,
    /// A deposit is credited at most once, net of reversals.
    CreditedOnce,
    /// Every share of a deposit is credited to the right account.
    CreditedRight,
    /// At the end every final deposit is credited, and no other.
    CreditedAtLast,
    /// An intent is paid at most once.
    PaidOnce,
    /// Everything that leaves our wallet was ordered exactly like that.
    PaidAsOrdered,
    /// What is recorded as paid is final on the chain.
    CompletedWhenFinal,
    /// A refund happens only with proof that the payout can never be paid.
    RefundedWithProof,
    /// At the end every intent is settled.
    Ends,
    /// One key has one effect.
    OneEffect,
    /// What was acknowledged is in the books.
    Acknowledged,
    /// At the end every balance follows from the chain and the callers' answers.
    AddsUp,
    /// At the end our wallets hold what the books say, to the wei.
    Custody,
    /// Lies of a node are not believed.
    NodeBelieved,
    /// An edited row of a deposit moves no money, and the audit names it.
    EditsNoticed,
    /// No role finds an impossible state, and nothing panics.
    NoSurprise,
    /// All work ends once faults have stopped.
    Rest,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{promise:?}: {what}")]
pub struct BrokenPromise {
    pub promise: SafetyPromise,
    pub what: String,
}

impl SafetyPromise {
    pub(super) fn broken(self, what: impl Into<String>) -> BrokenPromise {
        BrokenPromise { promise: self, what: what.into() }
    }
}

impl World {
    /// The checks that are cheap enough for each step.
    pub fn check_step(&mut self) -> Result<(), BrokenPromise> {
        let entries = self.books.rows().reader().journal_after(self.truth.seen, 10_000);
        let entries = entries.map_err(|error| SafetyPromise::Recomputed.broken(error.to_string()))?;
        for entry in &entries {
            if let Record::Decided { request, verdict: Verdict::Applied(_) } = &entry.record {
                self.check_record(entry.seq, request)?;
            }
            self.truth.seen = entry.seq;
        }
        if !entries.is_empty() {
            self.check_double_entry()?;
        }
        self.check_wallet()
    }

    fn check_record(&mut self, seq: Seq, request: &Request) -> Result<(), BrokenPromise> {
        let references = &request.references;
        match (&request.action, &references.deposit, &references.intent) {
            (Action::Legs(legs), Some(_), _) => self.check_credit(seq, request, legs),
            (Action::Reverse(credit), Some(_), _) => self.check_reversal(*credit, request),
            (Action::Legs(legs), _, Some(intent)) if request.key.namespace == Namespace::Payouts => {
                self.check_settlement(intent, legs)
            }
            _ => Ok(()),
        }
    }

    fn check_credit(&mut self, seq: Seq, request: &Request, legs: &[Leg]) -> Result<(), BrokenPromise> {
        let tx = request.references.tx_hash.clone().unwrap_or_default();
        let block = request.references.block.as_ref().and_then(|block| block.hash.parse::<B256>().ok());
        let block = block.ok_or_else(|| SafetyPromise::CreditedWhenFinal.broken("a credit of no block"))?;
        let deepest = self.truth.deepest.get(&block).copied().unwrap_or_default();
        if deepest < DEPOSIT_DEPTH {
            let what = format!("{tx} is credited, and its block was never deeper than {deepest}");
            return Err(SafetyPromise::CreditedWhenFinal.broken(what));
        }
        if !leads_to(&self.chain(), block, self.cursor()?) {
            let what = format!("{tx} is credited in a block that the scanner has left");
            return Err(SafetyPromise::CreditedOnItsBranch.broken(what));
        }
        let id = request.references.deposit.clone().unwrap_or_default();
        self.check_shares(&id, block, legs)?;
        let (credits, reversed) = self.truth.credits.entry(id.clone()).or_default();
        credits.insert(seq);
        let net = credits.len() - reversed.len();
        if net > 1 {
            return Err(SafetyPromise::CreditedOnce.broken(format!("{id} is credited {net} times")));
        }
        Ok(())
    }

    /// Who got what, against the block as it is: whatever was said of it.
    fn check_shares(&self, id: &str, block: B256, legs: &[Leg]) -> Result<(), BrokenPromise> {
        let wrong = |what: &str| SafetyPromise::CreditedRight.broken(format!("{id}: {what}"));
        let (mut booked, mut from_accounts) = (BTreeMap::new(), Vec::new());
        for leg in legs {
            let Leg::Move { from, to: gets, amount } = leg else { continue };
            from_accounts.push(self.name_of(*from));
            booked.insert(self.name_of(*gets), amount.units());
        }
        if from_accounts.iter().any(|from| from.contains("/custody/3/")) {
            // The token that keeps a tenth: what arrived is nobody's until a person has looked.
            return match booked.keys().all(|gets| gets == "@house/suspense/3") {
                true => Ok(()),
                false => Err(wrong(&format!("a doubtful token is booked {booked:?}"))),
            };
        }
        let chain = self.chain();
        let real = chain.block_with(block).or_else(|| chain.orphan(block));
        let paid = real.map(|block| payments_of(block, 0, &self.people)).unwrap_or_default();
        drop(chain);
        let paid = paid.into_iter().find(|paid| paid.id == id);
        let paid = paid.ok_or_else(|| wrong("is credited, but there is no such payment"))?;
        if from_accounts.iter().any(|from| *from != custody(&self.people, paid.to, paid.asset)) {
            return Err(wrong("is credited from another wallet"));
        }
        let expected = shares(&self.people, &paid);
        match booked == expected {
            true => Ok(()),
            false => Err(wrong(&format!("is booked {booked:?}, and should be {expected:?}"))),
        }
    }

    fn check_reversal(&mut self, credit: Seq, request: &Request) -> Result<(), BrokenPromise> {
        let tx = request.references.deposit.clone().unwrap_or_default();
        let (credits, reversed) = self.truth.credits.entry(tx.clone()).or_default();
        if !credits.contains(&credit) || !reversed.insert(credit) {
            return Err(
                SafetyPromise::CreditedOnce.broken(format!("{tx} is taken back, and was not credited by {credit}"))
            );
        }
        Ok(())
    }

    fn check_settlement(&mut self, intent: &str, legs: &[Leg]) -> Result<(), BrokenPromise> {
        let is_paid = legs.iter().any(|leg| matches!(leg, Leg::Post { .. }));
        if self.truth.settled.insert(intent.to_owned(), is_paid).is_some() {
            return Err(SafetyPromise::OneEffect.broken(format!("{intent} is settled twice")));
        }
        let chain = self.chain();
        let signer = self.signer();
        let is_final = |block: &B256| self.truth.deepest.get(block).is_some_and(|deepest| *deepest >= PAYOUT_DEPTH);
        let of_intent = |hash: &B256, is_cancel: bool| {
            let released = signer.released.get(hash);
            released.is_some_and(|released| released.intent == intent && released.is_cancel == is_cancel)
        };
        let mut all = ours(&chain, &self.people).into_iter().filter(|ours| ours.succeeded && is_final(&ours.block));
        if is_paid {
            return match all.any(|ours| of_intent(&ours.hash, false)) {
                true => Ok(()),
                false => {
                    Err(SafetyPromise::CompletedWhenFinal
                        .broken(format!("{intent} is completed, and not final on chain")))
                }
            };
        }
        let is_signed = signer.released.values().any(|released| released.intent == intent);
        let is_proven = match is_signed {
            true => all.any(|ours| of_intent(&ours.hash, true)),
            false => signer.revoked.contains(intent),
        };
        match is_proven {
            true => Ok(()),
            false => {
                Err(SafetyPromise::RefundedWithProof.broken(format!("{intent} is given back, and may still be paid")))
            }
        }
    }

    /// What our wallet did on the chain is what was ordered, once for each intent.
    fn check_wallet(&self) -> Result<(), BrokenPromise> {
        let (chain, signer) = (self.chain(), self.signer());
        let mut paid: BTreeMap<&str, u32> = BTreeMap::new();
        for ours in ours(&chain, &self.people) {
            let released = signer.released.get(&ours.hash);
            let released = released.ok_or_else(|| {
                SafetyPromise::PaidAsOrdered.broken(format!("{} is from our wallet, and not ours", ours.hash))
            })?;
            let intent = self.callers.intents.get(&released.intent);
            let as_ordered = match (released.is_cancel, intent) {
                (true, _) => ours.to == Some(self.people.hot) && ours.value.is_zero(),
                (false, Some(intent)) => ours.to == Some(intent.to) && u128::try_from(ours.value) == Ok(intent.amount),
                (false, None) => false,
            };
            if !as_ordered || ours.nonce != released.nonce {
                return Err(SafetyPromise::PaidAsOrdered.broken(format!("{} pays something else", ours.hash)));
            }
            if released.is_cancel {
                continue;
            }
            let times = paid.entry(&released.intent).or_default();
            *times += 1;
            if *times > 1 {
                return Err(
                    SafetyPromise::PaidOnce.broken(format!("{} is paid {times} times", short(&released.intent)))
                );
            }
            if self.truth.settled.get(&released.intent) == Some(&false) {
                return Err(SafetyPromise::RefundedWithProof
                    .broken(format!("{} was given back, and is paid", short(&released.intent))));
            }
        }
        Ok(())
    }

    fn check_double_entry(&self) -> Result<(), BrokenPromise> {
        let accounts = self.books.rows().reader().accounts(&AccountFilter::default(), 1_000);
        let accounts = accounts.map_err(|error| SafetyPromise::DoubleEntry.broken(error.to_string()))?;
        let (mut debit, mut credit) = (0_u128, 0_u128);
        for account in &accounts {
            if account.held > account.balance {
                return Err(SafetyPromise::DoubleEntry.broken(format!("{} holds more than it has", account.name)));
            }
            let side = if account.name.kind.side() == Side::Debit { &mut debit } else { &mut credit };
            *side += account.balance.units();
        }
        match debit == credit {
            true => Ok(()),
            false => Err(SafetyPromise::DoubleEntry.broken(format!("debits are {debit}, credits {credit}"))),
        }
    }

    /// The block that the scanner has reached.
    fn cursor(&self) -> Result<B256, BrokenPromise> {
        let sql = "SELECT block_hash FROM chain_cursor WHERE chain = $1";
        let found = self.books.rows().read(sql, vec![text(CHAIN)]);
        let found = found.map_err(|error| SafetyPromise::NoSurprise.broken(error.to_string()))?;
        let hash = found.first().and_then(|row| parsed(row, "block_hash").ok());
        hash.ok_or_else(|| SafetyPromise::NoSurprise.broken("the scanner has no cursor"))
    }

    fn name_of(&self, account: bankroll_ledger::AccountId) -> String {
        let account = self.books.rows().reader().account(account).ok().flatten();
        account.map_or_else(String::new, |account| account.name.to_string())
    }
}
