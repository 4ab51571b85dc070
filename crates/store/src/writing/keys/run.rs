//! A sorted run: chunks of (fingerprint, place) in the store, its fences and its filter in memory.

use bankroll_ledger::{Fingerprint, Seq};

use super::filter::BloomFilter;
use crate::{
    StoreError,
    engine::runs::{CHECKSUM_BYTES, RunEntry, RunMeta, checked_of, with_checksum_of},
};

/// Entries in a full chunk: 340 of 24 bytes and a checksum are a little under 8 KiB.
pub(super) const CHUNK_ENTRIES: usize = 340;
const ENTRY_BYTES: usize = 24;

#[derive(Debug)]
pub(crate) struct Run {
    pub meta: RunMeta,
    filter: BloomFilter,
    /// The first fingerprint of each chunk.
    fences: Vec<u128>,
}

impl Run {
    pub(super) fn new(meta: RunMeta, filter: BloomFilter, fences: Vec<u128>) -> Self {
        Self { meta, filter, fences }
    }

    /// Reads a stored run; its summary is filter and fences under a checksum, which covers the run's stretch too.
    pub(super) fn load((meta, summary): (RunMeta, Vec<u8>)) -> Result<Self, StoreError> {
        let damaged = |what: &str| StoreError::KeyIndexDamaged { what: format!("run {}: {what}", meta.id) };
        let owner = owner((meta.first, meta.last), meta.chunks);
        let body = checked_of(&owner, &summary).ok_or_else(|| damaged("its summary is torn, or another run's"))?;
        let fence_bytes = usize::try_from(meta.chunks).unwrap_or(usize::MAX).saturating_mul(16);
        let (fences, filter) = body.split_at_checked(fence_bytes).ok_or_else(|| damaged("it misses fences"))?;
        let (fences, _) = fences.as_chunks::<16>();
        let fences = fences.iter().map(|fence| u128::from_be_bytes(*fence)).collect();
        let filter = BloomFilter::decode(filter).ok_or_else(|| damaged("its filter is torn"))?;
        Ok(Self { meta, filter, fences })
    }

    pub(super) fn summary(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.fences.iter().flat_map(|fence| fence.to_be_bytes()).collect();
        self.filter.encode(&mut bytes);
        with_checksum_of(&owner((self.meta.first, self.meta.last), self.meta.chunks), bytes)
    }

    pub(super) fn may_have(&self, key: u128) -> bool {
        self.filter.may_have(key)
    }

    /// Looks keys up in the chunks, in ascending order.
    pub(super) fn chunks<R>(&self, read: R) -> ChunkReader<'_, R> {
        ChunkReader { run: self, read, last: None }
    }
}

/// Reads chunks of a run and caches the last one: keys in ascending order often share a chunk.
pub(super) struct ChunkReader<'a, R> {
    run: &'a Run,
    read: R,
    last: Option<(u64, Vec<u8>)>,
}

impl<R: FnMut(u64) -> Result<Option<Vec<u8>>, StoreError>> ChunkReader<'_, R> {
    /// Looks the key up in the chunks that can have it: one, unless entries of one fingerprint cross a boundary.
    pub fn find(&mut self, key: u128, found: &mut Vec<Seq>) -> Result<(), StoreError> {
        let after = self.run.fences.partition_point(|fence| *fence <= key);
        for place in (0..after).rev() {
            let entries = self.chunk(place)?;
            let from = entries.partition_point(|bytes| entry(bytes).0 < key);
            let matching = entries[from..].iter().map(entry).take_while(|(fingerprint, _)| *fingerprint == key);
            found.extend(matching.map(|(_, place)| Seq(place)));
            if self.run.fences[place] < key {
                break;
            }
        }
        Ok(())
    }

    /// The chunk at a place of the run. A valid chunk in the wrong place would hide keys, so it must begin with its
    /// fence.
    fn chunk(&mut self, place: usize) -> Result<&[[u8; ENTRY_BYTES]], StoreError> {
        let id = self.run.meta.first_chunk + place as u64;
        if self.last.as_ref().is_none_or(|(last, _)| *last != id) {
            let stored = (self.read)(id)?;
            let first = chunk_entries(&self.run.meta, id, stored.as_deref())?.first().map(entry);
            if first.map(|(fingerprint, _)| fingerprint) != self.run.fences.get(place).copied() {
                return Err(StoreError::KeyIndexDamaged { what: format!("chunk {id} is another one") });
            }
            self.last = stored.map(|stored| (id, stored));
        }
        let body = self.last.as_ref().map_or(&[][..], |(_, stored)| &stored[..stored.len() - CHECKSUM_BYTES]);
        Ok(body.as_chunks::<ENTRY_BYTES>().0)
    }
}

impl Run {
    /// Checks that the first and the last chunk are in their places: if its row was edited, the run would be merged
    /// with the wrong chunks.
    pub(super) fn check_ends(
        &self,
        read: impl FnMut(u64) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut chunks = self.chunks(read);
        for place in
            [Some(0), self.fences.len().checked_sub(1)].into_iter().flatten().filter(|_| !self.fences.is_empty())
        {
            chunks.chunk(place)?;
        }
        Ok(())
    }
}

/// Looks a key up in the chunks of a stored run by binary search: for readers without filter and fences in memory.
pub(crate) fn places_in_run(
    run: &RunMeta,
    key: Fingerprint,
    read: impl Fn(u64) -> Result<Option<Vec<u8>>, StoreError>,
) -> Result<Vec<Seq>, StoreError> {
    let range = run.chunk_range();
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        let stored = read(middle)?;
        let first = chunk_entries(run, middle, stored.as_deref())?.first().map(entry);
        if first.is_some_and(|(fingerprint, _)| fingerprint < key.0) { low = middle + 1 } else { high = middle }
    }
    // `low` is the first chunk that begins at or after the key; the one before may have it too.
    let mut found = Vec::new();
    for id in low.saturating_sub(1).max(range.start)..range.end {
        let entries = decode_chunk(run, id, read(id)?)?;
        found.extend(entries.iter().filter(|(fingerprint, _)| *fingerprint == key.0).map(|(_, place)| Seq(*place)));
        if entries.last().is_none_or(|(fingerprint, _)| *fingerprint > key.0) {
            break;
        }
    }
    Ok(found)
}

/// What a chunk, or a summary, belongs to: the stretch of its run, and its place there. The keys of a stretch follow
/// from the journal and are cut into chunks of one size, so a chunk that was written for the same place of the same
/// stretch is the same chunk: one that passes is neither moved nor of another time.
fn owner((first, last): (Seq, Seq), place: u64) -> [u8; 24] {
    let mut bytes = [0; 24];
    for (part, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip([first.0, last.0, place]) {
        *part = number.to_be_bytes();
    }
    bytes
}

/// The chunk at a place of the run that covers this stretch.
pub(super) fn encode_chunk(stretch: (Seq, Seq), place: u64, entries: &[RunEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * ENTRY_BYTES + CHECKSUM_BYTES);
    for (fingerprint, place) in entries {
        bytes.extend(fingerprint.to_be_bytes());
        bytes.extend(place.to_be_bytes());
    }
    with_checksum_of(&owner(stretch, place), bytes)
}

pub(crate) fn decode_chunk(run: &RunMeta, id: u64, stored: Option<Vec<u8>>) -> Result<Vec<RunEntry>, StoreError> {
    Ok(chunk_entries(run, id, stored.as_deref())?.iter().map(entry).collect())
}

/// The entries of a chunk of a run, without copying.
fn chunk_entries<'a>(run: &RunMeta, id: u64, stored: Option<&'a [u8]>) -> Result<&'a [[u8; ENTRY_BYTES]], StoreError> {
    let damaged = |what: &str| StoreError::KeyIndexDamaged { what: format!("chunk {id} {what}") };
    let stored = stored.ok_or_else(|| damaged("is missing"))?;
    let owner = owner((run.first, run.last), id.wrapping_sub(run.first_chunk));
    let body = checked_of(&owner, stored).ok_or_else(|| damaged("is torn, or another one"))?;
    match body.as_chunks::<ENTRY_BYTES>() {
        (entries, []) => Ok(entries),
        _ => Err(damaged("is cut")),
    }
}

fn entry(bytes: &[u8; ENTRY_BYTES]) -> RunEntry {
    let (fingerprint, place) = bytes.split_at(16);
    let fingerprint = u128::from_be_bytes(fingerprint.try_into().expect("sixteen bytes"));
    (fingerprint, u64::from_be_bytes(place.try_into().expect("eight bytes")))
}
