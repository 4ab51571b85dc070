//! The replay server: a node's HTTP and WebSocket on loopback, one thread for each connection.
//!
//! It runs in the process that starts the cells; the measured indexer is a process of its own. It answers nothing but
//! bytes of the file, so of the two cores it takes what copying costs. It stops, with all its connections, when it is
//! dropped.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use anyhow::Context;

use super::{replay_heads, replay_rpc::ReplayNode};

const CONNECTIONS_MAX: usize = 64;
/// A batch of a thousand calls has less.
const REQUEST_BYTES_MAX: usize = 1 << 20;
const HEAD_BYTES_MAX: usize = 16 << 10;

pub(super) struct ReplayServer {
    pub node: Arc<ReplayNode>,
    address: SocketAddr,
    open: Arc<OpenConnections>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct OpenConnections {
    is_stopped: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl ReplayServer {
    pub fn start(node: ReplayNode) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen on loopback")?;
        let (node, open) = (Arc::new(node), Arc::<OpenConnections>::default());
        let address = listener.local_addr()?;
        let (served, opened) = (Arc::clone(&node), Arc::clone(&open));
        let listen = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if opened.is_stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (node, open) = (Arc::clone(&served), Arc::clone(&opened));
                if open.keep(&stream) {
                    // A connection that cannot have a thread is closed.
                    let _ = thread::Builder::new().name("replay".into()).spawn(move || {
                        let _ = serve(&node, &stream);
                        open.forget(&stream);
                    });
                }
            }
        };
        let listening = Some(thread::Builder::new().name("replay listener".into()).spawn(listen)?);
        Ok(Self { node, address, open, listening })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn heads_url(&self) -> String {
        format!("ws://{}", self.address)
    }
}

impl Drop for ReplayServer {
    fn drop(&mut self) {
        self.open.is_stopped.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let woken = TcpStream::connect(self.address).is_ok();
        for stream in self.open.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(listening) = self.listening.take().filter(|_| woken) {
            let _ = listening.join();
        }
    }
}

impl OpenConnections {
    /// Whether one more may be open.
    fn keep(&self, stream: &TcpStream) -> bool {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = if streams.len() < CONNECTIONS_MAX { stream.try_clone().ok() } else { None };
        let is_kept = kept.is_some();
        streams.extend(kept);
        is_kept
    }

    fn forget(&self, stream: &TcpStream) {
        let peer = stream.peer_addr().ok();
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|kept| kept.peer_addr().ok() != peer);
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Answers one request after the other, until the client closes the connection.
fn serve(node: &ReplayNode, mut stream: &TcpStream) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut first = [0; 4];
    if stream.peek(&mut first)? == first.len() && first == *b"GET " {
        return replay_heads::serve(node, stream.try_clone()?);
    }
    let (mut reader, mut received, mut reply) = (node.file.reader()?, Vec::new(), Vec::new());
    while let Some((head, length)) = receive(stream, &mut received)? {
        reply.clear();
        // The head of the answer is written before its body once the length is known: it has a fixed width.
        reply.extend(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:           \r\n\r\n");
        let start = reply.len();
        node.answer(&mut reader, &received[head..head + length], &mut reply)?;
        let digits = format!("{:>10}", reply.len() - start);
        reply[start - 14..start - 4].copy_from_slice(digits.as_bytes());
        stream.write_all(&reply)?;
        received.drain(..head + length);
    }
    Ok(())
}

/// Receives a request: the lengths of its head and of its body. `None` at the end of the connection.
fn receive(mut stream: &TcpStream, received: &mut Vec<u8>) -> anyhow::Result<Option<(usize, usize)>> {
    let mut chunk = [0; 16 << 10];
    let mut sizes = None;
    loop {
        if sizes.is_none() {
            sizes = sizes_of(received)?;
        }
        if let Some((head, length)) = sizes.filter(|(head, length)| received.len() >= head + length) {
            return Ok(Some((head, length)));
        }
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(None);
        }
        received.extend(&chunk[..count]);
    }
}

/// Of a request whose head is there.
fn sizes_of(received: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        anyhow::ensure!(received.len() <= HEAD_BYTES_MAX, "a request's head is too long");
        return Ok(None);
    };
    let head = std::str::from_utf8(&received[..end])?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.context("a request has no content-length")?;
    anyhow::ensure!(length <= REQUEST_BYTES_MAX, "a request is too long");
    Ok(Some((end + 4, length)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bankroll_chains_evm::{BlockTag, ChainIdentity, HeadStream, RpcLimits, RpcNode};
    use serde_json::{Value, json};

    use super::{
        super::{blocks, raw::RawClient, replay_file::ReplayFile},
        *,
    };

    #[test]
    fn blocks_up_to_the_head_are_served_whole_and_nothing_after_it() {
        let folder = std::env::temp_dir().join(format!("bankroll-replay-server-test-{}", std::process::id()));
        let file = ReplayFile::open_or_make(&folder, 3).expect("a file");
        let server = ReplayServer::start(ReplayNode::new(file)).expect("a server");
        server.node.set_head(2);
        let identity = ChainIdentity { chain_id: server.node.file.index.chain_id, genesis: server.node.file.genesis() };
        let rpc = RpcNode::http(&server.url(), identity, RpcLimits::default()).expect("a node");
        let head = rpc.header(BlockTag::Latest).expect("an answer").expect("a head");
        assert_eq!(head.number, 2);
        // The client verifies every root, signature and position.
        let block = rpc.block(BlockTag::Hash(head.hash)).expect("an answer").expect("a block");
        assert_eq!((block.transactions.len(), block.header.hash), (30, head.hash));
        assert_eq!(rpc.internal_transfers(&block).expect("traces").len(), 3);
        assert!(rpc.block(BlockTag::Number(3)).expect("an answer").is_none());
        let paid = bankroll_chains_evm::Address(blocks::watched(1).into_array());
        let balance = rpc.balance(paid, BlockTag::Hash(head.hash)).expect("a balance");
        assert_eq!(balance.to_string(), "1000001000");
        let token = bankroll_chains_evm::Address(blocks::TOKEN.into_array());
        assert_eq!(rpc.token_balance(token, paid, BlockTag::Latest).expect("a balance").to_string(), "0");
        let mut heads = HeadStream::connect(&server.heads_url(), identity, RpcLimits::default()).expect("heads");
        server.node.set_head(3);
        assert_eq!(heads.wait(Duration::from_mins(1)), Ok(true));
        assert!(rpc.block(BlockTag::Number(3)).expect("an answer").is_some());
        let mut client = RawClient::connect(&server.url()).expect("a connection");
        let batch = json!([
            { "jsonrpc": "2.0", "id": "a", "method": "eth_blockNumber" },
            { "jsonrpc": "2.0", "id": 7, "method": "debug_nothing", "params": [] },
        ]);
        let body = client.call(&batch.to_string()).expect("a reply");
        let expected = json!([
            { "jsonrpc": "2.0", "id": "a", "result": "0x3" },
            { "jsonrpc": "2.0", "id": 7, "error": { "code": -32601, "message": "the method does not exist" } },
        ]);
        assert_eq!(serde_json::from_slice::<Value>(body).expect("JSON"), expected);
        drop(server);
        assert!(client.call("{}").is_err());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
