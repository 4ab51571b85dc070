//! Calls of other nodes and of commands to the books: answered by the Funds API while this node holds the ledger, by
//! "not the holder" otherwise.

use std::sync::{PoisonError, RwLock};

use bankroll_nodes::{CallHandler, CallRefusal, RelayHandler, RelayedRequest, RelayedResponse};

#[derive(Default)]
pub struct BooksHandler {
    /// The Funds API, while this node holds the ledger.
    api: RwLock<Option<RelayHandler>>,
}

impl BooksHandler {
    /// Calls are answered by this API from here on.
    pub fn hold(&self, api: RelayHandler) {
        *self.api.write().unwrap_or_else(PoisonError::into_inner) = Some(api);
    }

    /// Calls are answered by "not the holder" from here on.
    pub fn release(&self) {
        self.api.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn api(&self) -> Result<RelayHandler, CallRefusal> {
        self.api.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(CallRefusal::NotHolder)
    }
}

impl CallHandler for BooksHandler {
    fn holds(&self) -> bool {
        self.api().is_ok()
    }

    async fn relay(&self, request: RelayedRequest) -> Result<RelayedResponse, CallRefusal> {
        let api = self.api()?;
        Ok(api(request).await)
    }
}

impl std::fmt::Debug for BooksHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BooksHandler").field("holds", &self.holds()).finish_non_exhaustive()
    }
}
