//! Going on without records that are lost for good: a person accepts the loss, and the journal records who, what and
//! why.
//!
//! The books stay as they are up to the journal's end, and the record of the loss is their next batch. A request of the
//! lost part that is sent again is decided again: its first decision is gone.

use bankroll_ledger::{AcceptedLoss, Batch, Record};

use super::{
    ledger::{BOOKS_FILE, Ledger, LedgerOptions, STATEMENTS_FILE, is_there, open_engine},
    newest_head::{self, HeadFile, NotedHead},
    recovery,
};
use crate::{
    Location, StoreError,
    engine::{
        Commit, CommitError, Opening, Records, Source,
        postgres::{OnFinding, StatementTables},
        sqlite::{StatementsFile, open_read_only},
    },
    history::index::IndexLocation,
};

impl Ledger {
    /// Accepts that records which a noted head proves are lost. Returns what was recorded.
    ///
    /// # Errors
    /// [`StoreError::NothingLost`] if the journal has every head that is noted; otherwise if the books are in use, or
    /// not sound.
    pub fn accept_loss(options: &LedgerOptions, by: &str, why: &str) -> Result<AcceptedLoss, StoreError> {
        if let Location::Folder(folder) = &options.location {
            // Before a writer opens the file: if nothing is lost, nothing is changed.
            is_there(folder, Opening::Existing)?;
            newest_lost(options, &open_read_only(&folder.join(BOOKS_FILE))?)?;
        }
        // A rebuild, which a finding asks for, refuses books with a lost tail: this comes first, and keeps the finding.
        let (mut engine, _lock) = open_engine(options, Opening::Existing, OnFinding::Acquire)?;
        let head = recovery::head(engine.source())?;
        recovery::verify_tail(engine.source(), &head)?;
        let lost = newest_lost(options, engine.source())?;
        let loss = AcceptedLoss { batch: lost.batch, seq: lost.seq, head: lost.hash, by: by.into(), why: why.into() };
        let mut records = Records::default();
        records.bytes = Record::LossAccepted(loss.clone()).encode();
        records.end_record();
        let batch = Batch {
            number: head.batch + 1,
            first: head.seq.next(),
            count: 1,
            at: options.clock.now().max(head.at),
            root: records.root(),
            previous: head.hash,
        };
        engine.begin()?;
        let stored = engine.write(&Commit::default());
        let stored = stored.and_then(|_| engine.append(&batch, &records)).and_then(|()| engine.commit());
        stored.map_err(CommitError::into_error)?;
        if let Some(path) = &options.head_file {
            HeadFile::start(path, engine.source())?;
        }
        // Its newest runs belong to what is lost.
        let index: Box<dyn IndexLocation> = match &options.location {
            Location::Folder(folder) => Box::new(StatementsFile(folder.join(STATEMENTS_FILE))),
            Location::Postgres(url) => Box::new(StatementTables(url.clone())),
        };
        index.recreate()?;
        Ok(loss)
    }
}

fn newest_lost(options: &LedgerOptions, source: &dyn Source) -> Result<NotedHead, StoreError> {
    let noted = newest_head::noted_heads(&options.location, options.head_file.as_deref())?;
    let lost = newest_head::lost(source, &noted)?;
    lost.map(|(_, head)| head).ok_or(StoreError::NothingLost)
}
