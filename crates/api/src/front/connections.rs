//! Places for connections, and which one gives way when all are taken.
//!
//! A connection that gives way has [`super::FrontConfig::close_timeout`] to end. Until then it counts as closing, and
//! there are at most as many closing connections as places: the oldest of them is dropped at once.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// Marks a connection that is answering a request.
const BUSY: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    /// The most that one network has.
    per_network: usize,
    places: Mutex<Places>,
    /// Counts up with each change from busy to idle: its order is the order of idleness.
    clock: AtomicU64,
}

#[derive(Debug, Default)]
struct Places {
    last: u64,
    open: HashMap<u64, Arc<ConnectionState>>,
    /// Connections that gave way and have not ended yet, the oldest first.
    closing: VecDeque<(u64, Arc<ConnectionState>)>,
}

#[derive(Debug)]
pub(super) struct ConnectionState {
    network: u64,
    idle_since: AtomicU64,
    /// Whether a request has arrived on it.
    is_used: AtomicBool,
    /// Whether its answer is a stream, which has no end of its own.
    is_streaming: AtomicBool,
    /// Signalled when this connection must end as soon as it is idle.
    pub close: Notify,
    /// Signalled when this connection must end now.
    pub drop_now: Notify,
}

impl ConnectionState {
    pub fn is_busy(&self) -> bool {
        self.idle_since.load(Ordering::SeqCst) == BUSY
    }

    pub fn is_streaming(&self) -> bool {
        self.is_streaming.load(Ordering::SeqCst)
    }

    pub fn set_streaming(&self, is_streaming: bool) {
        self.is_streaming.store(is_streaming, Ordering::SeqCst);
    }

    pub fn set_used(&self) {
        self.is_used.store(true, Ordering::SeqCst);
    }
}

impl Connections {
    pub fn new(most: usize, per_network: usize) -> Arc<Self> {
        let (most, per_network) = (most.max(1), per_network.max(1));
        Arc::new(Self { most, per_network, places: Mutex::default(), clock: AtomicU64::new(0) })
    }

    /// A place for a new connection. If all are taken, or all of its network, the longest idle of them gives way;
    /// `None` if every one is answering a request.
    pub fn enter(self: &Arc<Self>, network: u64) -> Option<Connection> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let is_neighbour = |state: &ConnectionState| state.network == network;
        let neighbours = places.open.values().filter(|state| is_neighbour(state)).count();
        if neighbours >= self.per_network {
            places.evict(self.most, is_neighbour)?;
        } else if places.open.len() >= self.most {
            places.evict(self.most, |_| true)?;
        }
        places.last += 1;
        let number = places.last;
        let state = Arc::new(ConnectionState {
            network,
            idle_since: AtomicU64::new(self.next()),
            is_used: AtomicBool::new(false),
            is_streaming: AtomicBool::new(false),
            close: Notify::new(),
            drop_now: Notify::new(),
        });
        places.open.insert(number, Arc::clone(&state));
        Some(Connection { number, state, all: Arc::clone(self) })
    }

    /// This process cannot open another file: the longest idle connection gives way.
    pub fn give_way(&self) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        // If all are answering requests, they end soon.
        let _ = places.evict(self.most, |_| true);
    }

    /// Every connection ends as soon as it is idle; those without a request, whose first may be on its way, only with
    /// `unused_too`.
    pub fn close_all(&self, unused_too: bool) {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = |state: &&Arc<ConnectionState>| unused_too || state.is_used.load(Ordering::SeqCst);
        places.open.values().filter(ends).for_each(|state| state.close.notify_one());
    }

    pub fn count(&self) -> usize {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).open.len()
    }

    pub fn count_closing(&self) -> usize {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).closing.len()
    }

    fn next(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

impl Places {
    fn evict(&mut self, closing_max: usize, among: impl Fn(&ConnectionState) -> bool) -> Option<()> {
        let among = self.open.iter().filter(|(_, state)| among(state) && !state.is_busy());
        let (number, _) = among.min_by_key(|(_, state)| state.idle_since.load(Ordering::SeqCst))?;
        let number = *number;
        let state = self.open.remove(&number)?;
        state.close.notify_one();
        self.closing.push_back((number, state));
        if self.closing.len() > closing_max {
            let (_, oldest) = self.closing.pop_front()?;
            oldest.drop_now.notify_one();
        }
        Some(())
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
    /// From now on this connection gives way to no other. False if it gave way before: then it must start nothing,
    /// because it is about to be dropped.
    #[must_use]
    pub fn set_busy(&self) -> bool {
        let places = self.all.places.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = places.open.contains_key(&self.number);
        if is_open {
            self.state.idle_since.store(BUSY, Ordering::SeqCst);
        }
        is_open
    }

    pub fn set_idle(&self) {
        self.state.idle_since.store(self.all.next(), Ordering::SeqCst);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut places = self.all.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.open.remove(&self.number).is_none() {
            places.closing.retain(|(number, _)| *number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_gives_way_and_a_busy_one_never_does() {
        let all = Connections::new(2, 2);
        let (first, second) = (all.enter(1).unwrap(), all.enter(2).unwrap());
        assert!(first.set_busy());
        let third = all.enter(3).expect("the second is idle");
        assert!(!all.places.lock().unwrap().open.contains_key(&second.number));
        assert!(!second.set_busy(), "it gave way before it began to answer");
        assert!(third.set_busy());
        assert!(all.enter(4).is_none(), "both are answering");
        first.set_idle();
        let fourth = all.enter(4).expect("the first is idle again");
        assert_eq!((all.count(), all.count_closing()), (2, 2));
        drop((second, first));
        assert_eq!((all.count(), all.count_closing()), (2, 0), "an evicted connection gives no place back twice");
        drop((third, fourth));
        assert_eq!(all.count(), 0);
    }

    #[test]
    fn without_another_file_the_longest_idle_connection_gives_way() {
        let all = Connections::new(8, 8);
        let (first, second, third) = (all.enter(1).unwrap(), all.enter(2).unwrap(), all.enter(3).unwrap());
        assert!(first.set_busy());
        all.give_way();
        assert!(!second.set_busy(), "it gave way");
        assert!(third.set_busy());
        all.give_way();
        assert_eq!((all.count(), all.count_closing()), (2, 1), "both are answering");
        drop((first, second, third));
    }

    #[test]
    fn one_network_takes_only_its_own_share() {
        let all = Connections::new(16, 2);
        let mallory: Vec<Connection> = (0..2).map(|_| all.enter(666).unwrap()).collect();
        assert!(mallory.iter().all(Connection::set_busy));
        assert!(all.enter(666).is_none(), "its share is busy");
        let alice = all.enter(1).expect("another network has places");
        mallory[1].set_idle();
        let third = all.enter(666).expect("its own idle connection gives way");
        assert!(alice.set_busy() && !mallory[1].set_busy());
        assert_eq!(all.count(), 3);
        drop((third, mallory));
    }

    #[test]
    fn connections_that_do_not_end_are_bounded() {
        let all = Connections::new(2, 2);
        let stuck: Vec<Connection> = (0..9).map(|number| all.enter(number).unwrap()).collect();
        assert_eq!((all.count(), all.count_closing()), (2, 2), "{stuck:?}");
    }
}
