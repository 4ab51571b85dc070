//! One process of the deployment: started, listened to, killed or stopped.

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
pub struct Child {
    pub name: &'static str,
    pub role: NodeRole,
    process: Mutex<std::process::Child>,
    input: Mutex<Option<ChildStdin>>,
    heard: Arc<Heard>,
    was_killed: AtomicBool,
}

#[derive(Debug, Default)]
struct Heard {
    has_books: AtomicBool,
    notes: Mutex<Vec<String>>,
}

impl Child {
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
        // Not as an argument: it may have a password in it.
        command.env("BANKROLL__BOOKS__DATABASE", url.reveal());
        // Ctrl-C is for the game; what it ends, and in which order, is the game's affair.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {name}"))?;
        let heard = Arc::<Heard>::default();
        if let Some(output) = process.stdout.take() {
            let heard = Arc::clone(&heard);
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    heard.hear(name, &line);
                }
                heard.has_books.store(false, Ordering::SeqCst);
            });
        }
        let input = Mutex::new(process.stdin.take());
        Ok(Self { name, role, process: Mutex::new(process), input, heard, was_killed: AtomicBool::new(false) })
    }

    pub fn has_books(&self) -> bool {
        self.heard.has_books.load(Ordering::SeqCst)
    }

    /// What it has said since this was last asked.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.notes())
    }

    /// At once, wherever it is.
    pub fn kill(&self) -> anyhow::Result<()> {
        self.was_killed.store(true, Ordering::SeqCst);
        self.heard.notes().push(format!("{}: killed, in the middle of the game", self.name));
        self.process().kill().with_context(|| format!("cannot kill {}", self.name))
    }

    /// Whether it is gone. One that nobody can tell of is.
    pub fn has_ended(&self) -> bool {
        !matches!(self.process().try_wait(), Ok(None))
    }

    pub fn was_killed(&self) -> bool {
        self.was_killed.load(Ordering::SeqCst)
    }

    /// Lets it end by itself, and does not wait for ever.
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

impl Drop for Child {
    fn drop(&mut self) {
        // It has ended already unless something went wrong here.
        let mut process = self.process();
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Heard {
    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, name: &str, line: &str) {
        let Ok(line) = serde_json::from_str::<Value>(line) else { return };
        match line["event"].as_str() {
            Some("took") => self.has_books.store(true, Ordering::SeqCst),
            Some("lost" | "gave_up") => self.has_books.store(false, Ordering::SeqCst),
            _ => {}
        }
        self.notes().push(format!("{name}: {}", line["message"].as_str().unwrap_or_default()));
    }
}
