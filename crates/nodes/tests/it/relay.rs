//! Requests of the Funds API, relayed by a front: what arrives, who may relay, and how long a request may be.

use bankroll_ledger::Answer;
use bankroll_nodes::{
    CallError, CallRefusal, Forwarder, LocalServer, RELAYED_HEADERS_MAX, RelayedRequest, RelayedResponse,
    wire::{self, CallBody, CallRequest, FRAME_MAX, FrameViolation, ServerFrame},
};

use crate::{
    proxy::{Cut, Manner, Proxy, Side},
    world::{PATIENCE, World, connect, identity, relayed},
};

fn transfer(body: Vec<u8>) -> RelayedRequest {
    let headers = vec![("authorization".into(), "Bearer secret".into()), ("idempotency-key".into(), "k".into())];
    RelayedRequest { method: "POST".into(), path: "/v1/servers/arena/transfer?dry=1".into(), headers, body }
}

fn with_headers(count: usize) -> RelayedRequest {
    RelayedRequest { headers: vec![(String::new(), String::new()); count], ..transfer(Vec::new()) }
}

fn relay(by: &Forwarder, request: RelayedRequest) -> Result<RelayedResponse, CallError> {
    by.relay(request, PATIENCE)?.wait()
}

#[test]
fn a_request_arrives_as_it_was_sent_and_its_response_comes_back() {
    let world = World::new();
    let request = transfer(b"{\"amount\":\"1\"}".to_vec());
    let body = b"POST /v1/servers/arena/transfer?dry=1 {\"amount\":\"1\"}".to_vec();
    let expected = RelayedResponse { status: 200, headers: request.headers.clone(), body };
    assert_eq!(relay(&world.api(), request.clone()), Ok(expected.clone()));

    // Commands on the same machine relay through the socket.
    let socket = world.folder.path().join("books.sock");
    let server = LocalServer::start(&socket, world.books.clone()).unwrap();
    assert_eq!(relay(&Forwarder::start_local(&socket).unwrap(), request), Ok(expected));
    server.stop(true);
}

#[test]
fn a_node_of_another_role_relays_nothing() {
    let world = World::new();
    for role in ["books", "indexer", "payouts", "drainer", "notify", "reconciler"] {
        let node = world.caller(role, role, &world.server.address().to_string());
        let refused = CallError::Refused(CallRefusal::NotAllowed);
        assert_eq!(relay(&node, transfer(Vec::new())), Err(refused), "{role}");
    }
}

#[test]
fn a_request_or_response_that_is_too_long_is_never_half_a_request() {
    let world = World::new();
    let api = world.api();
    let too_long = Err(CallError::Refused(CallRefusal::TooLong));
    assert_eq!(relay(&api, transfer(vec![0; FRAME_MAX])), too_long);
    assert_eq!(relay(&api, with_headers(RELAYED_HEADERS_MAX + 1)), too_long);
    assert_eq!(relay(&api, with_headers(RELAYED_HEADERS_MAX)).unwrap().headers.len(), RELAYED_HEADERS_MAX);

    // A caller that does not check itself is sent away before its headers take memory.
    identity(world.folder.path(), "rogue", "api");
    let request = CallRequest { number: 1, body: CallBody::Relay(with_headers(1_000_000)) };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut stream = connect(&world, Some((world.folder.path(), "rogue"))).await;
        wire::send(&mut stream, &wire::frame(&request).unwrap()).await.unwrap();
        wire::read::<ServerFrame>(&mut stream).await.unwrap();
        let outcome = wire::read::<ServerFrame>(&mut stream).await.unwrap();
        assert_eq!(outcome, Some(ServerFrame::Goodbye(FrameViolation::Malformed)));
    });
}

#[test]
fn a_response_longer_than_a_frame_ends_the_call_and_does_not_repeat_it() {
    let world = World::new();
    let request = RelayedRequest { path: "/twice".into(), ..transfer(vec![0; FRAME_MAX / 2]) };
    assert_eq!(relay(&world.api(), request), Err(CallError::ReplyTooLong));
}

#[test]
fn a_change_without_a_key_is_delivered_at_most_once() {
    let world = World::new();
    let proxy = Proxy::to(world.server.address());
    let mut unknown = 0;
    for number in 0.. {
        let tag = format!("once-{number}");
        let caller = world.caller(&tag, "api", &proxy.address.to_string());
        proxy.arm(Cut { side: Side::Books, number, manner: Manner::Lost });
        let keyless = RelayedRequest { headers: Vec::new(), ..relayed(&[world.credit(&tag)]) };
        match relay(&caller, keyless) {
            Ok(response) => {
                let answers: Vec<Answer> = postcard::from_bytes(&response.body).unwrap();
                assert!(!answers[0].replayed, "{tag} arrived twice");
            }
            Err(error) => {
                assert_eq!(error, CallError::Unknown, "{tag}");
                unknown += 1;
            }
        }
        if !proxy.disarm() {
            break;
        }
    }
    assert!(unknown > 0, "no cut came between the call and its answer");
}

#[test]
fn no_header_or_body_is_in_a_log() {
    let text = format!("{:?}", transfer(b"signature".to_vec()));
    assert_eq!(text, "RelayedRequest(POST /v1/servers/arena/transfer, 9 bytes)");
    let response = RelayedResponse { status: 200, headers: vec![], body: b"token".to_vec() };
    assert_eq!(format!("{response:?}"), "RelayedResponse(200, 5 bytes)");
}
