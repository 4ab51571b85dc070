//! Finding the record of an idempotency key: through the runs of the key index, read chunk by chunk without its
//! filters, and after them through the journal itself.

use bankroll_ledger::{IdempotencyKey, Namespace, Record, Scope, Seq};

use super::{HistoryView, JournalEntry};
use crate::{Reader, StoreError, history::index::Term, writing::keys};

/// Records read at a time.
const PAGE: usize = 1_024;

/// Which keys to find. A text may be a key of several namespaces and servers at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyQuery {
    /// The key's text.
    pub text: String,
    /// Only in this namespace.
    pub namespace: Option<Namespace>,
    /// Only of this server, or of the house.
    pub scope: Option<Scope>,
}

impl KeyQuery {
    fn matches(&self, key: &IdempotencyKey) -> bool {
        key.text == self.text
            && self.namespace.is_none_or(|namespace| key.namespace == namespace)
            && self.scope.as_ref().is_none_or(|scope| key.scope == *scope)
    }
}

impl Reader {
    /// The record of a key; `None` if the key was never decided.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn find_key(&self, key: &IdempotencyKey) -> Result<Option<JournalEntry>, StoreError> {
        let (namespace, scope) = (Some(key.namespace), Some(key.scope.clone()));
        Ok(self.find_keys(&KeyQuery { text: key.text.clone(), namespace, scope })?.pop())
    }

    /// The records of all keys that match a query, in the order of the journal.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn find_keys(&self, query: &KeyQuery) -> Result<Vec<JournalEntry>, StoreError> {
        self.in_view(|view| {
            let places = view.places_of_keys(query)?;
            places.into_iter().map(|seq| view.entry(seq)).collect()
        })
    }
}

impl HistoryView<'_> {
    pub(super) fn places_of_keys(&self, query: &KeyQuery) -> Result<Vec<Seq>, StoreError> {
        let wanted = self.matching_keys(query)?;
        let (mut found, mut next) = (Vec::new(), Seq(1));
        let runs = match self.source.run_metas() {
            // The journal has every key; the writing process rebuilds the index.
            Err(StoreError::KeyIndexDamaged { .. }) => Vec::new(),
            runs => runs?,
        };
        for run in runs {
            if run.first != next || run.last > self.head.seq {
                break;
            }
            for key in &wanted {
                let chunk = |id| self.source.chunk(id);
                match keys::places_in_run(&run, key.fingerprint(), chunk) {
                    Ok(places) => found.extend(places),
                    // A damaged run hides nothing: its stretch of the journal has the same keys.
                    Err(StoreError::KeyIndexDamaged { .. }) => {
                        found.extend(self.mentions(query, run.first, run.last)?);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            next = run.last.next();
        }
        if query.scope.is_none() {
            let unlisted = Term::unlisted_key(&query.text);
            found.extend(self.places(&[unlisted], 1..=next.0.saturating_sub(1), false, usize::MAX)?);
        }
        // A key has one record, so the search ends once every possible key is found.
        let mut places = self.confirmed(query, found)?;
        if query.scope.is_none() || places.len() < wanted.len() {
            let in_tail = self.mentions(query, next, self.head.seq)?;
            places.extend(self.confirmed(query, in_tail)?);
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    /// Every key that can match the query, except those of servers without accounts.
    fn matching_keys(&self, query: &KeyQuery) -> Result<Vec<IdempotencyKey>, StoreError> {
        let namespaces = query.namespace.map_or_else(|| Namespace::ALL.to_vec(), |namespace| vec![namespace]);
        let scopes = query.scope.clone().map_or_else(|| self.scopes(), |scope| Ok(vec![scope]))?;
        let of_scope = |scope: Scope| {
            let key = move |namespace: &Namespace| IdempotencyKey {
                namespace: *namespace,
                scope: scope.clone(),
                text: query.text.clone(),
            };
            namespaces.iter().map(key).collect::<Vec<_>>()
        };
        Ok(scopes.into_iter().flat_map(of_scope).collect())
    }

    /// The house and every server that has an account. Names begin with the server and a slash, and are sorted, so each
    /// step skips all accounts of one server.
    fn scopes(&self) -> Result<Vec<Scope>, StoreError> {
        let (mut scopes, mut from) = (vec![Scope::House], String::new());
        while let Some(name) = self.source.first_name_from(&from)? {
            // A damaged index would lead round in a circle.
            if name < from {
                return Err(StoreError::Damaged { what: "the names of accounts are not in order".into() });
            }
            let server = name.split('/').next().unwrap_or_default().to_owned();
            scopes.extend(server.parse().ok().filter(|scope| *scope != Scope::House));
            // The character after the slash.
            from = server + "0";
        }
        Ok(scopes)
    }

    /// Places in a stretch of the journal whose records contain the key's text. All of them are read, and so verified:
    /// a damaged record must not look like one without the key.
    fn mentions(&self, query: &KeyQuery, first: Seq, last: Seq) -> Result<Vec<Seq>, StoreError> {
        let (text, mut found, mut next) = (query.text.as_bytes(), Vec::new(), first);
        if text.is_empty() {
            return Ok(found);
        }
        while next <= last {
            let most = usize::try_from(last.0 - next.0 + 1).unwrap_or(PAGE).min(PAGE);
            let page = self.source.records_from(next, most)?;
            let Some((end, _)) = page.last() else { break };
            next = end.next();
            let matching = page.iter().filter(|(_, record)| record.windows(text.len()).any(|bytes| bytes == text));
            found.extend(matching.map(|(seq, _)| *seq));
        }
        Ok(found)
    }

    /// The places whose record has a matching key.
    fn confirmed(&self, query: &KeyQuery, mut places: Vec<Seq>) -> Result<Vec<Seq>, StoreError> {
        places.sort_unstable();
        places.dedup();
        let mut kept = Vec::new();
        for seq in places {
            if matches!(self.record(seq)?, Record::Decided { request, .. } if query.matches(&request.key)) {
                kept.push(seq);
            }
        }
        Ok(kept)
    }
}
