//! The demo's folder: a demo uses only an empty one or an earlier demo's, and empties only a demo's.

use std::{
    fs::{self, TryLockError},
    io::ErrorKind,
    path::Path,
};

use anyhow::{Context, bail};
use bankroll_roles::OWNER_KEY_FILE;
use bankroll_store::{BOOKS_FILE, HEAD_FILE, LOCK_FILE, STATEMENTS_FILE};

use super::{chain, disk, funds::SERVER_KEY_FILE, signer};

const MARKER: &str = ".bankroll-demo";
const MARKER_TEXT: &str =
    "Books, chain and signer of `bankroll demo`: play money. `bankroll demo --fresh` deletes them.\n";

/// Whether a demo created this folder.
pub fn is_demo(folder: &Path) -> bool {
    folder.join(MARKER).is_file()
}

/// Creates the folder if it is missing, and empties a demo's folder if `fresh`.
pub fn prepare(folder: &Path, fresh: bool) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    if is_demo(folder) {
        return if fresh { empty(folder) } else { Ok(()) };
    }
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    if entries.next().is_some() {
        bail!(
            "{} has files that no demo created; give an empty or a new folder with --dir (nothing was changed)",
            folder.display()
        );
    }
    fs::write(folder.join(MARKER), MARKER_TEXT).with_context(|| format!("cannot write to {}", folder.display()))
}

/// Deletes the books, the chain, the signer and the keys, and nothing else in the folder.
fn empty(folder: &Path) -> anyhow::Result<()> {
    let lock_path = folder.join(LOCK_FILE);
    let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&lock_path);
    let lock = lock.with_context(|| format!("cannot open {}", lock_path.display()))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!("a demo is running in {}; end it first", folder.display()),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", lock_path.display()));
        }
    }
    // The noted head first: a head without books means that books were lost. Then the write-ahead log: a database
    // without its log is only old, but a log without its database would be applied to the next one.
    let files = [STATEMENTS_FILE, BOOKS_FILE].map(|name| ["-wal", "-shm", ""].map(|suffix| format!("{name}{suffix}")));
    let others = [chain::FILE, disk::CHECK_FILE, OWNER_KEY_FILE, SERVER_KEY_FILE];
    let files = files.into_iter().flatten().chain(others.map(str::to_owned));
    let files = [HEAD_FILE.to_owned()].into_iter().chain(files);
    for name in files {
        let file = folder.join(name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot delete {}", file.display()));
            }
            _ => {}
        }
    }
    let signer = folder.join(signer::FOLDER);
    match fs::remove_dir_all(&signer) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", signer.display()))
        }
        _ => Ok(()),
    }
}
