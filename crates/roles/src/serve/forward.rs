//! The way to whoever holds the books, and word of who that is.

use std::time::Duration;

use bankroll_nodes::{BooksAt, CallError, Forwarder, Identity};
use bankroll_store::{DatabaseUrl, Watch};

use crate::{
    flows::Stop,
    log::{Log, on_one_line},
};

/// How often a node looks whether the books can be asked.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const WITHIN: Duration = Duration::from_secs(2);

/// Forwards to whoever the primary of this database says has the lease.
pub fn to_holder(identity: &Identity, url: &DatabaseUrl) -> std::io::Result<Forwarder> {
    let mut watch = Watch::new(url.clone());
    Forwarder::start(identity, move || {
        let holder = watch.look().map_err(|error| on_one_line(&error))?;
        let answers = holder.filter(|holder| !holder.address.is_empty());
        Ok(answers.map(|holder| BooksAt { holder: holder.name, address: holder.address }))
    })
}

/// Says whenever the books can be asked, or cannot any more, until the node stops.
pub(super) fn watch(identity: &Identity, url: &DatabaseUrl, log: &Log, stop: &Stop) -> anyhow::Result<()> {
    let forwarder = to_holder(identity, url)?;
    let mut said = String::new();
    while !stop.is_asked() {
        let heard = match forwarder.ping(WITHIN).map(bankroll_nodes::Pending::wait) {
            Ok(Ok(())) => Some(("books_found", "the books can be asked".to_owned())),
            // Many calls are under way: somebody answers.
            Err(CallError::Busy) => None,
            Ok(Err(error)) | Err(error) => {
                Some(("no_books", format!("the books cannot be asked: {}", on_one_line(&error))))
            }
        };
        if let Some((event, sentence)) = heard.filter(|(_, sentence)| *sentence != said) {
            log.say(event, &sentence, &[]);
            said = sentence;
        }
        stop.rest(LOOK_EVERY);
    }
    Ok(())
}
