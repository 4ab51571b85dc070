//! The whole work of the role `indexer` on one chain: the scanner, and the watch list that grows meanwhile.
//!
//! The caller says which addresses are ours and which wallets are proven: a player proves a wallet by signing in with
//! it, and by nothing else. An account proves nothing, since a game server may open one for any wallet: for an
//! exchange's, for example, whose customers' payments would all be that player's.
//!
//! The order inside a step is a rule of deposits: **read ahead, then update the watch list, then apply the blocks.**
//! A player who signed in before paying is proven before the payment's block exists; the list is read after that
//! block, so the payment is never taken for a stranger's. The other way round, a wallet proven between the two reads
//! would be missed.

use bankroll_chains_evm::BlockTag;
use bankroll_ledger::Time;
use bankroll_store::{Reader, Rows, StoreError};

use crate::{
    ChainSource, ScanConfig, ScanOutcome, WatchList,
    error::ScanError,
    follower::BlockPoint,
    rows::note_stop,
    scanner::{apply_blocks, read_ahead},
};

/// One chain as the role `indexer` follows it. A caller whose step failed may keep it or make a new one.
#[derive(Clone, Debug)]
pub struct Indexer {
    config: ScanConfig,
    /// The RPC node's newest block after the last step, if that step read everything.
    up_to_date_at: Option<BlockPoint>,
    /// Why the last step could not go on without a person, as it is noted in the cursor's row.
    stopped: Option<String>,
}

impl Indexer {
    /// Follows the chain with this watch list to begin with.
    #[must_use]
    pub const fn new(config: ScanConfig) -> Self {
        Self { config, up_to_date_at: None, stopped: None }
    }

    /// One step: blocks ahead, watch list, deposits.
    ///
    /// `update` brings the watch list up to date: addresses that are new, wallets that players have proven since. It is
    /// called when there are blocks to apply, and after they were read. What it adds stays in the list.
    ///
    /// # Errors
    /// See [`ScanError`]. Nothing has changed then, or it is unknown whether the rows were written; the next step
    /// finds out.
    pub fn step(
        &mut self,
        now: Time,
        source: ChainSource<'_>,
        rows: &Rows,
        update: impl FnOnce(&Reader, &mut WatchList) -> Result<(), StoreError>,
    ) -> Result<ScanOutcome, ScanError> {
        let stepped = self.follow(now, source, rows, update);
        let why = match &stepped {
            Err(error @ (ScanError::TooDeep { .. } | ScanError::ProvidersDisagree { .. })) => Some(error.to_string()),
            // Not known: the note stays.
            Err(_) => self.stopped.clone(),
            Ok(_) => None,
        };
        // The role `books` may be another process: it opens the alert by this note. The step counts, not the note.
        if why != self.stopped && rows.write(vec![note_stop(self.config.rules.chain.as_str(), why.as_deref())]).is_ok()
        {
            self.stopped = why;
        }
        stepped
    }

    fn follow(
        &mut self,
        now: Time,
        source: ChainSource<'_>,
        rows: &Rows,
        update: impl FnOnce(&Reader, &mut WatchList) -> Result<(), StoreError>,
    ) -> Result<ScanOutcome, ScanError> {
        let head = source.node.header(BlockTag::Latest)?.map(|head| BlockPoint::from(&head));
        if head.is_some() && head == self.up_to_date_at {
            return Ok(ScanOutcome::UpToDate);
        }
        let ahead = read_ahead(&self.config, source, now, rows)?;
        update(rows.reader(), &mut self.config.watch)?;
        let scanned = apply_blocks(&self.config, ahead, now, source, rows)?;
        self.up_to_date_at = match &scanned {
            ScanOutcome::UpToDate => head,
            ScanOutcome::Moved { to, .. } => Some(*to),
        };
        Ok(scanned)
    }
}
