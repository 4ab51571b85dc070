//! The writer's memory: the books that a batch is decided by.

use bankroll_ledger::{AccountId, Asset, AssetId, Batch, Books, Seq, Time};

use super::{changes::BatchChanges, decided_keys::DecidedKeys, keys::KeyIndex};
use crate::{
    StoreError,
    engine::{Engine, JournalHead},
};

/// How the error ends that says that the index leads to a record of another key.
pub(super) const ANOTHER_KEY: &str = "has another key";

/// Owned by the writer; lent to the draft of a batch, which decides by it and changes it.
pub(super) struct WriterMemory {
    pub head: JournalHead,
    pub books: Books,
    pub assets: Vec<(AssetId, Asset)>,
    pub last_account: AccountId,
    pub keys: KeyIndex,
    pub recent_max: usize,
    pub next_expiry: Option<Time>,
}

impl WriterMemory {
    /// Whether holds are due to expire before anything else is decided at this time.
    pub fn has_due_holds(&self, now: Time) -> bool {
        self.next_expiry.is_some_and(|expiry| expiry <= now)
    }

    /// Runs `work` on the key index; if it is damaged, rebuilds it from the journal and runs `work` again. An index that
    /// is still wrong then follows from a journal that is.
    pub fn with_key_index<T>(
        &mut self,
        engine: &mut dyn Engine,
        mut work: impl FnMut(&mut KeyIndex, &mut dyn Engine) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match work(&mut self.keys, engine) {
            Err(StoreError::KeyIndexDamaged { .. }) => {
                self.rebuild_keys(engine)?;
                work(&mut self.keys, engine).map_err(|error| match error {
                    // A record under another key than the index, just rebuilt from it, has: the journal. Anything else
                    // is a place of the disk that spoils what is written to it.
                    StoreError::KeyIndexDamaged { what } if what.ends_with(ANOTHER_KEY) => {
                        StoreError::row_damaged("journal", format!("the key index, rebuilt from it, is wrong ({what})"))
                    }
                    StoreError::KeyIndexDamaged { what } => {
                        StoreError::row_damaged("key_chunks", format!("damaged again after it was rebuilt ({what})"))
                    }
                    error => error,
                })
            }
            done => done,
        }
    }

    /// Rebuilds the key index from the journal.
    pub fn rebuild_keys(&mut self, engine: &mut dyn Engine) -> Result<(), StoreError> {
        self.keys = KeyIndex::rebuild(engine, self.head.seq, self.recent_max)?;
        Ok(())
    }

    /// Takes over head and keys of a batch that is durable now.
    pub fn follow(&mut self, batch: Option<&Batch>, keys: &DecidedKeys) {
        self.keys.committed();
        if let Some(batch) = batch {
            let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
            self.head = JournalHead { batch: batch.number, seq, at: batch.at, hash: batch.head() };
            self.keys.publish(keys.iter(), seq);
        }
    }

    /// The batch is durable: memory follows.
    pub fn publish(&mut self, changes: &mut BatchChanges, engine: &dyn Engine) {
        self.follow(changes.batch.as_ref(), &changes.keys);
        self.assets.append(&mut changes.assets);
        self.last_account.0 += changes.accounts.len() as u64;
        self.next_expiry = match (changes.more_expiries, self.next_expiry) {
            (true, _) => Some(changes.now),
            // Some have expired: only the store knows the next expiry.
            (false, Some(expiry)) if expiry <= changes.now => {
                engine.source().next_expiry().unwrap_or(Some(changes.now))
            }
            (false, expiry) => expiry.into_iter().chain(changes.next_expiry).min(),
        };
    }
}
