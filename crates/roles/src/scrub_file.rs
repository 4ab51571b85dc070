//! `scrub.json`: when the books were last re-read completely, and what was found. In the folder of the books, or, if
//! they are in a database, in the node's own folder.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use bankroll_ledger::Time;
use serde::{Deserialize, Serialize};

pub const SCRUB_FILE: &str = "scrub.json";

/// The last pass that came to an end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScrubRecord {
    /// Microseconds since 1970.
    pub began: u64,
    pub ended: u64,
    /// Records, rows of tables, and entries of indexes that were read.
    pub records: u64,
    pub rows: u64,
    pub entries: u64,
    /// The last record, and the head of the chain there in hexadecimal.
    pub last: u64,
    pub head: String,
    /// Indexes that were damaged, and were rebuilt.
    pub repaired: Vec<String>,
    /// What an earlier pass found and a second one did not.
    pub unconfirmed: Option<String>,
    /// Why the books are not sound, if they are not: the node has stopped.
    pub unsound: Option<String>,
    /// The last finding, kept by later passes: while the books were unsound no alert could be written about it.
    #[serde(default)]
    pub last_finding: Option<ScrubFinding>,
    /// The last repair, kept by later passes.
    #[serde(default)]
    pub last_repair: Option<ScrubFinding>,
}

/// What a pass found, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScrubFinding {
    /// Microseconds since 1970.
    pub at: u64,
    pub what: String,
}

impl ScrubRecord {
    /// `None` if there is no file.
    ///
    /// # Errors
    /// If it cannot be read, or is not what a node has written.
    pub fn read(file: &Path) -> io::Result<Option<Self>> {
        match fs::read(file) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it whole: under another name first. Only its owner may read it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let unfinished = file.with_extension("json.new");
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&unfinished, file)
    }

    /// The same with the last finding and the last repair: its own, or those of the pass before.
    #[must_use]
    pub fn after(self, before: Option<&Self>) -> Self {
        let own = self.unsound.clone().map(|what| ScrubFinding { at: self.ended, what });
        let last_finding = own.or_else(|| before.and_then(|before| before.last_finding.clone()));
        let repaired = (!self.repaired.is_empty()).then(|| self.repaired.join("; "));
        let repaired = repaired.map(|what| ScrubFinding { at: self.ended, what });
        let last_repair = repaired.or_else(|| before.and_then(|before| before.last_repair.clone()));
        Self { last_finding, last_repair, ..self }
    }

    /// How long ago it ended.
    #[must_use]
    pub fn age_seconds(&self, now: Time) -> u64 {
        now.0.saturating_sub(self.ended) / 1_000_000
    }
}
