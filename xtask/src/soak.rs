//! The randomised suites, round after round with new seeds, until the time is up or one of them fails.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::stage::Stages;
use crate::test_binaries::{TestBinaries, Tests};
use crate::workspace::Workspace;
use crate::{needed_tools, postgres, program, referees, seed};

struct Suite {
    package: &'static str,
    tests: Tests,
    filter: &'static str,
    /// How many shares of a round it gets.
    shares: u64,
}

const SUITES: &[Suite] = &[
    // All parts together, so the most combinations of faults.
    Suite { package: "bankroll-testkit", tests: Tests::Integration, filter: "sim::", shares: 6 },
    Suite { package: "bankroll-testkit", tests: Tests::Integration, filter: "random_streams", shares: 1 },
    Suite { package: "bankroll-testkit", tests: Tests::Integration, filter: "crash", shares: 1 },
    Suite { package: "bankroll-testkit", tests: Tests::Integration, filter: "damage", shares: 1 },
    Suite { package: "bankroll-testkit", tests: Tests::Integration, filter: "postgres", shares: 1 },
    Suite { package: "bankroll-operators", tests: Tests::Unit, filter: "interleavings", shares: 1 },
    Suite { package: "bankroll-api", tests: Tests::Integration, filter: "people_property", shares: 1 },
    Suite { package: "bankroll-deposits", tests: Tests::Integration, filter: "random", shares: 1 },
    Suite { package: "bankroll-deposits", tests: Tests::Integration, filter: "forgeries", shares: 1 },
    Suite { package: "bankroll-withdrawals", tests: Tests::Integration, filter: "random", shares: 1 },
    Suite { package: "bankroll-notify", tests: Tests::Integration, filter: "random", shares: 1 },
    Suite { package: "bankroll-signer", tests: Tests::Integration, filter: "streams", shares: 1 },
    Suite { package: "bankroll-signer", tests: Tests::Integration, filter: "crash", shares: 1 },
    Suite { package: "bankroll-signer", tests: Tests::Integration, filter: "every_byte", shares: 1 },
    Suite { package: "bankroll-poker", tests: Tests::Integration, filter: "promises", shares: 1 },
    Suite { package: "bankroll-poker", tests: Tests::Integration, filter: "referee", shares: 1 },
    Suite { package: "bankroll-poker", tests: Tests::Integration, filter: "histories", shares: 1 },
    Suite { package: "bankroll-poker", tests: Tests::Integration, filter: "random_hands_verify", shares: 1 },
    Suite { package: "bankroll-poker", tests: Tests::Integration, filter: "independent_messages", shares: 1 },
    Suite { package: "bankroll-poker", tests: Tests::Integration, filter: "decoders_take_one_encoding", shares: 1 },
    Suite { package: "bankroll-deck", tests: Tests::Unit, filter: "tests", shares: 1 },
    Suite { package: "bankroll-chains-simulated", tests: Tests::Integration, filter: "random_histories", shares: 1 },
    Suite { package: "bankroll-chains-evm", tests: Tests::Integration, filter: "random_transactions", shares: 1 },
    Suite { package: "bankroll", tests: Tests::Integration, filter: "http_scenes::lost_answers", shares: 1 },
    Suite { package: "bankroll", tests: Tests::Integration, filter: "http_scenes::races", shares: 1 },
    Suite { package: "bankroll", tests: Tests::Integration, filter: "http_referees::schemathesis", shares: 2 },
];

/// A suite stops by itself after about this many seconds.
const SECONDS_VARIABLE: &str = "BANKROLL_SOAK_SECONDS";

/// Longer rounds would try fewer seeds; shorter ones would not get far with any seed.
const LONGEST_ROUND: Duration = Duration::from_secs(600);

/// With fewer seconds than this left for each share, another round is not started.
const SHORTEST_SHARE: u64 = 5;

#[derive(clap::Args)]
pub struct Options {
    /// How long to run, without compilation.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    minutes: u64,
    /// Seed of the first round; each later round adds one.
    #[arg(long)]
    seed: Option<u64>,
    /// Only the suites of these packages.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

impl Options {
    fn suites(&self) -> Result<Vec<&'static Suite>> {
        let wanted = |suite: &&Suite| self.only.is_empty() || self.only.iter().any(|package| package == suite.package);
        let suites: Vec<_> = SUITES.iter().filter(wanted).collect();
        ensure!(!suites.is_empty(), "no suite belongs to {}", self.only.join(" or "));
        Ok(suites)
    }
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let suites = options.suites()?;
    let mut stages = Stages::default();
    stages.run("needed tools", needed_tools::ensure)?;
    stages.run("referees", || referees::ensure(workspace))?;
    let server = stages.run("Postgres server", postgres::Server::start)?;
    let binaries = stages.run("compile", || compiled(workspace, &suites))?;

    let first = seed::given_or_new(options.seed);
    let time = Duration::from_secs(options.minutes.saturating_mul(60));
    let started = Instant::now();
    let mut seeds = Vec::new();
    let shares = suites.iter().map(|suite| suite.shares).sum();
    while let Some(seconds) = share(time.saturating_sub(started.elapsed()), shares, seeds.is_empty()) {
        let seed = first.wrapping_add(seeds.len() as u64);
        seeds.push(seed);
        println!("== round {}: seed {seed}, {seconds} s for each share", seeds.len());
        for suite in &suites {
            let red = || {
                let again = format!("cargo xtask soak --minutes {} --seed {seed}", options.minutes);
                format!("{} failed in round {} (repeat with {again})", suite.filter, seeds.len())
            };
            suite.run(&binaries, &server, seed, seconds * suite.shares).with_context(red)?;
        }
    }
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    println!("== soaked for {minutes:.1} minutes: {} round(s), all passed, seeds {seeds:?}", seeds.len());
    Ok(())
}

/// Seconds for each share in the next round, or `None` if the time is up. The first round always runs.
fn share(remaining: Duration, shares: u64, is_first: bool) -> Option<u64> {
    let share = remaining.min(LONGEST_ROUND) / u32::try_from(shares).unwrap_or(u32::MAX).max(1);
    let seconds = share.as_secs_f64().round() as u64;
    (is_first || seconds >= SHORTEST_SHARE).then_some(seconds)
}

fn compiled(workspace: &Workspace, suites: &[&Suite]) -> Result<TestBinaries> {
    let packages = suites.iter().flat_map(|suite| ["-p", suite.package]);
    let binaries = TestBinaries::build(workspace, &["--release"].into_iter().chain(packages).collect::<Vec<_>>())?;
    suites.iter().try_for_each(|suite| suite.ensure_has_tests(&binaries))?;
    Ok(binaries)
}

impl Suite {
    fn run(&self, binaries: &TestBinaries, server: &postgres::Server, seed: u64, seconds: u64) -> Result<()> {
        let mut tests = binaries.command(self.package, self.tests)?;
        tests.args(["--nocapture", self.filter]);
        tests.env(seed::VARIABLE, seed.to_string()).env(SECONDS_VARIABLE, seconds.to_string());
        // Tests on Postgres kill servers, so they start their own.
        tests.env(postgres::SERVER_VARIABLE, server.url()).env(postgres::PROGRAMS_VARIABLE, server.programs());
        program::succeed(&mut tests)
    }

    /// A filter that matches no test passes, so a renamed suite would run nothing and still pass.
    fn ensure_has_tests(&self, binaries: &TestBinaries) -> Result<()> {
        let mut tests = binaries.command(self.package, self.tests)?;
        let listed = program::stdout(tests.args(["--list", self.filter]))?;
        ensure!(listed.lines().any(|line| line.ends_with(": test")), "no test matches `{}`", self.filter);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(remaining: u64, is_first: bool, expected: Option<u64>) {
        assert_eq!(share(Duration::from_secs(remaining), 12, is_first), expected);
    }

    #[test]
    fn suites_divide_a_round_until_too_little_is_left() {
        check(3600, true, Some(50));
        check(72, false, Some(6));
        check(60, false, Some(5));
        check(50, false, None);
        check(0, false, None);
    }
}
