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

use bankroll_ledger::{AccountKind, AccountName, Action, Amount, Confirmation, Leg, Namespace, Principal, Request};
use bankroll_nodes::{Answer, CallError, CallRefusal, PrincipalClaim};
use rustls::{ClientConfig, ClientConnection, pki_types::ServerName};

use crate::world::{PATIENCE, RelayAll, World, account, client, name, request};

/// As many as the server has places for nodes.
const STRANGERS: usize = 256;
/// The server lets this many peers of one address shake hands at once.
const HANDSHAKES_PER_ADDRESS: usize = 32;

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
        let reversal =
            Request { action: Action::Reverse(credit), ..request(namespace, "reversal", principal, unused.clone()) };
        let outcome = node.apply(vec![reversal], PATIENCE).unwrap().wait();
        assert_eq!(outcome, not_allowed(PrincipalClaim::Principal { request: 0 }), "{role}");
    }
    assert_eq!((world.funds(), world.journal().get("reversal")), (1, None));
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
