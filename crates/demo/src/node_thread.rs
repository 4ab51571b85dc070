//! The node of a demo in one process: what `bankroll serve` runs, in a thread, with the demo's chain.

use std::{
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    thread::{self, JoinHandle},
};

use anyhow::{anyhow, bail};
use bankroll_roles::{
    NodeLog,
    config::LoadedConfig,
    flows::{FlowSetup, StopFlag},
    serve,
};
use serde_json::Value;

type ServeThread = JoinHandle<anyhow::Result<()>>;

#[derive(Debug)]
pub struct NodeThread {
    url: String,
    stop: StopFlag,
    /// Until it was joined.
    thread: Mutex<Option<ServeThread>>,
    /// Its log.
    lines: Mutex<Receiver<Value>>,
    /// What it logged before it answered.
    first: Mutex<Vec<String>>,
}

impl NodeThread {
    /// Starts the node, and waits until it holds the books and answers the Funds API.
    pub fn start(loaded: LoadedConfig, setup: FlowSetup) -> anyhow::Result<Self> {
        let (to, lines) = channel();
        let (log, stop) = (NodeLog::lines("demo".parse()?, to), StopFlag::default());
        let over = stop.clone();
        let thread = thread::spawn(move || serve::run_with_chains(loaded, vec![setup], log, over));
        let mut first = Vec::new();
        // The log ends with the node.
        while let Ok(line) = lines.recv() {
            first.extend(sentence(&line));
            if let (Some("api"), Some(url)) = (line["event"].as_str(), line["url"].as_str()) {
                let (url, thread) = (url.to_owned(), Mutex::new(Some(thread)));
                return Ok(Self { url, stop, thread, lines: Mutex::new(lines), first: Mutex::new(first) });
            }
        }
        joined(thread)?;
        bail!("the node ended before it answered")
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn notes(&self) -> Vec<String> {
        let mut notes = std::mem::take(&mut *self.first.lock().unwrap_or_else(PoisonError::into_inner));
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        notes.extend(lines.try_iter().filter_map(|line| sentence(&line)));
        notes
    }

    /// Fails if the node has ended, with its reason.
    pub fn check(&self) -> anyhow::Result<()> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(ended) = thread.take_if(|thread| thread.is_finished()) else { return Ok(()) };
        let hint = "the node stopped in the middle of the game; start the demo again: it verifies the books";
        joined(ended).map_err(|error| error.context(hint))?;
        bail!("{hint}")
    }

    /// Answers what is in flight, and releases the books.
    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.request();
        self.thread.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), joined)
    }
}

fn joined(thread: ServeThread) -> anyhow::Result<()> {
    thread.join().map_err(|_| anyhow!("the node panicked; its message is above"))?
}

/// What a line says to a reader of the demo, who has no configuration to change.
fn sentence(line: &Value) -> Option<String> {
    let is_for_operators = line["event"] == "registry_seeded";
    line["message"].as_str().filter(|_| !is_for_operators).map(str::to_owned)
}
