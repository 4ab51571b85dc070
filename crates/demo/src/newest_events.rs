//! The newest events of the books, as they happen: what a subscriber of the Funds API would get.

use std::collections::VecDeque;

use bankroll_ledger::Time;
use bankroll_store::{EventEntry, EventPosition, Reader, StoreError};

use super::wrap::WIDTH;

/// How many are kept for the view.
pub const SHOWN: usize = 4;
/// Events read at a time, and pages read at most: a view that is further behind skips to the newest.
const PAGE: usize = 200;
const PAGES_MAX: usize = 5;
/// Of a line: before it (the name of a live line), and the kind of the event.
const MARGIN: usize = 13;
const KIND: usize = 22;

#[derive(Debug, Default)]
pub struct NewestEvents {
    after: EventPosition,
    lines: VecDeque<String>,
}

impl NewestEvents {
    /// Those from now on. If the books cannot be read, from their first one on.
    pub fn from_now(reader: &Reader) -> Self {
        Self { after: reader.newest_event().unwrap_or_default(), lines: VecDeque::new() }
    }

    /// Reads what is new. If reading fails, the next look does it: a view must not stop the game.
    pub fn read(&mut self, reader: &Reader) {
        let _ = self.read_pages(reader);
    }

    fn read_pages(&mut self, reader: &Reader) -> Result<(), StoreError> {
        for _ in 0..PAGES_MAX {
            let page = reader.event_entries(self.after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            self.after = last.event.position();
            self.lines.extend(page.iter().rev().take(SHOWN).rev().map(line));
            while self.lines.len() > SHOWN {
                self.lines.pop_front();
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
        self.after = reader.newest_event()?;
        Ok(())
    }

    /// The newest ones as lines, the last one last; an empty line for each that there is not yet.
    pub fn shown(&self) -> [String; SHOWN] {
        let mut lines = self.lines.iter().cloned();
        std::array::from_fn(|_| lines.next().unwrap_or_default())
    }

    /// Those since the last call, for a view that prints each once.
    pub fn take(&mut self) -> Vec<String> {
        self.lines.drain(..).collect()
    }
}

/// `12:03:04  withdrawal.completed  wd-0123...`
fn line(EventEntry { event, at, .. }: &EventEntry) -> String {
    let text = format!("{}  {:<KIND$} {}", clock(*at), event.kind, event.resource);
    let most = WIDTH - MARGIN;
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most - 3).chain("...".chars()).collect()
}

/// The time of the day, in UTC.
fn clock(Time(micros): Time) -> String {
    let seconds = micros / 1_000_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use bankroll_ledger::Seq;
    use bankroll_store::StoredEvent;

    use super::*;

    fn entry(kind: &str, resource: &str) -> EventEntry {
        let event =
            StoredEvent { seq: Seq(1), place: 0, kind: kind.into(), resource: resource.into(), body: "{}".into() };
        EventEntry { event, at: Time(1_794_830_584_000_000), resource_sequence: 1 }
    }

    #[test]
    fn a_line_has_the_time_and_the_resource_and_fits_a_narrow_terminal() {
        let short = line(&entry("deposit.credited", "dep-7"));
        assert_eq!(short, "12:03:04  deposit.credited       dep-7");
        let long = line(&entry("withdrawal.completed", &format!("wd-{}", "0123456789abcdef".repeat(3))));
        assert_eq!(long.chars().count() + MARGIN, WIDTH);
        assert!(long.starts_with("12:03:04  withdrawal.completed   wd-0123456789") && long.ends_with("..."), "{long}");
    }
}
