//! Announcements of new heads: from anvil, and from a server that says what a test wants.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use bankroll_chains_evm::{B256, ChainIdentity, Disagreement, HeadStream, RpcError, RpcLimits, Unavailable};
use bankroll_chains_simulated::RpcReply;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::{anvil::Anvil, world::World};

/// More than any machine needs.
const LONG: Duration = Duration::from_mins(1);
/// For what never comes.
const SHORT: Duration = Duration::from_millis(100);

#[test]
fn a_mined_block_is_announced_and_silence_is_not() {
    let anvil = Anvil::start();
    let url = anvil.url().replace("http://", "ws://");
    let mut heads = HeadStream::connect(&url, anvil.node().identity(), RpcLimits::default()).unwrap();
    assert_eq!(heads.wait(SHORT), Ok(false));
    anvil.mine();
    assert_eq!(heads.wait(LONG), Ok(true));
    assert_eq!(heads.wait(SHORT), Ok(false), "one block is one announcement");
    anvil.mine();
    anvil.mine();
    assert_eq!(heads.wait(LONG), Ok(true));
}

#[test]
fn a_node_of_another_chain_is_no_source_of_hints() {
    let anvil = Anvil::start();
    let url = anvil.url().replace("http://", "ws://");
    let found = anvil.node().identity();
    let expected = B256::repeat_byte(0xaa);
    let refused = HeadStream::connect(&url, ChainIdentity { genesis: expected, ..found }, RpcLimits::default());
    assert_eq!(refused.unwrap_err(), Disagreement::Genesis { expected, found: found.genesis }.into());
}

/// A server of one connection, on a simulated chain; then it sends what the test gives it.
fn announcer(world: &World) -> (SocketAddr, Sender<Message>, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, chain) = (listener.local_addr().unwrap(), world.shared());
    let ((sender, receiver), (done, is_done)) = (channel::<Message>(), channel());
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let Ok(mut socket) = tungstenite::accept(stream) else { return };
        for _ in 0..3 {
            let Ok(Message::Text(text)) = socket.read() else { return };
            let request: Value = serde_json::from_str(text.as_str()).unwrap();
            let answer = if request["method"] == "eth_subscribe" {
                json!({ "jsonrpc": "2.0", "id": request["id"], "result": "0x1" }).to_string()
            } else {
                let RpcReply::Body(body) = chain.lock().unwrap().answer(0, text.as_bytes()) else { return };
                String::from_utf8(body).unwrap()
            };
            socket.send(Message::text(answer)).unwrap();
        }
        send_all(&mut socket, &receiver);
        let _ = done.send(());
    });
    (address, sender, is_done)
}

fn send_all(socket: &mut WebSocket<TcpStream>, messages: &Receiver<Message>) {
    while let Ok(message) = messages.recv() {
        // A client that is gone is what some tests are about.
        if socket.send(message).is_err() {
            return;
        }
    }
}

#[test]
fn what_a_node_sends_is_a_hint_or_an_error_and_never_more() {
    let world = World::new();
    let (address, say, _done) = announcer(&world);
    let url = format!("ws://{address}/v3/secret-key");
    let mut heads = HeadStream::connect(&url, world.identity(), RpcLimits::default()).unwrap();
    for noise in ["", "{}", "[]", "null", "{\"id\":7}", "\u{0}"] {
        say.send(Message::text(noise)).unwrap();
    }
    say.send(Message::Ping(Vec::new().into())).unwrap();
    say.send(Message::Binary(vec![1, 2, 3].into())).unwrap();
    say.send(Message::text(json!({ "method": "eth_subscription", "params": "anything" }).to_string())).unwrap();
    assert_eq!(heads.wait(LONG), Ok(true));
    // Larger than any header of a block.
    say.send(Message::text("x".repeat(2 << 20))).unwrap();
    let error = heads.wait(LONG).unwrap_err();
    assert_eq!(error, Unavailable::Broken(std::io::ErrorKind::FileTooLarge).into());
    assert!(!format!("{error} {error:?} {heads:?}").contains("secret-key"));
}

#[test]
fn a_connection_that_ends_is_an_error() {
    let world = World::new();
    let (address, say, done) = announcer(&world);
    let mut heads = HeadStream::connect(&format!("ws://{address}"), world.identity(), RpcLimits::default()).unwrap();
    drop(say);
    done.recv().unwrap();
    let error = heads.wait(LONG).unwrap_err();
    assert!(matches!(error, RpcError::Unavailable(Unavailable::Broken(_))), "{error:?}");
}

#[test]
fn what_is_no_websocket_is_unavailable_and_named_nowhere() {
    let world = World::new();
    for bad in ["http://127.0.0.1/secret-key", "ws:///secret-key", "secret-key", "wss://"] {
        let reported = HeadStream::check_url(bad).unwrap_err();
        assert!(!reported.to_string().contains("secret-key"));
    }
    assert_eq!(HeadStream::check_url("wss://node.example/v3/secret-key"), Ok(()));
    let refused = HeadStream::connect("ws://127.0.0.1:1/secret-key", world.identity(), RpcLimits::default());
    assert_eq!(refused.unwrap_err(), Unavailable::Unreachable.into());
    // A server that speaks HTTP only, and one that never answers.
    let silent = crate::socket::Socket::serve(|_| crate::socket::Canned::Silence);
    let soon = RpcLimits { connect: SHORT, total: SHORT, ..RpcLimits::default() };
    let waited = HeadStream::connect(&silent.url().replace("http://", "ws://"), world.identity(), soon);
    assert_eq!(waited.unwrap_err(), Unavailable::TimedOut.into());
    let http = crate::socket::Socket::serve(|_| crate::socket::Canned::Status(404, Vec::new()));
    let refused = HeadStream::connect(&http.url().replace("http://", "ws://"), world.identity(), RpcLimits::default());
    assert_eq!(refused.unwrap_err(), Unavailable::Status(404).into());
}
