//! A run: one plan from beginning to rest, and what came of it; and many of them.

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

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// How many steps were made.
    pub steps: u64,
    /// How much time passed in it, in microseconds.
    pub simulated: u64,
    /// What went wrong on the way.
    pub counts: Counts,
    /// What happened, line by line.
    pub history: Vec<String>,
    /// The promise that was broken, if one was.
    pub failure: Option<SimFailure>,
}

/// A broken promise, and how to see it again.
#[derive(Clone, Debug)]
pub struct SimFailure {
    /// The plan that leads to it.
    pub plan: Plan,
    /// The step behind which it was noticed.
    pub step: u32,
    /// What was broken.
    pub broken: BrokenPromise,
    /// What happened until then.
    pub history: Vec<String>,
}

/// What came of many runs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many.
    pub seeds: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Time that passed in all of them, in microseconds.
    pub simulated: u64,
    /// What went wrong on the way.
    pub counts: Counts,
    /// The broken promise with the lowest seed, if there is one.
    pub failure: Option<SimFailure>,
}

/// Runs a plan, with a bug or without.
#[must_use]
pub fn run(plan: &Plan, bug: Option<Bug>) -> RunOutcome {
    let mut world = World::new(plan.seed, bug);
    let simulated = catch_unwind(AssertUnwindSafe(|| world.live(plan)));
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
    /// Adds those of other seeds; of several failures the one of the lowest seed stays.
    pub fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.steps += other.steps;
        self.simulated += other.simulated;
        self.counts.merge(&other.counts);
        let both = self.failure.take().into_iter().chain(other.failure);
        self.failure = both.min_by_key(|failure| failure.plan.seed);
    }
}

/// Runs the plans of seeds from this one on, on every core, until `go_on` says no to a number of seeds, or a promise breaks.
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
    fn live(&mut self, plan: &Plan) -> Result<(), BrokenPromise> {
        for step in &plan.steps {
            self.step = step.number;
            self.make(step)?;
            self.check_step()?;
        }
        self.run_until_quiet()?;
        self.check_rest()
    }

    fn make(&mut self, step: &SimStep) -> Result<(), BrokenPromise> {
        let random = &mut Rng::with_seed(step.seed);
        // Whatever is done takes a moment.
        self.pass(random.u64(1..3 * SECOND));
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

    /// What happens, and cannot be noticed to be wrong before the next look.
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
            _ => unreachable!("it has a step of its own"),
        }
    }
}

/// Who can be in the middle of something when a process ends.
pub(super) const ROLES: &[&str] = &["scanner", "crediting", "payouts", "settlement", "game server"];

/// In whose step this happens; what is nobody's commits nothing.
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
