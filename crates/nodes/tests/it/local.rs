//! Commands on the same machine: the socket of the node that holds the books.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, sync::Arc};

use bankroll_ledger::{AccountKind, AccountName, Amount, Leg, Namespace, Principal, Rejection, Request};
use bankroll_nodes::{Answer, CallError, CallRefusal, Forwarder, LocalServer, NodeServerError, Rights};

use crate::world::{PATIENCE, World, account, name, request};

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
        LocalServer::start(&self.socket, "api".parse().unwrap(), Rights::default(), Arc::clone(&self.world.books))
    }

    fn apply(&self, request: Request) -> Result<Vec<Answer>, CallError> {
        let forwarder = Forwarder::start_local(&self.socket).unwrap();
        forwarder.apply(vec![request], PATIENCE)?.wait()
    }

    /// The game server of alice moves one unit of hers to herself in the wallet.
    fn spend(&self, key: &str) -> Request {
        let arena = Principal::GameServer(name("arena"));
        let leg = Leg::Move { from: self.world.alice, to: self.world.custody, amount: Amount::new(1) };
        request(Namespace::Client, key, arena, leg)
    }
}

#[test]
fn a_command_acts_for_game_servers_and_for_nothing_else() {
    let commands = Commands::new();
    let server = commands.start().unwrap();
    assert_eq!(fs::metadata(&commands.socket).unwrap().permissions().mode() & 0o777, 0o600);

    let forwarder = Forwarder::start_local(&commands.socket).unwrap();
    let (arena, funds) = (Principal::GameServer(name("arena")), account(AccountKind::Funds));
    let opened = forwarder
        .open_accounts(arena, vec![AccountName { owner: Some(name("bob")), ..funds }], PATIENCE)
        .unwrap()
        .wait()
        .unwrap();
    assert!(opened[0].is_ok(), "{opened:?}");
    commands.world.ledger.apply(commands.world.credit("credit-0")).unwrap().effects().unwrap();
    // The ledger's own rules decide about the money: a game server cannot pay into the wallet.
    let answers = commands.apply(commands.spend("spend-1")).unwrap();
    let rejections: Vec<_> = answers.iter().map(|answer| answer.effects().err()).collect();
    assert_eq!(rejections, [Some(Rejection::NotAllowed)]);
    assert_eq!(commands.world.funds(), 1);

    let refused = commands.apply(commands.world.credit("credit-1")).unwrap_err();
    assert!(matches!(refused, CallError::Refused(CallRefusal::NotAllowed(_))), "{refused:?}");
    assert_eq!(commands.world.journal().get("credit-1"), None);

    server.stop(true);
    assert!(!commands.socket.exists());
    drop(commands.world.server);
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
