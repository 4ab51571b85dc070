//! How many streams there are, and whose: a caller with many streams must leave some for the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Debug)]
pub(super) struct StreamPlaces {
    most: usize,
    per_caller: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    callers: HashMap<Vec<u8>, usize>,
}

impl StreamPlaces {
    pub fn new(most: usize, per_caller: usize) -> Arc<Self> {
        Arc::new(Self { most, per_caller, taken: Mutex::default() })
    }

    /// A place; `rights_before` is what the tail says before the books are asked.
    pub fn enter(places: &Arc<Self>, rights_before: u64) -> Option<StreamPlace> {
        let mut taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.count >= places.most {
            return None;
        }
        taken.count += 1;
        Some(StreamPlace { places: Arc::clone(places), caller: None, rights_before })
    }

    pub fn count(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).count
    }
}

/// A taken place, given back when dropped.
#[derive(Debug)]
pub(in crate::front) struct StreamPlace {
    places: Arc<StreamPlaces>,
    caller: Option<Vec<u8>>,
    pub(super) rights_before: u64,
}

impl StreamPlace {
    /// Whose stream it is, once the books have proven it: before, a stranger could use up the places of another. False
    /// if this caller has all that one may have.
    pub(super) fn belongs_to(&mut self, caller: &[u8]) -> bool {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.callers.entry(caller.to_owned()).or_default();
        if *count >= self.places.per_caller {
            return false;
        }
        *count += 1;
        self.caller = Some(caller.to_owned());
        true
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.count = taken.count.saturating_sub(1);
        let Some(caller) = self.caller.take() else { return };
        if let Some(count) = taken.callers.get_mut(&caller) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.callers.remove(&caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_in_all_and_per_caller_and_come_back() {
        let places = StreamPlaces::new(3, 2);
        let mut all: Vec<_> = (0..3).map(|_| StreamPlaces::enter(&places, 0).unwrap()).collect();
        assert!(StreamPlaces::enter(&places, 0).is_none(), "all three are taken");
        assert!(all[0].belongs_to(b"arena") && all[1].belongs_to(b"arena"));
        assert!(!all[2].belongs_to(b"arena"), "two for one caller");
        assert!(all[2].belongs_to(b"rival"));
        drop(all);
        assert_eq!((places.count(), places.taken.lock().unwrap().callers.len()), (0, 0));
    }
}
