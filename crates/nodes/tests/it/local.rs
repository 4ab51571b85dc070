//! Commands on the same machine: the socket of the node that holds the books.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, sync::Arc};

use bankroll_nodes::{CallError, Forwarder, LocalServer, NodeServerError, UnavailableReason};

use crate::world::{PATIENCE, RelayAll, World, fail_within};

struct Commands {
    world: World,
    socket: PathBuf,
}

impl Commands {
    fn new() -> Self {
        let world = World::new();
        let socket = world.folder.path().join("books.sock");
        Self { world, socket }
    }

    fn start(&self) -> Result<LocalServer, NodeServerError> {
        LocalServer::start(&self.socket, Arc::clone(&self.world.books))
    }
}

#[test]
fn a_command_relays_while_the_node_runs_and_finds_no_socket_afterwards() {
    let commands = Commands::new();
    let server = commands.start().unwrap();
    assert_eq!(fs::metadata(&commands.socket).unwrap().permissions().mode() & 0o777, 0o600);
    let forwarder = Forwarder::start_local(&commands.socket).unwrap();
    let credit = |key: &str, time| forwarder.relay_all(vec![commands.world.credit(key)], time).unwrap().wait();
    assert_eq!(credit("credit-1", PATIENCE).unwrap().len(), 1);
    assert_eq!(commands.world.funds(), 1);

    server.stop(true);
    assert!(!commands.socket.exists());
    let gone = |outcome: &CallError| matches!(outcome, CallError::Unavailable(UnavailableReason::Connection { .. }));
    let outcome = fail_within(|time| credit("credit-2", time), gone);
    assert!(gone(&outcome), "{outcome:?}");
    assert_eq!(commands.world.journal().get("credit-2"), None);
}

#[test]
fn a_socket_of_a_dead_process_is_replaced_and_another_file_is_not() {
    let commands = Commands::new();
    // A process that was killed leaves its socket.
    drop(std::os::unix::net::UnixListener::bind(&commands.socket).unwrap());
    commands.start().unwrap().stop(true);

    fs::write(&commands.socket, "mine").unwrap();
    let refused = commands.start().unwrap_err();
    assert!(matches!(&refused, NodeServerError::Socket { path, .. } if *path == commands.socket), "{refused:?}");
    assert_eq!(fs::read_to_string(&commands.socket).unwrap(), "mine");
}
