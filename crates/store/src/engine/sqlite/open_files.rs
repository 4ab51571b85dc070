//! Whether the files that the writer has open are still the ones that their names lead to.
//!
//! A file that is removed, renamed or replaced under a writer can be written to as before: every commit succeeds, and
//! the next opening does not find it. So each commit compares device and inode before it is answered. It asks for
//! the names only: opening and closing a file of the database would drop the locks that this process has on it.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::read_only::with_ending;
use crate::StoreError;

/// Device and inode.
type FileIdentity = (u64, u64);

/// The database and its log, as they were when the writer opened them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenFiles(Vec<(PathBuf, FileIdentity)>);

impl OpenFiles {
    /// Of a database that is open. SQLite keeps the log under its name for as long as a connection is open.
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        let mut files = Vec::new();
        // The log is next to the file itself, not next to a link to it.
        let target = path.canonicalize().map_err(StoreError::io(path))?;
        for file in [path.to_owned(), with_ending(&target, "-wal")] {
            let found = identity(&file).map_err(StoreError::io(&file))?;
            files.extend(found.map(|identity| (file, identity)));
        }
        Ok(Self(files))
    }

    /// [`StoreError::FileReplaced`] if a name leads to another file, or to none. A name that cannot be asked for now is
    /// asked for again after the next commit.
    pub fn check(&self) -> Result<(), StoreError> {
        for (path, opened) in &self.0 {
            if identity(path).is_ok_and(|found| found != Some(*opened)) {
                return Err(StoreError::FileReplaced { path: path.clone() });
            }
        }
        Ok(())
    }
}

/// `None` if there is no such file.
fn identity(path: &Path) -> io::Result<Option<FileIdentity>> {
    match fs::metadata(path) {
        Ok(file) => Ok(Some((file.dev(), file.ino()))),
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        Err(error) => Err(error),
    }
}
