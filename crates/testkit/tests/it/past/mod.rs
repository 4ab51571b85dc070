//! Reading the past: statements, balances at a time and searches over random streams, compared with plain vectors of
//! the answers, while the statement index is deleted, torn, replaced or outdated at random.

mod damage;
mod notes;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bankroll_ledger::{AccountId, Time};
use bankroll_store::{
    Clock, Direction, KeyQuery, Ledger, LedgerOptions, Reader, SearchQuery, SearchSubject, StatementChange,
    StatementLine, StatementQuery,
};
use bankroll_testkit::{
    model::TABLES,
    streams::{START, Stream, StreamStep, name},
};
use fastrand::Rng;
use tempfile::TempDir;

use crate::run::{SoakTime, report, seed};
use damage::Damage;
use notes::Notes;

const STEPS: usize = 160;
const STREAMS: u64 = 3;

#[test]
fn random_pasts_are_read_as_they_were_answered() {
    report(&format!("random pasts: seed {}", seed()));
    let mut damages = 0;
    let mut compared = 0;
    for round in SoakTime::shared_by(1).rounds(STREAMS) {
        let mut past = Past::open(seed().wrapping_add(round));
        for number in 1..=STEPS {
            past.step();
            if number % 16 == 0 || number == STEPS {
                past.compare();
                compared += 1;
            }
        }
        damages += past.damages;
    }
    report(&format!("random pasts: {compared} comparisons, the index damaged {damages} times"));
    assert!(damages > 0);
}

struct Past {
    what: String,
    rng: Rng,
    stream: Stream,
    notes: Notes,
    folder: TempDir,
    options: LedgerOptions,
    clock: Arc<AtomicU64>,
    ledger: Option<Ledger>,
    /// Open from start to end, whatever happens to the index.
    reader: Reader,
    damage: Damage,
    damages: u64,
}

impl Past {
    fn open(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (clock, hand) = Clock::manual(Time(START));
        let options = LedgerOptions {
            clock,
            keys_in_memory_max: [16, 300][(seed % 2) as usize],
            background_commit_min: 2,
            index_records_max: [4, 60, 500][(seed % 3) as usize],
            index_pause: Duration::from_millis(1),
            migrations: vec![TABLES],
            ..LedgerOptions::new(folder.path())
        };
        let ledger = Some(Ledger::create(options.clone()).unwrap());
        let reader = Reader::open(folder.path()).unwrap();
        Self {
            what: format!("seed {seed}"),
            rng: Rng::with_seed(seed),
            stream: Stream::new(seed),
            notes: Notes::default(),
            damage: Damage::new(folder.path()),
            folder,
            options,
            clock: hand,
            ledger,
            reader,
            damages: 0,
        }
    }

    fn step(&mut self) {
        let before = self.stream.model.clone();
        let step = self.stream.step();
        self.notes.take(&before, &self.stream.model, &step);
        let ledger = self.ledger.as_ref().unwrap();
        match step {
            StreamStep::List { asset, .. } => drop(ledger.list_asset(asset).unwrap()),
            StreamStep::Open { by, names, .. } => drop(ledger.open_accounts_with(&by, names).unwrap()),
            StreamStep::Submit { calls, rows } => {
                let requests = |call: &Vec<(_, _)>| {
                    call.iter().map(|(request, _): &(bankroll_ledger::Request, _)| request.clone()).collect()
                };
                let replies: Vec<_> = calls.iter().map(|call| ledger.submit(requests(call)).unwrap()).collect();
                replies.into_iter().for_each(|reply| drop(reply.wait().unwrap()));
                rows.into_iter()
                    .for_each(|(statements, _)| drop(ledger.write_rows(statements).unwrap().wait().unwrap()));
            }
            StreamStep::Clock(time) => {
                self.clock.store(time, Ordering::SeqCst);
                ledger.tick().unwrap();
            }
            StreamStep::Restart => self.restart(),
        }
        // More often than the stream does it by itself: each time with another damage.
        if self.rng.u32(0..12) == 0 {
            self.restart();
        }
    }

    fn restart(&mut self) {
        self.ledger.take().unwrap().close();
        if self.rng.bool() {
            self.what = format!("{}, {}", self.what, self.damage.inflict(&mut self.rng));
            self.damages += 1;
            // Readers must cope with the damage before the index is repaired.
            self.compare();
        }
        self.ledger = Some(Ledger::open(self.options.clone()).unwrap());
    }

    fn compare(&mut self) {
        let fresh = Reader::open(self.folder.path()).unwrap();
        assert_eq!(
            fresh.head().unwrap().seq.0,
            self.notes.last_seq(),
            "{}: not everything was written down",
            self.what
        );
        let accounts: Vec<u64> = self.stream.model.accounts.keys().copied().collect();
        for _ in 0..accounts.len().min(6) {
            let account = accounts[self.rng.usize(0..accounts.len())];
            let (page, descending) = (self.rng.usize(3..200), self.rng.bool());
            let reader = if self.rng.bool() { &self.reader } else { &fresh };
            let lines = whole_statement(reader, account, page, descending);
            self.notes.check_statement(account, &lines, &self.what);
            for _ in 0..4 {
                let at = START + self.rng.u64(0..self.notes.last_time().max(START) - START + 20);
                let standing = reader.balance_at(AccountId(account), Time(at)).unwrap();
                let read = (standing.seq.map(|seq| seq.0), standing.balance.units(), standing.held.units());
                assert_eq!(read, self.notes.balance_at(account, at), "{}: account {account} at {at}", self.what);
            }
        }
        let reader = if self.rng.bool() { &self.reader } else { &fresh };
        let (page, descending) = (self.rng.usize(3..300), self.rng.bool());
        let search = |subject: SearchSubject| search(reader, subject, page, descending);
        for wallet in ["0xa1", "0xb2", "0xc3", "unknown"] {
            let found = search(SearchSubject::Wallet(name(wallet)));
            assert_eq!(found, self.notes.of_wallet(wallet, &self.stream.model), "{}: {wallet}", self.what);
        }
        for reference in ["dep-1", "0xB10C", "dep-2"] {
            let found = search(SearchSubject::Reference(reference.into()));
            assert_eq!(found, self.notes.about(reference), "{}: {reference}", self.what);
        }
        assert_eq!(search(SearchSubject::Deposit("0xb10c".into())), [] as [u64; 0], "a block is no deposit");
        let history = self.stream.history();
        for _ in 0..history.len().min(5) {
            let text = history[self.rng.usize(0..history.len())].key.text.clone();
            let found = search(SearchSubject::Key(KeyQuery { text: text.clone(), namespace: None, scope: None }));
            assert_eq!(found, self.notes.under(&text), "{}: key {text:?}", self.what);
        }
    }
}

fn whole_statement(reader: &Reader, account: u64, page: usize, descending: bool) -> Vec<StatementLine> {
    let mut query = StatementQuery { most: page, descending, ..StatementQuery::of(AccountId(account)) };
    let mut lines = Vec::new();
    loop {
        let page = reader.statement(&query).unwrap();
        lines.extend(page.items);
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    if descending {
        lines.reverse();
    }
    lines
}

fn search(reader: &Reader, subject: SearchSubject, page: usize, descending: bool) -> Vec<u64> {
    let mut query = SearchQuery { most: page, descending, ..SearchQuery::of(subject) };
    let mut found = Vec::new();
    loop {
        let page = reader.search(&query).unwrap();
        found.extend(page.items.iter().map(|entry| entry.seq.0));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    if descending {
        found.reverse();
    }
    found
}

/// The move of a line: the other account, whether money came in, how much, the balance after it.
fn move_of(line: &StatementLine) -> Option<(u64, bool, u128, u128)> {
    match line.change {
        StatementChange::Moved { direction, other } => {
            Some((other.0, direction == Direction::In, line.amount.units(), line.balance.units()))
        }
        _ => None,
    }
}

/// The hold of a line: which, and what is held in all after it.
fn hold_of(line: &StatementLine) -> Option<(u64, u128)> {
    match line.change {
        StatementChange::Moved { .. } => None,
        StatementChange::Held(hold)
        | StatementChange::Posted(hold)
        | StatementChange::Released(hold)
        | StatementChange::Expired(hold) => Some((hold.0, line.held.units())),
    }
}
