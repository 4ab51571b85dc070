//! Both indexes, run by run: the entries that are stored with those of the records that the run covers.
//!
//! The replay reads each record once. While it does, it keeps a running sum over the entries that follow from the
//! records, and notes it where runs end. The sum over the records of a run is the difference of two notes: also of a
//! run that is merged meanwhile, which ends where the runs ended that it replaces. Runs that were built after the pass
//! began are left to the next pass.

use std::collections::BTreeMap;

use bankroll_ledger::{Record, Seq};

use super::{ScrubStep, in_snapshot};
use crate::{
    DamageRemedy, Location, Reader, StoreError,
    engine::runs::{RunEntry, RunMeta},
    history::{
        index::{self, IndexSource, Term, terms_of},
        reading::{EntrySum, differs},
    },
    writing::keys,
};

/// Chunks of about 8 KiB that a piece reads.
const CHUNKS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexKind {
    Keys,
    Terms,
}

/// Running sums over the entries of all records so far.
#[derive(Debug, Default)]
pub(super) struct IndexSums {
    keys: EntrySum,
    terms: EntrySum,
    /// The sums after these records, once they were replayed.
    noted: BTreeMap<u64, Option<(EntrySum, EntrySum)>>,
    scratch: Vec<u128>,
}

impl IndexSums {
    /// Notes where the runs of both indexes end now.
    pub fn begin(reader: &Reader) -> Result<Self, StoreError> {
        let mut runs = Vec::new();
        for kind in [IndexKind::Keys, IndexKind::Terms] {
            match kind.runs(reader) {
                Ok(found) => runs.push(found),
                Err(error) if error.is_transient() => return Err(error),
                // What cannot be read now cannot be read later either, and is a finding there.
                Err(_) => {}
            }
        }
        let ends = runs.iter().flatten().flat_map(|run| [run.first.0.saturating_sub(1), run.last.0]);
        let mut noted: BTreeMap<u64, Option<(EntrySum, EntrySum)>> = ends.map(|place| (place, None)).collect();
        noted.insert(0, Some(Default::default()));
        Ok(Self { noted, ..Self::default() })
    }

    pub fn add(&mut self, seq: Seq, record: &Record) {
        terms_of(record, &mut self.scratch);
        self.scratch.iter().for_each(|term| self.terms.add((*term, seq.0)));
        if let Record::Decided { request, .. } = record {
            self.keys.add((request.key.fingerprint().0, seq.0));
        }
        if let Some(noted) = self.noted.get_mut(&seq.0) {
            *noted = Some((self.keys, self.terms));
        }
    }

    /// The sum over the records that the run covers; `None` if it was built after the pass began.
    fn of(&self, kind: IndexKind, run: &RunMeta) -> Option<EntrySum> {
        let at = |place: u64| {
            let (keys, terms) = (*self.noted.get(&place)?)?;
            Some(if kind == IndexKind::Keys { keys } else { terms })
        };
        Some(at(run.last.0)?.since(at(run.first.0.checked_sub(1)?)?))
    }
}

/// The comparison of both indexes.
#[derive(Debug)]
pub(super) struct IndexPass {
    location: Location,
    reader: Reader,
    kind: IndexKind,
    /// The first record that no compared run covers.
    next: Seq,
    run: Option<RunInProgress>,
    /// Whether the run that is being read has differed once: then it is read again over a new connection.
    has_differed: bool,
    pub entries: u64,
}

#[derive(Debug)]
struct RunInProgress {
    meta: RunMeta,
    next_chunk: u64,
    sum: EntrySum,
}

impl IndexPass {
    pub fn begin(location: &Location) -> Result<Self, StoreError> {
        let reader = Reader::open(location)?;
        let (location, kind) = (location.clone(), IndexKind::Keys);
        Ok(Self { location, reader, kind, next: Seq(1), run: None, has_differed: false, entries: 0 })
    }

    /// Reads the next chunks; `None` after the last run.
    pub fn piece(&mut self, sums: &IndexSums) -> Result<Option<ScrubStep>, StoreError> {
        let what = match self.compare(sums) {
            Ok(true) => return Ok(Some(ScrubStep::More)),
            Ok(false) if self.kind == IndexKind::Keys => {
                self.begin_terms();
                return Ok(Some(ScrubStep::More));
            }
            Ok(false) => return Ok(None),
            Err(
                StoreError::KeyIndexDamaged { what }
                | StoreError::StatementIndexDamaged { what }
                | StoreError::Damaged { what },
            ) => what,
            // A page or a row of the index. Damage of the journal, by which runs are judged, is none of the index.
            Err(error) if error.is_derived_damage() => error.to_string(),
            Err(StoreError::PagesDamaged { what, remedy: DamageRemedy::Rebuild { .. }, .. }) => what,
            Err(error) => return Err(error),
        };
        self.run = None;
        if !self.has_differed {
            // Perhaps it was replaced while it was read.
            (self.has_differed, self.reader) = (true, Reader::open(&self.location)?);
            return Ok(Some(ScrubStep::More));
        }
        // All of it is rebuilt, so its other runs do not matter.
        match self.kind {
            IndexKind::Keys => {
                self.begin_terms();
                Ok(Some(ScrubStep::KeyIndexDamaged { what }))
            }
            IndexKind::Terms => {
                // Behind the last record: the next piece finds no run.
                (self.next, self.has_differed) = (Seq(u64::MAX), false);
                Ok(Some(ScrubStep::StatementIndexDamaged { what }))
            }
        }
    }

    fn begin_terms(&mut self) {
        (self.kind, self.next, self.run, self.has_differed) = (IndexKind::Terms, Seq(1), None, false);
    }

    /// `false` if no run is left that can be compared.
    fn compare(&mut self, sums: &IndexSums) -> Result<bool, StoreError> {
        if self.next == Seq(u64::MAX) {
            return Ok(false);
        }
        let (reader, kind, next) = (&self.reader, self.kind, self.next);
        // The statement index has a store of its own. Its snapshot is the older one: what it covers, the books have.
        let index = if kind == IndexKind::Terms { reader.index() } else { None };
        index.map_or(Ok(()), IndexSource::begin_snapshot)?;
        let compared = in_snapshot(reader.source(), |_| {
            let runs = kind.runs(reader)?;
            kind.check_order(&runs)?;
            let Some(meta) = runs.into_iter().find(|run| run.first == next) else { return Ok(false) };
            let Some(expected) = sums.of(kind, &meta) else { return Ok(false) };
            let begun = self.run.take().filter(|run| run.meta == meta);
            let mut run =
                begun.unwrap_or_else(|| RunInProgress { next_chunk: meta.first_chunk, sum: EntrySum::default(), meta });
            let end = run.meta.chunk_range().end;
            for id in (run.next_chunk..end).take(CHUNKS) {
                kind.entries(reader, &run.meta, id)?.into_iter().for_each(|entry| run.sum.add(entry));
                run.next_chunk = id.saturating_add(1);
            }
            if run.next_chunk < end {
                self.run = Some(run);
                return Ok(true);
            }
            if run.sum != expected {
                return Err(kind.damaged(differs(&run.meta)));
            }
            self.entries = self.entries.saturating_add(expected.entries());
            (self.next, self.has_differed) = (run.meta.last.next(), false);
            Ok(true)
        });
        let ended = index.map_or(Ok(()), IndexSource::end_snapshot);
        compared.and_then(|left| ended.map(|()| left))
    }
}

impl IndexKind {
    /// The runs in the order of the journal.
    fn runs(self, reader: &Reader) -> Result<Vec<RunMeta>, StoreError> {
        match self {
            Self::Keys => reader.source().run_metas(),
            Self::Terms => {
                let stored = reader.index().map_or(Ok(Vec::new()), IndexSource::runs)?;
                // Runs ahead of a snapshot of the books, or of other books, are not believed by readers either.
                let sound = index::sound_runs(stored, reader.source())?;
                Ok(sound.into_iter().map(|run| run.meta).collect())
            }
        }
    }

    /// A key in a gap between two runs would be decided twice.
    fn check_order(self, runs: &[RunMeta]) -> Result<(), StoreError> {
        let mut next = Seq(1);
        for run in runs {
            if run.first != next || run.last < run.first {
                return Err(self.damaged(format!("no run begins at record {next}")));
            }
            next = run.last.next();
        }
        Ok(())
    }

    fn entries(self, reader: &Reader, run: &RunMeta, id: u64) -> Result<Vec<RunEntry>, StoreError> {
        match self {
            Self::Keys => keys::decode_chunk(run, id, reader.source().chunk(id)?),
            Self::Terms => {
                let terms = index::read_chunk(reader.index().ok_or_else(|| self.damaged("there is none"))?, id)?;
                // Whether a key is unlisted does not follow from the journal alone; surplus entries are harmless.
                Ok(terms.into_iter().filter(|(term, _)| !Term(*term).is_unlisted_key()).collect())
            }
        }
    }

    fn damaged(self, what: impl Into<String>) -> StoreError {
        match self {
            Self::Keys => StoreError::KeyIndexDamaged { what: what.into() },
            Self::Terms => index::damaged(what),
        }
    }
}
