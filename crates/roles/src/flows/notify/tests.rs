//! The loop with its threads, a real ledger and a receiver on this machine.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::mpsc::{self, Receiver},
    thread,
};

use bankroll_ledger::{
    AccountName, Action, Amount, Asset, Event, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope,
    Unit,
};
use bankroll_notify::{EndpointId, NewEndpoint, NewSecret, TypeFilter, endpoint};
use bankroll_store::{EventPosition, LedgerOptions, Rows};

use super::*;
use crate::{
    config::NotifyConfig,
    flows::{FlowThreads, migrations},
};

/// The status with which requests are answered, one after another; then 200. Each body is handed over.
fn receiver(statuses: Vec<u16>) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, bodies) = mpsc::channel();
    thread::spawn(move || {
        let mut statuses = statuses.into_iter();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let status = statuses.next().unwrap_or(200);
            write!(reader.get_mut(), "HTTP/1.1 {status} Said\r\ncontent-length: 0\r\n\r\n").unwrap();
            send.send(String::from_utf8(body).unwrap()).unwrap();
        }
    });
    (port, bodies)
}

fn request(key: &str, principal: Principal, namespace: Namespace) -> Request {
    Request {
        key: IdempotencyKey { namespace, scope: Scope::Server("arena".parse().unwrap()), text: key.into() },
        principal,
        confirmation: None,
        action: Action::Legs(Vec::new()),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    }
}

fn announce(ledger: &Ledger, key: &str) {
    let names = ["arena/custody/1/hot", "arena/funds/1/alice"].map(|name| name.parse::<AccountName>().unwrap());
    let opened = ledger.open_accounts(&Principal::System, names.to_vec()).unwrap();
    let [from, to] = [0, 1].map(|place: usize| opened[place].unwrap());
    let mut made = request(key, Principal::Indexer, Namespace::Deposits);
    made.action = Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(1) }]);
    let kind = "deposit.credited".parse().unwrap();
    made.events = vec![Event { kind, resource: key.into(), body: "{}".into() }];
    ledger.apply(made).unwrap().effects().unwrap();
}

fn endpoint_at(ledger: &Ledger, port: u16) -> EndpointId {
    let id = EndpointId::new("admin/olga", "k1");
    let secret = NewSecret::new([1; 16], [2; 32]);
    let now = Clock::machine().now();
    Rows::open(ledger).unwrap().write(vec![secret.insert(&id, now)]).unwrap();
    let new = NewEndpoint {
        id: id.clone(),
        url: format!("http://127.0.0.1:{port}/hook"),
        types: "deposit.*".parse::<TypeFilter>().unwrap(),
        server: None,
        secret: &secret,
        from: EventPosition::default(),
        now,
    };
    let (_, change) = new.create();
    let mut made = request("endpoint", Principal::System, Namespace::System);
    (made.facts, made.events) = (vec![change.fact], vec![change.event]);
    ledger.apply(made).unwrap().effects().unwrap();
    id
}

#[test]
fn the_loop_delivers_and_the_books_disable_an_endpoint_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let options = LedgerOptions { migrations: migrations(), ..LedgerOptions::new(folder.path().to_owned()) };
    let ledger = Ledger::create(options).unwrap();
    let coin = Asset { chain: "eip155:1337".parse().unwrap(), unit: Unit::Native, decimals: 2, symbol: "SIM".into() };
    ledger.list_asset(coin).unwrap();
    let (port, bodies) = receiver(vec![200, 410]);
    let id = endpoint_at(&ledger, port);
    let (notes, _lines) = mpsc::channel();
    let log = NodeLog::notes("node-1".parse().unwrap(), notes);
    let config = NotifyConfig { allow_private_targets: true, poll_ms: 10, ..NotifyConfig::default() };
    let mut threads = FlowThreads::default();
    threads.announce(&ledger, &log);
    threads.deliver(&config.setup(&crate::config::NodeConfig::default()), &RowsLocation::Writer(ledger.clone()), &log);
    announce(&ledger, "dep_1");
    assert!(bodies.recv().unwrap().contains(r#""resource":"dep_1""#));
    announce(&ledger, "dep_2");
    assert!(bodies.recv().unwrap().contains(r#""resource":"dep_2""#));
    let reader = Reader::open(ledger.location()).unwrap();
    let disabled = loop {
        match endpoint(&reader, &id).unwrap().unwrap().disabled {
            Some(disabled) => break disabled,
            None => thread::yield_now(),
        }
    };
    assert_eq!(disabled.reason, "gone");
    threads.stop();
    ledger.close();
}
