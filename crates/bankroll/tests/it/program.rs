//! Runs the program and checks its output.

use std::{
    path::Path,
    process::{Command, Output},
};

use bankroll_ledger::{Action, Amount, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope};
use bankroll_store::{Ledger, LedgerOptions};
use serde_json::Value;
use tempfile::TempDir;

/// One run of the program.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The program, in this folder, with a bare environment.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bankroll"));
    command.current_dir(folder).env_clear();
    command
}

/// `bankroll demo`. Demos of tests run side by side: each has a port of its own.
pub fn demo_command(folder: &Path) -> Command {
    let mut command = command(folder);
    command.envs(API_ANYWHERE).arg("demo");
    command
}

pub fn run(folder: &Path, args: &[&str]) -> Run {
    run_with(folder, &[], args)
}

pub fn run_with(folder: &Path, env: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = command(folder);
    if matches!(args.first(), Some(&"serve" | &"demo")) {
        // Tests run side by side: each node has a port of its own.
        command.envs(API_ANYWHERE);
    }
    let Output { status, stdout, stderr } = command.args(args).envs(env.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
}

impl Run {
    /// The run succeeded; returns its output.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// The run succeeded and printed one JSON value and nothing else.
    pub fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The run failed with this code, with all of these texts on standard error and nothing on standard output.
    pub fn fails(self, code: i32, says: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        for what in says {
            assert!(self.stderr.contains(what), "{what:?} is not in: {}", self.stderr);
        }
    }
}

/// The books of a folder that the program created, held by this process.
pub fn hold(folder: &Path) -> Ledger {
    let migrations = bankroll_roles::flows::migrations();
    Ledger::open(LedgerOptions { migrations, ..LedgerOptions::new(folder) }).unwrap()
}

/// A deposit of this many units, into an account of the server `arena`.
pub fn credit(folder: &Path, funds: &str, units: u128) {
    let ledger = hold(folder);
    let names = ["@house/custody/1/hot", funds].map(|name| name.parse().unwrap()).to_vec();
    let opened = ledger.open_accounts(&Principal::System, names).unwrap();
    let (from, to) = (opened[0].unwrap(), opened[1].unwrap());
    let scope = Scope::Server("arena".parse().unwrap());
    let request = Request {
        key: IdempotencyKey { namespace: Namespace::Deposits, scope, text: "credit-1".into() },
        principal: Principal::Indexer,
        confirmation: None,
        action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(units) }]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    ledger.apply(request).unwrap().effects().unwrap();
    ledger.close();
}

/// An empty folder.
pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A folder with the books of a short demo in `bankroll-demo`, and what the demo reported.
pub fn demo_folder() -> (TempDir, Value) {
    let folder = folder();
    let report = run(folder.path(), &["demo", "--exit", "--json", "--players", "40", "--seconds", "1"]).json();
    (folder, report)
}

/// For nodes of tests, which run at the same time: the Funds API on a free port, and no metrics.
pub const API_ANYWHERE: [(&str, &str); 2] = [("BANKROLL__API__LISTEN", "127.0.0.1:0"), ("BANKROLL__API__METRICS", "")];
