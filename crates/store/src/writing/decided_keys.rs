//! The idempotency keys of a batch.

use std::collections::HashMap;

use bankroll_ledger::{Fingerprint, Seq};

use super::keys::KeyHasher;

/// The keys of a batch, each with the place of its decision.
#[derive(Debug)]
pub(super) struct DecidedKeys {
    places: HashMap<u128, KeyPlace, KeyHasher>,
    /// Keys that share their fingerprint with another key of the batch.
    twins: Vec<(u128, KeyPlace)>,
}

#[derive(Clone, Copy, Debug)]
struct KeyPlace {
    /// Among all requests of the batch.
    place: usize,
    seq: Seq,
}

impl DecidedKeys {
    pub fn new(hasher: KeyHasher) -> Self {
        Self { places: HashMap::with_hasher(hasher), twins: Vec::new() }
    }

    pub fn has(&self, key: Fingerprint) -> bool {
        self.places.contains_key(&key.0)
    }

    pub fn reserve(&mut self, count: usize) {
        self.places.reserve(count);
    }

    pub fn insert(&mut self, key: Fingerprint, place: usize, seq: Seq) {
        if let Some(other) = self.places.insert(key.0, KeyPlace { place, seq }) {
            self.twins.push((key.0, other));
        }
    }

    pub fn places_of(&self, key: Fingerprint) -> impl Iterator<Item = usize> {
        let twins = self.twins.iter().filter(move |(twin, _)| *twin == key.0).map(|(_, decided)| decided);
        self.places.get(&key.0).into_iter().chain(twins).map(|decided| decided.place)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, Seq)> {
        let all = self.places.iter().map(|(key, decided)| (*key, decided.seq));
        all.chain(self.twins.iter().map(|(key, decided)| (*key, decided.seq))).map(|(key, seq)| (Fingerprint(key), seq))
    }

    /// Takes all keys out.
    pub fn take(&mut self) -> Self {
        let hasher = *self.places.hasher();
        std::mem::replace(self, Self::new(hasher))
    }
}
