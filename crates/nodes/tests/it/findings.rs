//! Attacks that once succeeded, each attempted again. The comment of a test has the number of the finding.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    sync::Arc,
};

use bankroll_ledger::{AccountKind, AccountName, Action, Amount, Confirmation, Leg, Namespace, Principal, Request};
use bankroll_nodes::{Answer, CallError, CallRefusal, PrincipalClaim};
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};

use crate::world::{PATIENCE, RelayAll, World, account, client, connect_to, identity, name, request};

/// The server serves this many connections at once.
const PLACES: usize = 256;

fn not_allowed(claim: PrincipalClaim) -> Result<Vec<Answer>, CallError> {
    Err(CallError::Refused(CallRefusal::NotAllowed(claim)))
}

/// Finding N1: a node of role `api` named any operator and any second person, and the ledger believed both.
#[test]
fn an_api_node_that_invents_an_operator_or_a_second_person_is_refused() {
    let world = World::new();
    world.ledger.apply(world.credit("k")).unwrap().effects().unwrap();
    let api = world.api();
    let names = vec![AccountName { owner: Some(name("mallory")), ..account(AccountKind::Funds) }];
    let opened = api.open_accounts(Principal::GameServer(name("arena")), names, PATIENCE).unwrap().wait().unwrap();
    let leg = Leg::Move { from: world.alice, to: opened[0].unwrap(), amount: Amount::new(1) };
    let confirmation = Some(Confirmation { proposal: name("proposal-1"), by: name("invented-2") });
    let of = |who, confirmation: &Option<Confirmation>| {
        let request = request(Namespace::Client, "override", who, leg.clone());
        Request { confirmation: confirmation.clone(), ..request }
    };
    let ask = |forged| api.apply(vec![forged], PATIENCE).unwrap().wait();
    let (olga, arena) = (Principal::Admin(name("invented-1")), Principal::GameServer(name("arena")));
    assert_eq!(ask(of(olga.clone(), &confirmation)), not_allowed(PrincipalClaim::Principal { request: 0 }));
    assert_eq!(ask(of(olga, &None)), not_allowed(PrincipalClaim::Principal { request: 0 }));
    assert_eq!(ask(of(arena, &confirmation)), not_allowed(PrincipalClaim::Confirmation { request: 0 }));
    assert_eq!((world.funds(), world.journal().get("override")), (1, None));
}

/// Finding N2: a node of role `payouts` spoke for the system, and reversed any record, as the credit of a deposit.
#[test]
fn a_node_of_a_flow_that_reverses_a_deposit_is_refused() {
    let world = World::new();
    let credit = world.ledger.apply(world.credit("k")).unwrap().seq.unwrap();
    let unused = Leg::Move { from: world.alice, to: world.custody, amount: Amount::new(1) };
    let flows = [("payouts", Namespace::Payouts), ("drainer", Namespace::Hot), ("indexer", Namespace::Deposits)];
    for (role, namespace) in flows {
        let node = world.caller(role, role, &world.server.address().to_string());
        let principal = if role == "indexer" { Principal::Indexer } else { Principal::System };
        let reversal = Request {
            action: Action::Reverse(credit),
            ..request(namespace, "reversal", principal, unused.clone())
        };
        let outcome = node.apply(vec![reversal], PATIENCE).unwrap().wait();
        assert_eq!(outcome, not_allowed(PrincipalClaim::Principal { request: 0 }), "{role}");
    }
    assert_eq!((world.funds(), world.journal().get("reversal")), (1, None));
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
    identity(world.folder.path(), "api-2", "api");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let without_certificate = Arc::new(client(world, None));
    for _ in 0..20 {
        let strangers = (0..PLACES).map(|_| Stranger::connect(world, &without_certificate));
        // Places of the attempt before may still be taken.
        let Ok(mut strangers) = strangers.collect::<io::Result<Vec<_>>>() else { continue };
        if !strangers.iter_mut().all(Stranger::has_place) {
            continue;
        }
        let connected = runtime.block_on(connect_to(world, Some((world.folder.path(), "api-2"))));
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
    world.api().relay_all(vec![world.credit("k")], PATIENCE).unwrap().wait().unwrap();
    assert_eq!(world.funds(), 1);
}
