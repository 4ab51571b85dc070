//! A process for tests to kill: opens a ledger, makes the calls of a script, and prints each answer.
//!
//! `victim <folder or postgres://...> <seed> <threads> <calls> <keys in memory> <ballast MiB> <weak: 0 or 1>
//! <lease in milliseconds>`
//!
//! A weak victim does not sync its commits: a test of power loss must detect that. With a lease it stands by until no
//! other process holds it.
//!
//! Every line is one `write` to standard output, so that a line is printed completely or not at all:
//!
//! | line | means |
//! | --- | --- |
//! | `open` | the books are open |
//! | `begin T C` | thread T is about to make its call C |
//! | `done T C answers...` | the answers of the call |
//! | `noted ID` | a row that was written without money was acknowledged |
//! | `full T C`, `unknown T C`, `stopped T C` | how the call failed; it is retried whenever it had no effect |
//! | `closed` | all calls were made and the books are closed |
//! | `because E` | the same, but the writer had stopped for this reason |
//!
//! Without threads it keeps the books open until its standard input ends.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::AsFd,
    process::ExitCode,
    sync::Mutex,
    time::Duration,
};

use bankroll_ledger::ColumnValue;
use bankroll_store::{
    Durability, Ledger, PendingAnswer, Statement, StoreError, SubmitError, SubmitFailure, SubmitRefusal,
};
use bankroll_testkit::script::{Script, VictimAnswer, options, set_up};

/// How often a call without effect is retried, and how many calls are tried after the writer has stopped.
const TRIES: u32 = 50;
const TRIES_AFTER_STOP: u32 = 3;
/// How long a standby waits before it tries the lease again.
const STAND_BY_PAUSE: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).map_or(0, |text| text.parse().expect("a number"));
    let out = Lines::new();
    let mut options = options(&arguments[0], usize::try_from(number(4)).expect("a small number"));
    if number(6) == 1 {
        options.durability = Durability::MayLoseRecentCommits;
    }
    let lease = number(7);
    if lease > 0 {
        options.lease = Duration::from_millis(lease);
    }
    let mut opened = Ledger::open_or_create(options.clone());
    while lease > 0 && matches!(opened, Err(StoreError::Leased { .. })) {
        std::thread::sleep(STAND_BY_PAUSE);
        opened = Ledger::open_or_create(options.clone());
    }
    let ledger = match opened {
        Ok(ledger) => ledger,
        Err(error) => {
            out.write(&format!("cannot open {error:?}"));
            return ExitCode::FAILURE;
        }
    };
    out.write("open");
    if number(2) == 0 {
        let mut nothing = Vec::new();
        std::io::stdin().read_to_end(&mut nothing).expect("standard input");
    } else if let Err(error) = set_up_unless_full(&ledger) {
        out.write(&format!("cannot begin {error:?}"));
        return ExitCode::FAILURE;
    }
    std::thread::scope(|scope| {
        for thread in 0..number(2) {
            let (ledger, out, script, calls) = (&ledger, &out, Script::new(number(1), thread), number(3));
            let ballast = if thread == 0 { number(5) } else { 0 };
            scope.spawn(move || play(ledger, out, script, thread, calls, ballast));
        }
    });
    let because = ledger.stopped_by();
    ledger.close();
    out.write(&because.map_or("closed".into(), |error| format!("because {error:?}")));
    ExitCode::SUCCESS
}

/// Even a set-up that was done before may need disk space: a commit also maintains the key index.
fn set_up_unless_full(ledger: &Ledger) -> Result<(), SubmitError> {
    let full = Err(SubmitError::Failed(SubmitFailure::StorageFull));
    (0..TRIES).map(|_| set_up(ledger)).find(|done| *done != full).unwrap_or(full)
}

fn play(ledger: &Ledger, out: &Lines, mut script: Script, thread: u64, calls: u64, ballast: u64) {
    let mut stopped = 0;
    for call in 1..=calls {
        if call == calls / 2 {
            load_ballast(ledger, ballast);
        }
        let requests = script.call();
        let mut outcome = Err(SubmitError::Failed(SubmitFailure::StorageFull));
        for _ in 0..TRIES {
            out.write(&format!("begin {thread} {call}"));
            let money = ledger.submit(requests.clone());
            let (id, statement) = script.note();
            // Not with every call: the writer itself commits a batch with rows, the commit thread commits one without.
            let noted = (call % 3 == 0).then(|| ledger.write_rows(vec![statement]));
            outcome = money.map_err(SubmitError::from).and_then(|reply| Ok(reply.wait()?));
            if let Ok(answers) = &outcome {
                let texts: Vec<String> = answers.iter().map(|answer| VictimAnswer::from(answer).to_string()).collect();
                out.write(&format!("done {thread} {call} {}", texts.join(" ")));
            }
            if let Some(Ok(reply)) = noted
                && reply.wait().is_ok_and(|changed| changed.is_ok())
            {
                out.write(&format!("noted {id}"));
            }
            let Err(error) = &outcome else { break };
            out.write(&format!("{} {thread} {call}", short(error)));
            let nothing_happened = [SubmitFailure::StorageFull, SubmitFailure::Unreachable, SubmitFailure::Locked];
            if !nothing_happened.map(SubmitError::Failed).contains(error) {
                break;
            }
        }
        match outcome {
            Ok(answers) => script.learn(&answers.iter().map(VictimAnswer::from).collect::<Vec<_>>()),
            // Makes a few more calls, to detect an acknowledgement that must not be given.
            Err(_) if stopped < TRIES_AFTER_STOP => stopped += 1,
            Err(_) => return,
        }
    }
}

fn short(error: &SubmitError) -> String {
    match error {
        SubmitError::Failed(SubmitFailure::StorageFull) => "full".into(),
        SubmitError::Failed(SubmitFailure::Unknown) => "unknown".into(),
        SubmitError::Refused(SubmitRefusal::Stopped) => "stopped".into(),
        other => format!("{other:?}").replace(' ', "-"),
    }
}

/// Rows of one mebibyte, so that the write-ahead log grows long enough for a checkpoint while the books are open.
fn load_ballast(ledger: &Ledger, mebibytes: u64) {
    for id in 0..mebibytes {
        let values = vec![ColumnValue::Int(id.cast_signed()), ColumnValue::Bytes(vec![b'b'; 1 << 20])];
        let sql = "INSERT INTO ballast (id, data) VALUES ($1, $2) ON CONFLICT DO NOTHING".into();
        let row = Statement { sql, values, must_change: None };
        // If it fails, the calls that follow show it.
        drop(ledger.write_rows(vec![row]).map(PendingAnswer::wait));
    }
}

/// Standard output without a buffer: a line is one system call.
struct Lines(Mutex<File>);

impl Lines {
    fn new() -> Self {
        let out = std::io::stdout().as_fd().try_clone_to_owned().expect("standard output");
        Self(Mutex::new(File::from(out)))
    }

    fn write(&self, line: &str) {
        let mut out = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // The reader may be gone.
        let _ = out.write_all(format!("{line}\n").as_bytes());
    }
}
