//! Publishing heads of the journal, in the process that holds the ledger.
//!
//! The key is a file of the node and never in the database: with every login, the log can be read and no head can be
//! signed. It is made at first need. A node with another key goes on under its own address, and says so.

use std::{path::PathBuf, time::Duration};

use bankroll_heads::{HeadSigner, PublishedRound, publish};
use bankroll_orders::ChainId;
use bankroll_store::{Clock, Ledger, Rows};

use super::{
    StopFlag,
    pace::{LoopRound, rounds},
};
use crate::{AuthKey, AuthKeyError, log::NodeLog};

/// How often a head is published while the journal grows.
const EVERY: Duration = Duration::from_secs(1);

/// What a node publishes heads with.
#[derive(Clone, Debug)]
pub struct HeadSettings {
    /// The key of the deployment in this node's folder.
    pub key_file: PathBuf,
    pub audience: String,
    pub chain: ChainId,
}

impl HeadSettings {
    /// The key; a new one if there is none.
    fn key(&self) -> Result<AuthKey, AuthKeyError> {
        match AuthKey::read(&self.key_file) {
            Err(AuthKeyError::Missing { .. }) => AuthKey::create(&self.key_file),
            read => read,
        }
    }

    fn step(&self, rows: &Rows, key: &AuthKey, clock: &Clock) -> anyhow::Result<Option<PublishedRound>> {
        let sign = |digest: &[u8; 32]| key.sign(digest);
        let signer = HeadSigner {
            audience: &self.audience,
            chain: self.chain,
            address: key.address(),
            batches_max: publish::BATCHES_MAX,
            sign: &sign,
        };
        Ok(publish::step(&signer, rows, clock.now())?)
    }
}

/// Publishes until a stop is requested, and once more then: what was decided last is in the last head.
pub fn publish(settings: &HeadSettings, ledger: &Ledger, log: &NodeLog, stop: &StopFlag) {
    let (clock, mut open) = (Clock::machine(), None::<(Rows, AuthKey)>);
    let mut round = || -> anyhow::Result<LoopRound> {
        let (rows, key) = match open.take() {
            Some(open) => open,
            None => {
                let key = settings.key()?;
                let sentence = format!("publishes heads of the journal, signed by {}", key.address());
                log.write("heads", &sentence, &[("address", key.address().to_string().into())]);
                (Rows::open(ledger)?, key)
            }
        };
        let published = settings.step(&rows, &key, &clock)?;
        open = Some((rows, key));
        Ok(published.map_or(LoopRound::Idle, |published| {
            note_signer(log, &published);
            if published.has_more { LoopRound::Busy } else { LoopRound::Idle }
        }))
    };
    rounds("heads", EVERY, log, stop, |_| round());
    while ledger.stopped_by().is_none() && matches!(round(), Ok(LoopRound::Busy)) {}
}

fn note_signer(log: &NodeLog, published: &PublishedRound) {
    let address = published.head.address;
    if let Some(before) = published.previous_signer.filter(|before| *before != address) {
        let sentence =
            format!("heads up to now were signed by {before}; from batch {} on {address} signs", published.head.batch);
        let fields = [("before", before.to_string().into()), ("address", address.to_string().into())];
        log.write("head_signer", &sentence, &fields);
    }
}
