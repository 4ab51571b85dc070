//! A process ends while calls are in flight: nothing panics.

use std::sync::mpsc::{Sender, channel};

use bankroll_nodes::Forwarder;

use crate::world::{PATIENCE, identity};

/// A lookup's connection, whose end blocks: it has a runtime of its own. Dropping that panics on a thread that runs
/// tasks.
struct LookupConnection {
    runtime: Option<tokio::runtime::Runtime>,
    dropped: Sender<()>,
}

impl Drop for LookupConnection {
    fn drop(&mut self) {
        drop(self.runtime.take());
        // Not reached after a panic.
        let _ = self.dropped.send(());
    }
}

/// Which thread lets go of the forwarder's parts last is a matter of chance, so this is done a few times.
#[test]
fn a_forwarder_that_ends_while_no_node_holds_the_books_does_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let own = identity(folder.path(), "api-1", "api");
    for round in 0..20 {
        let (dropped, is_dropped) = channel();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let connection = LookupConnection { runtime: Some(runtime), dropped };
        let (look, looked) = channel();
        let forwarder = Forwarder::start(&own, move || {
            assert!(connection.runtime.is_some());
            let _ = look.send(());
            Ok(None)
        })
        .unwrap();
        let calls: Vec<_> = (0..20).map(|_| forwarder.ping(PATIENCE).unwrap()).collect();
        looked.recv().unwrap();
        drop(forwarder);
        assert_eq!(is_dropped.recv(), Ok(()), "round {round}: the end of the lookup panicked");
        assert!(calls.into_iter().all(|call| call.wait().is_err()));
    }
}
