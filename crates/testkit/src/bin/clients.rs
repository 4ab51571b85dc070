//! Many clients of one node: they call and read, and print the begin, the end and the outcome of each call.
//!
//! `clients <postgres://...> <name> <clients> <lease in milliseconds> <seed>`
//!
//! Each client reads from the start; it calls while this process holds the lease, for which it stands by, and
//! continues to read when the lease is lost. All run until standard input ends. Times are nanoseconds of the machine's
//! monotonic clock, the same for all processes.
//!
//! | line | means |
//! | --- | --- |
//! | `open` | this process is the writer now |
//! | `call BEGAN ENDED KEY SEQ` | answered, with this position in the journal |
//! | `unknown KEY` | made, with unknown outcome |
//! | `read BEGAN ENDED BALANCE,...` | the balances of all accounts, in the order of their numbers |
//! | `because E` | the writer stopped for this reason |

use std::{
    io::{Read, Write},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bankroll_ledger::{
    AccountId, Action, Amount, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope,
};
use bankroll_store::{AccountFilter, DatabaseUrl, Ledger, LedgerOptions, Reader, StoreError, SubmitError};
use bankroll_testkit::{
    script::{options, set_up},
    streams::name,
};
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};

const STAND_BY_PAUSE: Duration = Duration::from_millis(20);
const CUSTODY: AccountId = AccountId(1);
const WORLD: AccountId = AccountId(2);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, node, clients, lease, seed] = arguments.as_slice() else { panic!("five arguments") };
    let seed: u64 = seed.parse().expect("a number");
    let lease = Duration::from_millis(lease.parse().expect("a number"));
    let (ledger, is_over) = (OnceLock::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for client in 0..clients.parse::<u64>().expect("a number") {
            let (ledger, is_over) = (&ledger, &is_over);
            let rng = Rng::with_seed(seed.wrapping_mul(1_000).wrapping_add(client));
            scope.spawn(move || play(url, &format!("{node}-{client}"), rng, ledger, is_over));
        }
        scope.spawn(|| stand_by(LedgerOptions { lease, ..options(url, 1_000) }, &ledger, &is_over));
        std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
        is_over.store(true, Ordering::SeqCst);
    });
    if let Some(why) = ledger.get().and_then(Ledger::stopped_by) {
        print(&format!("because {why:?}"));
    }
}

fn stand_by(options: LedgerOptions, ledger: &OnceLock<Ledger>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::SeqCst) {
        match Ledger::open_or_create(options.clone()) {
            Ok(opened) => {
                set_up(&opened).expect("accounts");
                print("open");
                ledger.set(opened).expect("opened once");
                return;
            }
            Err(StoreError::Leased { .. }) => std::thread::sleep(STAND_BY_PAUSE),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn play(url: &str, client: &str, mut rng: Rng, ledger: &OnceLock<Ledger>, is_over: &AtomicBool) {
    let reader = Reader::open(DatabaseUrl::new(url)).expect("books");
    let mut number = 0;
    while !is_over.load(Ordering::SeqCst) {
        match ledger.get().filter(|ledger| ledger.stopped_by().is_none()) {
            Some(ledger) if rng.bool() => {
                number += 1;
                call(ledger, request(&mut rng, format!("{client}-{number}")));
            }
            _ => read(&reader),
        }
    }
}

fn call(ledger: &Ledger, request: Request) {
    let key = request.key.text.clone();
    let began = now();
    let outcome = ledger.apply(request);
    let ended = now();
    match outcome {
        Ok(answer) => print(&format!("call {began} {ended} {key} {}", answer.seq.map_or(0, |seq| seq.0))),
        Err(SubmitError::Failed(_)) => print(&format!("unknown {key}")),
        Err(SubmitError::Refused(_)) => {}
    }
}

fn read(reader: &Reader) {
    let began = now();
    // Few accounts, hence one statement, hence one snapshot.
    let accounts = reader.accounts(&AccountFilter::default(), 100).expect("accounts");
    let ended = now();
    let balances: Vec<String> = accounts.iter().map(|account| account.balance.to_string()).collect();
    print(&format!("read {began} {ended} {}", balances.join(",")));
}

fn request(rng: &mut Rng, text: String) -> Request {
    let player = AccountId(5 + 2 * rng.u64(0..4));
    let arena = || Principal::GameServer(name("arena"));
    let (principal, namespace, from, to) = match rng.u32(0..3) {
        0 => (Principal::Indexer, Namespace::Deposits, CUSTODY, player),
        1 => (arena(), Namespace::Client, player, WORLD),
        _ => (arena(), Namespace::Client, WORLD, player),
    };
    let key = IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text };
    let legs = vec![Leg::Move { from, to, amount: Amount::new(rng.u128(1..20)) }];
    let (references, facts, events) = (References::default(), Vec::new(), Vec::new());
    Request { key, principal, confirmation: None, action: Action::Legs(legs), references, facts, events }
}

fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Writes one line with one call.
fn print(line: &str) {
    let mut out = std::io::stdout().lock();
    // The reader may be gone.
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}
