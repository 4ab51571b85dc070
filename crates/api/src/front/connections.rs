//! Places for connections, and which one gives way when all are taken.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// Marks a connection that is answering a request.
const BUSY: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    places: Mutex<Places>,
    /// Counts up with each change from busy to idle: its order is the order of idleness.
    clock: AtomicU64,
}

#[derive(Debug, Default)]
struct Places {
    last: u64,
    open: HashMap<u64, Arc<ConnectionState>>,
}

#[derive(Debug)]
pub(super) struct ConnectionState {
    idle_since: AtomicU64,
    /// Signalled when this connection must end as soon as it is idle.
    pub close: Notify,
}

impl Connections {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), places: Mutex::default(), clock: AtomicU64::new(0) })
    }

    /// A place for a new connection. If all are taken, the longest idle connection gives way; `None` if every one is
    /// answering a request.
    pub fn enter(self: &Arc<Self>) -> Option<Connection> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.open.len() >= self.most {
            let idle_since = |state: &ConnectionState| state.idle_since.load(Ordering::SeqCst);
            let (number, since) = places
                .open
                .iter()
                .map(|(number, state)| (*number, idle_since(state)))
                .min_by_key(|(_, since)| *since)?;
            if since == BUSY {
                return None;
            }
            places.open.remove(&number)?.close.notify_one();
        }
        places.last += 1;
        let number = places.last;
        let state = Arc::new(ConnectionState { idle_since: AtomicU64::new(self.next()), close: Notify::new() });
        places.open.insert(number, Arc::clone(&state));
        Some(Connection { number, state, all: Arc::clone(self) })
    }

    /// Every connection ends as soon as it is idle.
    pub fn close_all(&self) {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.open.values().for_each(|state| state.close.notify_one());
    }

    pub fn count(&self) -> usize {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).open.len()
    }

    fn next(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

/// A taken place, given back when dropped.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    pub state: Arc<ConnectionState>,
    all: Arc<Connections>,
}

impl Connection {
    pub fn set_busy(&self) {
        self.state.idle_since.store(BUSY, Ordering::SeqCst);
    }

    pub fn set_idle(&self) {
        self.state.idle_since.store(self.all.next(), Ordering::SeqCst);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.places.lock().unwrap_or_else(PoisonError::into_inner).open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_gives_way_and_a_busy_one_never_does() {
        let all = Connections::new(2);
        let (first, second) = (all.enter().unwrap(), all.enter().unwrap());
        first.set_busy();
        let third = all.enter().expect("the second is idle");
        assert!(!all.places.lock().unwrap().open.contains_key(&second.number));
        third.set_busy();
        assert!(all.enter().is_none(), "both are answering");
        first.set_idle();
        let fourth = all.enter().expect("the first is idle again");
        drop((second, first));
        assert_eq!(all.count(), 2, "an evicted connection gives no place back twice");
        drop((third, fourth));
        assert_eq!(all.count(), 0);
    }
}
