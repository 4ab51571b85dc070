//! The places of a server: for peers whose handshake is under way, and for nodes that have proven who they are.
//!
//! A peer without a certificate can take only places of the first kind. When those are full, the oldest handshake ends
//! and the newcomer gets its place: a node needs milliseconds, so it is not the oldest for long. One address cannot take
//! the places of another.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// The most handshakes under way.
const HANDSHAKES_MAX: usize = 128;
/// The most handshakes under way from one address.
const HANDSHAKES_PER_ADDRESS: usize = 32;
/// The most nodes connected from one address.
const CONNECTIONS_PER_ADDRESS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Places(Mutex<PlaceTable>);

#[derive(Debug, Default)]
struct PlaceTable {
    next: u64,
    /// The oldest first.
    handshakes: VecDeque<HalfOpen>,
    connections: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct HalfOpen {
    number: u64,
    from: IpAddr,
    /// Dropped when another peer takes the place.
    _kept: oneshot::Sender<()>,
}

/// The place of a peer that has proven nothing yet.
#[derive(Debug)]
pub(super) struct HandshakePlace {
    places: Arc<Places>,
    number: u64,
    from: IpAddr,
    lost: oneshot::Receiver<()>,
}

/// The place of a node.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    places: Arc<Places>,
    from: IpAddr,
}

impl Places {
    /// A place for a new peer: a free one, or that of the oldest handshake, from the same address if that has its share.
    pub fn begin(self: &Arc<Self>, from: IpAddr) -> HandshakePlace {
        let from = counted_as(from);
        let (kept, lost) = oneshot::channel();
        let mut table = self.table();
        let same = table.handshakes.iter().filter(|other| other.from == from).count();
        let oldest = if same >= HANDSHAKES_PER_ADDRESS {
            table.handshakes.iter().position(|other| other.from == from)
        } else {
            (table.handshakes.len() >= HANDSHAKES_MAX).then_some(0)
        };
        if let Some(oldest) = oldest {
            table.handshakes.remove(oldest);
        }
        let number = table.next;
        table.next += 1;
        table.handshakes.push_back(HalfOpen { number, from, _kept: kept });
        HandshakePlace { places: Arc::clone(self), number, from, lost }
    }

    fn table(&self) -> MutexGuard<'_, PlaceTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HandshakePlace {
    /// Returns when another peer has taken the place.
    pub async fn lost(&mut self) {
        let _ = (&mut self.lost).await;
    }

    /// The peer has proven that it is a node; `None` if its address has no place left.
    pub fn finish(self) -> Option<ConnectionPlace> {
        let mut table = self.places.table();
        let connections = table.connections.entry(self.from).or_default();
        if *connections >= CONNECTIONS_PER_ADDRESS {
            return None;
        }
        *connections += 1;
        drop(table);
        Some(ConnectionPlace { places: Arc::clone(&self.places), from: self.from })
    }
}

impl Drop for HandshakePlace {
    fn drop(&mut self) {
        self.places.table().handshakes.retain(|other| other.number != self.number);
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut table = self.places.table();
        if let Some(connections) = table.connections.get_mut(&self.from) {
            *connections -= 1;
            if *connections == 0 {
                table.connections.remove(&self.from);
            }
        }
    }
}

/// A network that one user gets counts as one address: in IPv6 that is a /64.
fn counted_as(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    fn has_lost(place: &mut HandshakePlace) -> bool {
        matches!(place.lost.try_recv(), Err(oneshot::error::TryRecvError::Closed))
    }

    #[test]
    fn an_address_with_its_share_of_handshakes_takes_only_its_own_oldest() {
        let places = Arc::<Places>::default();
        let mut other = places.begin(address(2));
        let mut strangers: Vec<_> = (0..256).map(|_| places.begin(address(1))).collect();
        let lost = strangers.iter_mut().map(has_lost).collect::<Vec<_>>();
        assert_eq!(lost.iter().filter(|lost| !**lost).count(), HANDSHAKES_PER_ADDRESS);
        assert!(lost[..256 - HANDSHAKES_PER_ADDRESS].iter().all(|lost| *lost), "the oldest lost their places");
        assert!(!has_lost(&mut other));
        assert_eq!(places.table().handshakes.len(), HANDSHAKES_PER_ADDRESS + 1);
    }

    #[test]
    fn many_addresses_together_take_only_the_oldest_places() {
        let places = Arc::<Places>::default();
        let mut all: Vec<_> = (0..=255).map(|number| places.begin(address(number))).collect();
        assert_eq!(places.table().handshakes.len(), HANDSHAKES_MAX);
        assert!(has_lost(&mut all[0]) && has_lost(&mut all[127]) && !has_lost(&mut all[128]));
        drop(all);
        assert_eq!(places.table().handshakes.len(), 0);
    }

    #[test]
    fn nodes_of_one_address_are_counted_until_they_leave() {
        let places = Arc::<Places>::default();
        let connected: Vec<_> =
            (0..CONNECTIONS_PER_ADDRESS).map(|_| places.begin(address(1)).finish().unwrap()).collect();
        assert!(places.begin(address(1)).finish().is_none());
        assert!(places.begin(address(2)).finish().is_some());
        drop(connected);
        assert!(places.begin(address(1)).finish().is_some());
        let table = places.table();
        assert!(table.handshakes.is_empty() && table.connections.is_empty(), "{table:?}");
    }

    #[test]
    fn the_addresses_of_one_network_count_as_one() {
        let of = |text: &str| counted_as(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), address(1));
    }
}
