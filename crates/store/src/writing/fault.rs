//! Fault injection for simulators: a full disk, another program's lock, the end of the process just before or just
//! after a commit.
//!
//! It guarantees that an injected fault has the effect of the real one: a batch that did not happen is rolled back, a
//! batch whose answers were lost is durable. Without a simulator there are no faults. Only SQLite uses it; on
//! Postgres the tests cut the connection.
//!
//! It does not know why or when a fault is wanted; the simulator decides that.

use std::{fmt, sync::Arc};

/// The fault that a commit meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The disk is full: rolled back, and the writer goes on.
    Full,
    /// Another program locks the database: rolled back, and the writer goes on.
    Locked,
    /// The process ends before the commit: nothing is stored, and no caller is answered.
    EndsBefore,
    /// The process ends after the commit: everything is stored, and no caller is answered.
    EndsAfter,
}

/// Called before each commit; `None` means no fault.
type FaultSource = dyn Fn() -> Option<FaultKind> + Send + Sync;

/// Where a simulator injects faults: called before each commit.
#[derive(Clone, Default)]
pub struct FaultPoint(Option<Arc<FaultSource>>);

impl FaultPoint {
    /// Calls `ask` before each commit.
    pub fn with(ask: impl Fn() -> Option<FaultKind> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    pub(crate) fn ask(&self) -> Option<FaultKind> {
        self.0.as_ref().and_then(|ask| ask())
    }
}

impl fmt::Debug for FaultPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "FaultPoint(set)" } else { "FaultPoint(unset)" })
    }
}
