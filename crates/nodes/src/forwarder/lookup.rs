//! The thread that looks up the holder of the books.
//!
//! A lookup may block, and so may dropping it: it can own a connection with a runtime of its own, and dropping a
//! runtime panics on a thread that runs tasks. So the lookup lives and ends on this thread, not on one of the
//! forwarder's.

use std::{
    sync::mpsc::{Sender, channel},
    thread,
};

use tokio::sync::oneshot;

use super::BooksLocation;

type Found = Result<Option<BooksLocation>, String>;

/// Asks the thread, which ends after the last of these is dropped.
pub(super) struct HolderLookup(Sender<oneshot::Sender<Found>>);

impl HolderLookup {
    pub fn start(mut find: impl FnMut() -> Found + Send + 'static) -> std::io::Result<Self> {
        let (questions, asked) = channel::<oneshot::Sender<Found>>();
        let work = move || {
            for question in asked {
                // The call may have reached its deadline meanwhile.
                let _ = question.send(find());
            }
        };
        thread::Builder::new().name("holder-lookup".into()).spawn(work)?;
        Ok(Self(questions))
    }

    /// The holder; `None` if there is none.
    pub async fn find(&self) -> Found {
        let (question, found) = oneshot::channel();
        // Both fail only if the lookup has panicked.
        let asked = self.0.send(question);
        let found = if asked.is_ok() { found.await.ok() } else { None };
        found.unwrap_or_else(|| Err("the lookup panicked".into()))
    }
}
