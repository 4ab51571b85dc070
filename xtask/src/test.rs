//! Every test of the workspace, then the session from the README.

use anyhow::Result;

use crate::stage::Stages;
use crate::test_binaries::{TestBinaries, Tests};
use crate::workspace::Workspace;
use crate::{needed_tools, postgres, program, referees, seed, session};

#[derive(clap::Args)]
pub struct Options {
    /// Run only tests whose name contains this; the README's session is then skipped.
    #[arg(long)]
    filter: Option<String>,
    /// Repeat the random choices of an earlier run.
    #[arg(long)]
    seed: Option<u64>,
}

/// The suites that run on SQLite and on Postgres, and their test filters; none means all tests.
const ON_BOTH_ENGINES: &[(&str, &[&str])] = &[
    ("bankroll-store", &[]),
    ("bankroll-testkit", &["random_streams", "races", "edges", "postgres"]),
    ("bankroll-registry", &[]),
    ("bankroll-deposits", &["crediting", "reorgs", "of_two_scanners", "transfers", "forgeries"]),
    ("bankroll-heads", &[]),
    ("bankroll-spawns", &[]),
    ("bankroll-withdrawals", &["intents", "refunds"]),
];

/// The prefix of tests that start and kill their own servers.
const POSTGRES_FAULTS: &str = "::postgres_";

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let seed = seed::given_or_new(options.seed);
    println!("seed {seed} (repeat with cargo xtask test --seed {seed})");
    let mut stages = Stages::default();
    let outcome = run_stages(workspace, options.filter.as_deref(), seed, &mut stages);
    stages.print_times();
    // Printed again, because the first line is far above by now.
    println!("seed {seed}");
    outcome
}

fn run_stages(workspace: &Workspace, filter: Option<&str>, seed: u64, stages: &mut Stages) -> Result<()> {
    stages.run("needed tools", needed_tools::ensure)?;
    stages.run("referees", || referees::ensure(workspace))?;
    let server = stages.run("Postgres server", postgres::Server::start)?;
    stages.run("tests", || {
        // Plain `cargo test` needs no other tool, and it runs the documentation's examples too.
        let mut tests = workspace.cargo(["test", "--workspace", "--locked", "--no-fail-fast"]);
        tests.env(seed::VARIABLE, seed.to_string());
        tests.env(postgres::SERVER_VARIABLE, server.url()).env(postgres::PROGRAMS_VARIABLE, server.programs());
        // The tests of Postgres faults run in the next stage.
        program::succeed(tests.args(["--", "--skip", POSTGRES_FAULTS]).args(filter))
    })?;
    stages.run("tests on Postgres", || {
        // The suites that run on either engine, again with the ledger in Postgres.
        let binaries = TestBinaries::build(workspace, &["--workspace"])?;
        ON_BOTH_ENGINES.iter().try_for_each(|(package, names)| {
            let mut tests = binaries.command(package, Tests::Integration)?;
            tests.env(seed::VARIABLE, seed.to_string());
            tests.env(postgres::ENGINE_VARIABLE, server.url()).env(postgres::PROGRAMS_VARIABLE, server.programs());
            match filter {
                Some(filter) => tests.arg(filter),
                None => tests.args(*names),
            };
            program::succeed(&mut tests)
        })
    })?;
    drop(server);
    if filter.is_some() {
        println!("the README's session is skipped because of --filter");
        return Ok(());
    }
    stages.run("release build", || program::succeed(&mut workspace.cargo(["build", "--release", "--locked"])))?;
    stages.run("README session", || session::run(workspace))
}
