//! Which nodes are accepted, and which node is trusted as the books.

use std::{path::Path, sync::Arc};

use crate::world::{Books, PATIENCE, RelayAll, World, connect, fail_within, identity, node, now};
use bankroll_ledger::Time;
use bankroll_nodes::{
    Authority, BooksLocation, CallError, Forwarder, NodeIdentity, NodeServer, UnavailableReason, wire,
};

/// Why a call of this node was not made; nothing happened.
fn unavailable_reason(caller: &Forwarder, world: &World) -> UnavailableReason {
    let ask = |time| caller.relay_all(vec![world.credit("k")], time).unwrap().wait();
    match fail_within(ask, |outcome| !matches!(outcome, CallError::Unavailable(UnavailableReason::Late))) {
        CallError::Unavailable(trouble) => {
            assert_eq!(world.funds(), 0);
            trouble
        }
        outcome => panic!("{outcome:?}"),
    }
}

fn caller(world: &World, identity: &NodeIdentity) -> Forwarder {
    let at = BooksLocation { holder: "first".into(), address: world.server.address().to_string() };
    Forwarder::start(identity, move || Ok(Some(at.clone()))).unwrap()
}

#[test]
fn a_node_of_the_same_authority_is_accepted() {
    let world = World::new();
    let answers = world.api().relay_all(vec![world.credit("k")], PATIENCE).unwrap().wait().unwrap();
    assert!(answers.len() == 1 && !answers[0].replayed && answers[0].seq.is_some(), "{answers:?}");
    assert_eq!(world.funds(), 1);
}

#[test]
fn a_node_of_another_authority_is_refused() {
    let world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    // Neither trusts the other; the client detects it first.
    let foreign = identity(elsewhere.path(), "api-1", "api");
    let outcome = unavailable_reason(&caller(&world, &foreign), &world);
    assert!(matches!(outcome, UnavailableReason::Trust { .. }), "{outcome:?}");
    // The books refuse a client that trusts our authority but has a foreign certificate.
    let outcome = refused(&world, Some((elsewhere.path(), "api-1")));
    assert!(outcome.contains("AlertReceived"), "{outcome}");
}

/// What the books say to a connection with this certificate.
fn refused(world: &World, certificate: Option<(&Path, &str)>) -> String {
    let heard = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut stream = connect(world, certificate).await;
        wire::read::<wire::ServerFrame>(&mut stream).await
    });
    format!("{:?}", heard.unwrap_err())
}

#[test]
fn an_expired_certificate_opens_no_connection() {
    let world = World::new();
    let past = Time(now().0 - 100 * 86_400_000_000);
    let authority = Authority::open(world.folder.path(), past).unwrap();
    authority.add(world.folder.path(), &node("late"), "api".parse().unwrap(), 30, past).unwrap();
    // As a node that was started while it was valid.
    let late = NodeIdentity::load(world.folder.path(), &node("late"), past).unwrap();
    let outcome = unavailable_reason(&caller(&world, &late), &world).to_string();
    assert!(outcome.contains("no trust") && outcome.to_lowercase().contains("expired"), "{outcome}");
}

#[test]
fn a_node_without_the_books_role_cannot_pose_as_the_books() {
    let world = World::new();
    let false_books = identity(world.folder.path(), "api-9", "api,indexer,payouts");
    let books = Arc::new(Books::default());
    let server = NodeServer::start("127.0.0.1:0", &false_books, books).unwrap();
    let caller = world.caller("api-1", "api", &server.address().to_string());
    let outcome = unavailable_reason(&caller, &world);
    assert!(
        matches!(&outcome, UnavailableReason::Trust { error, .. } if error.to_string().contains("not valid for name")),
        "{outcome:?}"
    );
}

#[test]
fn a_client_without_a_certificate_is_refused() {
    let world = World::new();
    let outcome = refused(&world, None);
    assert!(outcome.contains("CertificateRequired"), "{outcome}");
    // Other nodes are still served.
    world.api().ping(PATIENCE).unwrap().wait().unwrap();
}

#[test]
fn a_connection_without_tls_is_closed() {
    let world = World::new();
    let mut stream = std::net::TcpStream::connect(world.server.address()).unwrap();
    std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut heard = Vec::new();
    // An alert or a reset, and no frame.
    let _ = std::io::Read::read_to_end(&mut stream, &mut heard);
    assert!(heard.len() < 16, "{heard:?}");
    world.api().ping(PATIENCE).unwrap().wait().unwrap();
}
