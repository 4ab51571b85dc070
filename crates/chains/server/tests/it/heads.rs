//! Requests and new heads by WebSocket, on the port of HTTP.

use std::{
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use bankroll_chains_server::{ChainHost, SharedChain, serve};
use bankroll_chains_simulated::{Fate, Reorg, SimulatedChain, SimulatedConfig};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot};
use tungstenite::{Message, WebSocket};

/// A served chain, until it is dropped.
struct Served {
    chain: SharedChain,
    at: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Served {
    fn start() -> Self {
        let chain: SharedChain = Arc::new(Mutex::new(SimulatedChain::new(SimulatedConfig::new(7))));
        let (host, (end, ended)) = (Arc::new(ChainHost::new(Arc::clone(&chain), None, None)), oneshot::channel());
        let (tell, announced) = mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let ended = async {
                    let _ = ended.await;
                    Ok(())
                };
                serve(listener, host, ended).await.unwrap();
            });
        });
        Self { chain, at: announced.recv().unwrap(), end: Some(end), thread: Some(thread) }
    }

    fn try_connect(&self, path: &str) -> Result<Client, String> {
        let stream = TcpStream::connect(self.at).unwrap();
        // Longer than any answer takes: a test that waits in vain should end.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let connected = tungstenite::client::client(format!("ws://{}{path}", self.at), stream);
        connected.map(|(socket, _)| Client { socket, asked: 0 }).map_err(|error| error.to_string())
    }

    fn connect(&self, path: &str) -> Client {
        self.try_connect(path).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end.take().map(|end| end.send(()));
        self.thread.take().map(|thread| thread.join());
    }
}

#[derive(Debug)]
struct Client {
    socket: WebSocket<TcpStream>,
    asked: u64,
}

impl Client {
    fn read(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.socket.send(Message::text(request.to_string())).unwrap();
        let answer = self.read();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer
    }

    /// The number and the hash of the next head.
    fn head(&mut self, subscription: &Value) -> (Value, Value) {
        let announced = self.read();
        assert_eq!(
            (&announced["method"], &announced["params"]["subscription"]),
            (&json!("eth_subscription"), subscription)
        );
        let header = &announced["params"]["result"];
        assert!(header["parentHash"].is_string() && header["transactions"].is_null());
        (header["number"].clone(), header["hash"].clone())
    }
}

fn mine(chain: &SharedChain) -> Value {
    let mut chain = chain.lock().unwrap();
    let time = chain.next_time();
    json!(chain.mine(time).hash)
}

#[test]
fn heads_come_as_blocks_are_made_and_again_after_a_reorganisation() {
    let served = Served::start();
    let (mut client, mut other) = (served.connect("/"), served.connect("/node/1"));
    assert_eq!(client.ask("eth_blockNumber", json!([]))["result"], "0x0");
    let subscription = client.ask("eth_subscribe", json!(["newHeads"]))["result"].take();
    // Blocks by the process itself, and on command of another client.
    let first = mine(&served.chain);
    assert_eq!(client.head(&subscription), (json!("0x1"), first));
    other.ask("evm_mine", json!([{ "blocks": 2 }]));
    assert_eq!([client.head(&subscription).0, client.head(&subscription).0], ["0x2", "0x3"]);
    served.chain.lock().unwrap().reorg(Reorg { depth: 2, length: 3, fate: Fate::Dropped });
    let announced = [0; 3].map(|_| client.head(&subscription));
    let chain = served.chain.lock().unwrap();
    let expected = [2_u64, 3, 4].map(|n| (json!(format!("{n:#x}")), json!(chain.block(n).unwrap().hash)));
    drop(chain);
    assert_eq!(announced, expected);
    assert_eq!(client.ask("eth_unsubscribe", json!([subscription]))["result"], true);
    mine(&served.chain);
    assert_eq!(client.ask("eth_blockNumber", json!([]))["result"], "0x5");
}

#[test]
fn each_node_announces_the_heads_that_it_shows() {
    let served = Served::start();
    let mut client = served.connect("/node/1");
    let subscription = client.ask("eth_subscribe", json!(["newHeads"]))["result"].take();
    {
        let mut chain = served.chain.lock().unwrap();
        chain.split_off(1, Reorg { depth: 0, length: 1, fate: Fate::Kept });
        let time = chain.next_time();
        chain.mine(time);
    }
    let own = json!(served.chain.lock().unwrap().branch(1).unwrap().head().hash);
    assert_eq!(client.head(&subscription), (json!("0x1"), own));
    served.chain.lock().unwrap().rejoin(1);
    let common = json!(served.chain.lock().unwrap().head().hash);
    assert_eq!(client.head(&subscription), (json!("0x1"), common));
    served.chain.lock().unwrap().crash(1, true);
    assert!(client.socket.read().is_err(), "the node is down");
    assert!(served.try_connect("/node/1").is_err());
    served.connect("/");
}

#[test]
fn connections_subscriptions_and_messages_are_bounded() {
    let served = Served::start();
    let mut client = served.connect("/");
    assert_eq!(client.ask("eth_subscribe", json!(["logs"]))["error"]["message"], "only newHeads can be subscribed to");
    for _ in 0..16 {
        assert!(client.ask("eth_subscribe", json!(["newHeads"]))["result"].is_string());
    }
    assert_eq!(client.ask("eth_subscribe", json!(["newHeads"]))["error"]["message"], "too many subscriptions");
    assert_eq!(client.ask("eth_unsubscribe", json!(["0x99"]))["error"]["message"], "subscription not found");
    let others: Vec<Client> = (0..63).map(|_| served.connect("/")).collect();
    assert!(served.try_connect("/").unwrap_err().contains("503"));
    drop(others);
    // A message that is too long ends its own connection only.
    let mut hostile = loop {
        if let Ok(connected) = served.try_connect("/") {
            break connected;
        }
    };
    let sent = hostile.socket.send(Message::text("x".repeat((5 << 20) + 1)));
    assert!(sent.is_err() || hostile.socket.read().is_err());
    assert_eq!(client.ask("eth_blockNumber", json!([]))["result"], "0x0");
}
