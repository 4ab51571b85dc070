//! A deployment in a folder: an authority, a books' node with a ledger on SQLite, and its clients.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Answer, Asset, AssetId, IdempotencyKey, Leg, Name, Namespace,
    Principal, Record, References, Request, Scope, Seq, Time, Unit,
};
use bankroll_nodes::{
    Authority, BooksLocation, CallError, CallHandler, CallRefusal, Forwarder, NodeClock, NodeIdentity, NodeName,
    NodeServer, PendingCall, RelayedRequest, RelayedResponse,
};
use bankroll_store::{Audit, Ledger, LedgerOptions, Reader};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    time_provider::TimeProvider,
};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Far more than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a failing call with growing timeouts until it fails in the expected way. A call uses its whole timeout before
/// it fails, and slow machines need more of it to connect.
pub fn fail_within(
    call: impl Fn(Duration) -> Result<Vec<Answer>, CallError>,
    is_wanted: impl Fn(&CallError) -> bool,
) -> CallError {
    let mut time = Duration::from_millis(300);
    loop {
        let outcome = call(time).unwrap_err();
        time *= 4;
        if is_wanted(&outcome) || time > PATIENCE {
            return outcome;
        }
    }
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn node(text: &str) -> NodeName {
    text.parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "certificates are checked against the machine's clock")]
pub fn now() -> Time {
    Time(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64)
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct TestClock(AtomicU64);

impl TestClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(now().0)))
    }

    pub fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }

    pub fn pass_days(&self, days: u64) {
        self.0.fetch_add(days * 86_400_000_000, Ordering::SeqCst);
    }
}

impl TimeProvider for TestClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_micros(self.now().0)))
    }
}

/// Makes an authority in the folder, and a node with these roles.
pub fn identity(folder: &Path, of: &str, roles: &str) -> NodeIdentity {
    let authority = match Authority::open(folder, now()) {
        Ok(authority) => authority,
        Err(_) => Authority::init(folder, now()).unwrap(),
    };
    authority.add(folder, &node(of), roles.parse().unwrap(), 30, now()).unwrap();
    NodeIdentity::load(folder, &node(of), now()).unwrap()
}

/// The ledger while this node has it. Can leave one call unanswered, as a suspended process does.
#[derive(Default)]
pub struct Books {
    pub ledger: Mutex<Option<Ledger>>,
    pub frozen: Mutex<bool>,
}

impl Books {
    fn ledger(&self) -> Result<Ledger, CallRefusal> {
        self.ledger.lock().unwrap().clone().ok_or(CallRefusal::NotHolder)
    }
}

impl Books {
    async fn apply(&self, requests: Vec<Request>) -> Result<Vec<Answer>, CallRefusal> {
        let ledger = self.ledger()?;
        let answers =
            ledger.submit(requests).map_err(|_| CallRefusal::Busy)?.await.map_err(|_| CallRefusal::Unknown)?;
        if *self.frozen.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        Ok(answers)
    }
}

impl CallHandler for Books {
    fn holds(&self) -> bool {
        self.ledger.lock().unwrap().is_some()
    }

    /// Applies the requests in the body of `POST /apply`; `/twice` returns the body twice; otherwise returns what arrived.
    async fn relay(&self, request: RelayedRequest) -> Result<RelayedResponse, CallRefusal> {
        let body = match request.path.as_str() {
            "/apply" => {
                let answers = self.apply(postcard::from_bytes(&request.body).unwrap()).await?;
                postcard::to_stdvec(&answers).unwrap()
            }
            "/twice" => request.body.repeat(2),
            path => [request.method.as_bytes(), path.as_bytes(), &request.body].join(&b' '),
        };
        Ok(RelayedResponse { status: 200, headers: request.headers, body })
    }
}

/// A request of the API that has these requests applied.
pub fn relayed(requests: &[Request]) -> RelayedRequest {
    let body = postcard::to_stdvec(requests).unwrap();
    let headers = vec![("idempotency-key".into(), "k".into())];
    RelayedRequest { method: "POST".into(), path: "/apply".into(), headers, body }
}

/// Has requests applied by a request of the API.
pub trait RelayAll {
    fn relay_all(&self, requests: Vec<Request>, within: Duration) -> Result<PendingAnswers, CallError>;
}

impl RelayAll for Forwarder {
    fn relay_all(&self, requests: Vec<Request>, within: Duration) -> Result<PendingAnswers, CallError> {
        self.relay(relayed(&requests), within).map(PendingAnswers)
    }
}

pub struct PendingAnswers(PendingCall<RelayedResponse>);

impl PendingAnswers {
    pub fn wait(self) -> Result<Vec<Answer>, CallError> {
        self.0.wait().map(|response| postcard::from_bytes(&response.body).unwrap())
    }
}

/// A client of the books with this certificate or none.
pub fn client(world: &World, certificate: Option<(&Path, &str)>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(world.folder.path().join("ca.pem")).unwrap()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots);
    match certificate {
        Some((folder, node)) => {
            let chain = vec![CertificateDer::from_pem_file(folder.join(format!("{node}.pem"))).unwrap()];
            let key = PrivateKeyDer::from_pem_file(folder.join(format!("{node}.key"))).unwrap();
            client.with_client_auth_cert(chain, key).unwrap()
        }
        None => client.with_no_client_auth(),
    }
}

/// Connects to the books, as far as the handshake goes here: whether the other side takes the certificate shows when it
/// speaks.
pub async fn connect_to(world: &World, certificate: Option<(&Path, &str)>) -> io::Result<TlsStream<TcpStream>> {
    connect_at(world, world.server.address(), certificate).await
}

/// As [`connect_to`], to another server of the same authority.
pub async fn connect_at(
    world: &World,
    address: SocketAddr,
    certificate: Option<(&Path, &str)>,
) -> io::Result<TlsStream<TcpStream>> {
    let client = client(world, certificate);
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("books.role.bankroll").unwrap();
    TlsConnector::from(Arc::new(client)).connect(name, stream).await
}

/// A connection to the books that sends arbitrary bytes.
pub async fn connect(world: &World, certificate: Option<(&Path, &str)>) -> TlsStream<TcpStream> {
    connect_to(world, certificate).await.unwrap()
}

pub struct World {
    pub folder: TempDir,
    pub ledger: Ledger,
    pub books: Arc<Books>,
    pub server: NodeServer,
    pub custody: AccountId,
    pub alice: AccountId,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::create(LedgerOptions::new(folder.path().join("books"))).unwrap();
        let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
        ledger.list_asset(ether).unwrap();
        let account = |kind, owner| AccountName { owner: Some(name(owner)), ..account(kind) };
        let names = vec![account(AccountKind::Custody, "hot"), account(AccountKind::Funds, "alice")];
        let opened = ledger.open_accounts(&Principal::System, names).unwrap();
        let (custody, alice) = (opened[0].unwrap(), opened[1].unwrap());
        let books = Arc::new(Books { ledger: Mutex::new(Some(ledger.clone())), ..Books::default() });
        let own = identity(folder.path(), "books-1", "books");
        let server = NodeServer::start("127.0.0.1:0", &own, Arc::clone(&books)).unwrap();
        Self { folder, ledger, books, server, custody, alice }
    }

    /// A server of the same books by this clock, with the certificate of `books-1`.
    pub fn server_by(&self, clock: &Arc<TestClock>) -> NodeServer {
        let own = self.identity_by("books-1", clock);
        NodeServer::start("127.0.0.1:0", &own, Arc::clone(&self.books)).unwrap()
    }

    pub fn identity_by(&self, of: &str, clock: &Arc<TestClock>) -> NodeIdentity {
        NodeIdentity::load_with_clock(self.folder.path(), &node(of), Arc::clone(clock) as NodeClock).unwrap()
    }

    /// A node with these roles that calls the given address.
    pub fn caller(&self, of: &str, roles: &str, address: &str) -> Forwarder {
        let at = BooksLocation { holder: "first".into(), address: address.into() };
        Forwarder::start(&identity(self.folder.path(), of, roles), move || Ok(Some(at.clone()))).unwrap()
    }

    pub fn api(&self) -> Forwarder {
        self.caller("api-1", "api", &self.server.address().to_string())
    }

    /// One unit for alice. Only the books themselves may ask for it, so the API of these tests does.
    pub fn credit(&self, key: &str) -> Request {
        let leg = Leg::Move { from: self.custody, to: self.alice, amount: Amount::new(1) };
        request(Namespace::Deposits, key, Principal::Indexer, leg)
    }

    pub fn funds(&self) -> u128 {
        let reader = Reader::open(self.folder.path().join("books")).unwrap();
        reader.account(self.alice).unwrap().unwrap().balance.units()
    }

    /// How often each key is in the journal; also audits the books.
    pub fn journal(&self) -> HashMap<String, usize> {
        let books = self.folder.path().join("books");
        Audit::new(Reader::open(&books).unwrap()).run(|_| {}).unwrap();
        let reader = Reader::open(&books).unwrap();
        let mut found = HashMap::new();
        for seq in 1..=reader.head().unwrap().seq.0 {
            let bytes = reader.record(Seq(seq)).unwrap().unwrap();
            if let Record::Decided { request, .. } = Record::decode(&bytes).unwrap() {
                *found.entry(request.key.text).or_default() += 1;
            }
        }
        found
    }
}

pub fn account(kind: AccountKind) -> AccountName {
    AccountName { scope: Scope::Server(name("arena")), kind, asset: AssetId(1), owner: None }
}

pub fn request(namespace: Namespace, key: &str, principal: Principal, leg: Leg) -> Request {
    Request {
        key: IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: key.into() },
        principal,
        confirmation: None,
        action: Action::Legs(vec![leg]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    }
}
