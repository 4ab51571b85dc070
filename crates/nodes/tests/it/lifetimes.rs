//! Certificates that expire, are renewed or revoked while connections are open.

use std::{sync::Arc, time::Instant};

use bankroll_nodes::{
    Authority, BooksLocation, CallError, Forwarder, NodeIdentity, NodeServer, UnavailableReason,
    wire::{self, CallBody, CallReply, CallRequest, FrameViolation, ServerFrame},
};
use rustls::CertificateError;
use tokio::{net::TcpStream, runtime::Runtime};
use tokio_rustls::client::TlsStream;

use crate::world::{PATIENCE, RelayAll, TestClock, World, connect_at, node};

const DAY: u64 = 86_400_000_000;

/// Books by a clock that the test sets; certificates for 10 days of two nodes that call them.
struct Story {
    world: World,
    clock: Arc<TestClock>,
    authority: Authority,
    server: NodeServer,
    runtime: Runtime,
}

impl Story {
    fn new() -> Self {
        let (world, clock) = (World::new(), TestClock::new());
        let authority = Authority::open(world.folder.path(), clock.now()).unwrap();
        for name in ["api-1", "api-2"] {
            authority.add(world.folder.path(), &node(name), "api".parse().unwrap(), 10, clock.now()).unwrap();
        }
        let server = world.server_by(&clock);
        Self { world, clock, authority, server, runtime: Runtime::new().unwrap() }
    }

    fn caller(&self, identity: &NodeIdentity) -> Forwarder {
        let at = BooksLocation { holder: "first".into(), address: self.server.address().to_string() };
        Forwarder::start(identity, move || Ok(Some(at.clone()))).unwrap()
    }

    fn identity(&self, of: &str) -> NodeIdentity {
        self.world.identity_by(of, &self.clock)
    }

    /// An open connection with this certificate, or why the books refuse it.
    fn open(&self, of: &str) -> Result<TlsStream<TcpStream>, String> {
        self.runtime.block_on(async {
            let certificate = Some((self.world.folder.path(), of));
            let mut stream = connect_at(&self.world, self.server.address(), certificate).await.unwrap();
            match wire::read::<ServerFrame>(&mut stream).await {
                Ok(Some(ServerFrame::Welcome { .. })) => Ok(stream),
                refused => Err(format!("{refused:?}")),
            }
        })
    }

    /// The next frame of the books.
    fn next(&self, stream: &mut TlsStream<TcpStream>) -> Option<ServerFrame> {
        self.runtime.block_on(wire::read(stream)).unwrap()
    }

    fn ping(&self, stream: &mut TlsStream<TcpStream>) -> Option<ServerFrame> {
        let frame = wire::frame(&CallRequest { number: 1, body: CallBody::Ping }).unwrap();
        self.runtime.block_on(wire::send(stream, &frame)).unwrap();
        self.next(stream)
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

const PONG: ServerFrame = ServerFrame::Reply { number: 1, reply: Ok(CallReply::Pong) };
const UNTRUSTED: ServerFrame = ServerFrame::Goodbye(FrameViolation::Untrusted);

#[test]
fn an_open_connection_ends_when_its_certificate_expires() {
    let story = Story::new();
    let mut stream = story.open("api-1").unwrap();
    story.clock.pass_days(9);
    assert_eq!(story.ping(&mut stream), Some(PONG));
    story.clock.pass_days(2);
    assert_eq!(story.next(&mut stream), Some(UNTRUSTED));
    let refused = story.open("api-1").unwrap_err();
    assert!(refused.contains("CertificateExpired"), "{refused}");
}

#[test]
fn a_revoked_node_is_out_at_once_and_the_others_go_on() {
    let story = Story::new();
    let (mut first, mut second) = (story.open("api-1").unwrap(), story.open("api-2").unwrap());
    let folder = story.world.folder.path();
    story.authority.revoke(folder, &node("api-1"), story.clock.now()).unwrap();
    assert_eq!(story.next(&mut first), Some(UNTRUSTED));
    let refused = story.open("api-1").unwrap_err();
    assert!(refused.contains("CertificateRevoked"), "{refused}");
    assert_eq!(story.ping(&mut second), Some(PONG));

    // The second one revoked later: the list has both.
    story.authority.revoke(folder, &node("api-2"), story.clock.now()).unwrap();
    assert_eq!(story.next(&mut second), Some(UNTRUSTED));
    assert!(story.open("api-1").is_err() && story.open("api-2").is_err());
}

#[test]
fn a_renewed_certificate_is_used_without_a_restart_and_no_call_fails() {
    let story = Story::new();
    let folder = story.world.folder.path();
    let (own, books) = (story.identity("api-1"), story.identity("books-1"));
    let api = story.caller(&own);
    let credit = |key: &str| api.relay_all(vec![story.world.credit(key)], PATIENCE).unwrap().wait();
    credit("before").unwrap();
    assert_eq!((own.expires().0 - story.clock.now().0).div_ceil(DAY), 10);
    assert_eq!((books.expires().0 - story.clock.now().0).div_ceil(DAY), 30);
    for name in ["api-1", "books-1"] {
        story.authority.renew(folder, &node(name), 90, story.clock.now()).unwrap();
    }
    wait_until("the running node reads its new certificate", || own.expires().0 > story.clock.now().0 + 80 * DAY);
    // The earlier certificates of both expire, and end the connection. The next call opens another.
    story.clock.pass_days(60);
    credit("after").unwrap();
    assert_eq!(story.world.funds(), 2);
}

#[test]
fn a_caller_leaves_books_whose_certificate_is_revoked() {
    let story = Story::new();
    let api = story.caller(&story.identity("api-1"));
    api.ping(PATIENCE).unwrap().wait().unwrap();
    story.authority.revoke(story.world.folder.path(), &node("books-1"), story.clock.now()).unwrap();
    let is_revoked = |outcome: &Result<(), CallError>| match outcome {
        Err(CallError::Unavailable(UnavailableReason::Trust { error, .. })) => {
            *error == rustls::Error::InvalidCertificate(CertificateError::Revoked)
        }
        _ => false,
    };
    let ping = || api.ping(std::time::Duration::from_millis(300)).unwrap().wait();
    wait_until("the caller trusts no revoked books", || is_revoked(&ping()));
}
