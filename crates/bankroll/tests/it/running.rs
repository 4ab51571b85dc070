//! Nodes that run during a test: starts them, reads their output, signals them, waits for them.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use bankroll_store::{DatabaseUrl, Ledger, LedgerOptions};
use bankroll_testkit::postgres::needed_database;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{API_ANYWHERE, command, folder, run};

/// Far more than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with an authority and the certificates of these nodes: name and roles.
pub fn deployment(nodes: &[(&str, &str)]) -> TempDir {
    let folder = folder();
    run(folder.path(), &["nodes", "init"]).ok();
    for (name, roles) in nodes {
        run(folder.path(), &["nodes", "add", name, "--roles", roles]).ok();
    }
    folder
}

/// A database with empty books.
pub fn books_database() -> DatabaseUrl {
    let url = needed_database();
    let migrations = bankroll_roles::flows::migrations();
    Ledger::create(LedgerOptions { migrations, ..LedgerOptions::new(url.clone()) }).unwrap().close();
    url
}

/// A node as `bankroll serve` runs it, and its output.
pub struct Running {
    pub name: String,
    child: Child,
    lines: Receiver<Value>,
}

impl Running {
    /// With books in this database, and a lease that is short to wait for, but not lost by a node that is only slow:
    /// the node that reported that it holds the books must still hold them when the test looks.
    pub fn start(folder: &Path, url: &DatabaseUrl, name: &str, roles: &str) -> Self {
        let mut serve = command(folder);
        serve.env("BANKROLL__BOOKS__DATABASE", url.reveal()).env("BANKROLL__NODE__NAME", name);
        serve.env("BANKROLL__NODE__LISTEN", "127.0.0.1:0").env("BANKROLL__BOOKS__LEASE_MS", "4000");
        serve.envs(API_ANYWHERE).args(["serve", "--json", "--roles", roles]);
        Self::spawn(serve, name)
    }

    pub fn spawn(mut serve: Command, name: &str) -> Self {
        // Tests run side by side: each node has a port of its own.
        serve.env("BANKROLL__API__LISTEN", "127.0.0.1:0").env("BANKROLL__API__METRICS", "");
        let mut child = serve.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in output.map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
                if out.send(line).is_err() {
                    return;
                }
            }
        });
        Self { name: name.into(), child, lines }
    }

    /// Reads its output up to this event.
    pub fn until(&self, event: &str) -> Value {
        let [line] = self.until_all([event]);
        line
    }

    /// Reads its output until each of these events was there, in any order: threads of a node log side by side.
    pub fn until_all<const COUNT: usize>(&self, events: [&str; COUNT]) -> [Value; COUNT] {
        let (mut found, deadline) = (events.map(|_| None), Instant::now() + PATIENCE);
        while let Some(missing) = found.iter().position(Option::is_none) {
            let line = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|_| panic!("{} never said {}", self.name, events[missing]));
            let place = (0..COUNT).find(|place| found[*place].is_none() && line["event"] == events[*place]);
            if let Some(place) = place {
                assert_eq!(line["node"], self.name);
                found[place] = Some(line);
            }
        }
        found.map(|line| line.expect("all were found"))
    }

    /// Whether it has logged this event by now.
    pub fn has_said(&self, event: &str) -> bool {
        self.lines.try_iter().any(|line| line["event"] == event)
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Its process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until it ends by itself; returns its exit code and its standard error.
    pub fn ended(mut self) -> (i32, String) {
        let deadline = Instant::now() + PATIENCE;
        while self.is_running() {
            assert!(Instant::now() < deadline, "{} does not end", self.name);
            std::thread::yield_now();
        }
        let mut message = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), message)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
