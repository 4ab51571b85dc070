//! `bankroll bench reading`: the cost of reading the history of one hot account, also for the writer.
//!
//! One account pays all transfers. Every query goes to one open reader, as in a server, at random positions. The
//! writer's latency at a steady pace is measured three times: alone, with a reader that never pauses, and with a thread
//! that computes and reads nothing, because a busy second core alone slows the machine. The three alternate, so that
//! they meet the same conditions, and the other thread has a lower priority than the writer, as readers in a server
//! have.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, Seq, Time};
use bankroll_store::{Reader, StatementQuery};
use bankroll_terminal::{self as terminal, counted, table, thousands};
use serde::Serialize;

use super::{
    load::{self, LoadRun, LoadSource},
    log,
    seats::Seats,
};

/// Entries on a page.
const LINES: usize = 100;
/// Seats that are paid.
const SEATS: usize = 1_000;
/// Transfers a second at which the writer is measured.
const PACE: u32 = 1_000;
/// How often the writer is measured with each kind of company.
const TURNS: u32 = 3;
/// How long each time.
const TURN: Duration = Duration::from_secs(3);
/// How often each query is made.
const ASKED: usize = 500;

#[derive(Debug, Serialize)]
pub(super) struct ReadingReport {
    entries: u64,
    runs: usize,
    index_bytes: u64,
    /// How long the index needed to be complete after the last answer.
    index_trailed_ms: u64,
    questions: Vec<QueryTimes>,
    writer: Vec<WriterTimes>,
    /// By how much a reader that never pauses makes the writer slower, in per cent of its latency alone.
    p50_slower_percent: f64,
    p99_slower_percent: f64,
    /// The same, in per cent of its latency with a thread that only computes.
    p50_slower_than_computing_percent: f64,
    p99_slower_than_computing_percent: f64,
}

/// What runs on the other core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum OtherLoad {
    #[serde(rename = "nobody")]
    Nothing,
    Computing,
    Reading,
}

impl OtherLoad {
    const ALL: [Self; 3] = [Self::Nothing, Self::Computing, Self::Reading];

    const fn text(self) -> &'static str {
        match self {
            Self::Nothing => "alone",
            Self::Computing => "with a thread that computes",
            Self::Reading => "with a reader",
        }
    }
}

#[derive(Debug, Serialize)]
struct QueryTimes {
    question: &'static str,
    p50_ms: f64,
    p99_ms: f64,
}

#[derive(Debug, Serialize)]
struct WriterTimes {
    company: OtherLoad,
    per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    reads_per_s: f64,
}

pub(super) fn measure(folder: &Path, entries: u64) -> anyhow::Result<ReadingReport> {
    log(&format!("reading: making {entries} transfers of one account"));
    let books = folder.join("reading");
    let seats = Seats::open(&books.clone().into(), SEATS, true)?;
    seats.remember(entries)?;
    log("reading: waiting for the index");
    let reader = Reader::open(&books)?;
    let trailing = Instant::now();
    let state = loop {
        let state = reader.index_state()?;
        // Merges continue for a while after the index is complete.
        if state.covered == state.last && state.runs <= 24 {
            break state;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let index_trailed_ms = u64::try_from(trailing.elapsed().as_millis())?;
    // The file and its write-ahead log: a checkpoint moves pages from one to the other.
    let size = |ending: &str| {
        let file = books.join(format!("{}{ending}", bankroll_store::STATEMENTS_FILE));
        std::fs::metadata(file).map_or(0, |found| found.len())
    };
    let index_bytes = size("").max(size("-wal"));
    log("reading: measuring queries");
    let questions = ask_all(&reader, &seats)?;
    let mut writer = Vec::new();
    for turn in 0..TURNS {
        log(&format!("reading: the writer at {PACE}/s, alone and in company, turn {}", turn + 1));
        for company in OtherLoad::ALL {
            let (run, reads_per_s) = in_company(&seats, &books, company)?;
            writer.push(WriterTimes::new(company, &run, reads_per_s));
        }
    }
    seats.close_and_audit()?;
    let slower = |than: OtherLoad, figure: fn(&WriterTimes) -> f64| {
        let median = |company: OtherLoad| {
            let mut all: Vec<f64> = writer.iter().filter(|run| run.company == company).map(figure).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        ((median(OtherLoad::Reading) / median(than) - 1.0) * 1_000.0).round() / 10.0
    };
    Ok(ReadingReport {
        entries,
        runs: state.runs,
        index_bytes,
        index_trailed_ms,
        questions,
        p50_slower_percent: slower(OtherLoad::Nothing, |run| run.p50_ms),
        p99_slower_percent: slower(OtherLoad::Nothing, |run| run.p99_ms),
        p50_slower_than_computing_percent: slower(OtherLoad::Computing, |run| run.p50_ms),
        p99_slower_than_computing_percent: slower(OtherLoad::Computing, |run| run.p99_ms),
        writer,
    })
}

/// The account that paid everything.
fn hot(seats: &Seats) -> AccountId {
    seats.accounts[0]
}

fn ask_all(reader: &Reader, seats: &Seats) -> anyhow::Result<Vec<QueryTimes>> {
    let last = reader.head()?.seq;
    let first_transfer = last.0 - seats.next.load(Ordering::SeqCst) + 1;
    let mut random = fastrand::Rng::with_seed(7);
    let times: Vec<Time> = (0..ASKED)
        .map(|_| Ok(reader.journal_after(Seq(random.u64(first_transfer..last.0)), 1)?[0].at))
        .collect::<anyhow::Result<_>>()?;
    let page = StatementQuery { most: LINES, ..StatementQuery::of(hot(seats)) };
    let newest = seats.next.load(Ordering::SeqCst);
    let key = |number: u64| -> anyhow::Result<()> {
        let found = reader.find_key(&seats.transfer(number, false).key)?;
        anyhow::ensure!(found.is_some(), "a key was not found");
        Ok(())
    };
    let lines = |query: &StatementQuery| -> anyhow::Result<()> {
        anyhow::ensure!(!reader.statement(query)?.items.is_empty(), "a page is empty");
        Ok(())
    };
    let mut numbers = fastrand::Rng::with_seed(8);
    Ok(vec![
        ask("statement page, first", |_| lines(&page))?,
        ask("statement page, middle", |n| lines(&StatementQuery { from: Some(times[n]), ..page.clone() }))?,
        ask("statement page, last", |_| {
            lines(&StatementQuery { from: Some(times_end(reader, last)?), ..page.clone() })
        })?,
        ask("statement page, newest first", |_| lines(&StatementQuery { descending: true, ..page.clone() }))?,
        ask("balance at a past time", |n| {
            anyhow::ensure!(reader.balance_at(hot(seats), times[n])?.seq.is_some(), "there is no balance");
            Ok(())
        })?,
        ask("search by key, any", |_| key(numbers.u64(..newest)))?,
        ask("search by key, newest", |n| key(newest - 1 - n as u64))?,
    ])
}

/// A time shortly before the end, so that the page is the last one.
fn times_end(reader: &Reader, last: Seq) -> anyhow::Result<Time> {
    Ok(reader.journal_after(Seq(last.0 - 50), 1)?[0].at)
}

fn ask(question: &'static str, mut ask: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<QueryTimes> {
    let mut took = Vec::with_capacity(ASKED);
    for number in 0..ASKED {
        let start = Instant::now();
        ask(number)?;
        took.push(start.elapsed());
    }
    took.sort_unstable();
    let percentile = |percent: usize| millis(took[(took.len() * percent / 100).min(took.len() - 1)]);
    Ok(QueryTimes { question, p50_ms: percentile(50), p99_ms: percentile(99) })
}

/// The writer's latency while another thread runs `work` without a pause, and how often it ran.
fn in_company(seats: &Seats, books: &Path, company: OtherLoad) -> anyhow::Result<(LoadRun, f64)> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let start = Instant::now();
    let run = thread::scope(|scope| {
        let at_work = || {
            done.fetch_add(1, Ordering::Relaxed);
            !stop.load(Ordering::Relaxed)
        };
        let company = scope.spawn(move || match company {
            OtherLoad::Nothing => Ok(()),
            OtherLoad::Computing => {
                compute(at_work);
                Ok(())
            }
            OtherLoad::Reading => read(seats, books, at_work),
        });
        let run = load::paced(seats, PACE, TURN);
        stop.store(true, Ordering::Relaxed);
        company.join().map_err(|_| anyhow::anyhow!("the reading or computing thread panicked"))??;
        run
    })?;
    Ok((run, done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()))
}

/// Uses a core, and nothing else of the machine.
fn compute(at_work: impl Fn() -> bool) {
    while at_work() {
        std::hint::black_box((0..100_000_u64).fold(0, |sum, number| std::hint::black_box(sum ^ number)));
    }
}

/// Makes one query after another with one reader.
fn read(seats: &Seats, books: &Path, at_work: impl Fn() -> bool) -> anyhow::Result<()> {
    let reader = Reader::open(books)?;
    let mut random = fastrand::Rng::with_seed(9);
    let (first, last) = (reader.journal_after(Seq(SEATS as u64 * 2 + 10), 1)?[0].at, reader.head()?.at);
    let page = StatementQuery { most: LINES, ..StatementQuery::of(hot(seats)) };
    while at_work() {
        let at = Time(random.u64(first.0..=last.0));
        match random.u32(0..3) {
            0 => drop(reader.statement(&StatementQuery { from: Some(at), ..page.clone() })?),
            1 => drop(reader.statement(&StatementQuery { descending: true, ..page.clone() })?),
            _ => drop(reader.balance_at(hot(seats), at)?),
        }
    }
    Ok(())
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

impl WriterTimes {
    fn new(company: OtherLoad, run: &LoadRun, reads_per_s: f64) -> Self {
        let (p50_ms, p99_ms) = (millis(run.p50), millis(run.p99));
        let reads_per_s = if company == OtherLoad::Reading { reads_per_s.round() } else { 0.0 };
        Self { company, per_s: run.per_s.round(), p50_ms, p99_ms, reads_per_s }
    }
}

impl ReadingReport {
    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            return terminal::answer_json(&serde_json::to_value(self)?);
        }
        let mut questions = table(&["QUERY", "P50 MS", "P99 MS"], &[1, 2]);
        for row in &self.questions {
            questions.add_row([row.question.to_owned(), format!("{:.2}", row.p50_ms), format!("{:.2}", row.p99_ms)]);
        }
        let mut writer = table(&["WRITER AT 1,000/S", "P50 MS", "P99 MS", "READS/S"], &[1, 2, 3]);
        for row in &self.writer {
            let figures = [row.p50_ms, row.p99_ms].map(|figure| format!("{figure:.2}"));
            let [p50, p99] = figures;
            writer.add_row([row.company.text().to_owned(), p50, p99, format!("{:.0}", row.reads_per_s)]);
        }
        terminal::answer(&format!(
            "{} of one account\nindex: {}, {} KiB, complete {} ms after the last transfer\n\n{}\n\n{}\n\n\
             a reader that never pauses makes the writer slower: p50 {:+.1} %, p99 {:+.1} %\n  \
             compared with a thread that only computes: p50 {:+.1} %, p99 {:+.1} %\n",
            counted(self.entries, "entry", "entries"),
            counted(self.runs as u64, "run", "runs"),
            thousands(self.index_bytes >> 10),
            thousands(self.index_trailed_ms),
            questions.trim_fmt(),
            writer.trim_fmt(),
            self.p50_slower_percent,
            self.p99_slower_percent,
            self.p50_slower_than_computing_percent,
            self.p99_slower_than_computing_percent,
        ))
    }
}
