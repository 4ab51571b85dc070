//! A run: one plan from start to end, and its outcome; and many runs.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use fastrand::Rng;

use super::{
    Bug, Counts, Plan, SimStep, StepKind,
    promises::{BrokenPromise, SafetyPromise},
    world::{SECOND, World},
};

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The number of the last step.
    pub steps: u64,
    /// Simulated time in microseconds.
    pub simulated: u64,
    /// The faults that fired.
    pub counts: Counts,
    pub history: Vec<String>,
    pub failure: Option<SimFailure>,
}

/// A broken promise, and the plan that reproduces it.
#[derive(Clone, Debug)]
pub struct SimFailure {
    pub plan: Plan,
    /// The step after which it was detected.
    pub step: u32,
    pub broken: BrokenPromise,
    pub history: Vec<String>,
}

/// The outcome of many runs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub seeds: u64,
    pub steps: u64,
    /// Simulated time of all of them in microseconds.
    pub simulated: u64,
    /// The faults that fired.
    pub counts: Counts,
    /// The broken promise with the lowest seed, if there is one.
    pub failure: Option<SimFailure>,
}

/// Runs a plan, with a bug or without.
#[must_use]
pub fn run(plan: &Plan, bug: Option<Bug>) -> RunOutcome {
    let mut world = World::new(plan.seed, bug);
    let simulated = catch_unwind(AssertUnwindSafe(|| world.execute(plan)));
    let broken =
        simulated.unwrap_or_else(|panic| Err(SafetyPromise::NoSurprise.broken(panic_text(panic.as_ref())))).err();
    let of_nodes = world.chain().faults().clone();
    world.counts.count_nodes(&of_nodes);
    let of_signer = world.signer().counts.clone();
    world.counts.merge(&of_signer);
    let failure = broken.map(|broken| SimFailure {
        plan: plan.clone(),
        step: world.step,
        broken,
        history: world.history.clone(),
    });
    let (steps, simulated) = (u64::from(world.step), world.simulated());
    RunOutcome { steps, simulated, counts: world.counts.clone(), history: std::mem::take(&mut world.history), failure }
}

impl Summary {
    /// Adds the outcome of other seeds; of two failures the one with the lower seed is kept.
    pub fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.steps += other.steps;
        self.simulated += other.simulated;
        self.counts.merge(&other.counts);
        let both = self.failure.take().into_iter().chain(other.failure);
        self.failure = both.min_by_key(|failure| failure.plan.seed);
    }
}

/// Runs the plans of consecutive seeds on every core, until `go_on` is false for a number or a promise is broken.
pub fn run_many(first: u64, bug: Option<Bug>, go_on: impl Fn(u64) -> bool + Sync) -> Summary {
    let (next, summary) = (AtomicU64::new(0), Mutex::new(Summary::default()));
    let lock = || summary.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if lock().failure.is_some() || !go_on(number) {
                return;
            }
            let RunOutcome { steps, simulated, counts, failure, .. } =
                run(&Plan::draw(first.wrapping_add(number)), bug);
            lock().add(Summary { seeds: 1, steps, simulated, counts, failure });
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    summary.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn execute(&mut self, plan: &Plan) -> Result<(), BrokenPromise> {
        for step in &plan.steps {
            self.step = step.number;
            self.run_step(step)?;
            self.check_step()?;
        }
        self.run_until_quiet()?;
        self.check_rest()
    }

    fn run_step(&mut self, step: &SimStep) -> Result<(), BrokenPromise> {
        let random = &mut Rng::with_seed(step.seed);
        // Every step takes some time.
        self.advance(random.u64(1..3 * SECOND));
        let role = role_of(step.kind);
        self.books.begin_step(role);
        match step.kind {
            StepKind::Scan => self.scan(random),
            StepKind::Credit => self.credit().map(drop),
            StepKind::Stall => self.stall(random),
            StepKind::Payout => self.pay_out(random),
            StepKind::Spend => self.play(random, true),
            StepKind::Award => self.play(random, false),
            StepKind::Exit => self.withdraw(random, true),
            StepKind::Withdraw => self.withdraw(random, false),
            StepKind::Retry => self.retry(random),
            StepKind::Conflict => self.conflict(random),
            StepKind::RoleRestart => self.restart_role(random),
            StepKind::Observe => self.observe(random),
            other => {
                self.apply_event(other, random);
                Ok(())
            }
        }?;
        self.after_step_of(role);
        Ok(())
    }

    /// The steps that cannot fail themselves; the next checks find what they break.
    fn apply_event(&mut self, kind: StepKind, random: &mut Rng) {
        match kind {
            StepKind::Pay => self.pay(random),
            StepKind::DoubleSpend => self.double_spend(random),
            StepKind::Resend => self.resend(random),
            StepKind::Chatter => self.chatter(random),
            StepKind::Mine => self.mine(random),
            StepKind::Reorg => self.reorg(random),
            StepKind::Adopt => self.adopt(random),
            StepKind::BaseFee => self.base_fee(random),
            StepKind::Wait => self.wait(random),
            StepKind::Settle => {
                self.settle();
            }
            StepKind::Cancel => self.cancel(random),
            StepKind::NodeFault => self.node_fault(random),
            StepKind::NodeLag => self.node_lag(random),
            StepKind::NodeDown => self.node_down(random),
            StepKind::SignerFault => self.signer_fault(random),
            StepKind::SignerRestart => self.signer_restart(random),
            StepKind::Leak => self.leak(random),
            StepKind::StoreFault => self.store_fault(random),
            StepKind::Restart => self.restart_books("books: restarted"),
            StepKind::PowerCut => self.restart_books("books: power cut"),
            _ => unreachable!("handled in run_step"),
        }
    }
}

/// The roles that can be interrupted when a process ends.
pub(super) const ROLES: &[&str] = &["scanner", "crediting", "payouts", "settlement", "game server"];

/// The role of a step; steps without a role commit nothing.
const fn role_of(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Credit | StepKind::Stall => "crediting",
        StepKind::Payout => "payouts",
        StepKind::Settle => "settlement",
        StepKind::Spend | StepKind::Award | StepKind::Exit | StepKind::Withdraw => "game server",
        StepKind::Cancel | StepKind::Retry | StepKind::Conflict | StepKind::RoleRestart => "game server",
        _ => "scanner",
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".into())
}
