//! The end of a run: faults stop, blocks continue, every role runs until it is idle and every call is answered.

use bankroll_ledger::{AccountName, Time};
use bankroll_orders::IntentId;
use bankroll_withdrawals::Intents;
use fastrand::Rng;

use super::{
    callers::short,
    ground_truth::PAYOUT_DEPTH,
    promises::{BrokenPromise, SafetyPromise},
    world::{NODES, SECOND, World},
};

/// The most rounds until all work has ended. A round is a block and eleven minutes.
const ROUNDS_MAX: u32 = 120;
/// Rounds after which payouts no longer wait for a debt to be repaid.
const PATIENT_ROUNDS: u32 = 40;
/// Idle rounds before the run ends: as deep as the deepest finality.
const QUIET_ROUNDS: u64 = PAYOUT_DEPTH + 1;

impl World {
    /// Runs until all work has ended.
    pub fn run_until_quiet(&mut self) -> Result<(), BrokenPromise> {
        self.step += 1;
        self.stop_faults();
        let mut random = Rng::with_seed(self.seed);
        if self.stalled.is_some() {
            self.stall(&mut random)?;
            self.check_step()?;
        }
        let mut quiet = 0;
        for round in 0..ROUNDS_MAX {
            if round == PATIENT_ROUNDS {
                self.cancel_payouts_of_debtors();
            }
            let before = self.truth.seen;
            self.round()?;
            let is_idle =
                self.truth.seen == before && self.unanswered().is_empty() && self.chain().waiting_count() == 0;
            quiet = if is_idle { quiet + 1 } else { 0 };
            if quiet >= QUIET_ROUNDS && self.open_intents().is_empty() {
                return Ok(());
            }
        }
        let open = self.open_intents();
        match open.first() {
            Some(intent) => {
                Err(SafetyPromise::Ends.broken(format!("{} payouts have no end, {intent} among them", open.len())))
            }
            None => Err(SafetyPromise::Rest.broken("something goes on for ever")),
        }
    }

    fn stop_faults(&mut self) {
        let mut chain = self.chain();
        for node in 0..NODES {
            chain.clear_faults(node);
            chain.lag(node, 0);
            chain.restart(node);
        }
        chain.set_base_fee(1_000_000_000);
        drop(chain);
        self.books.disarm();
        self.restart_scanner();
        let now = self.now;
        let mut signer = self.signer();
        signer.plan.clear();
        signer.now = now;
        drop(signer);
        self.note("nothing fails any more");
    }

    fn round(&mut self) -> Result<(), BrokenPromise> {
        self.advance(660 * SECOND);
        // Always the newest version: two versions that replace each other in turns would never end.
        self.resend_newest();
        self.mine_one();
        self.flush_deferred();
        for place in self.unanswered() {
            self.submit_reliably(place)?;
        }
        while !self.scan_with(0, self.now)? {}
        self.check_step()?;
        self.credit_all()?;
        self.check_step()?;
        for _ in 0..2 {
            self.pay_out_with(0, self.now)?;
        }
        while self.settle() > 0 {}
        self.check_step()
    }

    /// A player with a debt is not paid. No more deposits arrive, so the payouts that wait for one are cancelled.
    fn cancel_payouts_of_debtors(&mut self) {
        for id in self.open_intents() {
            let Some(intent) = self.callers.intents.get(&id) else { continue };
            let debt = format!("{}/debt/1/{}", intent.server, intent.player).parse::<AccountName>();
            let debt = debt.ok().and_then(|debt| self.books.rows().reader().account_named(&debt).ok().flatten());
            if debt.is_some_and(|debt| !debt.balance.is_zero()) {
                let cancelled =
                    Intents::cancel(self.books.rows(), &IntentId(id.parse().expect("a name")), Time(self.now));
                self.note(format_args!(
                    "{} is stopped, whose player owes something: {}",
                    short(&id),
                    cancelled.is_ok()
                ));
            }
        }
    }

    fn resend_newest(&mut self) {
        let mut chain = self.chain();
        for (person, signed) in &self.wallets {
            let next = chain.nonce(self.people.address(*person).0.into());
            for versions in signed.iter().skip(usize::try_from(next).unwrap_or(usize::MAX)) {
                let _ = versions.last().map(|raw| chain.send(raw));
            }
        }
    }

    /// Payouts that were accepted and are not settled.
    fn open_intents(&self) -> Vec<String> {
        let granted = self.granted().filter(|id| !self.truth.settled.contains_key(*id));
        granted.cloned().collect()
    }
}
