//! The numbers of accounts by their names, and the names by their numbers.
//!
//! A number never changes and is never used again, so what is here is never stale. It is bounded: when a generation is
//! full, the one before it is forgotten; what is used stays, since it moves to the new one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bankroll_ledger::AccountId;

/// Accounts of one generation; two are kept. About 100 bytes each.
const GENERATION_MAX: usize = 131_072;

#[derive(Debug, Default)]
pub(crate) struct AccountNumbers(Mutex<[Generation; 2]>);

#[derive(Debug, Default)]
struct Generation {
    numbers: HashMap<Arc<str>, AccountId>,
    names: HashMap<AccountId, Arc<str>>,
}

/// The numbers and names while no other call changes them: for many look-ups at once.
pub(crate) struct LockedNumbers<'a>(MutexGuard<'a, [Generation; 2]>);

impl AccountNumbers {
    pub fn number(&self, name: &str) -> Option<AccountId> {
        self.locked().number(name)
    }

    pub fn locked(&self) -> LockedNumbers<'_> {
        LockedNumbers(self.lock())
    }

    pub fn insert(&self, name: &str, id: AccountId) {
        insert(&mut self.lock(), name.into(), id);
    }

    fn lock(&self) -> MutexGuard<'_, [Generation; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LockedNumbers<'_> {
    pub fn number(&mut self, name: &str) -> Option<AccountId> {
        let [new, old] = &mut *self.0;
        if let Some(id) = new.numbers.get(name) {
            return Some(*id);
        }
        let (name, id) = old.numbers.get_key_value(name).map(|(name, id)| (Arc::clone(name), *id))?;
        insert(&mut self.0, name, id);
        Some(id)
    }

    pub fn name(&self, id: AccountId) -> Option<Arc<str>> {
        self.0.iter().find_map(|generation| generation.names.get(&id)).cloned()
    }
}

fn insert(generations: &mut [Generation; 2], name: Arc<str>, id: AccountId) {
    let [new, old] = generations;
    if new.numbers.len() >= GENERATION_MAX {
        *old = std::mem::take(new);
    }
    new.numbers.insert(Arc::clone(&name), id);
    new.names.insert(id, name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_recent_accounts_stay_and_memory_is_bounded() {
        let numbers = AccountNumbers::default();
        for id in 0..(3 * GENERATION_MAX as u64) {
            numbers.insert(&format!("arena/funds/1/p{id}"), AccountId(id));
            assert_eq!(numbers.number("arena/funds/1/p0"), Some(AccountId(0)), "it is used all the time");
        }
        assert_eq!(numbers.number("arena/funds/1/p1"), None);
        let kept: usize = numbers.lock().iter().map(|generation| generation.numbers.len()).sum();
        assert!(kept <= 2 * GENERATION_MAX);
    }
}
