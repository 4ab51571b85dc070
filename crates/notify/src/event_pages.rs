//! Pages of events, each read once in a round: most endpoints are at the same place.

use std::collections::BTreeMap;

use bankroll_store::{EventPosition, Reader, StoreError};

use crate::PublicEvent;

/// Events in a page.
pub(crate) const PAGE: usize = 100;
/// Pages that are kept; endpoints further behind read their own.
const KEPT_MAX: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct EventPages(BTreeMap<EventPosition, Vec<(EventPosition, PublicEvent)>>);

impl EventPages {
    /// The next events after a position.
    pub fn after(
        &mut self,
        reader: &Reader,
        after: EventPosition,
    ) -> Result<&[(EventPosition, PublicEvent)], StoreError> {
        if !self.0.contains_key(&after) {
            if self.0.len() >= KEPT_MAX {
                self.0.clear();
            }
            let entries = reader.event_entries(after, PAGE)?;
            let page = entries.iter().map(|entry| (entry.event.position(), PublicEvent::new(entry))).collect();
            self.0.insert(after, page);
        }
        Ok(self.0.get(&after).map_or(&[], Vec::as_slice))
    }
}
