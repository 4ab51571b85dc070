//! Looking a term up in one run: binary search over its chunks, by reading them.

use std::ops::RangeInclusive;

use super::{IndexSource, chunk, damaged};
use crate::{
    StoreError,
    engine::runs::{RunEntry, RunMeta},
};

/// Adds the places of a term within a range to `found`, lowest first or highest first, until there are `most`.
pub(crate) fn places(
    terms: &dyn IndexSource,
    run: &RunMeta,
    term: u128,
    range: &RangeInclusive<u64>,
    descending: bool,
    most: usize,
    found: &mut Vec<u64>,
) -> Result<(), StoreError> {
    let (low, high) = ((term, *range.start()), (term, *range.end()));
    let wanted = |entry: &RunEntry| (low..=high).contains(entry);
    let chunks = run.chunk_range();
    if chunks.is_empty() {
        return Ok(());
    }
    if descending {
        let Some(start) = last_beginning_by(terms, run, high)? else { return Ok(()) };
        for id in (chunks.start..=start).rev() {
            let entries = read(terms, id)?;
            found.extend(
                entries.iter().rev().filter(|entry| wanted(entry)).map(|(_, place)| *place).take(most - found.len()),
            );
            if found.len() == most || entries[0] < low {
                return Ok(());
            }
        }
    } else {
        let start = last_beginning_by(terms, run, low)?.unwrap_or(chunks.start);
        for id in start..chunks.end {
            let entries = read(terms, id)?;
            found
                .extend(entries.iter().filter(|entry| wanted(entry)).map(|(_, place)| *place).take(most - found.len()));
            if found.len() == most || entries[entries.len() - 1] > high {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The last chunk of a run that begins with this entry or a lower one.
fn last_beginning_by(terms: &dyn IndexSource, run: &RunMeta, entry: RunEntry) -> Result<Option<u64>, StoreError> {
    let range = run.chunk_range();
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if chunk::first_entry(middle, terms.chunk(middle)?.as_deref())? <= entry {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low.checked_sub(1).filter(|last| range.contains(last)))
}

/// The entries of a chunk; at least one.
pub(crate) fn read(terms: &dyn IndexSource, id: u64) -> Result<Vec<RunEntry>, StoreError> {
    chunk::decode(id, terms.chunk(id)?.as_deref())
}

/// Reads a whole run and compares it with its row.
pub(super) fn verify(terms: &dyn IndexSource, run: &RunMeta) -> Result<(), StoreError> {
    let stretch = run.first.0..=run.last.0;
    let (mut entries, mut last) = (0, None);
    for id in run.chunk_range() {
        let chunk = read(terms, id)?;
        let follows = last.is_none_or(|last| last < chunk[0]);
        if !follows || chunk.iter().any(|(_, place)| !stretch.contains(place)) {
            return Err(damaged(format!("chunk {id} is not of run {}", run.id)));
        }
        entries += chunk.len() as u64;
        last = chunk.last().copied();
    }
    if entries == run.entries { Ok(()) } else { Err(damaged(format!("run {} has lost entries", run.id))) }
}
