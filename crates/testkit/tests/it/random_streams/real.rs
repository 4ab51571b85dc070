//! The real store with very little memory, driven step by step and compared with the model.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bankroll_ledger::{Account, ColumnValue, Name, Request, Seq, Time};
use bankroll_store::{
    AccountFilter, Audit, BOOKS_FILE, BooksMove, Clock, DatabaseUrl, Ledger, LedgerOptions, Location, Reader, Statement,
};
use bankroll_testkit::{
    model::{ModelOutcome, ModelRows, TABLES, rights},
    postgres,
    streams::{ModelRowsOutcome, START, Stream, StreamStep, rows_outcome},
};
use tempfile::TempDir;

use super::counts::Counts;

/// Tickets by server and number with their state and serial, and notes.
type ShortRows = (Vec<(String, i64, String, Option<i64>)>, BTreeMap<i64, String>);

/// The real store, with little memory.
pub struct Real {
    options: LedgerOptions,
    clock: Arc<AtomicU64>,
    ledger: Option<Ledger>,
    reader: Reader,
    _folder: TempDir,
}

impl Real {
    /// On the engine of the suite.
    pub fn open(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        Self::at(seed, folder, location)
    }

    pub fn in_folder(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = folder.path().into();
        Self::at(seed, folder, location)
    }

    fn at(seed: u64, folder: TempDir, location: Location) -> Self {
        let (clock, hand) = Clock::manual(Time(START));
        let options = LedgerOptions {
            clock,
            keys_in_memory_max: [16, 64, 300][(seed % 3) as usize],
            // Two of three streams keep all accounts in memory and use the commit thread where possible.
            accounts_in_memory_max: [100_000, 24, 100_000][(seed / 3 % 3) as usize],
            background_commit_min: [1, 128, 2][(seed / 3 % 3) as usize],
            migrations: vec![TABLES],
            ..LedgerOptions::new(location)
        };
        let ledger = Some(Ledger::create(options.clone()).unwrap());
        let reader = Reader::open(&options.location).unwrap();
        Self { options, clock: hand, ledger, reader, _folder: folder }
    }

    fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    /// Closes the books, moves them, and opens them at the new location.
    pub fn move_to_postgres(&mut self) {
        self.ledger.take().unwrap().close();
        let Location::Folder(from) = self.options.location.clone() else { panic!("they have moved already") };
        let to = postgres::needed_database();
        let now = Time(self.clock.load(Ordering::SeqCst));
        let moving = BooksMove { from, to: to.clone(), migrations: vec![TABLES], now };
        let moved = moving.run(|_| {}).unwrap();
        assert_eq!(moved.head, self.reader.head().unwrap().hash);
        self.options.location = to.into();
        self.ledger = Some(Ledger::open(self.options.clone()).unwrap());
        self.reader = Reader::open(&self.options.location).unwrap();
    }

    pub fn decided_ahead(&self) -> u64 {
        self.ledger().decided_ahead()
    }

    pub fn execute(&mut self, step: StreamStep, counts: &mut Counts) -> Result<(), String> {
        match step {
            StreamStep::List { asset, expected } => {
                let listed = self.ledger().list_asset(asset).map_err(|error| error.to_string())?;
                same("asset", &listed.0, &expected)
            }
            StreamStep::Open { by, names, expected } => {
                let opened = self.ledger().open_accounts_with(&by, names.clone()).map_err(|error| error.to_string())?;
                let opened: Vec<Result<u64, String>> = opened
                    .into_iter()
                    .map(|opened| opened.map(|id| id.0).map_err(|rejected| snake_case(&format!("{rejected:?}"))))
                    .collect();
                let expected: Vec<_> = expected.into_iter().map(|opened| opened.map_err(str::to_owned)).collect();
                same(&format!("opening {names:?} by {by:?}"), &opened, &expected)
            }
            StreamStep::Submit { calls, rows } => self.ask(calls, rows, counts),
            StreamStep::Clock(time) => {
                self.clock.store(time, Ordering::SeqCst);
                self.ledger().tick().map_err(|error| error.to_string())
            }
            StreamStep::Restart => {
                counts.restarts += 1;
                counts.decided_ahead += self.decided_ahead();
                self.ledger.take().unwrap().close();
                self.ledger = Some(Ledger::open(self.options.clone()).map_err(|error| format!("reopening: {error}"))?);
                Ok(())
            }
        }
    }

    fn ask(
        &self,
        calls: Vec<Vec<(Request, ModelOutcome)>>,
        rows: Option<(Vec<Statement>, ModelRowsOutcome)>,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let submit = |call: &Vec<(Request, ModelOutcome)>| {
            self.ledger().submit(call.iter().map(|(request, _)| request.clone()).collect())
        };
        let replies: Vec<_> = calls.iter().map(submit).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let rows =
            rows.map(|(statements, expected)| (self.ledger().write_rows(statements.clone()), statements, expected));
        for (call, reply) in calls.iter().zip(replies) {
            let answers = reply.wait().map_err(|error| format!("{error}; {:?}", self.ledger().stopped_by()))?;
            for ((request, expected), answer) in call.iter().zip(&answers) {
                same(&format!("{request:?}"), &ModelOutcome::from(answer), expected)?;
                counts.note(expected);
            }
        }
        if let Some((reply, statements, expected)) = rows {
            let changed = reply.map_err(|error| error.to_string())?.wait().map_err(|error| error.to_string())?;
            same(&format!("{statements:?}"), &rows_outcome(changed), &expected)?;
        }
        Ok(())
    }

    fn accounts(&self) -> Vec<Account> {
        self.reader.accounts(&AccountFilter::default(), usize::MAX).unwrap()
    }

    /// Debits equal credits, for each asset.
    pub fn conserves(&self) -> Result<(), String> {
        let mut sums: BTreeMap<(u32, bool), Wide> = BTreeMap::new();
        for account in self.accounts() {
            let debit = rights::is_debit(account.name.kind.as_str());
            sums.entry((account.name.asset.0, debit)).or_default().add(account.balance.units());
            sums.entry((account.name.asset.0, !debit)).or_default();
        }
        for ((asset, _), debits) in sums.iter().filter(|((_, debit), _)| *debit) {
            same(&format!("debits and credits of asset {asset}"), debits, &sums[&(*asset, false)])?;
        }
        Ok(())
    }

    /// Every account, hold, row and announcement is the model's.
    pub fn compare(&self, stream: &Stream) -> Result<(), String> {
        let model = &stream.model;
        let accounts = self.accounts();
        same("number of accounts", &accounts.len(), &model.accounts.len())?;
        let mut holds = 0;
        for account in accounts {
            let standing = model.money.balances[&account.id.0];
            let known = &model.accounts[&account.id.0];
            let name = (account.name.scope.to_string(), account.name.kind.as_str(), account.name.asset.0);
            same("name", &name, &(known.scope.clone(), known.kind.as_str(), known.asset))?;
            same("owner", &account.name.owner.map(|owner: Name| owner.to_string()), &known.owner)?;
            let stands = (account.balance.units(), account.held.units());
            same(&format!("balance and held of {name:?}"), &stands, &(standing.balance, standing.held))?;
            same("debt account", &account.debt.map(|debt| debt.0), &model.debt_of(account.id.0))?;
            for hold in self.reader.open_holds(account.id).unwrap() {
                holds += 1;
                let known = model.money.holds.get(&hold.id.0).map(|hold| (hold.account, hold.remaining, hold.expires));
                let stands = (hold.account.0, hold.remaining.units(), hold.expires.map(|expires| expires.0));
                same(&format!("hold {}", hold.id), &Some(stands), &known)?;
            }
        }
        same("number of open holds", &holds, &model.money.holds.len())?;
        let events = self.reader.events_after(Seq(0), usize::MAX).unwrap();
        let events: Vec<_> = events.into_iter().map(|event| (event.seq.0, event.resource)).collect();
        let expected: Vec<_> = model.events.iter().map(|(seq, event)| (*seq, event.resource.clone())).collect();
        same("announcements", &events, &expected)?;
        same("rows", &self.rows(), &rows_in_short(&model.rows))?;
        same("the journal's end", &self.reader.head().unwrap().seq.0, &model.seq)
    }

    fn rows(&self) -> ShortRows {
        let folder = match &self.options.location {
            Location::Folder(folder) => folder,
            Location::Postgres(url) => return rows_on_postgres(url),
        };
        let books = rusqlite::Connection::open(folder.join(BOOKS_FILE)).unwrap();
        let mut tickets = books.prepare("SELECT server, number, state, serial FROM tickets ORDER BY 1, 2").unwrap();
        let tickets = tickets.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
        let tickets = tickets.map(Result::unwrap).collect();
        let mut notes = books.prepare("SELECT id, text FROM notes").unwrap();
        let notes = notes.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        (tickets, notes)
    }

    pub fn audit(&self) -> Result<u64, String> {
        let audit = Audit::new(Reader::open(&self.options.location).unwrap());
        audit.run(|_| {}).map(|(report, _)| report.rows).map_err(|error| format!("audit: {error}"))
    }
}

fn rows_on_postgres(url: &DatabaseUrl) -> ShortRows {
    let tickets =
        postgres::pairs(url, "SELECT server || ' ' || number, state || ' ' || coalesce(serial::text, '') FROM tickets");
    let ticket = |(key, rest): (String, String)| {
        let ((server, number), (state, serial)) = (key.split_once(' ').unwrap(), rest.split_once(' ').unwrap());
        (server.to_owned(), number.parse().unwrap(), state.to_owned(), serial.parse().ok())
    };
    let mut tickets: Vec<_> = tickets.into_iter().map(ticket).collect();
    tickets.sort();
    let notes = postgres::pairs(url, "SELECT id, text FROM notes");
    (tickets, notes.into_iter().map(|(id, text)| (id.parse().unwrap(), text)).collect())
}

fn rows_in_short(rows: &ModelRows) -> ShortRows {
    let ticket = |((server, number), row): (&(String, i64), &BTreeMap<String, ColumnValue>)| {
        let state = if let ColumnValue::Text(state) = &row["state"] { state.clone() } else { String::new() };
        let serial = if let ColumnValue::Int(serial) = row["serial"] { Some(serial) } else { None };
        (server.clone(), *number, state, serial)
    };
    (rows.tickets.iter().map(ticket).collect(), rows.notes.clone())
}

/// A sum that may exceed 128 bits.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wide {
    carried: u64,
    low: u128,
}

impl Wide {
    fn add(&mut self, amount: u128) {
        let (low, carry) = self.low.overflowing_add(amount);
        (self.low, self.carried) = (low, self.carried + u64::from(carry));
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, real: &T, expected: &T) -> Result<(), String> {
    if real == expected {
        Ok(())
    } else {
        Err(format!("{what}\n  the store says  {real:?}\n  the model says  {expected:?}"))
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
