//! `bankroll doctor`: checks a folder, its chain and its signer, and says how to fix what is wrong. Reads only.

mod alerts;
mod certificates;
mod chain;
mod checks;
mod database_user;
mod folder_state;
mod head_key;
mod interrupted;
mod newest_head;
mod people;
mod scrub;

use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll doctor --dir casino           takes a few seconds
  bankroll doctor --dir casino --full    also checks every page and index, and recomputes the books
  bankroll doctor --json                 for monitoring

With chain.rpc set it also asks every RPC node and the signer, and compares the
indexer's position with the chain; the same for each further chain. Red: a real
chain with one provider, and a provider without encryption. Exit code 1 if a check is red, 4 if the books
are unsound. Nothing is changed, and a writer may run meanwhile.

No command makes backups yet. A sound copy is the whole folder, copied while no
writer runs; or at any time `sqlite3 casino/books.db \".backup copy/books.db\"`; of
a database, a dump of pg_dump. `bankroll audit --dir copy` proves a copy.
Damage to what follows from the journal needs no copy: `bankroll rebuild`.")]
pub struct DoctorArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Check every page and index; recompute the books from the journal, and compare every account
    #[arg(long)]
    full: bool,
}

#[derive(Debug)]
pub struct Check {
    name: &'static str,
    result: CheckResult,
}

#[derive(Debug)]
pub enum CheckResult {
    Green {
        found: String,
    },
    /// Nothing is wrong, and something could be better.
    Warned {
        found: String,
        fix: String,
    },
    Red {
        found: String,
        fix: String,
        unsound: bool,
    },
}

impl Check {
    pub fn green(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, result: CheckResult::Green { found: found.into() } }
    }

    pub fn warned(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, result: CheckResult::Warned { found: found.into(), fix: fix.into() } }
    }

    pub fn red(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, result: CheckResult::Red { found: found.into(), fix: fix.into(), unsound: false } }
    }

    /// Red, and money may be wrong.
    pub fn unsound(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, result: CheckResult::Red { found: found.into(), fix: fix.into(), unsound: true } }
    }

    pub fn is_red(&self) -> bool {
        matches!(self.result, CheckResult::Red { .. })
    }

    /// Whether money may be wrong.
    pub fn is_unsound(&self) -> bool {
        matches!(self.result, CheckResult::Red { unsound: true, .. })
    }

    fn json(&self) -> Value {
        match &self.result {
            CheckResult::Green { found } => json!({ "name": self.name, "ok": true, "found": found }),
            CheckResult::Warned { found, fix } => {
                json!({ "name": self.name, "ok": true, "found": found, "fix": fix })
            }
            CheckResult::Red { found, fix, .. } => {
                json!({ "name": self.name, "ok": false, "found": found, "fix": fix })
            }
        }
    }

    fn text(&self, paint: Paint) -> String {
        match &self.result {
            CheckResult::Green { found } => format!("{} {:<14} {}\n", paint.good("✓"), self.name, wrapped(found, 0)),
            CheckResult::Warned { found, fix } => self.with_fix(&paint.strong("!"), found, fix, paint),
            CheckResult::Red { found, fix, .. } => self.with_fix(&paint.bad("✗"), found, fix, paint),
        }
    }
}

impl Check {
    fn with_fix(&self, mark: &str, found: &str, fix: &str, paint: Paint) -> String {
        let (found, fix) = (wrapped(found, 0), wrapped(fix, FIX.len() + 1));
        format!("{mark} {:<14} {found}\n  {:<14} {} {fix}\n", self.name, "", paint.strong(FIX))
    }
}

const FIX: &str = "fix:";
/// Where the text of a check begins.
const INDENT: usize = 17;
/// The last column of the output.
const WIDTH: usize = 100;

/// The text in lines that fit; `taken` columns of the first one are used.
fn wrapped(text: &str, taken: usize) -> String {
    let (mut lines, mut column) = (String::new(), INDENT + taken);
    for (number, line) in text.lines().enumerate() {
        for (place, word) in line.split(' ').enumerate() {
            let length = word.chars().count();
            let is_first = number == 0 && place == 0;
            if !is_first && (place == 0 || column + 1 + length > WIDTH) {
                lines.push('\n');
                lines.push_str(&" ".repeat(INDENT));
                column = INDENT;
            } else if !is_first {
                lines.push(' ');
                column += 1;
            }
            lines.push_str(word);
            column += length;
        }
    }
    lines
}

pub fn run(args: &DoctorArgs, json: bool) -> anyhow::Result<Exit> {
    let checks = checks::all(&args.location, args.full, json);
    let reds = checks.iter().filter(|check| check.is_red()).count();
    if json {
        let all: Vec<Value> = checks.iter().map(Check::json).collect();
        terminal::answer_json(&json!({ "ok": reds == 0, "checks": all }))?;
    } else {
        let mut text: String = checks.iter().map(|check| check.text(Paint::stdout())).collect();
        if reds == 0 {
            let more = if args.full { "" } else { "; `--full` also recomputes the books from the journal" };
            text.push_str(&format!("\nall green{more}\n"));
        }
        terminal::answer(&text)?;
    }
    let unsound = checks.iter().any(Check::is_unsound);
    Ok(match reds {
        0 => Exit::Ok,
        _ if unsound => Exit::Unsound,
        _ => Exit::Failed,
    })
}
