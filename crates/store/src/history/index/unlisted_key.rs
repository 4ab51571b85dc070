//! Keys that nobody would look for: those of servers that have no account.
//!
//! A search by a key's text alone asks the key index for that text under the house and under every server, and servers are
//! known by their accounts. A request may carry the key of a server that has none (it is rejected and remembered, or an
//! operator meant another); its text is a term, so that it is found all the same. In ordinary books there is no such key,
//! and this costs nothing.

use std::collections::HashSet;

use bankroll_ledger::{Name, Record, Scope};

use super::term::Term;
use crate::{StoreError, engine::Source};

/// KnownServers that are known to have accounts. An account is never closed, so what was once known stays true.
#[derive(Debug, Default)]
pub(crate) struct KnownServers(HashSet<Name>);

impl KnownServers {
    /// The term of a record's key, if its server has no account.
    pub fn unlisted_key(&mut self, record: &Record, books: &dyn Source) -> Result<Option<Term>, StoreError> {
        let Record::Decided { request, .. } = record else { return Ok(None) };
        let Scope::Server(server) = &request.key.scope else { return Ok(None) };
        if self.0.contains(server) {
            return Ok(None);
        }
        let accounts = format!("{server}/");
        if books.first_name_from(&accounts)?.is_some_and(|name| name.starts_with(&accounts)) {
            self.0.insert(server.clone());
            return Ok(None);
        }
        Ok(Some(Term::unlisted_key(&request.key.text)))
    }
}
