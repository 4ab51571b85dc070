//! Makes books to be damaged, and interviews damaged ones within bounds.
//!
//! | arguments | what it does |
//! | --- | --- |
//! | `make <location>` | makes the books in steps; prints the step, and continues when it reads a line |
//! | `ask <location> <undamaged> <seed>` | checks the books as they are, then interviews them |
//! | `rebuild <location>` | follows the advice of a message: makes everything again that follows from the journal |
//!
//! Locations are folders or `postgres://` addresses. A panic of any thread, too much memory or too much processor time
//! ends the process by a signal; a process that waits for nothing ends itself.

use std::{
    io::{BufRead, Write},
    path::Path,
    time::Duration,
};

use bankroll_ledger::Time;
use bankroll_store::{DatabaseUrl, Location, Reader, rebuild_books};
use bankroll_testkit::{
    damage::{FAILED, Maker, SOUND, check, interview, options},
    streams::START,
};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Several times what an undamaged copy takes.
const MEMORY_MAX: u64 = 1 << 30;
const PROCESSOR_SECONDS_MAX: u64 = 30;
/// For a process that waits, and so uses no processor: far longer than an interview takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

fn main() {
    std::panic::set_hook(Box::new(|panic| {
        write_line(&format!("panic {}", panic.to_string().replace('\n', " ")));
        std::process::abort();
    }));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["make", at] => make(&location(at)),
        ["ask", at, undamaged, seed] => {
            bound();
            check(&location(at), &mut |line| write_line(&line));
            interview(&location(at), &location(undamaged), seed.parse().expect("a number"), &mut |line| {
                write_line(&line);
            });
        }
        ["rebuild", at] => {
            bound();
            let (options, _) = options(&location(at), Time(START));
            let rebuilt = rebuild_books(&options, |_| {});
            write_line(&rebuilt.map_or_else(|error| format!("{FAILED} {error}"), |_| SOUND.into()));
        }
        other => panic!("unknown arguments {other:?}"),
    }
}

fn location(text: &str) -> Location {
    match text.starts_with("postgres://") {
        true => DatabaseUrl::new(text).into(),
        false => Path::new(text).into(),
    }
}

fn bound() {
    for (what, most) in [(Resource::Data, MEMORY_MAX), (Resource::Cpu, PROCESSOR_SECONDS_MAX)] {
        setrlimit(what, Rlimit { current: Some(most), maximum: Some(most) }).expect("a lower limit");
    }
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        write_line("waits for ever");
        std::process::abort();
    });
}

/// Closed books of yesterday, then open books twice: soon after, and at the end.
fn make(at: &Location) {
    let mut maker = Maker::create(at);
    maker.play(330, 12);
    maker.play(260, 1);
    maker.close();
    pause("closed");
    maker.reopen();
    maker.play(200, 1);
    pause("open");
    maker.play(500, 1);
    // The newest batches are in a log that is not the one of before.
    maker.close();
    maker.reopen();
    maker.play(150, 1);
    let reader = Reader::open(at).expect("readable books");
    let is_indexed = || reader.index_state().is_ok_and(|state| state.covered == state.last);
    while !is_indexed() {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(reader);
    pause("ready");
    maker.close();
}

fn pause(step: &str) {
    write_line(step);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).expect("standard input");
}

fn write_line(line: &str) {
    // The reader may be gone.
    let _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}
