//! What others ask of a writer that runs, apart from calls: to stop, because its books are not sound, and to rebuild an
//! index that differs from the journal.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::ledger::Ledger;
use crate::{StoreError, SubmitError};

/// Shared by the handles, the writer and the thread of the statement index.
#[derive(Debug, Default)]
pub(crate) struct WriterControl {
    stop_because: Mutex<Option<StoreError>>,
    rebuild_keys: AtomicBool,
    rebuild_statements: Arc<AtomicBool>,
}

impl WriterControl {
    /// Why the writer must stop, if it must.
    pub fn take_stop(&self) -> Option<StoreError> {
        self.stop_because.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the key index must be rebuilt; asked once.
    pub fn take_rebuild_keys(&self) -> bool {
        self.rebuild_keys.swap(false, Ordering::Relaxed)
    }

    /// Set when the statement index must be rebuilt; its thread clears it.
    pub fn rebuild_statements(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.rebuild_statements)
    }

    pub fn ask_rebuild_keys(&self) {
        self.rebuild_keys.store(true, Ordering::Relaxed);
    }
}

impl Ledger {
    /// Makes the writer end with this error, before it decides anything more: the books are not sound. Calls without an
    /// answer have an unknown outcome, later ones are refused. The batch in flight is finished, and answered.
    pub fn stop_because(&self, error: StoreError) {
        let control = self.control();
        control.stop_because.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        // Wakes the writer. It fails because the writer stops, or has stopped.
        let _ = self.tick();
    }

    /// Stops the writer if a file of the books was removed or replaced under it. Every commit checks that; this is for a
    /// writer without work, and costs two system calls.
    pub fn check_files(&self) {
        if let Err(error) = self.files().check() {
            self.stop_because(error);
        }
    }

    /// Makes the writer rebuild the key index from the journal; returns when it is rebuilt. Calls wait meanwhile.
    ///
    /// # Errors
    /// If the writer has stopped.
    pub fn rebuild_key_index(&self) -> Result<(), SubmitError> {
        self.control().ask_rebuild_keys();
        self.tick()
    }

    /// Makes the thread of the statement index rebuild it from the journal. Readers use the journal meanwhile.
    pub fn rebuild_statement_index(&self) {
        self.control().rebuild_statements.store(true, Ordering::Relaxed);
    }
}
