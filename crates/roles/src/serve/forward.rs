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
    let (mut said, mut said_of_heads) = (String::new(), String::new());
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
        follow_head(heads.as_mut(), &mut said_of_heads, log)?;
        stop.rest(LOOK_EVERY);
    }
    Ok(())
}

/// Compares the head that this node has noted, and notes the newest one. Logs an error when it is another one than the
/// last: while heads cannot be noted, this node would not notice that records are lost.
///
/// # Errors
/// [`StoreError::TailLost`]: this node has seen records that are gone, and must not help to go on without them.
pub(super) fn follow_head(heads: Option<&mut HeadWatch>, said: &mut String, log: &NodeLog) -> Result<(), StoreError> {
    match heads.map_or(Ok(()), HeadWatch::look) {
        Ok(()) => said.clear(),
        Err(error @ StoreError::TailLost { .. }) => return Err(error),
        // The caller reports a database that is out of reach.
        Err(error) if error.is_transient() => {}
        Err(error) => {
            let sentence = format!("cannot compare or note the newest head: {}", on_one_line(&error));
            if sentence != *said {
                log.write("no_head", &sentence, &[]);
                *said = sentence;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn an_error_of_the_head_is_logged_once() {
        let (notes, logged) = channel();
        let log = NodeLog::notes("node-1".parse().expect("a name"), notes);
        let mut heads = HeadWatch::new(DatabaseUrl::new("postgres://"), "no folder/books.head".into());
        let mut said = String::new();
        for _ in 0..3 {
            follow_head(Some(&mut heads), &mut said, &log).expect("no lost tail");
        }
        let lines: Vec<String> = logged.try_iter().collect();
        assert!(
            matches!(&lines[..], [one] if one.starts_with("cannot compare or note the newest head: ")),
            "{lines:?}"
        );
    }
}
