//! The lock file: one writer per folder.

use std::{
    fs::{File, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use crate::{StoreError, files};

/// The right to write to a folder's books, until this is dropped. The operating system releases it when the process
/// ends, in any way.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
}

impl FolderLock {
    pub(crate) fn acquire(path: &Path) -> Result<Self, StoreError> {
        let mut file = files::open_or_create_lock(path).map_err(StoreError::io(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Only for the message: an unreadable holder is still a holder.
                let _ = file.read_to_string(&mut holder);
                return Err(StoreError::InUse { path: path.into(), holder: holder.trim().into() });
            }
            Err(TryLockError::Error(source)) => return Err(StoreError::io(path)(source)),
        }
        let note = format!("process {}\n", std::process::id());
        let write = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(note.as_bytes()));
        write.map_err(StoreError::io(path))?;
        Ok(Self { file })
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the file would be enough, unless a child process that is just starting has inherited it.
        let _ = self.file.unlock();
    }
}
