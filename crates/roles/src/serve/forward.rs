//! Forwarding to the holder of the ledger, and watching who that is.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bankroll_nodes::{BooksLocation, CallError, Forwarder, NodeIdentity};
use bankroll_store::{DatabaseUrl, HeadWatch, LeaseWatch, StoreError};

use crate::{
    flows::StopFlag,
    log::{NodeLog, on_one_line},
};

/// How often a node checks whether the ledger can be reached.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const WITHIN: Duration = Duration::from_secs(2);

/// Forwards to the node that has the lease, as the primary of this database says.
pub fn to_holder(identity: &NodeIdentity, url: &DatabaseUrl) -> std::io::Result<Forwarder> {
    let mut watch = LeaseWatch::new(url.clone());
    Forwarder::start(identity, move || {
        let holder = watch.holder().map_err(|error| on_one_line(&error))?;
        let answers = holder.filter(|holder| !holder.address.is_empty());
        Ok(answers.map(|holder| BooksLocation { holder: holder.name, address: holder.address }))
    })
}

/// Notes and logs whenever the ledger becomes reachable or unreachable, and follows its head, until the node stops.
pub(super) fn watch(
    forwarder: &Forwarder,
    reachable: &AtomicBool,
    mut heads: Option<HeadWatch>,
    log: &NodeLog,
    stop: &StopFlag,
) -> anyhow::Result<()> {
    let mut said = String::new();
    while !stop.is_requested() {
        let state = match forwarder.ping(WITHIN).map(bankroll_nodes::PendingCall::wait) {
            Ok(Ok(())) => {
                reachable.store(true, Ordering::Relaxed);
                Some(("books_found", "the ledger can be reached".to_owned()))
            }
            // Many calls are in flight: the holder answers.
            Err(CallError::Busy) => None,
            Ok(Err(error)) | Err(error) => {
                reachable.store(false, Ordering::Relaxed);
                Some(("no_books", format!("the ledger cannot be reached: {}", on_one_line(&error))))
            }
        };
        if let Some((event, sentence)) = state.filter(|(_, sentence)| *sentence != said) {
            log.write(event, &sentence, &[]);
            said = sentence;
        }
        // This node has seen records that are gone: it must not help to go on without them. Other errors mean that the
        // database is out of reach, which is reported above.
        if let Err(error @ StoreError::TailLost { .. }) = heads.as_mut().map_or(Ok(()), HeadWatch::look) {
            return Err(error.into());
        }
        stop.rest(LOOK_EVERY);
    }
    Ok(())
}
