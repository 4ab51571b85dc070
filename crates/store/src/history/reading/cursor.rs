//! Cursors: where the next page begins. Opaque to callers, stable over restarts and rebuilds of the index, since a
//! journal place never changes.

use std::{fmt, str::FromStr};

use bankroll_ledger::Seq;

use crate::StoreError;

/// Where the next page of one query begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Cursor {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let well_formed = text.len() == 28 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if well_formed { Ok(Self(text.to_owned())) } else { Err(StoreError::CursorMalformed) }
    }
}

impl Cursor {
    /// After line `line` of the record at `seq`. The query goes into the checksum: a cursor of another account or of
    /// the other direction is refused, not misread.
    pub(super) fn new(question: &str, seq: Seq, line: u16) -> Self {
        Self(format!("{:016x}{line:04x}{:08x}", seq.0, checksum(question, seq, line)))
    }

    pub(super) fn read(&self, question: &str) -> Result<(Seq, u16), StoreError> {
        let part =
            |range: std::ops::Range<usize>| self.0.get(range).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let parts = part(0..16).zip(part(16..20)).zip(part(20..28));
        let ((seq, line), sum) = parts.ok_or(StoreError::CursorMalformed)?;
        let (seq, line) = (Seq(seq), u16::try_from(line).map_err(|_| StoreError::CursorMalformed)?);
        if u64::from(checksum(question, seq, line)) == sum { Ok((seq, line)) } else { Err(StoreError::CursorMalformed) }
    }
}

fn checksum(question: &str, seq: Seq, line: u16) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(question.as_bytes());
    hasher.update(&seq.0.to_be_bytes());
    hasher.update(&line.to_be_bytes());
    hasher.finalize()
}
