//! What a seed lets happen: a list of steps, drawn before anything runs.
//!
//! A step is a kind and a number of its own, from which it makes its choices. So a plan without some of its steps is a plan
//! too, whose other steps choose as before; only what they find in the world may differ.

use fastrand::Rng;

/// The steps of a run.
const STEPS: u32 = 180;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimStep {
    /// Its place in the whole plan, from 1.
    pub number: u32,
    /// What happens.
    pub kind: StepKind,
    /// What its choices follow from.
    pub seed: u64,
}

/// All that a seed lets happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number that all of it follows from.
    pub seed: u64,
    /// The steps, in order.
    pub steps: Vec<SimStep>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $weight:literal,)*) => {
        /// What can happen, and how often it does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StepKind { $($(#[$doc])* $name,)* }

        impl StepKind {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            const fn weight(self) -> u32 {
                match self { $(Self::$name => $weight,)* }
            }
        }
    };
}

kinds! {
    /// Somebody pays one of our addresses.
    Pay = 12,
    /// A player takes back a payment that no block has yet.
    DoubleSpend = 3,
    /// Wallets send again what the chain does not have.
    Resend = 3,
    /// Others use the chain: tokens, contracts, transactions that fail.
    Chatter = 6,
    /// Blocks come.
    Mine = 18,
    /// The newest blocks are replaced.
    Reorg = 5,
    /// A branch that was left is followed again.
    Adopt = 1,
    /// The chain becomes dear or cheap.
    BaseFee = 1,
    /// Time passes.
    Wait = 7,
    /// The scanner makes a step.
    Scan = 14,
    /// Crediting makes a step.
    Credit = 8,
    /// Crediting prepares a step and is stopped in the middle; if it was, it goes on.
    Stall = 7,
    /// Payouts make a step.
    Payout = 22,
    /// Settling makes a step.
    Settle = 12,
    /// Somebody looks at traces of the newest blocks.
    Observe = 4,
    /// A player's money goes into the world.
    Spend = 6,
    /// Value comes back out of it.
    Award = 4,
    /// A player leaves the world, and is paid.
    Exit = 4,
    /// A player wants his money paid.
    Withdraw = 6,
    /// A payout is to be stopped.
    Cancel = 3,
    /// Something that was asked is asked again.
    Retry = 5,
    /// The key of another request, with another body.
    Conflict = 1,
    /// A node will fail in some way.
    NodeFault = 9,
    /// A node falls behind, or catches up.
    NodeLag = 2,
    /// A node goes down, or comes back.
    NodeDown = 2,
    /// Something will come between the payouts role and the signer.
    SignerFault = 5,
    /// The signer's process is started anew, or its clock is set.
    SignerRestart = 2,
    /// Bytes that the signer gave out are sent by somebody.
    Leak = 3,
    /// Something will come between the writer and its disk.
    StoreFault = 7,
    /// The process of the books is started anew.
    Restart = 2,
    /// It loses its power instead.
    PowerCut = 2,
    /// One role is started anew.
    RoleRestart = 3,
}

impl Plan {
    /// The plan of a seed.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let all: u32 = StepKind::ALL.iter().map(|kind| kind.weight()).sum();
        let mut draw = |number| {
            let mut left = random.u32(..all);
            let chosen = StepKind::ALL.iter().find(|kind| match left.checked_sub(kind.weight()) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            });
            SimStep { number, kind: *chosen.expect("the weights add up"), seed: random.u64(..) }
        };
        Self { seed, steps: (1..=STEPS).map(&mut draw).collect() }
    }

    /// The same with only some of its steps.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&SimStep) -> bool) -> Self {
        Self { seed: self.seed, steps: self.steps.iter().filter(|step| keep(step)).copied().collect() }
    }

    /// The numbers of its steps, as `cargo xtask sim --only` takes them: `3,17-20`.
    #[must_use]
    pub fn numbers(&self) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for step in &self.steps {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == step.number => *last = step.number,
                _ => ranges.push((step.number, step.number)),
            }
        }
        let told = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        ranges.iter().map(told).collect::<Vec<_>>().join(",")
    }
}
