//! Known weaknesses of nodes, each carried out. A test here asserts what happens today; its comment has the number of
//! the finding and says what has to happen instead.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    sync::Arc,
};

use bankroll_ledger::{
    AccountKind, AccountName, Action, Amount, Confirmation, Effects, Leg, Namespace, Principal, Request, Verdict,
};
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};

use crate::world::{PATIENCE, World, account, client, connect_to, identity, name, request};

/// The server serves this many connections at once.
const PLACES: usize = 256;

fn effects(verdict: &Verdict) -> &Effects {
    match verdict {
        Verdict::Applied(effects) => effects,
        Verdict::Rejected(rejection) => panic!("{rejection:?}"),
    }
}

/// Finding N1. Today a node with the role `api` names any operator and any second person, and the ledger believes
/// both: one node moves any player's money. Instead the ledger refuses a confirmation that the second person did not
/// sign.
#[test]
fn an_api_node_invents_an_operator_and_a_second_person() {
    let world = World::new();
    world.indexer().apply(vec![world.credit("k")], PATIENCE).unwrap().wait().unwrap();
    let api = world.caller("api-1", "api", &world.server.address().to_string());
    let names = vec![AccountName { owner: Some(name("mallory")), ..account(AccountKind::Funds) }];
    let opened = api.open_accounts(Principal::GameServer(name("arena")), names, PATIENCE).unwrap().wait().unwrap();
    let mallory = opened[0].unwrap();
    let leg = Leg::Move { from: world.alice, to: mallory, amount: Amount::new(1) };
    let forged = Request {
        confirmation: Some(Confirmation { proposal: name("proposal-1"), by: name("invented-2") }),
        ..request(Namespace::Client, "override", Principal::Admin(name("invented-1")), leg)
    };
    assert_eq!(world.funds(), 1);
    let answers = api.apply(vec![forged], PATIENCE).unwrap().wait().unwrap();
    let [posting] = effects(&answers[0].verdict).postings[..] else { panic!("{answers:?}") };
    assert_eq!((posting.from, posting.to, posting.amount), (world.alice, mallory, Amount::new(1)));
    assert_eq!((world.funds(), world.journal()["override"]), (0, 1));
}

/// Finding N2. Today a node with the role `payouts` speaks for the system, so it reverses any record, here the credit
/// of a deposit. Instead the roles of flows cannot apply requests of their own at all.
#[test]
fn a_payouts_node_reverses_a_deposit() {
    let world = World::new();
    let credit = world.indexer().apply(vec![world.credit("k")], PATIENCE).unwrap().wait().unwrap()[0].seq;
    let payouts = world.caller("payouts-1", "payouts", &world.server.address().to_string());
    let unused = Leg::Move { from: world.alice, to: world.custody, amount: Amount::new(1) };
    let reversal = Request {
        action: Action::Reverse(credit.unwrap()),
        ..request(Namespace::Payouts, "reversal", Principal::System, unused)
    };
    assert_eq!(world.funds(), 1);
    let answers = payouts.apply(vec![reversal], PATIENCE).unwrap().wait().unwrap();
    assert_eq!(effects(&answers[0].verdict).reverses, credit);
    assert_eq!((world.funds(), world.journal()["reversal"]), (0, 1));
}

/// A peer without a certificate that starts a handshake and never finishes it.
struct Stranger(TcpStream);

impl Stranger {
    fn connect(world: &World, client: &Arc<ClientConfig>) -> io::Result<Self> {
        let server = ServerName::try_from("books.role.bankroll").unwrap();
        let mut hello = Vec::new();
        ClientConnection::new(Arc::clone(client), server).unwrap().write_tls(&mut hello).unwrap();
        let mut stream = TcpStream::connect(world.server.address())?;
        stream.write_all(&hello)?;
        Ok(Self(stream))
    }

    /// Whether the server answers the handshake: it does so only if this peer has a place.
    fn has_place(&mut self) -> bool {
        self.0.set_nonblocking(false).unwrap();
        self.0.read(&mut [0; 16]).is_ok_and(|count| count > 0)
    }

    /// Whether the server still waits. It gives the place to another peer only after it has closed this connection.
    fn keeps_place(&mut self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        loop {
            match self.0.read(&mut [0; 4096]) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }
}

/// How the server refuses a node with a good certificate while strangers have all places from before its connection
/// until the refusal. A server ends a handshake after some seconds, so a slow machine may need another attempt.
fn refusal_while_strangers_stay(world: &World) -> io::Error {
    identity(world.folder.path(), "indexer-2", "indexer");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let without_certificate = Arc::new(client(world, None));
    for _ in 0..20 {
        let strangers = (0..PLACES).map(|_| Stranger::connect(world, &without_certificate));
        // Places of the attempt before may still be taken.
        let Ok(mut strangers) = strangers.collect::<io::Result<Vec<_>>>() else { continue };
        if !strangers.iter_mut().all(Stranger::has_place) {
            continue;
        }
        let connected = runtime.block_on(connect_to(world, Some((world.folder.path(), "indexer-2"))));
        if strangers.iter_mut().all(Stranger::keeps_place) {
            return connected.expect_err("the server has no place left");
        }
    }
    panic!("strangers never had all places at once")
}

/// Finding N3. Today a connection has one of 256 places before its handshake: peers without a certificate keep every
/// node out. Instead handshakes have places of their own, few for each address, and the node connects.
#[test]
fn strangers_without_a_certificate_keep_nodes_out() {
    let world = World::new();
    let refusal = refusal_while_strangers_stay(&world);
    let closed = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
    assert!(closed.contains(&refusal.kind()), "{refusal:?}");
    assert_eq!(world.funds(), 0);
    // The strangers are gone: a node is served.
    world.indexer().apply(vec![world.credit("k")], PATIENCE).unwrap().wait().unwrap();
    assert_eq!(world.funds(), 1);
}
