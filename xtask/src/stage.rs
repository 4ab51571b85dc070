//! Stages of a run: a heading before each, the name of the one that failed, the time each took.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

#[derive(Default)]
pub struct Stages {
    done: Vec<(&'static str, Duration)>,
}

impl Stages {
    pub fn run<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("== {name}");
        let started = Instant::now();
        let outcome = work();
        self.done.push((name, started.elapsed()));
        outcome.with_context(|| format!("{name} failed"))
    }

    pub fn print_times(&self) {
        println!("== times");
        for (name, time) in &self.done {
            println!("{:>8.1} s  {name}", time.as_secs_f64());
        }
    }
}

/// Fails if a check has findings. All are shown, so that one run is enough to fix them all.
pub fn verdict(findings: &[String]) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    bail!("{} finding(s)\n  {}", findings.len(), findings.join("\n  "));
}
