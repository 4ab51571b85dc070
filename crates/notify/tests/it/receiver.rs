//! A receiver on this machine: an HTTP server of a few lines, which answers as a story wants.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, TcpListener},
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use bankroll_ledger::Time;
use bankroll_notify::{
    ClientLimits, DeliveryAttempt, EndpointId, HostResolver, TargetPolicy, WebhookClient, WebhookSecret,
};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

pub const NOW: Time = Time(1_800_000_000_000_000);
/// A name that the tests' resolver leads to this machine.
pub const HOST: &str = "hooks.example.com";

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub struct WireRequest {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl WireRequest {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

pub trait Connection: Read + Write {}
impl<T: Read + Write> Connection for T {}

type Answer = dyn Fn(&mut dyn Connection) -> std::io::Result<()> + Send + Sync;

pub struct LocalReceiver {
    pub port: u16,
    pub requests: Receiver<WireRequest>,
    /// Of its certificate, if it has one.
    pub root: Option<Vec<u8>>,
}

impl LocalReceiver {
    /// Answers every request as `answer` writes it.
    pub fn start(answer: impl Fn(&mut dyn Connection) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(answer))
    }

    /// With TLS, and a certificate for this name.
    pub fn start_tls(
        name: &str,
        answer: impl Fn(&mut dyn Connection) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let root = made.cert.der().to_vec();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        Self { root: Some(root), ..Self::serve(Some(Arc::new(config)), Arc::new(answer)) }
    }

    fn serve(tls: Option<Arc<ServerConfig>>, answer: Arc<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (send, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, send, tls) = (Arc::clone(&answer), send.clone(), tls.clone());
                thread::spawn(move || {
                    let mut stream: Box<dyn Connection> = match tls {
                        Some(config) => Box::new(StreamOwned::new(ServerConnection::new(config).unwrap(), stream)),
                        None => Box::new(stream),
                    };
                    if let Some(request) = read(&mut *stream) {
                        let _ = send.send(request);
                        // A client that reads no more ends the answer.
                        let _ = answer(&mut *stream);
                    }
                });
            }
        });
        Self { port, requests, root: None }
    }

    /// A client that reaches it by `HOST`, too.
    pub fn client(&self) -> WebhookClient {
        let client = WebhookClient::new(TargetPolicy { allows_private: true });
        let local = HostResolver::with(|_| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]));
        let roots: Vec<Vec<u8>> = self.root.iter().cloned().collect();
        client.with_resolver(local).with_roots(&roots)
    }

    /// The same, with a fraction of the usual time.
    pub fn impatient_client(&self) -> WebhookClient {
        self.client().with_limits(ClientLimits { total: Duration::from_millis(300), ..ClientLimits::default() })
    }
}

fn read(stream: &mut dyn Connection) -> Option<WireRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(WireRequest { line: line.trim_end().to_owned(), headers, body: String::from_utf8(body).unwrap() })
}

pub fn attempt(url: &str) -> DeliveryAttempt {
    DeliveryAttempt {
        endpoint: EndpointId::new("admin/olga", "k1"),
        revision: 1,
        url: url.into(),
        position: (81, 0),
        attempts_before: 0,
        event_id: "evt_81_0".into(),
        body: r#"{"id":"evt_81_0","type":"deposit.credited"}"#.into(),
        secrets: vec![WebhookSecret::new([1; 32]), WebhookSecret::new([2; 32])],
        planned_at: NOW,
    }
}
