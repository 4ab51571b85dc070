//! Who is let in, and whom a node believes to be the books.

use std::{path::Path, sync::Arc};

use crate::world::{Books, PATIENCE, World, connect, identity, node, now, told_in_time};
use bankroll_ledger::Time;
use bankroll_nodes::{
    Authority, BooksLocation, CallError, Forwarder, NodeIdentity, NodeServer, Rights, UnavailableReason, wire,
};

/// Why a call of this node was not made; nothing happened.
fn trouble(asker: &Forwarder, world: &World) -> UnavailableReason {
    let ask = |time| asker.apply(vec![world.credit("k")], time).unwrap().wait();
    match told_in_time(ask, |told| !matches!(told, CallError::Unavailable(UnavailableReason::Late))) {
        CallError::Unavailable(trouble) => {
            assert_eq!(world.funds(), 0);
            trouble
        }
        told => panic!("{told:?}"),
    }
}

fn asker(world: &World, identity: &NodeIdentity) -> Forwarder {
    let at = BooksLocation { holder: "first".into(), address: world.server.address().to_string() };
    Forwarder::start(identity, move || Ok(Some(at.clone()))).unwrap()
}

#[test]
fn a_node_of_the_same_authority_is_let_in() {
    let world = World::new();
    let answers = world.indexer().apply(vec![world.credit("k")], PATIENCE).unwrap().wait().unwrap();
    assert!(answers.len() == 1 && !answers[0].replayed && answers[0].seq.is_some(), "{answers:?}");
    assert_eq!(world.funds(), 1);
}

#[test]
fn a_node_of_another_authority_is_not() {
    let world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    // Neither believes the other: the asker is the first to see it.
    let foreign = identity(elsewhere.path(), "indexer-1", "indexer");
    let told = trouble(&asker(&world, &foreign), &world);
    assert!(matches!(told, UnavailableReason::Trust { .. }), "{told:?}");
    // One that believes our authority all the same is refused by the books.
    let told = refused(&world, Some((elsewhere.path(), "indexer-1")));
    assert!(told.contains("AlertReceived"), "{told}");
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
fn a_certificate_that_is_over_opens_no_connection() {
    let world = World::new();
    let past = Time(now().0 - 100 * 86_400_000_000);
    let authority = Authority::open(world.folder.path(), past).unwrap();
    authority.add(world.folder.path(), &node("late"), "indexer".parse().unwrap(), 30, past).unwrap();
    // As a node that was started when it was good, and has run since.
    let late = NodeIdentity::load(world.folder.path(), &node("late"), past).unwrap();
    let told = trouble(&asker(&world, &late), &world).to_string();
    assert!(told.contains("no trust") && told.to_lowercase().contains("expired"), "{told}");
}

#[test]
fn a_node_without_the_books_role_cannot_pose_as_the_books() {
    let world = World::new();
    let false_books = identity(world.folder.path(), "api-9", "api,indexer,payouts");
    let desk = Arc::new(Books::default());
    let server = NodeServer::start("127.0.0.1:0", &false_books, Rights::default(), desk).unwrap();
    let asker = world.asker("indexer-1", "indexer", &server.address().to_string());
    let told = trouble(&asker, &world);
    assert!(
        matches!(&told, UnavailableReason::Trust { error, .. } if error.to_string().contains("not valid for name")),
        "{told:?}"
    );
}

#[test]
fn without_a_certificate_nothing_is_said() {
    let world = World::new();
    let told = refused(&world, None);
    assert!(told.contains("CertificateRequired"), "{told}");
    // Everybody else is served as before.
    world.indexer().ping(PATIENCE).unwrap().wait().unwrap();
}

#[test]
fn what_is_no_tls_at_all_is_closed() {
    let world = World::new();
    let mut stream = std::net::TcpStream::connect(world.server.address()).unwrap();
    std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut heard = Vec::new();
    // An alert or a reset: an end, and no word of ours.
    let _ = std::io::Read::read_to_end(&mut stream, &mut heard);
    assert!(heard.len() < 16, "{heard:?}");
    world.indexer().ping(PATIENCE).unwrap().wait().unwrap();
}
