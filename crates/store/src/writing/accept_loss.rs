//! Going on without records that are lost for good: a person accepts the loss, and the journal records who, what and
//! why.
//!
//! The books stay as they are up to the journal's end, and the record of the loss is their next batch. A request of the
//! lost part that is sent again is decided again: its first decision is gone.

use bankroll_ledger::{AcceptedLoss, Batch, Record};

use super::{
    ledger::{Ledger, LedgerOptions, open_engine},
    newest_head::{self, HeadFile},
    recovery,
};
use crate::{
    StoreError,
    engine::{Commit, CommitError, JournalHead, Opening, Records},
};

impl Ledger {
    /// Accepts that records which a noted head proves are lost. Returns what was recorded.
    ///
    /// # Errors
    /// [`StoreError::NothingLost`] if the journal has every head that is noted; otherwise if the books are in use, or
    /// not sound.
    pub fn accept_loss(options: &LedgerOptions, by: &str, why: &str) -> Result<AcceptedLoss, StoreError> {
        let (mut engine, _lock) = open_engine(options, Opening::Existing)?;
        let head = recovery::head(engine.source())?;
        recovery::verify_tail(engine.source(), &head)?;
        let noted = newest_head::noted_heads(&options.location, options.head_file.as_deref())?;
        let (_, lost) = newest_head::lost(engine.source(), &noted)?.ok_or(StoreError::NothingLost)?;
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
        match stored.and_then(|_| engine.append(&batch, &records)).and_then(|()| engine.commit()) {
            Ok(()) => {}
            Err(CommitError::NothingHappened(error) | CommitError::Fatal(error)) => return Err(error),
            Err(CommitError::FactRefused(_)) => unreachable!("there are no facts in it"),
        }
        if let Some(path) = &options.head_file {
            let head = JournalHead { batch: batch.number, seq: batch.first, at: batch.at, hash: batch.head() };
            HeadFile::start(path, &head).map_err(StoreError::io(path))?;
        }
        Ok(loss)
    }
}
