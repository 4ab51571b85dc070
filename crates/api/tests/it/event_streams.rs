//! Event streams through the front: frames, resuming, ends, bounds.

use std::{
    collections::BTreeMap,
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bankroll_api::front::{FrontBackend, FrontConfig, FrontHandle, RelayCall, answer, serve};
use bankroll_nodes::{CallError, UnavailableReason};
use bankroll_orders::typed_data::{self, ApiRequest, B256, WalletSignature};
use bankroll_testkit::event_stream::{StreamAnswer, StreamFrame, StreamReader, StreamRequest};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

use crate::{
    events::event,
    front::{Client, config, start},
    world::{AUDIENCE, CHAIN, World, address, key},
};

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}

fn stream_of(world: &World, front: &FrontHandle, of: &str) -> StreamRequest {
    StreamRequest::new(front.address(), &world.token(of))
}

fn next(stream: &mut StreamReader) -> StreamFrame {
    stream.event().unwrap().expect("the stream goes on")
}

fn data(frame: &StreamFrame) -> Value {
    serde_json::from_str(frame.data.as_deref().unwrap()).unwrap()
}

/// The last event of a stream that the service ended, and then its end.
fn end_of(stream: &mut StreamReader) -> String {
    let end = next(stream);
    assert_eq!((end.event.as_deref(), end.id), (Some("stream.end"), None), "{end:?}");
    assert_eq!(stream.frame().unwrap(), None);
    data(&end)["code"].as_str().unwrap().to_owned()
}

fn announce(world: &World, resource: &str) {
    world.announce(vec![event("deposit.credited", resource, "arena", "alice")]);
}

/// A front that reaches the router as a front in another process does; `down` calls find no holder.
fn relaying(world: &World, config: FrontConfig, down: &Arc<AtomicUsize>) -> FrontHandle {
    let (router, down) = (world.router.clone(), Arc::clone(down));
    let relay: RelayCall = Arc::new(move |request| {
        let router = router.clone();
        let is_down = down.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        Box::pin(async move {
            match is_down {
                true => Err(CallError::Unavailable(UnavailableReason::NoHolder)),
                false => Ok(answer(router, request).await),
            }
        })
    });
    serve(config, FrontBackend::Relay(relay)).unwrap()
}

#[test]
fn a_stream_has_a_frame_for_each_event_and_goes_on() {
    let world = World::new();
    let front = start(&world, config());
    let before = world.newest_event();
    let mut stream = stream_of(&world, &front, "arena").open();
    for line in ["content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no"] {
        assert!(stream.head.contains(line), "{}", stream.head);
    }
    assert!(!stream.head.contains("x-bankroll"), "what the front keeps to itself: {}", stream.head);
    assert_eq!(stream.frame().unwrap().unwrap().retry, Some(2_000));
    announce(&world, "dep_1");
    let first = next(&mut stream);
    assert_eq!(first.event.as_deref(), Some("deposit.credited"));
    assert_eq!(first.id, data(&first)["sequence"].as_u64());
    let listed = world.events_of("arena", &format!("?after={before}"));
    assert_eq!(data(&first), listed[0], "the stream and the page have one form");
    // Of another server: nothing of it is in the stream.
    world.announce(vec![event("deposit.credited", "dep_2", "rival", "bob")]);
    announce(&world, "dep_3");
    assert_eq!(data(&next(&mut stream))["resource"], "dep_3");
    let mut rest = stream_of(&world, &front, "arena").after(first.id.unwrap()).open();
    assert_eq!(data(&next(&mut rest))["resource"], "dep_3");
    let mut all = stream_of(&world, &front, "arena").path(&format!("/v1/events?after={before}&types=deposit.*")).open();
    assert_eq!(data(&next(&mut all))["resource"], "dep_1");
    assert_eq!(front.streams(), 3);
    drop((stream, rest, all));
    announce(&world, "dep_4");
    wait_until("the places are free again", || front.streams() == 0);
}

/// Whole frames of what a reader got before its connection was cut after so many bytes.
fn cut_after(request: &StreamRequest, bytes: usize) -> Vec<StreamFrame> {
    let mut stream = request.open();
    let text: Vec<u8> = (0..bytes).map(|_| stream.byte().unwrap().unwrap()).collect();
    let text = String::from_utf8_lossy(&text).into_owned();
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
    let frames = whole.split("\n\n").filter(|block| !block.is_empty());
    frames.map(StreamFrame::read).filter(|frame| frame.data.is_some()).collect()
}

#[test]
fn a_reader_that_is_cut_off_anywhere_resumes_without_a_gap_and_without_a_repeat() {
    let world = World::new();
    let front = relaying(&world, config(), &Arc::default());
    let before = world.newest_event();
    for number in 0..6 {
        let of = |resource: &str| event("spawn.reserved", resource, "arena", "alice");
        world.announce(vec![of(&format!("r{}", number % 2)), of("r9")]);
    }
    let request = stream_of(&world, &front, "arena").after(before);
    let mut whole = request.open();
    let mut ends = vec![0];
    let all: Vec<StreamFrame> = (0..12)
        .map(|_| {
            let frame = next(&mut whole);
            ends.push(whole.taken);
            frame
        })
        .collect();
    let near = ends.iter().flat_map(|end| [end.saturating_sub(1), *end, end + 1]);
    let last = *ends.last().unwrap();
    let cuts: Vec<usize> = near.chain((0..last).step_by(61)).filter(|cut| *cut <= last).collect();
    for cut in cuts {
        let mut got = cut_after(&request, cut);
        let last = got.last().map_or(before, |frame| frame.id.unwrap());
        let mut resumed = stream_of(&world, &front, "arena").after(last).open();
        while got.len() < all.len() {
            got.push(next(&mut resumed));
        }
        assert_eq!(got, all, "cut after {cut} bytes");
        let mut counts = BTreeMap::<String, u64>::new();
        for frame in &got {
            let (resource, number) = (data(frame)["resource"].to_string(), data(frame)["resource_sequence"].as_u64());
            let count = counts.entry(resource).or_default();
            *count += 1;
            assert_eq!(number, Some(*count));
        }
    }
}

#[test]
fn a_session_that_is_closed_ends_its_stream_although_nothing_happens() {
    let world = World::new();
    for front in [start(&world, config()), relaying(&world, config(), &Arc::default())] {
        let token = world.sign_in("carol").expect(200)["token"].as_str().unwrap().to_owned();
        let mut carol = StreamRequest::new(front.address(), &token).open();
        let mut arena = stream_of(&world, &front, "arena").open();
        let mut client = Client::new(front.address());
        let head = format!("DELETE /v1/sessions/current HTTP/1.1\r\nauthorization: Bearer {token}");
        assert_eq!(client.send(&head, "").status, 200);
        assert_eq!(end_of(&mut carol), "session_revoked");
        let StreamAnswer::Refused { status: 401, body } = StreamRequest::new(front.address(), &token).send().unwrap()
        else {
            panic!("the session is closed");
        };
        assert!(body.contains("session_revoked"), "{body}");
        announce(&world, "dep_1");
        assert_eq!(data(&next(&mut arena))["resource"], "dep_1", "another's stream goes on");
    }
}

#[test]
fn a_revoked_key_ends_the_streams_of_its_sessions() {
    let world = World::new();
    let front = start(&world, config());
    let (mut arena, mut rival) = (stream_of(&world, &front, "arena").open(), stream_of(&world, &front, "rival").open());
    world.owner("DELETE", &format!("/v1/registry/server-keys/{}", address("arena")), json!({}));
    // Nothing of what happens after the answer is in the stream.
    announce(&world, "dep_1");
    world.announce(vec![event("deposit.credited", "dep_2", "rival", "bob")]);
    assert_eq!(end_of(&mut arena), "session_revoked");
    assert_eq!(data(&next(&mut rival))["resource"], "dep_2");
}

#[test]
fn a_stream_that_was_opened_with_a_signature_ends_with_it() {
    let world = World::new();
    let front = start(&world, config());
    let expires = world.seconds() + 60;
    let message = ApiRequest {
        method: "GET".into(),
        path: "/v1/events".into(),
        audience: AUDIENCE.into(),
        idempotencyKey: String::new(),
        bodyHash: B256::from_slice(&Keccak256::digest(b"")),
        expires,
    };
    let signature = WalletSignature::by(&key("arena"), &typed_data::digest(&message, CHAIN)).unwrap();
    let request = StreamRequest { headers: Vec::new(), ..StreamRequest::new(front.address(), "") };
    let mut stream = request
        .header(&format!("x-bankroll-signature: {signature}"))
        .header(&format!("x-bankroll-address: {}", address("arena")))
        .header(&format!("x-bankroll-expires: {expires}"))
        .open();
    announce(&world, "dep_1");
    assert_eq!(data(&next(&mut stream))["resource"], "dep_1", "the position is no part of what was signed");
    world.pass(60 + 61);
    announce(&world, "dep_2");
    assert_eq!(end_of(&mut stream), "signature_expired");
}

#[test]
fn a_stream_survives_the_absence_of_the_books() {
    let world = World::new();
    let down = Arc::<AtomicUsize>::default();
    let front = relaying(&world, config(), &down);
    let mut stream = stream_of(&world, &front, "arena").open();
    announce(&world, "dep_1");
    assert_eq!(data(&next(&mut stream))["resource"], "dep_1");
    down.store(3, Ordering::SeqCst);
    announce(&world, "dep_2");
    assert_eq!(data(&next(&mut stream))["resource"], "dep_2");
    assert_eq!(down.load(Ordering::SeqCst), 0, "it was asked in vain");
}

#[test]
fn streams_are_bounded_in_all_and_per_caller_and_leave_room_for_requests() {
    let world = World::new();
    let front = start(&world, FrontConfig { streams_max: 3, streams_per_caller: 2, ..config() });
    let refused = |of: &str| match stream_of(&world, &front, of).send().unwrap() {
        StreamAnswer::Refused { status, body } => (status, serde_json::from_str::<Value>(&body).unwrap()),
        StreamAnswer::Open(_) => panic!("there is a place for {of}"),
    };
    let arena: Vec<_> = (0..2).map(|_| stream_of(&world, &front, "arena").open()).collect();
    let (status, body) = refused("arena");
    assert_eq!((status, &body["code"]), (429, &json!("rate_limited")));
    assert_eq!(body["detail"], "this caller has as many event streams as one may have");
    let rival = stream_of(&world, &front, "rival").open();
    assert_eq!(refused("alice").1["detail"], "this node has as many event streams as it may have");
    assert_eq!(Client::new(front.address()).get("/v1/time").status, 200);
    drop(arena);
    announce(&world, "dep_1");
    wait_until("their places are free", || front.streams() == 1);
    let _alice = stream_of(&world, &front, "alice").open();
    drop(rival);
}

#[test]
fn a_thousand_idle_readers_cost_one_tail() {
    let world = World::new();
    let pages = Arc::<AtomicUsize>::default();
    let (router, asked) = (world.router.clone(), Arc::clone(&pages));
    let relay: RelayCall = Arc::new(move |request| {
        asked.fetch_add(usize::from(request.path.starts_with("/v1/events")), Ordering::SeqCst);
        Box::pin({
            let router = router.clone();
            async move { Ok(answer(router, request).await) }
        })
    });
    let many = FrontConfig {
        connections_max: 2_048,
        behind_proxy: true,
        streams_max: 1_000,
        streams_per_caller: 1_000,
        stream_pages_per_s: 10_000,
        stream_heartbeat: Duration::from_millis(500),
        ..config()
    };
    let front = serve(many, FrontBackend::Relay(relay)).unwrap();
    let request = stream_of(&world, &front, "arena");
    let mut streams: Vec<_> = (0..1_000).map(|_| request.open()).collect();
    assert_eq!(front.streams(), 1_000);
    // From here on each knows what the tail has said.
    announce(&world, "dep_0");
    for stream in &mut streams {
        assert_eq!(data(&next(stream))["resource"], "dep_0");
    }
    let (before, newest) = (pages.load(Ordering::SeqCst), world.newest_event());
    let heartbeat = |stream: &mut StreamReader| loop {
        let frame = stream.frame().unwrap().unwrap();
        if frame.comment.as_deref() == Some("heartbeat") {
            return frame.id;
        }
    };
    for stream in &mut streams {
        assert_eq!([heartbeat(stream), heartbeat(stream)], [Some(newest); 2], "a heartbeat has the position");
    }
    assert_eq!(pages.load(Ordering::SeqCst), before, "nothing was new, and no stream has asked");
    announce(&world, "dep_1");
    for stream in &mut streams {
        assert_eq!(data(&next(stream))["resource"], "dep_1");
    }
}

#[test]
fn a_reader_that_does_not_read_is_cut_off_and_the_others_go_on() {
    let world = World::new();
    let slow = FrontConfig { write_timeout: Duration::from_millis(200), stream_pages_per_s: 10_000, ..config() };
    let front = start(&world, slow);
    let before = world.newest_event();
    let long = "x".repeat(12_000);
    let mut sent = 0;
    let mut busy = stream_of(&world, &front, "arena").after(before).open();
    // Small buffers of the receiver, so that it does not take long.
    let stuck = TcpStream::connect(front.address()).unwrap();
    rustix::net::sockopt::set_socket_recv_buffer_size(&stuck, 4_096).unwrap();
    let token = world.token("arena");
    write!(
        &stuck,
        "GET /v1/events HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: Bearer {token}\r\n\r\n"
    )
    .unwrap();
    wait_until("both are open", || front.streams() == 2);
    while front.streams() == 2 {
        let numbers = sent..sent + 40;
        for number in numbers.clone() {
            let body = json!({ "server": "arena", "note": long }).to_string();
            let kind = "deposit.credited".parse().unwrap();
            world.announce(vec![bankroll_ledger::Event { kind, resource: format!("dep_{number}"), body }]);
        }
        sent = numbers.end;
        for number in numbers {
            assert_eq!(data(&next(&mut busy))["resource"], format!("dep_{number}"), "the reader next to it");
        }
        assert!(sent < 10_000, "it is never cut off");
    }
    announce(&world, "after");
    assert_eq!(data(&next(&mut busy))["resource"], "after");
    drop(stuck);
}

#[test]
fn a_drain_ends_streams_with_a_word() {
    let world = World::new();
    let front = start(&world, config());
    let mut stream = stream_of(&world, &front, "arena").open();
    let begun = Instant::now();
    let drained = std::thread::spawn(move || front.drain());
    assert_eq!(end_of(&mut stream), "unavailable");
    drained.join().unwrap();
    assert!(begun.elapsed() < config().drain_timeout, "nothing waited for the reader");
}

#[test]
fn no_caller_reaches_what_fronts_ask() {
    let world = World::new();
    let front = start(&world, config());
    for path in ["/internal/events/newest?after=0&rights=0", "/internal", "/%69nternal/events/newest?after=0&rights=0"]
    {
        let reply = Client::new(front.address()).get(path);
        assert_eq!(reply.status, 404, "{path}");
    }
}
