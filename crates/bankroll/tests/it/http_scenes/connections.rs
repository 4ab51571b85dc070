//! Idle connections, half-open handshakes, callers that never read: the service goes on, in bounded memory.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    process::Command,
    sync::Arc,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{
    caller::Caller,
    casino::{Casino, casino_folder, start},
    wait_until,
    wallet::Wallet,
};
use crate::running::Running;

/// The memory of a node, from this moment on.
pub struct Memory {
    process: u32,
    before: u64,
}

impl Memory {
    pub fn of(node: &Running) -> Self {
        Self { process: node.process(), before: status(node.process(), "VmRSS:") }
    }

    /// Its highest mark against what it was.
    pub fn grew_by_less_than(&self, bytes: u64) {
        let grown = status(self.process, "VmHWM:").saturating_sub(self.before);
        println!("the node grew by {} MiB", grown >> 20);
        assert!(grown < bytes, "the node grew by {grown} bytes");
    }
}

fn status(process: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// Whether the other side has sent something or closed the connection.
pub fn is_closed_or_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let peeked = stream.peek(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    !matches!(peeked, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// This process and the nodes that it starts may open as many files as the system allows.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    assert!(limit.maximum.is_none_or(|most| most >= 4_096), "this machine allows {limit:?}");
}

fn goes_on(arena: &Caller, key: &str) {
    let body = json!({ "account": Wallet::of("alice").funds(), "amount": "1" });
    arena.arena("withdraw", key, &body).expect(200);
}

fn sockets(node: &Running) -> usize {
    fs::read_dir(format!("/proc/{}/fd", node.process())).unwrap().count()
}

#[test]
fn a_thousand_idle_connections_keep_no_caller_out() {
    raise_file_limit();
    let casino = Casino::open();
    let (arena, memory) = (&casino.arena, Memory::of(&casino.node));
    let idle: Vec<TcpStream> = (0..1_000).map(|_| arena.connect().unwrap()).collect();
    for key in ["one", "two", "three"] {
        goes_on(arena, key);
    }
    // One address has 256 places; the longest idle connections gave way.
    wait_until("the others were closed", || sockets(&casino.node) < 400);
    let half_of_a_head = |mut stream: TcpStream| {
        // Most of them are closed.
        let _ = stream.write_all(b"GET /v1/time HTTP/1.1\r\nhost:");
        stream
    };
    let idle: Vec<TcpStream> = idle.into_iter().map(half_of_a_head).collect();
    goes_on(arena, "four");
    memory.grew_by_less_than(256 << 20);
    drop(idle);
    casino.close();
}

/// A shell usually starts programs with a limit of 1,024 files, which fewer connections than `api.connections_max` use
/// up.
#[test]
fn a_node_may_open_as_many_files_as_the_system_allows() {
    let folder = casino_folder();
    let mut serve = Command::new("/bin/sh");
    serve.args(["-c", "ulimit -S -n 256 && exec \"$0\" serve --json", env!("CARGO_BIN_EXE_bankroll")]);
    serve.current_dir(folder.path()).env_clear();
    let node = Running::spawn(serve, "node-1");
    node.until("api");
    let limits = fs::read_to_string(format!("/proc/{}/limits", node.process())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let values: Vec<&str> = files.split_whitespace().collect();
    let (soft, hard) = (values[0].parse::<u64>().unwrap(), values[1].parse::<u64>().unwrap_or(u64::MAX));
    assert_eq!(soft, hard.min(65_536), "{files}");
}

#[test]
fn callers_that_never_read_their_answers_keep_no_caller_out() {
    let casino = Casino::open();
    let (arena, memory) = (&casino.arena, Memory::of(&casino.node));
    let greedy = |_| -> TcpStream {
        let mut stream = arena.connect().unwrap();
        // Far more than sockets buffer.
        let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: scene\r\n\r\n".repeat(24);
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let greedy: Vec<TcpStream> = (0..64).map(greedy).collect();
    wait_until("each has an answer that it does not read", || greedy.iter().all(is_closed_or_answered));
    goes_on(arena, "meanwhile");
    memory.grew_by_less_than(512 << 20);
    drop(greedy);
    casino.close();
}

/// Peers that begin a handshake and do not finish it; every second one has sent the first bytes of it.
pub fn half_open(to: SocketAddr, count: usize) -> Vec<TcpStream> {
    let open = |number: usize| {
        let mut stream = TcpStream::connect(to).unwrap();
        if number.is_multiple_of(2) {
            // The header of a TLS record and the begin of a ClientHello.
            let _ = stream.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]);
        }
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn half_open_handshakes_keep_no_caller_out() {
    raise_file_limit();
    let folder = casino_folder();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("front.pem"), made.cert.pem()).unwrap();
    fs::write(folder.path().join("front.key"), made.signing_key.serialize_pem()).unwrap();
    let (node, address) = start(folder.path(), &["api.tls_certificate=front.pem", "api.tls_key=front.key"]);
    let memory = Memory::of(&node);
    let silent = half_open(address, 256);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    for _ in 0..3 {
        let session = rustls::ClientConnection::new(Arc::clone(&config), "localhost".try_into().unwrap()).unwrap();
        let mut stream = rustls::StreamOwned::new(session, TcpStream::connect(address).unwrap());
        write!(stream, "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    memory.grew_by_less_than(256 << 20);
    drop(silent);
}
