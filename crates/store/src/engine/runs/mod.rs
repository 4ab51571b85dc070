//! Sorted runs: what the key index and the statement index have in common.
//!
//! A run is a sorted list of (128-bit number, journal place), cut into chunks that a store keeps under their own
//! numbers. It covers an unbroken stretch of the journal, is written once and never changed; neighbours of one level
//! are merged into one of the next. This module knows neither what the numbers mean nor how a chunk is encoded.

mod merge;

use std::ops::Range;

use bankroll_ledger::Seq;

pub(crate) use merge::Merge;

/// A number, and a journal place of it.
pub(crate) type RunEntry = (u128, u64);

/// How many runs of one level are merged into one of the next.
pub(crate) const FAN_IN: usize = 8;

pub(crate) const CHECKSUM_BYTES: usize = 4;

/// The description of a run, without its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunMeta {
    pub id: u64,
    pub level: u8,
    /// The stretch of the journal that it covers.
    pub first: Seq,
    pub last: Seq,
    pub entries: u64,
    pub first_chunk: u64,
    pub chunks: u64,
}

impl RunMeta {
    /// Its chunks. A stored row may have any value, so the end saturates.
    pub fn chunk_range(&self) -> Range<u64> {
        self.first_chunk..self.first_chunk.saturating_add(self.chunks)
    }
}

/// Neighbours of one level that are due to be merged, the oldest first.
pub(crate) fn mergeable(count: usize, level: impl Fn(usize) -> u8) -> Option<Range<usize>> {
    let windows = (0..count).map(|start| start..start + FAN_IN).take_while(|window| window.end <= count);
    windows.into_iter().find(|window| window.clone().all(|place| level(place) == level(window.start)))
}

/// Protects against torn and decayed storage, not against an attacker: an index is derived, and can be rebuilt.
pub(crate) fn with_checksum(bytes: Vec<u8>) -> Vec<u8> {
    with_checksum_of(&[], bytes)
}

/// The bytes without their checksum, if it matches.
pub(crate) fn checked(bytes: &[u8]) -> Option<&[u8]> {
    checked_of(&[], bytes)
}

/// Covers also what the bytes belong to, which is not stored with them: bytes that belong to something else, or did so
/// earlier, do not pass.
pub(crate) fn with_checksum_of(owner: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(checksum_of(owner, &bytes));
    bytes
}

pub(crate) fn checked_of<'a>(owner: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (body, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (checksum_of(owner, body) == *checksum).then_some(body)
}

fn checksum_of(owner: &[u8], body: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(owner);
    hasher.update(body);
    hasher.finalize().to_be_bytes()
}
