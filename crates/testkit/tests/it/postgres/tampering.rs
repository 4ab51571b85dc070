//! Edited books in the database: every column of every table, and single bytes of records.
//!
//! Edits that matter are found, by the audit or when the books are opened. Edits that are not found do not matter: the
//! books answer everything as before, and are sound afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use bankroll_ledger::{Action, HoldId, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope};
use bankroll_store::{Answer, Audit, DatabaseUrl, Ledger, LedgerOptions, Reader, StoreError};
use bankroll_testkit::{
    checksums,
    postgres::{Session, pairs},
    script::{Script, options},
    streams::name,
};
use fastrand::Rng;

use super::{
    cluster::Cluster,
    service::{Call, Service},
    soak_time,
};
use crate::{
    run::{PATIENCE, report, seed},
    world::code_of,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The audit or opening the books must find it.
    Found,
    /// The audit finds it, and opening the books rebuilds it from the journal.
    Rebuilt,
    /// Nothing depends on it, or it is rebuilt from the journal.
    Harmless,
}
use Verdict::{Found, Harmless, Rebuilt};

const JOURNAL: &str = "seq = 40";
const BATCH: &str = "number = 20";
/// The player with the highest balance.
const PLAYER: &str = "id = (SELECT id FROM books.balances WHERE id IN (5, 7, 9, 11) ORDER BY balance DESC LIMIT 1)";
const OPEN: &str = "id = (SELECT max(id) FROM books.holds WHERE state = 0)";
const SETTLED: &str = "id = (SELECT max(id) FROM books.holds WHERE state = 1)";
const LAST: &str = "seq = (SELECT max(seq) FROM books.outbox)";

/// Table, column, its new value, which row, and the expected result.
const EDITS: &[(&str, &str, &str, &str, Verdict)] = &[
    ("journal", "seq", "seq + 1000000", JOURNAL, Found),
    ("journal", "record", "record || '\\x00'", JOURNAL, Found),
    ("journal", "record", "substring(record FROM 1 FOR length(record) - 1)", JOURNAL, Found),
    ("journal", "checksum", "checksum + 1", JOURNAL, Found),
    ("batches", "number", "number + 1000000", BATCH, Found),
    ("batches", "first", "first + 1", BATCH, Found),
    ("batches", "count", "count + 1", BATCH, Found),
    ("batches", "at", "at + 1", BATCH, Found),
    ("batches", "root", "set_byte(root, 7, get_byte(root, 7) # 1)", BATCH, Found),
    ("batches", "head", "set_byte(head, 7, get_byte(head, 7) # 1)", BATCH, Found),
    ("assets", "id", "id + 1", "true", Found),
    ("assets", "chain", "'eip155:5'", "true", Found),
    ("assets", "contract", "'0xdac17f958d2ee523a2206206994597c13d831ec7'", "true", Found),
    ("assets", "decimals", "6", "true", Found),
    ("assets", "symbol", "'BTC'", "true", Found),
    ("assets", "checksum", "checksum # 1", "true", Found),
    ("accounts", "id", "id + 100", PLAYER, Found),
    ("accounts", "name", "name || '0'", PLAYER, Found),
    ("accounts", "may_deposit", "may_deposit # 1", PLAYER, Found),
    ("accounts", "may_withdraw", "may_withdraw # 1", PLAYER, Found),
    ("accounts", "may_transfer", "may_transfer # 1", PLAYER, Found),
    ("accounts", "debt", "NULL", PLAYER, Found),
    ("accounts", "name_hash", "name_hash # 1", PLAYER, Found),
    ("accounts", "checksum", "checksum # 1", PLAYER, Found),
    ("balances", "id", "id + 100", PLAYER, Found),
    ("balances", "balance", "balance + 1", PLAYER, Found),
    ("balances", "held", "CASE held WHEN 0 THEN 1 ELSE held - 1 END", PLAYER, Found),
    ("balances", "checksum", "checksum # 1", PLAYER, Found),
    ("holds", "id", "id + 1", OPEN, Found),
    ("holds", "account", "account + 1", OPEN, Found),
    ("holds", "remaining", "remaining + 1", OPEN, Found),
    ("holds", "expires", "9000000000000000000", OPEN, Found),
    ("holds", "settler", "(settler + 1) % 7", OPEN, Found),
    ("holds", "state", "1", OPEN, Found),
    ("holds", "state", "0", SETTLED, Found),
    ("holds", "account", "account + 1", SETTLED, Found),
    ("holds", "remaining", "remaining + 1", SETTLED, Found),
    ("holds", "id", "id + 1000000", SETTLED, Found),
    ("holds", "checksum", "checksum # 1", SETTLED, Found),
    ("reversals", "checksum", "checksum # 1", "true", Found),
    ("reversals", "original", "original + 1", "original = (SELECT max(original) FROM books.reversals)", Found),
    ("reversals", "reversal", "reversal + 1", "original = (SELECT max(original) FROM books.reversals)", Found),
    // The key index: checked when it is read, and rebuilt from the journal.
    ("key_runs", "id", "id + 1000", "true", Harmless),
    ("key_runs", "level", "level + 1", "true", Harmless),
    ("key_runs", "first_seq", "first_seq + 1", "true", Harmless),
    ("key_runs", "last_seq", "last_seq - 1", "true", Harmless),
    ("key_runs", "last_seq", "last_seq + 5", "last_seq = (SELECT max(last_seq) FROM books.key_runs)", Harmless),
    ("key_runs", "checksum", "checksum # 1", "true", Harmless),
    ("key_runs", "entries", "entries + 1", "true", Harmless),
    ("key_runs", "first_chunk", "first_chunk + 1", "true", Harmless),
    ("key_runs", "chunks", "chunks + 1", "true", Harmless),
    ("key_runs", "summary", "set_byte(summary, 9, get_byte(summary, 9) # 1)", "true", Harmless),
    ("key_chunks", "id", "id + 1000", "true", Harmless),
    ("key_chunks", "data", "set_byte(data, 30, get_byte(data, 30) # 1)", "true", Harmless),
    ("key_chunks", "data", "substring(data FROM 1 FOR 20)", "true", Harmless),
    // The statement index: it decides nothing, and is checked against the journal wherever it is read.
    ("term_runs", "id", "id + 1000", "true", Harmless),
    ("term_runs", "level", "level + 1", "true", Harmless),
    ("term_runs", "first_seq", "first_seq + 1", "true", Harmless),
    ("term_runs", "last_seq", "last_seq - 1", "true", Harmless),
    ("term_runs", "entries", "entries + 1", "true", Harmless),
    ("term_runs", "first_chunk", "first_chunk + 1", "true", Harmless),
    ("term_runs", "chunks", "chunks + 1", "true", Harmless),
    ("term_runs", "batch", "batch + 1", "true", Harmless),
    ("term_runs", "head", "set_byte(head, 7, get_byte(head, 7) # 1)", "true", Harmless),
    ("term_runs", "checksum", "checksum + 1", "true", Harmless),
    ("term_chunks", "id", "id + 1000", "true", Harmless),
    ("term_chunks", "data", "set_byte(data, 3, get_byte(data, 3) # 1)", "true", Harmless),
    // The holder: opening the books raises the epoch above any value.
    ("ledger_head", "epoch", "epoch + 7", "true", Harmless),
    ("ledger_head", "epoch", "0", "true", Harmless),
    ("ledger_head", "holder", "'somebody'", "true", Harmless),
    ("ledger_head", "address", "'127.0.0.1:9'", "true", Harmless),
    ("ledger_head", "moves", "true", "true", Harmless),
    ("ledger_head", "lease_until", "lease_until - interval '1 year'", "true", Harmless),
    // Tables that do not end at the journal's head are rebuilt.
    // A noted finding is believed: opening is refused.
    ("ledger_head", "finding", "'an account is wrong'", "true", Found),
    // An alert about nothing: a person looks.
    ("ledger_head", "last_finding", "'an account was wrong'", "true", Harmless),
    ("ledger_head", "last_finding_epoch", "7", "true", Harmless),
    ("ledger_head", "last_account", "last_account + 1", "true", Rebuilt),
    ("ledger_head", "last_asset", "last_asset - 1", "true", Harmless),
    ("ledger_head", "batch", "batch - 1", "true", Found),
    ("ledger_head", "seq", "seq - 1", "true", Found),
    ("ledger_head", "at", "at + 1", "true", Found),
    ("ledger_head", "hash", "set_byte(hash, 7, get_byte(hash, 7) # 1)", "true", Found),
    // Announcements: what was announced, and of which record.
    ("outbox", "checksum", "checksum # 1", LAST, Found),
    ("outbox", "seq", "seq + 1000000", LAST, Found),
    ("outbox", "place", "place + 1", LAST, Found),
    ("outbox", "kind", "'deposit.reversed'", LAST, Found),
    ("outbox", "resource", "resource || 'x'", LAST, Found),
    ("outbox", "body", "'{\"amount\": 1}'", LAST, Found),
];

/// Columns whose edit the database refuses.
const REFUSED: &[(&str, &str)] = &[("ledger_head", "one")];

fn quiet(url: &str) -> LedgerOptions {
    options(url, 8)
}

struct Books {
    cluster: Cluster,
    calls: Vec<Call>,
    settled: HoldId,
    copies: u32,
}

impl Books {
    /// Closed books with all kinds of records.
    fn make() -> Self {
        let cluster = Cluster::start();
        let url = cluster.url("books");
        let service = Service::open(quiet(&url));
        let session = Session::open(&url);
        let is_there = |table: &&str| session.count(&format!("SELECT count(*) FROM books.{table}")) > 0;
        let kinds = ["holds WHERE state = 0", "holds WHERE state = 1", "reversals", "key_chunks", "outbox"];
        let started = Instant::now();
        // The requests are random, and a background thread makes the runs of keys.
        let calls = service.play(Script::new(seed(), 0), || {
            assert!(started.elapsed() < PATIENCE, "one of {kinds:?} is still empty");
            service.answered() >= 60 && kinds.iter().all(is_there)
        });
        service.close();
        let settled = session.count("SELECT max(id) FROM books.holds WHERE state = 1");
        Self { cluster, calls, settled: HoldId(settled.cast_unsigned()), copies: 0 }
    }

    /// A copy of them to be edited.
    fn copy(&mut self) -> String {
        self.copies += 1;
        let name = format!("copy_{}", self.copies);
        Session::open(&self.cluster.url("postgres")).run(&format!("CREATE DATABASE {name} TEMPLATE books"));
        self.cluster.url(&name)
    }

    /// Everything is answered as before, an ended hold cannot be released, and the books are sound.
    fn answer_as_before(&self, ledger: &Ledger, what: &str) {
        for call in &self.calls {
            let again = ledger.submit(call.requests.clone()).unwrap().wait().unwrap();
            let same = |(again, outcome): (&Answer, &Answer)| {
                again.replayed && again.seq == outcome.seq && again.verdict == outcome.verdict
            };
            assert!(again.iter().zip(&call.answers).all(same), "{what}: {again:?}");
        }
        let released = ledger.apply(release(self.settled)).unwrap();
        assert_eq!(code_of(&released), "hold_settled", "{what}");
    }
}

fn release(hold: HoldId) -> Request {
    let key =
        IdempotencyKey { namespace: Namespace::Payouts, scope: Scope::Server(name("arena")), text: "once more".into() };
    let (references, facts, events) = (References::default(), Vec::new(), Vec::new());
    let action = Action::Legs(vec![Leg::Release { hold }]);
    Request { key, principal: Principal::System, confirmation: None, action, references, facts, events }
}

fn audit(url: &str) -> Result<(), StoreError> {
    Audit::new(Reader::open(DatabaseUrl::new(url)).unwrap()).run(|_| {}).map(drop)
}

fn is_diverged<T>(found: &Result<T, StoreError>) -> bool {
    found.as_ref().is_err_and(StoreError::is_unsound)
}

#[test]
fn postgres_edited_columns_are_found_or_do_not_matter() {
    let mut books = Books::make();
    let mut counts = BTreeMap::<&str, u64>::new();
    for (table, column, value, row, verdict) in EDITS {
        let url = books.copy();
        let what = format!("{table}.{column} = {value} WHERE {row}");
        let session = Session::open(&url);
        let edited = session.count(&format!("SELECT count(*) FROM books.{table} WHERE {row}"));
        assert!(edited > 0, "{what}: there is no such row");
        // Without the triggers, as an owner of the database can.
        session.run(&format!(
            "SET session_replication_role = replica; UPDATE books.{table} SET {column} = {value} WHERE {row}"
        ));
        // Half of them as a forger would: what finds those is the journal.
        let is_sealed = !["checksum", "name_hash"].contains(column) && !table.starts_with("key_");
        if is_sealed && counts.values().sum::<u64>() % 2 == 1 {
            checksums::reseal(&DatabaseUrl::new(&url).into());
        }
        let by_audit = audit(&url);
        let opened = Ledger::open(quiet(&url));
        let how = match (is_diverged(&by_audit), is_diverged(&opened)) {
            (true, true) => "by both",
            (true, false) => "by the audit",
            (false, true) => "when opened",
            (false, false) => "not at all",
        };
        match verdict {
            Found => assert_ne!(how, "not at all", "{what}: {by_audit:?}, {opened:?}"),
            Harmless | Rebuilt => {
                assert_eq!(by_audit.is_ok(), *verdict == Harmless, "{what}: {by_audit:?}");
                let ledger = opened.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                books.answer_as_before(&ledger, &what);
                ledger.close();
                audit(&url).unwrap_or_else(|error| panic!("{what}, afterwards: {error:?}"));
            }
        }
        *counts.entry(how).or_default() += 1;
    }
    report(&format!("postgres tampering: {} edits, found {counts:?}", EDITS.len()));
}

/// A new column must be added here.
#[test]
fn postgres_edits_are_of_every_column_of_the_books() {
    let cluster = Cluster::start();
    let url = cluster.url("books");
    Service::open(quiet(&url)).close();
    let columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'books'";
    let there: BTreeSet<(String, String)> = pairs(&DatabaseUrl::new(url), columns).into_iter().collect();
    let edited = EDITS.iter().map(|(table, column, ..)| (*table, *column)).chain(REFUSED.iter().copied());
    let edited = edited.map(|(table, column)| (table.to_owned(), column.to_owned())).collect::<BTreeSet<_>>();
    assert_eq!(there, edited);
}

#[test]
fn postgres_flipped_bits_of_the_journal_are_found() {
    let mut rng = Rng::with_seed(seed());
    let books = Books::make();
    let url = books.cluster.url("books");
    let session = Session::open(&url);
    session.run("SET session_replication_role = replica");
    let last = session.count("SELECT max(seq) FROM books.journal");
    let mut flipped = 0_u64;
    for _ in soak_time().rounds(60) {
        let seq = rng.i64(1..=last);
        let bits = session.count(&format!("SELECT 8 * length(record)::bigint FROM books.journal WHERE seq = {seq}"));
        let bit = rng.i64(0..bits);
        let flip = format!(
            "UPDATE books.journal SET record = set_bit(record, {bit}, 1 - get_bit(record, {bit})) WHERE seq = {seq}"
        );
        session.run(&flip);
        // With and without a checksum that matches the edited record.
        if flipped % 2 == 1 {
            checksums::reseal(&DatabaseUrl::new(&url).into());
        }
        let found = audit(&url);
        assert!(is_diverged(&found), "seed {}: bit {bit} of record {seq}: {found:?}", seed());
        let opened = Ledger::open(quiet(&url));
        assert!(is_diverged(&opened), "seed {}: bit {bit} of record {seq}: {opened:?}", seed());
        session.run(&flip);
        checksums::reseal(&DatabaseUrl::new(&url).into());
        flipped += 1;
    }
    audit(&url).unwrap();
    report(&format!(
        "postgres tampering (seed {}): {flipped} bits of records flipped, each found by the audit and when opened",
        seed()
    ));
}
