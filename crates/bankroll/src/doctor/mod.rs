//! `bankroll doctor`: what is wrong with a folder, and how to mend it. Reads only.

mod checks;
mod sight;

use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::place::Place;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll doctor --dir casino           a second
  bankroll doctor --dir casino --full    also recomputes the books from the journal
  bankroll doctor --json                 for monitoring

Exit code 1 if a check is red, 4 if the books are unsound. Nothing is changed,
and a writer may go on meanwhile.")]
pub struct DoctorArgs {
    #[command(flatten)]
    place: Place,
    /// Recompute the books from the journal, and compare every account
    #[arg(long)]
    full: bool,
}

/// One thing that was looked at.
#[derive(Debug)]
pub struct Check {
    name: &'static str,
    verdict: Verdict,
}

#[derive(Debug)]
pub enum Verdict {
    Green { found: String },
    Red { found: String, fix: String, unsound: bool },
}

impl Check {
    pub fn green(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Green { found: found.into() } }
    }

    pub fn red(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Red { found: found.into(), fix: fix.into(), unsound: false } }
    }

    /// Red, and money may be wrong.
    pub fn unsound(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Red { found: found.into(), fix: fix.into(), unsound: true } }
    }

    pub fn is_red(&self) -> bool {
        matches!(self.verdict, Verdict::Red { .. })
    }

    fn json(&self) -> Value {
        match &self.verdict {
            Verdict::Green { found } => json!({ "name": self.name, "ok": true, "found": found }),
            Verdict::Red { found, fix, .. } => json!({ "name": self.name, "ok": false, "found": found, "fix": fix }),
        }
    }

    fn told(&self, paint: Paint) -> String {
        match &self.verdict {
            Verdict::Green { found } => format!("{} {:<14} {found}\n", paint.good("✓"), self.name),
            Verdict::Red { found, fix, .. } => {
                let found = found.replace('\n', "\n                 ");
                format!("{} {:<14} {found}\n  {:<14} {} {fix}\n", paint.bad("✗"), self.name, "", paint.strong("fix:"))
            }
        }
    }
}

pub fn run(args: &DoctorArgs, json: bool) -> anyhow::Result<Exit> {
    let checks = checks::all(&args.place, args.full, json);
    let reds = checks.iter().filter(|check| check.is_red()).count();
    if json {
        let all: Vec<Value> = checks.iter().map(Check::json).collect();
        terminal::answer_json(&json!({ "ok": reds == 0, "checks": all }))?;
    } else {
        let mut text: String = checks.iter().map(|check| check.told(Paint::stdout())).collect();
        if reds == 0 && !args.full {
            text.push_str("\nall green; `--full` also recomputes the books from the journal\n");
        }
        terminal::answer(&text)?;
    }
    let unsound = checks.iter().any(|check| matches!(check.verdict, Verdict::Red { unsound: true, .. }));
    Ok(match reds {
        0 => Exit::Ok,
        _ if unsound => Exit::Unsound,
        _ => Exit::Failed,
    })
}
