//! Readers of the books for handlers: a few, each used by one blocking thread at a time.

use std::sync::{Arc, Mutex, PoisonError};

use bankroll_store::{Location, Reader, StoreError};
use tokio::sync::Semaphore;

use crate::{ApiError, ErrorCode};

/// Reads that run at the same time. More would take the cores from the writer; the others wait in line.
const READERS_MAX: usize = 4;

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
            // A reader whose query failed is not used again: its connection may be the reason.
            let found = query(&reader)?;
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            Ok(found)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ErrorCode::Internal.into()))
    }

    fn take(&self) -> Result<Reader, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Reader::open(self.location.clone()), Ok)
    }
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Readers")
    }
}
