//! Unlisted keys: those of servers that have no account.
//!
//! A search by a key's text alone looks in the key index for that text under the house and under every server, and
//! the list of servers comes from their accounts. A request may have the key of a server without accounts (its
//! rejection is stored, or an operator meant another server); the text of such a key is a term, so that the search
//! finds it. Ordinary books have no such key, and then this costs nothing.

use std::collections::HashSet;

use bankroll_ledger::{Name, Record, Scope};

use super::term::Term;
use crate::{StoreError, engine::Source};

/// A cache of servers that have accounts. Accounts are never closed, so it is never outdated.
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
