//! One chunk of a run: up to 8 KiB of sorted entries, delta-encoded.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | the chunk's own number, to detect swapped chunks |
//! | 8 | the base that places are counted from |
//! | 16, 8 | the first entry, uncompressed: binary search needs only this |
//! | 1 to 19, 1 to 10 | further entries: step to the term; step from its last place, or distance from the base |
//! | 4 | a checksum |
//!
//! Entries of one account take a few bytes each. Any other bytes are damage, never a panic.

use super::damaged;
use crate::{
    StoreError,
    engine::runs::{CHECKSUM_BYTES, RunEntry, checked, with_checksum},
};

/// The longest chunk, checksum included.
pub(super) const CHUNK_BYTES_MAX: usize = 8 * 1024;
const HEADER_BYTES: usize = 40;
/// The largest encoded entry.
const ENTRY_BYTES_MAX: usize = 19 + 10;

/// A chunk while entries are added.
pub(super) struct ChunkBuilder {
    base: u64,
    last: RunEntry,
    bytes: Vec<u8>,
    pub entries: u64,
}

impl ChunkBuilder {
    pub fn begin(id: u64, base: u64, first: RunEntry) -> Self {
        let mut bytes = Vec::with_capacity(CHUNK_BYTES_MAX);
        bytes.extend(id.to_be_bytes());
        bytes.extend(base.to_be_bytes());
        bytes.extend(first.0.to_be_bytes());
        bytes.extend(first.1.to_be_bytes());
        Self { base, last: first, bytes, entries: 1 }
    }

    pub fn has_space(&self) -> bool {
        self.bytes.len() + ENTRY_BYTES_MAX + CHECKSUM_BYTES <= CHUNK_BYTES_MAX
    }

    /// Appends an entry that is greater than all before it.
    pub fn push(&mut self, entry: RunEntry) {
        let step = entry.0.wrapping_sub(self.last.0);
        let from = if step == 0 { self.last.1 } else { self.base };
        put_number(&mut self.bytes, step);
        put_number(&mut self.bytes, u128::from(entry.1.wrapping_sub(from)));
        self.last = entry;
        self.entries += 1;
    }

    pub fn finish(self) -> Vec<u8> {
        with_checksum(self.bytes)
    }
}

/// The first entry of a chunk.
pub(super) fn first_entry(id: u64, stored: Option<&[u8]>) -> Result<RunEntry, StoreError> {
    Ok(open(id, stored)?.1)
}

/// All entries of a chunk.
pub(super) fn decode(id: u64, stored: Option<&[u8]>) -> Result<Vec<RunEntry>, StoreError> {
    let (base, first, mut rest) = open(id, stored)?;
    let mut entries = Vec::with_capacity(1 + rest.len() / 3);
    entries.push(first);
    let mut last = first;
    while !rest.is_empty() {
        last = next_entry(base, last, &mut rest).ok_or_else(|| damaged(format!("chunk {id} is not in order")))?;
        entries.push(last);
    }
    Ok(entries)
}

fn next_entry(base: u64, last: RunEntry, rest: &mut &[u8]) -> Option<RunEntry> {
    let step = take_number(rest)?;
    let distance = u64::try_from(take_number(rest)?).ok()?;
    let from = if step == 0 { last.1 } else { base };
    let entry = (last.0.checked_add(step)?, from.checked_add(distance)?);
    (entry > last).then_some(entry)
}

/// The base, the first entry and the bytes of the others.
fn open(id: u64, stored: Option<&[u8]>) -> Result<(u64, RunEntry, &[u8]), StoreError> {
    let body = stored.ok_or_else(|| damaged(format!("chunk {id} is missing")))?;
    let body = checked(body).ok_or_else(|| damaged(format!("chunk {id} is torn")))?;
    let header = |body| parse_header(body).filter(|(own, ..)| *own == id);
    let (_, base, first, rest) = header(body).ok_or_else(|| damaged(format!("chunk {id} is another one")))?;
    Ok((base, first, rest))
}

fn parse_header(body: &[u8]) -> Option<(u64, u64, RunEntry, &[u8])> {
    let (header, rest) = body.split_first_chunk::<HEADER_BYTES>()?;
    let (id, header) = header.split_first_chunk::<8>()?;
    let (base, header) = header.split_first_chunk::<8>()?;
    let (term, place) = header.split_first_chunk::<16>()?;
    let first = (u128::from_be_bytes(*term), u64::from_be_bytes(place.try_into().ok()?));
    Some((u64::from_be_bytes(*id), u64::from_be_bytes(*base), first, rest))
}

/// Varint: seven bits a byte, the lowest first; the top bit means that more follow.
fn put_number(bytes: &mut Vec<u8>, mut number: u128) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0_u128;
    for place in 0..19 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u128::from(byte & 0x7f);
        // Bits beyond 128 are damage.
        if place == 18 && bits > 0b11 {
            return None;
        }
        number |= bits << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(id: u64, base: u64, entries: &[RunEntry]) -> Vec<u8> {
        let mut builder = ChunkBuilder::begin(id, base, entries[0]);
        entries[1..].iter().for_each(|entry| builder.push(*entry));
        builder.finish()
    }

    #[test]
    fn entries_come_back_as_they_were() {
        let entries = [(1, 7), (1, 8), (1, 300), (2, 5), (u128::MAX - 1, u64::MAX), (u128::MAX, 5)];
        let stored = chunk(9, 5, &entries);
        assert_eq!(decode(9, Some(&stored)).unwrap(), entries);
        assert_eq!(first_entry(9, Some(&stored)).unwrap(), (1, 7));
    }

    #[test]
    fn entries_of_one_account_take_two_bytes() {
        let entries: Vec<RunEntry> = (0..100).map(|place| (1, 1_000 + 3 * place)).collect();
        assert_eq!(chunk(1, 1_000, &entries).len(), HEADER_BYTES + 99 * 2 + CHECKSUM_BYTES);
    }

    #[test]
    fn every_flipped_bit_is_damage() {
        let stored = chunk(3, 1, &[(1, 7), (4, 9), (4, 11)]);
        for bit in 0..stored.len() * 8 {
            let mut flipped = stored.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(3, Some(&flipped)).is_err(), "bit {bit}");
        }
        assert!(decode(3, None).is_err(), "missing");
        assert!(decode(4, Some(&stored)).is_err(), "another chunk's");
        assert!(decode(3, Some(&stored[..stored.len() - 1])).is_err(), "cut");
    }

    #[test]
    fn a_body_that_is_not_in_order_is_damage_even_under_its_checksum() {
        let mut body = chunk(3, 1, &[(1, 7)]);
        body.truncate(body.len() - CHECKSUM_BYTES);
        for tail in
            [&[0, 0][..], &[0], &[0x80], &[0xff; 20], &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]]
        {
            let stored = with_checksum([&body, tail].concat());
            assert!(decode(3, Some(&stored)).is_err(), "{tail:?}");
        }
    }
}
