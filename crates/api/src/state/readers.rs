//! Readers of the books for handlers: a few, each used by one blocking thread at a time.

use std::sync::{Arc, Mutex, PoisonError};

use bankroll_store::{Location, Reader, StoreError};
use tokio::sync::Semaphore;

use crate::{ApiError, ErrorCode};

/// Reads of one pool that run at the same time. More would take the cores from the writer; the others wait in line.
const READERS_MAX: usize = 4;

/// One pool. There are two: money calls hold the registry while they read, so lists must not keep them waiting.
#[derive(Clone)]
pub(crate) struct Readers {
    location: Location,
    idle: Arc<Mutex<Vec<Reader>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub fn new(location: Location) -> Self {
        Self { location, idle: Arc::default(), permits: Arc::new(Semaphore::new(READERS_MAX)) }
    }

    /// Runs a query on a thread that may block. It sees everything that was answered before it began.
    pub async fn read<T, E>(&self, query: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static) -> Result<T, ApiError>
    where
        T: Send + 'static,
        E: Send + 'static,
        ApiError: From<E>,
    {
        let permit = self.permits.clone().acquire_owned().await;
        let permit = permit.map_err(|_| ApiError::new(ErrorCode::Unavailable))?;
        let pool = self.clone();
        let work = move || {
            let _permit = permit;
            let reader = pool.take()?;
            let found = query(&reader).map_err(ApiError::from);
            if found.as_ref().err().is_none_or(|error| !is_the_connections(error)) {
                pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            }
            found
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ErrorCode::Internal.into()))
    }

    fn take(&self) -> Result<Reader, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Reader::open(self.location.clone()), Ok)
    }
}

/// Whether the reader may be the reason of an error, so that it is not used again. A refusal is the caller's.
fn is_the_connections(error: &ApiError) -> bool {
    matches!(error.code, ErrorCode::Unavailable | ErrorCode::BooksDamaged | ErrorCode::Internal)
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Readers")
    }
}

#[cfg(test)]
mod tests {
    use bankroll_store::{Ledger, LedgerOptions};

    use super::*;

    #[test]
    fn a_refusal_keeps_the_reader_and_an_error_of_the_books_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::create(LedgerOptions::new(folder.path().to_path_buf())).unwrap();
        let pool = Readers::new(ledger.location().clone());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let idle = || pool.idle.lock().unwrap().len();
        let fail =
            |code: ErrorCode| runtime.block_on(pool.read(move |_| Err::<(), _>(ApiError::new(code)))).unwrap_err();
        fail(ErrorCode::NotFound);
        assert_eq!(idle(), 1, "on Postgres each reader is a connection");
        fail(ErrorCode::Unavailable);
        assert_eq!(idle(), 0);
    }
}
