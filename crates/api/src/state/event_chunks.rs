//! Events that were read lately, in pieces: a thousand streams read the same events, and the books are read once.
//!
//! An event never changes, so what is here is never stale. It is bounded in bytes: the pieces that were read first are
//! forgotten first.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bankroll_notify::{PublicEvent, sequence_of};
use bankroll_store::EventEntry;

/// Of all pieces together; the last one stays, however long.
const BYTES_MAX: usize = 16 << 20;
/// A piece may have one event: a search walks over all pieces.
const CHUNKS_MAX: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct EventChunks(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    chunks: VecDeque<Arc<EventChunk>>,
    bytes: usize,
}

/// All events after one sequence, up to and with the last one here.
#[derive(Debug)]
pub(crate) struct EventChunk {
    after: u64,
    last: u64,
    pub events: Vec<ReadEvent>,
    bytes: usize,
}

#[derive(Debug)]
pub(crate) struct ReadEvent {
    pub event: PublicEvent,
    /// The event as JSON, for every caller who may see all of it.
    pub json: String,
}

impl EventChunk {
    /// Of entries that follow each other; `None` if there are none.
    pub fn new(after: u64, entries: &[EventEntry]) -> Option<Self> {
        let last = sequence_of(entries.last()?.event.position());
        let read = |entry: &EventEntry| {
            let event = PublicEvent::new(entry);
            ReadEvent { json: event.to_json(), event }
        };
        let events: Vec<ReadEvent> = entries.iter().map(read).collect();
        let bytes = events.iter().map(|read| read.json.len() * 2).sum();
        Some(Self { after, last, events, bytes })
    }

    /// The events after this sequence, which is in the range of the piece.
    pub fn events_after(&self, sequence: u64) -> &[ReadEvent] {
        let first = self.events.partition_point(|read| read.event.sequence <= sequence);
        self.events.get(first..).unwrap_or_default()
    }
}

impl EventChunks {
    /// A piece that goes on after this sequence.
    pub fn find(&self, after: u64) -> Option<Arc<EventChunk>> {
        let kept = self.lock();
        // The newest first: most readers are there.
        kept.chunks.iter().rev().find(|chunk| chunk.after <= after && after < chunk.last).map(Arc::clone)
    }

    pub fn insert(&self, chunk: &Arc<EventChunk>) {
        let mut kept = self.lock();
        kept.bytes += chunk.bytes;
        kept.chunks.push_back(Arc::clone(chunk));
        while kept.chunks.len() > CHUNKS_MAX || kept.bytes > BYTES_MAX && kept.chunks.len() > 1 {
            let Some(first) = kept.chunks.pop_front() else { break };
            kept.bytes = kept.bytes.saturating_sub(first.bytes);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use bankroll_ledger::{Seq, Time};
    use bankroll_store::StoredEvent;

    use super::*;

    fn chunk(after: u64, seqs: std::ops::Range<u64>, length: usize) -> Arc<EventChunk> {
        let entry = |seq| EventEntry {
            event: StoredEvent {
                seq: Seq(seq),
                place: 0,
                kind: "a.b".into(),
                resource: "r".into(),
                body: format!("{{\"note\":\"{}\"}}", "x".repeat(length)),
            },
            at: Time(0),
            resource_sequence: 1,
        };
        Arc::new(EventChunk::new(after, &seqs.map(entry).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn a_piece_is_found_by_every_position_in_it() {
        let chunks = EventChunks::default();
        // The sequences 160, 176, 192.
        chunks.insert(&chunk(100, 10..13, 1));
        for (after, found) in [(99, None), (100, Some(3)), (159, Some(3)), (160, Some(2)), (191, Some(1)), (192, None)]
        {
            let count = chunks.find(after).map(|chunk| chunk.events_after(after).len());
            assert_eq!(count, found, "{after}");
        }
        assert!(EventChunk::new(5, &[]).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let chunks = EventChunks::default();
        for number in 0..64 {
            chunks.insert(&chunk(number * 1_600, number * 100 + 1..number * 100 + 101, 10_000));
        }
        let kept = chunks.lock();
        assert!(kept.bytes <= BYTES_MAX && kept.chunks.len() > 2, "{} bytes", kept.bytes);
    }
}
