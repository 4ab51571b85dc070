//! Strangers do not keep money calls waiting, and memory is never behind the journal unnoticed.

use axum::extract::FromRequest;
use bankroll_ledger::ColumnValue;
use bankroll_orders::ChainId;
use bankroll_registry::{NoncePurpose, NonceText, REGISTRY, SignInConfig, UsedNonce};
use bankroll_store::{Clock, Ledger, LedgerOptions, Reader};

use super::*;
use crate::FundsSettings;

struct Held {
    _folder: tempfile::TempDir,
    funds: Funds,
    reader: Reader,
    runtime: tokio::runtime::Runtime,
}

impl Held {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LedgerOptions { migrations: vec![REGISTRY], ..LedgerOptions::new(folder.path().to_path_buf()) };
        let ledger = Ledger::create(options).unwrap();
        let reader = Reader::open(ledger.location().clone()).unwrap();
        let sign_in = SignInConfig { origins: Vec::new() };
        let funds = Funds::new(FundsSettings::new("funds.example", ChainId(1337), sign_in), Clock::machine());
        funds.acquire(ledger).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { _folder: folder, funds, reader, runtime }
    }

    fn nonces(&self) -> i64 {
        let rows = self.reader.rows("SELECT count(*) AS count FROM used_nonces", vec![]).unwrap();
        match rows[0]["count"] {
            ColumnValue::Int(count) => count,
            _ => panic!("{rows:?}"),
        }
    }
}

fn nonce(now: Time) -> RegistryChange {
    let text = NonceText::chosen_by(bankroll_orders::Address([7; 20]), &[7; 32]);
    let expires_at = Time(now.0 + 600_000_000);
    RegistryChange::Nonce(UsedNonce { purpose: NoncePurpose::OpenSession, nonce: text, expires_at, used_at: now })
}

async fn add_nonce(funds: Funds) -> Result<(), ApiError> {
    let request = http::Request::builder().uri("/v1/sessions").body(axum::body::Body::empty()).unwrap();
    let call = ApiCall::from_request(request, &()).await.unwrap();
    let decide = |_: &Registry, now: Time| {
        let author = Funds::system_author(&call, Scope::House, "session/1".into(), "key:0x07")?;
        Ok(((), author, vec![nonce(now)]))
    };
    funds.add_rows(&call, decide).await.map(drop)
}

/// A money call holds the registry for reading until it is enqueued.
#[test]
fn a_session_is_committed_while_money_calls_hold_the_registry() {
    let held = Held::new();
    let books = held.funds.books().unwrap();
    let money_call = held.runtime.block_on(books.registry.read());
    let adding = held.runtime.spawn(add_nonce(held.funds.clone()));
    while held.nonces() == 0 {
        std::thread::yield_now();
    }
    assert!(!adding.is_finished(), "memory does not have it yet, so it is not answered");
    drop(money_call);
    held.runtime.block_on(adding).unwrap().unwrap();
    let registry = held.runtime.block_on(books.registry.read());
    let text = NonceText::chosen_by(bankroll_orders::Address([7; 20]), &[7; 32]);
    assert!(registry.is_nonce_used(NoncePurpose::OpenSession, &text));
}

/// Of two that contradict each other the ledger takes one, whatever memory said when they were decided.
#[test]
fn a_nonce_that_is_on_its_way_counts_once() {
    let held = Held::new();
    let both = [held.funds.clone(), held.funds.clone()].map(|funds| held.runtime.spawn(add_nonce(funds)));
    let results = both.map(|one| held.runtime.block_on(one).unwrap().is_ok());
    assert_eq!(results.iter().filter(|is_ok| **is_ok).count(), 1);
    assert_eq!(held.nonces(), 1);
}

#[test]
fn a_commit_whose_task_panics_releases_the_books() {
    let held = Held::new();
    let task = held.runtime.spawn(async { panic!("a bug") });
    let outcome: Result<(), ApiError> = held.runtime.block_on(held.funds.finish(task));
    assert_eq!(outcome.unwrap_err().code, ErrorCode::OutcomeUnknown);
    assert!(!held.funds.is_held(), "memory may be behind the journal");
    let unanswered = Held::new();
    assert_eq!(committed(&unanswered.funds, Ok(Vec::new())).unwrap_err().code, ErrorCode::OutcomeUnknown);
    assert!(!unanswered.funds.is_held());
}
