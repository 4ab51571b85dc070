//! One process of the deployment: starts it, reads its output, kills or stops it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use bankroll_nodes::NodeRole;
use bankroll_store::DatabaseUrl;
use serde_json::Value;

const STEP: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct NodeProcess {
    pub name: &'static str,
    pub role: NodeRole,
    process: Mutex<std::process::Child>,
    input: Mutex<Option<ChildStdin>>,
    output: Arc<NodeOutput>,
    was_killed: AtomicBool,
}

#[derive(Debug, Default)]
struct NodeOutput {
    has_books: AtomicBool,
    /// Where it answers the Funds API.
    url: Mutex<Option<String>>,
    notes: Mutex<Vec<String>>,
}

impl NodeProcess {
    pub fn start(
        name: &'static str,
        role: NodeRole,
        folder: &Path,
        set: &[String],
        url: &DatabaseUrl,
    ) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command.args(["serve", "--demo", "--json", "--roles", role.as_str(), "--dir"]).arg(folder);
        set.iter().for_each(|set| {
            command.args(["--set", set]);
        });
        // Not as an argument: it may contain a password.
        command.env("BANKROLL__BOOKS__DATABASE", url.reveal());
        // Ctrl-C must reach the game only: the game stops its processes in order.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {name}"))?;
        let output = Arc::<NodeOutput>::default();
        if let Some(stdout) = process.stdout.take() {
            let output = Arc::clone(&output);
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    output.read(name, &line);
                }
                output.has_books.store(false, Ordering::SeqCst);
                output.notes().push(format!("{name}: has ended"));
            });
        }
        let input = Mutex::new(process.stdin.take());
        Ok(Self { name, role, process: Mutex::new(process), input, output, was_killed: AtomicBool::new(false) })
    }

    pub fn has_books(&self) -> bool {
        self.output.has_books.load(Ordering::SeqCst)
    }

    /// Where the process answers the Funds API, once it does.
    pub fn url(&self) -> Option<String> {
        self.output.url.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The messages of the process since the last call.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.output.notes())
    }

    /// Kills the process at once.
    pub fn kill(&self) -> anyhow::Result<()> {
        self.was_killed.store(true, Ordering::SeqCst);
        self.output.notes().push(format!("{}: killed in the middle of the game", self.name));
        self.process().kill().with_context(|| format!("cannot kill {}", self.name))
    }

    /// Whether the process has ended. A process whose state is unknown counts as ended.
    pub fn has_ended(&self) -> bool {
        !matches!(self.process().try_wait(), Ok(None))
    }

    pub fn was_killed(&self) -> bool {
        self.was_killed.load(Ordering::SeqCst)
    }

    /// Closes its input, waits for the process to end, and kills it when the patience is over.
    pub fn stop(self, patience: Duration) -> anyhow::Result<ExitStatus> {
        drop(self.input.lock().unwrap_or_else(PoisonError::into_inner).take());
        let until = Instant::now() + patience;
        loop {
            if let Some(status) = self.process().try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= until {
                self.process().kill()?;
            }
            thread::sleep(STEP);
        }
    }

    fn process(&self) -> MutexGuard<'_, std::process::Child> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        // It has ended already, unless this process failed before it could stop it.
        let mut process = self.process();
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl NodeOutput {
    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, name: &str, line: &str) {
        let Ok(line) = serde_json::from_str::<Value>(line) else { return };
        match line["event"].as_str() {
            Some("took") => self.has_books.store(true, Ordering::SeqCst),
            Some("lost" | "gave_up") => self.has_books.store(false, Ordering::SeqCst),
            Some("api") => {
                *self.url.lock().unwrap_or_else(PoisonError::into_inner) = line["url"].as_str().map(str::to_owned);
            }
            _ => {}
        }
        self.notes().push(format!("{name}: {}", line["message"].as_str().unwrap_or_default()));
    }
}
