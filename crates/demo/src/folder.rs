//! The demo's folder: only an empty one or an earlier demo's is used, and only a demo's is ever emptied.

use std::{
    fs::{self, TryLockError},
    io::ErrorKind,
    path::Path,
};

use anyhow::{Context, bail};
use bankroll_store::{BOOKS_FILE, LOCK_FILE, STATEMENTS_FILE};

use super::{chain, signer};

const MARKER: &str = ".bankroll-demo";
const MARKER_TEXT: &str =
    "Books, chain and signer of `bankroll demo`: play money. `bankroll demo --fresh` deletes them.\n";

/// Whether this is a folder that a demo made.
pub fn is_demo(folder: &Path) -> bool {
    folder.join(MARKER).is_file()
}

/// Makes the folder if it is not there, and empties it if that is wanted and allowed.
pub fn prepare(folder: &Path, fresh: bool) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    if is_demo(folder) {
        return if fresh { empty(folder) } else { Ok(()) };
    }
    let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    if entries.next().is_some() {
        bail!(
            "{} has files that no demo made; give an empty or a new folder with --dir (nothing was changed)",
            folder.display()
        );
    }
    fs::write(folder.join(MARKER), MARKER_TEXT).with_context(|| format!("cannot write to {}", folder.display()))
}

/// Deletes the books, the chain and the signer, and nothing else that may lie there.
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
    // The write-ahead log first: the file without its log is old, a log without its file would be somebody else's.
    let files = [STATEMENTS_FILE, BOOKS_FILE].map(|name| ["-wal", "-shm", ""].map(|suffix| format!("{name}{suffix}")));
    let files = files.into_iter().flatten().chain([chain::FILE.to_owned()]);
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
