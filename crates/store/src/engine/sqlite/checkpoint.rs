//! Checkpoints of the write-ahead log, in the background.
//!
//! A thread with a connection of its own copies committed pages into the file and syncs it while the writer goes on.
//! The log starts again from its beginning only after everything is copied, which needs a moment without new commits:
//! above a limit the writer copies the rest itself.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode};

use super::settings;
use crate::{Durability, StoreError};

/// How many pages of 4 KiB are committed before they are copied back: 16 MiB.
const PAGES_BETWEEN: u32 = 4096;
/// At how many pages in the log the writer copies the rest itself: 64 MiB.
const PAGES_MAX: u32 = 16_384;

#[derive(Debug)]
pub(super) struct Checkpointer {
    /// Pages in the log after the last commit.
    pages: Arc<AtomicU32>,
    /// Pages in the log when the thread was last woken.
    requested_at: u32,
    wake: Option<Sender<()>>,
    failed: Arc<Mutex<Option<StoreError>>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpointer {
    pub fn start(connection: &mut Connection, path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let pages = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            counter.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        let own = settings::open_for_writing(path, durability)?;
        // If another connection is checkpointing, it does the same work.
        own.busy_timeout(Duration::ZERO)?;
        let (wake, woken) = channel();
        let failed = Arc::new(Mutex::new(None));
        let failure = Arc::clone(&failed);
        let work = move || {
            for () in woken {
                if let Err(error) = checkpoint_log(&own) {
                    *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("checkpoints".into()).spawn(work).map_err(StoreError::io(path))?;
        Ok(Self { pages, requested_at: 0, wake: Some(wake), failed, thread: Some(thread) })
    }

    /// Requests a checkpoint after a commit if the log has grown enough.
    pub fn after_commit(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if let Some(error) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.requested_at {
            // The log has restarted from its beginning.
            self.requested_at = 0;
        }
        if pages >= PAGES_MAX {
            return checkpoint_log(connection);
        }
        if pages >= self.requested_at.saturating_add(PAGES_BETWEEN) {
            self.requested_at = pages;
            if let Some(wake) = &self.wake {
                // Fails only after the thread has left an error, which the next commit sees.
                let _ = wake.send(());
            }
        }
        Ok(())
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Copies what it can of the committed pages into the file, while the writer works. They are durable in the log
/// already, so a full disk, or a reader that needs the old pages, only means that they stay there.
fn checkpoint_log(connection: &Connection) -> Result<(), StoreError> {
    let copied = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    match copied {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        copied => Ok(copied?),
    }
}

/// Copies every committed page into the file and syncs it, when books are opened. Nothing less will do: after a failed
/// sync the log may be readable and not durable. [`StoreError::Full`] if the disk has no space for that,
/// [`StoreError::Locked`] if another program reads an old snapshot and does not end it.
pub(super) fn checkpoint_everything(connection: &Connection) -> Result<(), StoreError> {
    let counts = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    match counts.map_err(|error| (error.sqlite_error_code(), error)) {
        Err((Some(ErrorCode::DiskFull), _)) => Err(StoreError::Full),
        Err((Some(ErrorCode::DatabaseBusy), _)) => Err(StoreError::Locked),
        Err((_, error)) => Err(error.into()),
        // "Busy" also says that a reader keeps the log from being emptied, after all of it was copied and synced. A
        // negative count says that nothing was tried.
        Ok((true, in_log, copied)) if in_log < 0 || copied != in_log => Err(StoreError::Locked),
        Ok(_) => Ok(()),
    }
}
