//! The plan of a seed: a list of steps, drawn before anything runs.
//!
//! A step is a kind and a seed of its own, from which it draws. So a plan without some of its steps is a plan too,
//! whose other steps draw as before; only the state that they find may differ.

use fastrand::Rng;

/// The number of steps of a run.
const STEPS: u32 = 180;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimStep {
    /// Its position in the whole plan, from 1.
    pub number: u32,
    pub kind: StepKind,
    /// The seed of its own draws.
    pub seed: u64,
}

/// The steps of one seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub seed: u64,
    pub steps: Vec<SimStep>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $weight:literal,)*) => {
        /// The kinds of steps, each with its weight. The order is part of every plan: draws depend on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StepKind { $($(#[$doc])* $name,)* }

        impl StepKind {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            const fn weight(self) -> u32 {
                match self { $(Self::$name => $weight,)* }
            }
        }
    };
}

kinds! {
    /// A person pays one of our addresses.
    Pay = 12,
    /// A player replaces a payment that no block has yet.
    DoubleSpend = 3,
    /// Wallets send again what the chain does not have.
    Resend = 3,
    /// Other users of the chain: tokens, contracts, transactions that fail; payments to us in tokens and by contracts.
    Chatter = 6,
    /// New blocks.
    Mine = 18,
    /// The newest blocks are replaced.
    Reorg = 5,
    /// An abandoned branch is adopted again.
    Adopt = 1,
    /// Gas becomes expensive or cheap.
    BaseFee = 1,
    /// The clock advances.
    Wait = 7,
    /// The scanner makes a step.
    Scan = 14,
    /// Crediting makes a step.
    Credit = 8,
    /// Crediting prepares a step and is paused in the middle; if it was paused, it continues.
    Stall = 7,
    /// Payouts make a step.
    Payout = 22,
    /// Settlement makes a step.
    Settle = 12,
    /// An observer reads traces of the newest blocks; or a node lies to the scanner; or somebody edits a row.
    Observe = 4,
    /// A player's money moves into the game.
    Spend = 6,
    /// Money moves out of the game.
    Award = 4,
    /// A player leaves the game and is paid.
    Exit = 4,
    /// A player requests a payout.
    Withdraw = 6,
    /// The cancellation of a payout is requested.
    Cancel = 3,
    /// A call is made again.
    Retry = 5,
    /// The key of another request, with another body.
    Conflict = 1,
    /// A node will fail in some way.
    NodeFault = 9,
    /// A node falls behind, or catches up.
    NodeLag = 2,
    /// A node goes down, or comes back.
    NodeDown = 2,
    /// A message between the payouts role and the signer will be lost or repeated, or the signer will end.
    SignerFault = 5,
    /// The signer restarts; sometimes its clock is off.
    SignerRestart = 2,
    /// A third party sends bytes that the signer released.
    Leak = 3,
    /// A commit of the writer will fail, or end the process.
    StoreFault = 7,
    /// The process of the books restarts.
    Restart = 2,
    /// The process of the books loses power.
    PowerCut = 2,
    /// One role restarts.
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

    /// The plan with only some of its steps.
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
        let range = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        ranges.iter().map(range).collect::<Vec<_>>().join(",")
    }
}
