//! What a caller hears when the books cannot be read after a commit, or do not take a call.

use std::sync::{Arc, Mutex};

use bankroll_ledger::{
    AccountId, Action, Amount, Answer, Asset, AssetId, IdempotencyKey, Leg, Namespace, Principal, References, Request,
    Scope, Time, Unit,
};
use bankroll_orders::Address;
use bankroll_registry::{Registry, SessionKeys, SpendLimits, SpendSide};
use bankroll_store::{Ledger, LedgerOptions, SubmitRefusal};

use super::{Operation, Spent, applied, settle_rejection};
use crate::{
    ErrorCode,
    state::{AccountNumbers, HeldBooks, Readers},
};

/// Books that can be written, and whose readers find nothing: their folder does not exist.
fn unreadable_books(folder: &std::path::Path) -> HeldBooks {
    let ledger = Ledger::create(LedgerOptions::new(folder.join("books"))).unwrap();
    let chain = "eip155:1337".parse().unwrap();
    ledger.list_asset(Asset { chain, unit: Unit::Native, decimals: 2, symbol: "SIM".into() }).unwrap();
    HeldBooks {
        ledger,
        readers: Readers::new(folder.join("nowhere").into()),
        pages: Readers::new(folder.join("nowhere").into()),
        accounts: AccountNumbers::default(),
        registry: Arc::new(tokio::sync::RwLock::new(Registry::default())),
        additions: Arc::default(),
        keys: SessionKeys::new("funds.example", Vec::new()),
        spend: Mutex::default(),
        events: crate::state::EventChunks::default(),
        rights: tokio::sync::watch::Sender::new(0),
        forgotten_at: std::sync::atomic::AtomicU64::new(0),
    }
}

/// Runs what a handler awaits; the ledger's own calls block, and are made outside of it.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn give(books: &HeldBooks) -> Answer {
    let names = ["@house/custody/1/hot", "arena/funds/1/alice"].map(|name| name.parse().unwrap());
    let opened = books.ledger.open_accounts(&Principal::System, names.to_vec()).unwrap();
    let numbers: Vec<AccountId> = opened.into_iter().collect::<Result<_, _>>().unwrap();
    let leg = Leg::Move { from: numbers[0], to: numbers[1], amount: Amount::new(5) };
    let request = Request {
        key: IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: "gift".into() },
        principal: Principal::Indexer,
        confirmation: None,
        action: Action::Legs(vec![leg]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    books.ledger.apply(request).unwrap()
}

#[test]
fn a_read_that_fails_after_the_commit_is_an_unknown_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let books = unreadable_books(folder.path());
    let answer = give(&books);
    let error = wait(applied(&books, &answer)).unwrap_err();
    assert_eq!((error.code, error.retry_after), (ErrorCode::OutcomeUnknown, Some(1)), "the five have moved");
    // Before a commit it is what it was.
    let missing = ["arena/funds/1/bob"].into_iter();
    assert_eq!(wait(books.learn(missing)).unwrap_err().code, ErrorCode::Unavailable);
    let release = Operation::Release { hold: bankroll_ledger::HoldId(16) };
    let rejection = bankroll_ledger::Rejection::NotAllowed;
    let error = wait(settle_rejection(&books, &"arena".parse().unwrap(), &release, rejection));
    assert_eq!(error.code, ErrorCode::OutcomeUnknown);
}

#[test]
fn a_call_that_the_ledger_does_not_take_gives_back_what_was_counted() {
    let folder = tempfile::tempdir().unwrap();
    let books = unreadable_books(folder.path());
    let (window, limit) = ((Address([1; 20]), AssetId(1), SpendSide::Taken), Amount::new(100));
    let spend = |limits: &mut SpendLimits| limits.spend(window, limit, limit, Time(0));
    spend(&mut books.spend.lock().unwrap()).unwrap();
    let spent = Spent { counted: vec![(window, limit)], at: Time(0) };
    spent.failed(&books, &ErrorCode::OutcomeUnknown.into());
    spend(&mut books.spend.lock().unwrap()).unwrap_err();
    let busy = wait(spent.answers(&books, Err(SubmitRefusal::Busy))).unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy);
    spend(&mut books.spend.lock().unwrap()).unwrap();
}
