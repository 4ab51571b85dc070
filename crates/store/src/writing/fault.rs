//! What may come between the writer and its disk, for simulators: a full disk, another program's lock, the end of the
//! process just before or just after a commit.
//!
//! It guarantees that an engine asked to fail does what it would do then: a batch that did not happen is rolled back, one
//! of which nobody was told is durable. Nobody asks where there is no simulator. Only SQLite asks; on Postgres the tests cut
//! the wire.
//!
//! It does not know why somebody wants a failure, or when.

use std::{fmt, sync::Arc};

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The disk is full: rolled back, and the writer goes on.
    Full,
    /// Another program has the database: rolled back, and the writer goes on.
    Locked,
    /// The process ends before it: nothing of it is there, and nobody is told.
    EndsBefore,
    /// The process ends after it: all of it is there, and nobody is told.
    EndsAfter,
}

/// Asked before each commit; `None` lets it pass.
type FaultSource = dyn Fn() -> Option<FaultKind> + Send + Sync;

/// Whom the writer asks before each commit: nobody, unless a simulator is there.
#[derive(Clone, Default)]
pub struct FaultPoint(Option<Arc<FaultSource>>);

impl FaultPoint {
    /// Asks this before each commit.
    pub fn with(ask: impl Fn() -> Option<FaultKind> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    pub(crate) fn ask(&self) -> Option<FaultKind> {
        self.0.as_ref().and_then(|ask| ask())
    }
}

impl fmt::Debug for FaultPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Interrupt(asked)" } else { "Interrupt(nobody)" })
    }
}
