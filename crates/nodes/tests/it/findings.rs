//! Attacks that once succeeded, each attempted again. The comment of a test has the number of the finding.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use bankroll_ledger::{Action, Amount, Confirmation, Leg, Namespace, Principal, Request};
use bankroll_nodes::{
    NodeRole,
    wire::{self, FrameViolation, ServerFrame},
};
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};

use crate::world::{PATIENCE, RelayAll, World, client, connect, identity, name, request};

/// As many as the server has places for nodes.
const STRANGERS: usize = 256;
/// The server lets this many peers of one address shake hands at once.
const HANDSHAKES_PER_ADDRESS: usize = 32;

/// Findings N1 and N2, and finding 1 of the review of the Funds API: a node sent ledger requests in the name of an
/// operator with an invented second person, of the system, of a game server or a player, and the ledger believed it.
#[test]
fn a_node_that_sends_a_ledger_request_is_refused_whatever_its_role_and_whomever_it_names() {
    let world = World::new();
    let credit = world.ledger.apply(world.credit("k")).unwrap().seq.unwrap();
    let leg = || Leg::Move { from: world.alice, to: world.custody, amount: Amount::new(1) };
    let confirmation = Some(Confirmation { proposal: name("proposal-1"), by: name("invented-2") });
    let forged = |namespace, who| request(namespace, "forged", who, leg());
    let cases = [
        Request { confirmation, ..forged(Namespace::Client, Principal::Admin(name("invented-1"))) },
        Request { action: Action::Reverse(credit), ..forged(Namespace::Payouts, Principal::System) },
        world.credit("forged"),
        forged(Namespace::Client, Principal::GameServer(name("arena"))),
        forged(Namespace::Player, Principal::User(name("alice"))),
    ];
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for role in NodeRole::ALL {
        identity(world.folder.path(), role.as_str(), role.as_str());
        for request in &cases {
            let answer = runtime.block_on(async {
                let mut stream = connect(&world, Some((world.folder.path(), role.as_str()))).await;
                wire::read::<ServerFrame>(&mut stream).await.unwrap();
                wire::send(&mut stream, &apply_frame(request)).await.unwrap();
                wire::read::<ServerFrame>(&mut stream).await.unwrap().unwrap()
            });
            assert_eq!(answer, ServerFrame::Goodbye(FrameViolation::Malformed), "{role}: {:?}", request.principal);
        }
    }
    assert_eq!((world.funds(), world.journal().get("forged")), (1, None));
}

/// The call that applied requests, as version 1 of the protocol had it: call number 1, kind of call 1, the requests.
fn apply_frame(request: &Request) -> Vec<u8> {
    wire::frame(&(1_u64, 1_u32, [request].as_slice())).unwrap()
}

/// A peer without a certificate that starts a handshake and never finishes it.
struct Stranger(TcpStream);

impl Stranger {
    fn connect(world: &World, client: &Arc<ClientConfig>) -> Self {
        let server = ServerName::try_from("books.role.bankroll").unwrap();
        let mut hello = Vec::new();
        ClientConnection::new(Arc::clone(client), server).unwrap().write_tls(&mut hello).unwrap();
        let mut stream = TcpStream::connect(world.server.address()).unwrap();
        // The server may have given its place to another already.
        let _ = stream.write_all(&hello);
        Self(stream)
    }

    /// Whether the server has closed the connection.
    fn is_sent_away(&mut self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        loop {
            match self.0.read(&mut [0; 4096]) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != ErrorKind::WouldBlock,
            }
        }
    }
}

/// Finding N3: a connection had one of 256 places before its handshake, so that peers without a certificate kept every
/// node out. The strangers here have the same address as the node, which is the worst case.
#[test]
fn strangers_without_a_certificate_do_not_keep_nodes_out() {
    let world = World::new();
    let without_certificate = Arc::new(client(&world, None));
    let connect = || Stranger::connect(&world, &without_certificate);
    let mut strangers: Vec<_> = (0..STRANGERS).map(|_| connect()).collect();
    // The server keeps a bounded number of them; the sooner they came, the sooner they go.
    let deadline = Instant::now() + PATIENCE;
    while !strangers[..STRANGERS - HANDSHAKES_PER_ADDRESS].iter_mut().all(Stranger::is_sent_away) {
        assert!(Instant::now() < deadline, "too many handshakes are under way");
        std::thread::yield_now();
    }
    // New ones come all the time while a node connects and calls.
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let coming = scope.spawn(|| {
            let mut newest = Vec::new();
            for _ in 0..200 {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                newest = (0..HANDSHAKES_PER_ADDRESS / 2).map(|_| connect()).collect();
            }
            newest.len()
        });
        let answers = world.api().relay_all(vec![world.credit("k")], PATIENCE).unwrap().wait();
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(coming.join().unwrap(), HANDSHAKES_PER_ADDRESS / 2);
        assert_eq!(answers.unwrap().len(), 1);
    });
    assert_eq!(world.funds(), 1);
}
