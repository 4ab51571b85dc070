//! Starts the victim and reads its lines.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use bankroll_testkit::script::VictimAnswer;

/// The arguments of a victim.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    pub seed: u64,
    pub threads: u64,
    pub calls: u64,
    pub keys_in_memory: usize,
    pub ballast_mebibytes: u64,
    /// Does not sync its commits.
    pub weak: bool,
    /// Lease in milliseconds, on Postgres, for which it stands by; 0 for the default.
    pub lease: u64,
}

/// One line of a victim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Open,
    Begin { thread: u64, call: u64 },
    Done { thread: u64, call: u64, answers: Vec<VictimAnswer> },
    Noted(String),
    Full { thread: u64, call: u64 },
    Unknown { thread: u64, call: u64 },
    Stopped { thread: u64, call: u64 },
    Closed,
    Because(String),
    Other(String),
}

impl Role {
    /// A few threads, and so few keys in memory that runs are written and merged all the time.
    pub fn usual(seed: u64) -> Self {
        Self { seed, threads: 2, calls: 12, keys_in_memory: 8, ballast_mebibytes: 0, weak: false, lease: 0 }
    }

    /// The program and its arguments.
    pub fn arguments(&self, folder: &Path) -> Vec<String> {
        let (keys, weak) = (self.keys_in_memory as u64, u64::from(self.weak));
        let numbers = [self.seed, self.threads, self.calls, keys, self.ballast_mebibytes, weak, self.lease];
        let program = [env!("CARGO_BIN_EXE_victim").to_owned(), folder.to_str().unwrap().to_owned()];
        program.into_iter().chain(numbers.map(|number| number.to_string())).collect()
    }

    pub fn command(&self, folder: &Path) -> Command {
        let arguments = self.arguments(folder);
        let mut command = Command::new(&arguments[0]);
        command.args(&arguments[1..]);
        command
    }

    /// Runs the victim under a tracer until it ends, in whatever way.
    pub fn run_under(&self, mut tracer: Command, folder: &Path) -> Vec<Line> {
        tracer.arg("--").args(self.arguments(folder));
        lines_of(tracer)
    }

    /// Runs the victim until it ends, in whatever way.
    pub fn run(&self, folder: &Path) -> Vec<Line> {
        lines_of(self.command(folder))
    }
}

fn lines_of(mut command: Command) -> Vec<Line> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    let refused = String::from_utf8_lossy(&output.stderr);
    assert!(!refused.contains("strace:"), "strace could not do its work: {refused}");
    String::from_utf8(output.stdout).unwrap().lines().map(parse).collect()
}

/// Reads one line of a victim.
pub fn parse(line: &str) -> Line {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    match words.as_slice() {
        ["open"] => Line::Open,
        ["closed"] => Line::Closed,
        ["because", ..] => Line::Because(line.to_owned()),
        ["noted", id] => Line::Noted((*id).to_owned()),
        ["begin", thread, call] => Line::Begin { thread: number(thread), call: number(call) },
        ["full", thread, call] => Line::Full { thread: number(thread), call: number(call) },
        ["unknown", thread, call] => Line::Unknown { thread: number(thread), call: number(call) },
        ["stopped", thread, call] => Line::Stopped { thread: number(thread), call: number(call) },
        ["done", thread, call, answers @ ..] => {
            let answers = answers.iter().map(|answers| answers.parse().unwrap()).collect();
            Line::Done { thread: number(thread), call: number(call), answers }
        }
        _ => Line::Other(line.to_owned()),
    }
}
