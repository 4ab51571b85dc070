//! Announcements as consumers read them: page by page after a position, each with the time of its batch and its number
//! among the announcements about the same resource.
//!
//! All of it follows from the journal, so an announcement looks the same whenever it is read, after a rebuild, too.

use std::collections::BTreeMap;

use bankroll_ledger::{Seq, Time};

use super::batches::Batches;
use crate::{Reader, StoreError, StoredEvent};

/// The place of an event: the record that made it, and its number among the events of that record. The default is
/// before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPosition {
    pub seq: Seq,
    pub place: u16,
}

/// An event of the outbox as consumers read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEntry {
    pub event: StoredEvent,
    /// The time of its batch.
    pub at: Time,
    /// Its number among the events about the same resource, from 1.
    pub resource_sequence: u64,
}

impl StoredEvent {
    #[must_use]
    pub fn position(&self) -> EventPosition {
        EventPosition { seq: self.seq, place: self.place }
    }
}

impl Reader {
    /// The next events after a position, at most `most`, in order.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn event_entries(&self, after: EventPosition, most: usize) -> Result<Vec<EventEntry>, StoreError> {
        self.located(self.read_event_entries(after, most))
    }

    fn read_event_entries(&self, after: EventPosition, most: usize) -> Result<Vec<EventEntry>, StoreError> {
        let source = self.source();
        let events = source.events_after_position(after, most)?;
        if events.is_empty() {
            return Ok(Vec::new());
        }
        // Read after the events, so that it covers them. No row here ever changes, so no snapshot is necessary.
        let batches = Batches::new(source, source.head()?);
        let mut counted = BTreeMap::<String, u64>::new();
        let mut entries = Vec::with_capacity(events.len());
        for event in events {
            let known = counted.get(&event.resource).copied();
            let resource_sequence = match known {
                Some(before) => before.saturating_add(1),
                None => source.events_about(&event.resource, event.position())?,
            };
            counted.insert(event.resource.clone(), resource_sequence);
            entries.push(EventEntry { at: batches.time_of(event.seq)?, resource_sequence, event });
        }
        Ok(entries)
    }

    /// The event at a position.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn event_entry(&self, at: EventPosition) -> Result<Option<EventEntry>, StoreError> {
        let before = match at.place.checked_sub(1) {
            Some(place) => EventPosition { seq: at.seq, place },
            None => EventPosition { seq: Seq(at.seq.0.saturating_sub(1)), place: u16::MAX },
        };
        let found = self.event_entries(before, 1)?.pop();
        Ok(found.filter(|entry| entry.event.position() == at))
    }

    /// The position of the newest event; the default if there is none.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn newest_event(&self) -> Result<EventPosition, StoreError> {
        self.located(self.source().newest_event())
    }
}
