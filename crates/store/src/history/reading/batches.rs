//! Finding the batch of a place or a time. Numbers, places and times grow together, so interpolation search
//! alternates with binary search: a few reads among millions.

use std::cell::RefCell;

use bankroll_ledger::{Batch, Seq, Time};

use crate::{
    StoreError,
    engine::{JournalHead, Source},
};

/// Batches read with every guess: the next lookup is often for a neighbour.
const WINDOW: usize = 32;

pub(super) struct Batches<'a> {
    source: &'a dyn Source,
    head: JournalHead,
    /// The batches that were read last.
    window: RefCell<Vec<Batch>>,
}

impl<'a> Batches<'a> {
    pub fn new(source: &'a dyn Source, head: JournalHead) -> Self {
        Self { source, head, window: RefCell::default() }
    }

    /// When a record was decided.
    pub fn time_of(&self, seq: Seq) -> Result<Time, StoreError> {
        let missing = || StoreError::diverged(seq, "its batch is missing");
        let batch = self.last_by(|batch| batch.first.0, seq.0)?.ok_or_else(missing)?;
        if seq <= last_of(&batch) { Ok(batch.at) } else { Err(missing()) }
    }

    /// The last record at or before a time; 0 if there is none.
    pub fn last_until(&self, time: Time) -> Result<Seq, StoreError> {
        Ok(self.last_by(|batch| batch.at.0, time.0)?.map_or(Seq(0), |batch| last_of(&batch)))
    }

    /// The last batch whose measure is at most this.
    fn last_by(&self, measure: impl Fn(&Batch) -> u64, most: u64) -> Result<Option<Batch>, StoreError> {
        if let Some(found) = self.within_window(&measure, most) {
            return Ok(Some(found));
        }
        let (mut low, mut high) = (1, self.head.batch);
        let Some(first) = self.read(low)? else { return Ok(None) };
        if measure(&first) > most {
            return Ok(None);
        }
        let Some(last) = self.read(high)?.filter(|last| measure(last) > most) else {
            return self.read(high);
        };
        let (mut from, mut to) = (measure(&first), measure(&last));
        // Invariant: the measure of `low` is at most `most`, that of `high` is above.
        let mut halve = false;
        while high - low > 1 {
            let even = low + interpolate(high - low, most.saturating_sub(from), to.saturating_sub(from));
            let guess = if halve { low + (high - low) / 2 } else { even.clamp(low + 1, high - 1) };
            halve = !halve;
            let batch = self.read(guess)?.ok_or_else(|| StoreError::diverged(Seq(0), "a batch is missing"))?;
            if let Some(found) = self.within_window(&measure, most) {
                return Ok(Some(found));
            }
            if measure(&batch) > most {
                (high, to) = (guess, measure(&batch));
            } else {
                (low, from) = (guess, measure(&batch));
            }
        }
        self.read(low)
    }

    /// The result, if the window has it and the batch after it.
    fn within_window(&self, measure: &impl Fn(&Batch) -> u64, most: u64) -> Option<Batch> {
        let window = self.window.borrow();
        let behind = window.partition_point(|batch| measure(batch) <= most);
        let at_the_end = window.last().is_some_and(|last| last.number == self.head.batch);
        if behind == 0 || (behind == window.len() && !at_the_end) { None } else { window.get(behind - 1).copied() }
    }

    fn read(&self, number: u64) -> Result<Option<Batch>, StoreError> {
        let read = self.source.batches_from(number, WINDOW)?;
        let read: Vec<Batch> = read.into_iter().map(|(batch, _)| batch).collect();
        let first = read.first().copied().filter(|batch| batch.number == number);
        *self.window.borrow_mut() = read;
        Ok(first)
    }
}

fn last_of(batch: &Batch) -> Seq {
    Seq(batch.first.0.saturating_add(u64::from(batch.count)).saturating_sub(1))
}

/// `width * part / whole`, without leaving 64 bits.
fn interpolate(width: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(width) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(width)
}
