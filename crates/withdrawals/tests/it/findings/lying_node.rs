//! A node in front of the simulated chain that answers one method wrongly, a fixed number of times.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use bankroll_chains_evm::{RpcLimits, RpcNode};
use bankroll_chains_simulated::RpcReply;
use serde_json::{Value, json};

use crate::world::World;

/// What the node says instead of the truth.
pub struct Lie {
    pub method: &'static str,
    pub result: Value,
    /// After so many wrong answers the node is honest.
    pub times: usize,
}

/// Stops when it is dropped.
pub struct LyingNode {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LyingNode {
    /// From here on the payouts role asks this node.
    pub fn replace(world: &mut World, lie: Lie) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, is_stopped) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let (chain, stop) = (Arc::clone(&world.chain), Arc::clone(&is_stopped));
        let mut lies_left = lie.times;
        let mut answer = move |body: &[u8]| {
            let request: Value = serde_json::from_slice(body).unwrap();
            if request["method"] == lie.method && lies_left > 0 {
                lies_left -= 1;
                return json!({ "jsonrpc": "2.0", "id": request["id"], "result": lie.result }).to_string().into_bytes();
            }
            match chain.lock().unwrap().answer(0, body) {
                RpcReply::Body(body) => body,
                fault => panic!("no fault is injected: {fault:?}"),
            }
        };
        let thread = thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                serve(stream, &mut answer).unwrap();
            }
        });
        world.node = RpcNode::http(&format!("http://{address}"), world.node.identity(), RpcLimits::default()).unwrap();
        Self { address, is_stopped, thread: Some(thread) }
    }
}

/// One request a connection.
fn serve(mut stream: TcpStream, answer: &mut impl FnMut(&[u8]) -> Vec<u8>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let answer = answer(&body);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
    stream.write_all(&[head.as_bytes(), &answer].concat())
}

impl Drop for LyingNode {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // A last connection wakes the thread up.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
