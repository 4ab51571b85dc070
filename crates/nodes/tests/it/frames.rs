//! Malformed frames, calls that are too large, and many calls at once.

use bankroll_nodes::wire::{self, CallBody, CallReply, CallRequest, FRAME_MAX, FrameViolation, ServerFrame};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_rustls::client::TlsStream;

use crate::world::{PATIENCE, RelayAll, World, connect, identity, relayed};

/// A connection with a valid certificate that sends arbitrary bytes.
async fn rogue(world: &World) -> TlsStream<TcpStream> {
    let mut stream = connect(world, Some((world.folder.path(), "rogue"))).await;
    let welcome = wire::read::<ServerFrame>(&mut stream).await.unwrap();
    assert_eq!(welcome, Some(ServerFrame::Welcome { version: wire::VERSION, holds: true }));
    stream
}

fn with_rogue(story: impl AsyncFnOnce(&World)) {
    let world = World::new();
    identity(world.folder.path(), "rogue", "api");
    tokio::runtime::Runtime::new().unwrap().block_on(story(&world));
    // Other nodes are still served, and the books are sound.
    world.api().relay_all(vec![world.credit("after")], PATIENCE).unwrap().wait().unwrap();
    assert_eq!(world.journal().get("after"), Some(&1));
}

#[test]
fn hostile_frames_end_their_own_connection() {
    with_rogue(async |world| {
        let random: Vec<u8> = (0..200).map(|number: u32| (number * 73 % 251) as u8).collect();
        let trailing = {
            let mut frame = wire::frame(&CallRequest { number: 1, body: CallBody::Ping }).unwrap();
            frame.push(0);
            frame[0] += 1;
            frame
        };
        let long = u32::try_from(FRAME_MAX + 1).unwrap().to_le_bytes().to_vec();
        let framed = |body: &[u8]| [&u32::try_from(body.len()).unwrap().to_le_bytes()[..], body].concat();
        let cases = [
            (long, FrameViolation::TooLong),
            (vec![0xff; 64], FrameViolation::TooLong),
            (framed(&[]), FrameViolation::Malformed),
            (framed(&random), FrameViolation::Malformed),
            (framed(&[1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]), FrameViolation::Malformed),
            (trailing, FrameViolation::Malformed),
        ];
        for (bytes, violation) in cases {
            let mut stream = rogue(world).await;
            stream.write_all(&bytes).await.unwrap();
            stream.flush().await.unwrap();
            let outcome = wire::read::<ServerFrame>(&mut stream).await.unwrap();
            assert_eq!(outcome, Some(ServerFrame::Goodbye(violation)), "{bytes:?}");
            assert!(matches!(wire::read::<ServerFrame>(&mut stream).await, Ok(None) | Err(_)), "and nothing more");
        }
    });
}

#[test]
fn half_a_frame_is_not_a_call() {
    with_rogue(async |world| {
        let frame =
            wire::frame(&CallRequest { number: 1, body: CallBody::Relay(relayed(&[world.credit("half")])) }).unwrap();
        for length in [1, 3, 4, 5, frame.len() - 1] {
            let mut stream = rogue(world).await;
            stream.write_all(&frame[..length]).await.unwrap();
            stream.shutdown().await.unwrap();
            assert!(matches!(wire::read::<ServerFrame>(&mut stream).await, Ok(None) | Err(_)));
        }
        assert_eq!(world.journal().get("half"), None);
    });
}

#[test]
fn many_calls_share_one_connection_and_each_gets_its_own_answer() {
    let world = World::new();
    let api = world.api();
    let calls: Vec<_> = (0..200)
        .map(|number| api.relay_all(vec![world.credit(&format!("k-{}", number / 2))], PATIENCE).unwrap())
        .collect();
    let answers: Vec<_> = calls.into_iter().map(|call| call.wait().unwrap()).collect();
    for pair in answers.chunks(2) {
        let mut replayed: Vec<bool> = pair.iter().map(|answers| answers[0].replayed).collect();
        replayed.sort_unstable();
        assert_eq!(replayed, [false, true], "the same key twice: one effect, one answer");
        assert_eq!(pair[0][0].seq, pair[1][0].seq);
    }
    assert_eq!(world.funds(), 100);
}

#[test]
fn pipelined_requests_are_answered_by_number_in_any_order() {
    with_rogue(async |world| {
        let mut stream = rogue(world).await;
        for number in [3, 9, 5] {
            wire::send(&mut stream, &wire::frame(&CallRequest { number, body: CallBody::Ping }).unwrap())
                .await
                .unwrap();
        }
        let mut numbers = Vec::new();
        for _ in 0..3 {
            match wire::read::<ServerFrame>(&mut stream).await.unwrap() {
                Some(ServerFrame::Reply { number, reply: Ok(CallReply::Pong) }) => numbers.push(number),
                outcome => panic!("{outcome:?}"),
            }
        }
        numbers.sort_unstable();
        assert_eq!(numbers, [3, 5, 9]);
    });
}
