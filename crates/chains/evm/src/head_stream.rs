//! A WebSocket on which a node announces new blocks, so that no caller has to wait for the next poll.
//!
//! It is a hint that there is something new, and nothing else: no number, hash or header of an announcement is used.
//! Announcements get lost with their connection, and some nodes announce nothing for hours, so poll beside it.
//!
//! Guarantees: the node must prove at the start that it is on the right chain; a message has at most 1 MiB; a wait ends
//! in time, whatever the node sends; the URL, which may contain a key, appears in no error. `wss://` is checked against
//! the list of certificate authorities that HTTPS uses here. After an error the stream is useless: connect again.

use std::{
    fmt,
    io::{self, ErrorKind, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, pki_types::ServerName};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tungstenite::{HandshakeError, Message, WebSocket, protocol::WebSocketConfig};
use ureq::http::Uri;

use crate::{
    block::BlockTag,
    error::{Disagreement, MalformedAnswer, RpcError, Unavailable},
    identity::ChainIdentity,
    transport::{InvalidRpcUrl, RpcLimits},
    verify, wire,
};

const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// An open subscription to new heads.
pub struct HeadStream {
    socket: WebSocket<Line>,
    last_id: u64,
    /// An announcement that came while another answer was expected.
    is_announced: bool,
}

/// Where a WebSocket is, in its parts.
struct Endpoint {
    uri: Uri,
    host: String,
    port: u16,
    is_secure: bool,
}

/// A connection on which every read ends at a deadline, however slowly bytes come.
struct Line {
    channel: Channel,
    deadline: Instant,
}

enum Channel {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

#[derive(Deserialize)]
struct Announcement<'a> {
    #[serde(default, borrow)]
    method: Option<&'a RawValue>,
}

impl HeadStream {
    /// Whether the text is a `ws://` or `wss://` URL. Its error does not contain the text.
    pub fn check_url(url: &str) -> Result<(), InvalidRpcUrl> {
        Endpoint::parse(url).map(drop)
    }

    /// Connects, checks the identity of the node's chain, and subscribes. An invalid URL is
    /// [`Unavailable::Unreachable`]: check it before.
    pub fn connect(url: &str, identity: ChainIdentity, limits: RpcLimits) -> Result<Self, RpcError> {
        let endpoint = Endpoint::parse(url).map_err(|_| Unavailable::Unreachable)?;
        let deadline = after(limits.connect);
        let line = endpoint.dial(deadline)?;
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(MESSAGE_BYTES_MAX);
        config.max_frame_size = Some(MESSAGE_BYTES_MAX);
        let opened = tungstenite::client::client_with_config(endpoint.uri, line, Some(config));
        let (socket, _) = opened.map_err(|error| match error {
            HandshakeError::Failure(error) => unavailable(&error),
            HandshakeError::Interrupted(_) => Unavailable::TimedOut,
        })?;
        let mut stream = Self { socket, last_id: 0, is_announced: false };
        let deadline = after(limits.total);
        stream.check_identity(identity, deadline)?;
        let id: Box<RawValue> = stream.ask("eth_subscribe", &json!(["newHeads"]), deadline)?;
        if id.get() == "null" {
            return Err(MalformedAnswer::new("eth_subscribe", "no id of a subscription").into());
        }
        Ok(stream)
    }

    /// Waits until the node announces a block, and then takes all announcements that are already there as one. `false`
    /// if none comes in time.
    pub fn wait(&mut self, patience: Duration) -> Result<bool, RpcError> {
        let deadline = after(patience);
        while !self.is_announced {
            let Some(text) = self.read(deadline)? else { return Ok(false) };
            self.note(&text);
        }
        // Ten blocks at once are one reason to look.
        while let Some(text) = self.read(Instant::now())? {
            self.note(&text);
            if Instant::now() >= deadline {
                break;
            }
        }
        self.is_announced = false;
        Ok(true)
    }

    fn note(&mut self, text: &str) {
        // A false announcement costs one poll.
        let read = serde_json::from_str::<Announcement<'_>>(text);
        self.is_announced |= read.is_ok_and(|read| read.method.is_some());
    }

    fn check_identity(&mut self, expected: ChainIdentity, deadline: Instant) -> Result<(), RpcError> {
        let found = wire::quantity(&self.ask("eth_chainId", &json!([]), deadline)?, "eth_chainId")?;
        if u64::try_from(found).ok() != Some(expected.chain_id) {
            return Err(Disagreement::ChainId { expected: expected.chain_id, found }.into());
        }
        let method = "eth_getBlockByNumber";
        let answer = self.ask(method, &json!(["0x0", false]), deadline)?;
        let first = verify::header(&answer, BlockTag::Number(0), method)?;
        let found: B256 = first.ok_or(Unavailable::Incomplete("first block"))?.hash;
        if found != expected.genesis {
            return Err(Disagreement::Genesis { expected: expected.genesis, found }.into());
        }
        Ok(())
    }

    fn ask(&mut self, method: &'static str, params: &Value, deadline: Instant) -> Result<Box<RawValue>, RpcError> {
        self.last_id = self.last_id.wrapping_add(1);
        let request = String::from_utf8_lossy(&wire::request(self.last_id, method, params)).into_owned();
        self.socket.send(Message::text(request)).map_err(|error| unavailable(&error))?;
        loop {
            let text = self.read(deadline)?.ok_or(Unavailable::TimedOut)?;
            let read = serde_json::from_str::<Announcement<'_>>(&text);
            if read.is_ok_and(|read| read.method.is_some()) {
                self.is_announced = true;
            } else {
                return wire::result(text.as_bytes(), self.last_id, method);
            }
        }
    }

    /// The next text, or `None` if none comes in time.
    fn read(&mut self, deadline: Instant) -> Result<Option<String>, RpcError> {
        loop {
            // What is there already is read even if there is no more time.
            self.socket.get_mut().deadline = deadline.max(after(Duration::from_millis(1)));
            match self.socket.read() {
                Ok(Message::Text(text)) => return Ok(Some(text.as_str().to_owned())),
                Ok(Message::Close(_)) => return Err(Unavailable::Broken(ErrorKind::ConnectionAborted).into()),
                // Pings are answered by the library.
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if is_timeout(&error) => {}
                Err(error) => return Err(unavailable(&error).into()),
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
        }
    }
}

impl fmt::Debug for HeadStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeadStream")
    }
}

/// No wait is longer than a day, so that none is longer than a clock.
fn after(patience: Duration) -> Instant {
    Instant::now() + patience.min(Duration::from_hours(24))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// By kind only: the texts of these errors may contain the URL.
fn unavailable(error: &tungstenite::Error) -> Unavailable {
    match error {
        tungstenite::Error::Io(error) if is_timeout(error) => Unavailable::TimedOut,
        tungstenite::Error::Io(error) => Unavailable::Broken(error.kind()),
        tungstenite::Error::Http(response) => Unavailable::Status(response.status().as_u16()),
        tungstenite::Error::Capacity(_) => Unavailable::Broken(ErrorKind::FileTooLarge),
        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => {
            Unavailable::Broken(ErrorKind::ConnectionAborted)
        }
        _ => Unavailable::Broken(ErrorKind::InvalidData),
    }
}

impl Endpoint {
    fn parse(url: &str) -> Result<Self, InvalidRpcUrl> {
        let uri: Uri = url.parse().map_err(|_| InvalidRpcUrl)?;
        let is_secure = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(InvalidRpcUrl),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(InvalidRpcUrl)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        Ok(Self { uri, host, port, is_secure })
    }

    fn dial(&self, deadline: Instant) -> Result<Line, Unavailable> {
        let addresses = (self.host.as_str(), self.port).to_socket_addrs().map_err(|_| Unavailable::Unreachable)?;
        let left = || deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let mut failed = Unavailable::Unreachable;
        for address in addresses {
            match TcpStream::connect_timeout(&address, left()) {
                Ok(tcp) => {
                    let channel = self.channel(tcp, left()).map_err(|error| Unavailable::Broken(error.kind()))?;
                    return Ok(Line { channel, deadline });
                }
                Err(error) if is_timeout(&error) => failed = Unavailable::TimedOut,
                Err(_) => {}
            }
        }
        Err(failed)
    }

    fn channel(&self, tcp: TcpStream, patience: Duration) -> io::Result<Channel> {
        tcp.set_nodelay(true)?;
        tcp.set_write_timeout(Some(patience))?;
        if !self.is_secure {
            return Ok(Channel::Plain(tcp));
        }
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = versions.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from(self.host.clone()).map_err(|_| ErrorKind::InvalidInput)?;
        let tls = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(Channel::Secure(Box::new(StreamOwned::new(tls, tcp))))
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        // A timeout of zero means none at all to the operating system.
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        match &mut self.channel {
            Channel::Plain(tcp) => {
                tcp.set_read_timeout(Some(left))?;
                tcp.read(buffer)
            }
            Channel::Secure(tls) => {
                tls.get_ref().set_read_timeout(Some(left))?;
                tls.read(buffer)
            }
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.channel {
            Channel::Plain(tcp) => tcp.write(bytes),
            Channel::Secure(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.channel {
            Channel::Plain(tcp) => tcp.flush(),
            Channel::Secure(tls) => tls.flush(),
        }
    }
}
