//! Building runs: a stretch of the journal sorted into one run, or neighbours merged into one.
//!
//! Finished chunks are stored slice by slice; the run counts from the write that stores its row. An interrupted build
//! leaves chunks that no run refers to; they are dropped when the index is opened.

use std::ops::Range;

use bankroll_ledger::{Record, Seq};

use super::{
    IndexRun, IndexStore, IndexWrites, KnownServers, chunk::ChunkBuilder, lookup, terms_of, throttle::Interruption,
};
use crate::{
    StoreError,
    engine::{
        Source,
        runs::{Merge, RunEntry, RunMeta},
    },
};

/// Chunks that are stored together.
const SLICE_CHUNKS: usize = 64;
/// Chunks that are dropped together.
const DROP_CHUNKS: usize = 512;
/// Records read at a time: about a millisecond of the books' log being held.
const PAGE: usize = 1_024;

/// Called between two pieces of work; it may rest, and may interrupt the build.
type YieldPoint<'a> = &'a mut dyn FnMut() -> Result<(), Interruption>;

/// The sorted terms of a stretch of the journal.
pub(super) fn entries_of(
    books: &dyn Source,
    first: Seq,
    last: Seq,
    yield_point: YieldPoint<'_>,
) -> Result<Vec<RunEntry>, Interruption> {
    let (mut entries, mut terms, mut next) = (Vec::new(), Vec::new(), first);
    let mut servers = KnownServers::default();
    while next <= last {
        let most = usize::try_from(last.0 - next.0 + 1).unwrap_or(usize::MAX).min(PAGE);
        let page = books.records_from(next, most)?;
        for (seq, bytes) in &page {
            if *seq != next {
                return Err(StoreError::diverged(next, "the journal has a gap").into());
            }
            let record = Record::decode(bytes).map_err(StoreError::unreadable(*seq))?;
            terms_of(&record, &mut terms);
            terms.extend(servers.unlisted_key(&record, books)?.map(|term| term.0));
            entries.extend(terms.iter().map(|term| (*term, seq.0)));
            next = next.next();
        }
        if page.is_empty() {
            return Err(StoreError::diverged(next, "the journal has a gap").into());
        }
        yield_point()?;
    }
    entries.sort_unstable();
    Ok(entries)
}

/// Stores sorted entries as a run that replaces others. At the first entry that cannot be read it fails, and the others
/// stay.
pub(super) fn store_run(
    store: &dyn IndexStore,
    mut run: IndexRun,
    entries: impl IntoIterator<Item = Result<RunEntry, StoreError>>,
    replaces: &[RunMeta],
    yield_point: YieldPoint<'_>,
) -> Result<IndexRun, Interruption> {
    let (mut waiting, mut builder) = (Vec::new(), None::<ChunkBuilder>);
    for entry in entries {
        let entry = entry?;
        match &mut builder {
            Some(chunk) if chunk.has_space() => chunk.push(entry),
            full => {
                waiting.extend(full.take().map(|chunk| finish(chunk, &mut run.meta)));
                *full = Some(ChunkBuilder::begin(run.meta.chunk_range().end, run.meta.first.0, entry));
                if waiting.len() >= SLICE_CHUNKS {
                    store.write(&IndexWrites { chunks: std::mem::take(&mut waiting), ..IndexWrites::default() })?;
                    yield_point()?;
                }
            }
        }
    }
    waiting.extend(builder.map(|chunk| finish(chunk, &mut run.meta)));
    store.write(&IndexWrites {
        chunks: waiting,
        added: Some(run.clone()),
        removed: replaces.iter().map(|old| old.id).collect(),
        ..IndexWrites::default()
    })?;
    // No run refers to these any more, so they are dropped slice by slice.
    for dropped in replaces.iter().flat_map(|old| slices(old.chunk_range())) {
        yield_point()?;
        store.write(&IndexWrites { dropped_chunks: vec![dropped], ..IndexWrites::default() })?;
    }
    Ok(run)
}

fn slices(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(DROP_CHUNKS).map(move |start| start..end.min(start.saturating_add(DROP_CHUNKS as u64)))
}

fn finish(chunk: ChunkBuilder, meta: &mut RunMeta) -> (u64, Vec<u8>) {
    let id = meta.chunk_range().end;
    (meta.chunks, meta.entries) = (meta.chunks + 1, meta.entries + chunk.entries);
    (id, chunk.finish())
}

/// Merges neighbours into one run with this id, whose chunks begin at `first_chunk`.
pub(super) fn merge(
    store: &dyn IndexStore,
    inputs: &[IndexRun],
    id: u64,
    first_chunk: u64,
    yield_point: YieldPoint<'_>,
) -> Result<IndexRun, Interruption> {
    let metas: Vec<RunMeta> = inputs.iter().map(|input| input.meta.clone()).collect();
    let (oldest, newest) = (&inputs[0], &inputs[inputs.len() - 1]);
    let level = oldest.meta.level.saturating_add(1);
    let meta =
        RunMeta { id, level, first: oldest.meta.first, last: newest.meta.last, entries: 0, first_chunk, chunks: 0 };
    let run = IndexRun { meta, batch: newest.batch, head: newest.head };
    store_run(store, run, Merge::new(&metas, |_, id| lookup::read(store, id)), &metas, yield_point)
}
