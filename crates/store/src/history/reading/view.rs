//! A snapshot of the books: the places of terms, from the runs of the index and from the journal after them.

use std::{cell::OnceCell, ops::RangeInclusive};

use bankroll_ledger::{Record, Seq};

use super::{IndexState, JournalEntry, batches::Batches};
use crate::{
    Reader, StoreError,
    engine::{JournalHead, Source, runs::RunMeta},
    history::index::{self, IndexRun, IndexSource, KnownServers, Term, terms_of},
    writing::recovery,
};

/// Records scanned at a time.
const PAGE: u64 = 4_096;
/// Up to this many records after the index, their terms are cached during a query; beyond it they are read again.
const TAIL_KEPT: u64 = 32_768;

/// A snapshot of the books and of the index. The index is read first, so the journal is never behind it.
pub(crate) struct HistoryView<'a> {
    pub source: &'a dyn Source,
    pub head: JournalHead,
    pub(super) batches: Batches<'a>,
    index: Option<&'a dyn IndexSource>,
    runs: Vec<IndexRun>,
    /// The terms of the records after the runs, in the order of the journal.
    tail: OnceCell<Vec<(u64, u128)>>,
}

impl<'a> HistoryView<'a> {
    pub fn open(reader: &'a Reader) -> Result<Self, StoreError> {
        let index = reader.index().filter(|index| index.begin_snapshot().is_ok());
        // The first read fixes the snapshot: the index is read first, so that the journal is not behind it.
        let stored = index.and_then(|index| index.runs().ok()).unwrap_or_default();
        let source = reader.source();
        let end_index = |error| {
            index.map(IndexSource::end_snapshot);
            error
        };
        source.begin_snapshot().map_err(end_index)?;
        let head = recovery::head(source);
        let runs = index::sound_runs(stored, source).unwrap_or_default();
        let none = JournalHead { batch: 0, seq: Seq(0), at: bankroll_ledger::Time(0), hash: bankroll_ledger::GENESIS };
        let at = *head.as_ref().unwrap_or(&none);
        let view = Self { source, head: at, batches: Batches::new(source, at), index, runs, tail: OnceCell::new() };
        head.map(|_| view)
    }

    pub fn index_state(&self) -> IndexState {
        IndexState { covered: self.covered(), last: self.head.seq, runs: self.runs.len() }
    }

    /// The runs of the index. An unreadable index is an error here, not an empty one.
    pub(super) fn runs(&self) -> Result<Vec<RunMeta>, StoreError> {
        self.index.map_or(Ok(Vec::new()), IndexSource::runs)?;
        Ok(self.runs.iter().map(|run| run.meta.clone()).collect())
    }

    pub(super) fn term_chunk(&self, id: u64) -> Result<Vec<crate::engine::runs::RunEntry>, StoreError> {
        index::read_chunk(self.index.ok_or_else(|| index::damaged("there is none"))?, id)
    }

    fn covered(&self) -> Seq {
        self.runs.last().map_or(Seq(0), |run| run.meta.last)
    }

    /// The places of the terms within a range, lowest or highest first, at most `most`.
    pub fn places(
        &self,
        terms: &[Term],
        range: RangeInclusive<u64>,
        descending: bool,
        most: usize,
    ) -> Result<Vec<Seq>, StoreError> {
        let tail = self.covered().0.saturating_add(1)..=self.head.seq.0;
        let runs = self.runs.iter().map(|run| (run.meta.first.0..=run.meta.last.0, Some(run)));
        let mut pieces: Vec<_> = runs.chain([(tail, None)]).collect();
        if descending {
            pieces.reverse();
        }
        let mut found = Vec::new();
        for (stretch, run) in pieces {
            let within = *stretch.start().max(range.start())..=*stretch.end().min(range.end());
            let left = most.saturating_sub(found.len());
            if within.is_empty() || left == 0 {
                continue;
            }
            let from_run = run.and_then(|run| self.in_run(run, terms, &within, descending, left).ok());
            found.extend(match from_run {
                Some(places) => places,
                // The tail; or a damaged run, in whose stretch of the journal the same places are found.
                None => self.in_journal(terms, &within, descending, left, run.is_none())?,
            });
        }
        Ok(found.into_iter().map(Seq).collect())
    }

    fn in_run(
        &self,
        run: &IndexRun,
        terms: &[Term],
        range: &RangeInclusive<u64>,
        descending: bool,
        most: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let index = self.index.ok_or_else(|| index::damaged("there is none"))?;
        let mut all = Vec::new();
        for term in terms {
            let mut found = Vec::new();
            index::places(index, &run.meta, term.0, range, descending, most, &mut found)?;
            all.extend(found);
        }
        if terms.len() > 1 {
            sort(&mut all, descending);
            all.truncate(most);
        }
        Ok(all)
    }

    fn in_journal(
        &self,
        terms: &[Term],
        range: &RangeInclusive<u64>,
        descending: bool,
        most: usize,
        is_tail: bool,
    ) -> Result<Vec<u64>, StoreError> {
        let mut sorted: Vec<u128> = terms.iter().map(|term| term.0).collect();
        sorted.sort_unstable();
        let wanted = |term: u128| sorted.binary_search(&term).is_ok();
        let (mut found, mut rest) = (Vec::new(), range.clone());
        if is_tail && self.head.seq.0.saturating_sub(self.covered().0) <= TAIL_KEPT {
            let tail = self.tail()?;
            let matching = tail.iter().filter(|(place, term)| range.contains(place) && wanted(*term));
            found.extend(matching.map(|(place, _)| *place));
            sort(&mut found, descending);
            found.truncate(most);
            return Ok(found);
        }
        while !rest.is_empty() && found.len() < most {
            let (low, high) = (*rest.start(), *rest.end());
            let page = if descending {
                high.saturating_sub(PAGE - 1).max(low)..=high
            } else {
                low..=high.min(low.saturating_add(PAGE - 1))
            };
            let mut matching = Vec::new();
            self.scan_records(&page, |place, term| {
                if wanted(term) {
                    matching.push(place);
                }
            })?;
            sort(&mut matching, descending);
            found.extend(matching);
            rest = if descending { low..=page.start().saturating_sub(1) } else { page.end().saturating_add(1)..=high };
        }
        found.truncate(most);
        Ok(found)
    }

    fn tail(&self) -> Result<&Vec<(u64, u128)>, StoreError> {
        if let Some(tail) = self.tail.get() {
            return Ok(tail);
        }
        let mut tail = Vec::new();
        let mut next = self.covered().0.saturating_add(1);
        while next <= self.head.seq.0 {
            let page = next..=self.head.seq.0.min(next.saturating_add(PAGE - 1));
            next = page.end().saturating_add(1);
            self.scan_records(&page, |place, term| tail.push((place, term)))?;
        }
        Ok(self.tail.get_or_init(|| tail))
    }

    /// Calls `see` for each term of the records of a page.
    fn scan_records(&self, page: &RangeInclusive<u64>, mut see: impl FnMut(u64, u128)) -> Result<(), StoreError> {
        let (mut terms, mut servers) = (Vec::new(), KnownServers::default());
        let most = usize::try_from(page.end() - page.start() + 1).unwrap_or(usize::MAX);
        for (seq, bytes) in self.source.records_from(Seq(*page.start()), most)? {
            let record = Record::decode(&bytes).map_err(StoreError::unreadable(seq))?;
            terms_of(&record, &mut terms);
            terms.extend(servers.unlisted_key(&record, self.source)?.map(|term| term.0));
            terms.iter().for_each(|term| see(seq.0, *term));
        }
        Ok(())
    }

    /// The record at a place.
    pub fn record(&self, seq: Seq) -> Result<Record, StoreError> {
        let bytes = self.source.record(seq)?.ok_or_else(|| StoreError::diverged(seq, "the record is missing"))?;
        Record::decode(&bytes).map_err(StoreError::unreadable(seq))
    }

    /// The record at a place, with its time.
    pub fn entry(&self, seq: Seq) -> Result<JournalEntry, StoreError> {
        Ok(JournalEntry { seq, at: self.batches.time_of(seq)?, record: self.record(seq)? })
    }
}

impl Drop for HistoryView<'_> {
    fn drop(&mut self) {
        // Nothing was written, so an error loses nothing, and the next snapshot will report it.
        let _ = self.source.end_snapshot();
        let _ = self.index.map(IndexSource::end_snapshot);
    }
}

fn sort(places: &mut Vec<u64>, descending: bool) {
    places.sort_unstable();
    places.dedup();
    if descending {
        places.reverse();
    }
}
