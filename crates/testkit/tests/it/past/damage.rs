//! Damage to the statement index while the books are closed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bankroll_store::STATEMENTS_FILE;
use fastrand::Rng;
use rusqlite::Connection;

pub struct Damage {
    file: PathBuf,
    /// An earlier copy of the index.
    old: Option<Vec<u8>>,
}

impl Damage {
    pub fn new(folder: &Path) -> Self {
        Self { file: folder.join(STATEMENTS_FILE), old: None }
    }

    /// Damages the file, and returns a description.
    pub fn inflict(&mut self, rng: &mut Rng) -> String {
        if !self.file.exists() {
            return "no index yet".into();
        }
        self.copy_log_back();
        match rng.u32(0..8) {
            0 => {
                self.replace(None);
                "index deleted".into()
            }
            1 => {
                let bytes = fs::read(&self.file).unwrap();
                let kept = rng.usize(0..bytes.len());
                self.replace(Some(&bytes[..kept]));
                format!("index cut to {kept} bytes")
            }
            2..4 => {
                let mut bytes = fs::read(&self.file).unwrap();
                let (place, bit) = (rng.usize(0..bytes.len()), rng.u32(0..8));
                bytes[place] ^= 1 << bit;
                self.replace(Some(&bytes));
                format!("bit {bit} of byte {place} of the index flipped")
            }
            4 => {
                let now = fs::read(&self.file).unwrap();
                let old = self.old.replace(now);
                if let Some(old) = old {
                    self.replace(Some(&old));
                }
                "an old index put back".into()
            }
            5 => self.edit("DELETE FROM term_chunks WHERE id % 3 = 1"),
            6 => self.edit("UPDATE term_chunks SET data = CAST(substr(data, 1, length(data) - 3) || x'010203' AS BLOB) WHERE id % 2 = 0"),
            _ => self.edit("UPDATE term_runs SET last_seq = last_seq + 1000 WHERE id = (SELECT max(id) FROM term_runs)"),
        }
    }

    fn edit(&self, sql: &str) -> String {
        // An index that is damaged already may refuse the edit.
        let edited = Connection::open(&self.file).and_then(|index| index.execute_batch(sql));
        format!("{sql}: {edited:?}")
    }

    fn copy_log_back(&self) {
        // Fails only if the file is not a database any more.
        let _ = Connection::open(&self.file)
            .and_then(|index| index.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    }

    /// Replaces the file by a new one, as a copy or a restored backup would.
    fn replace(&self, bytes: Option<&[u8]>) {
        for ending in ["", "-wal", "-shm"] {
            let mut name = self.file.clone().into_os_string();
            name.push(ending);
            let _ = fs::remove_file(name);
        }
        if let Some(bytes) = bytes {
            fs::write(&self.file, bytes).unwrap();
        }
    }
}
