//! The interview: reads, replays and writes, then the audit. Stops at the first error.

use std::{
    fmt::{Debug, Display},
    hash::{DefaultHasher, Hash, Hasher},
};

use bankroll_ledger::{IdempotencyKey, Leg, Principal, Request, Seq, Time};
use bankroll_store::{
    AccountFilter, Audit, Ledger, Location, Reader, SearchQuery, SearchSubject, StatementQuery, StoreError, SubmitError,
};

use super::{
    maker::{WORLD, deposit, game_server, moving, names_of, request, reverse},
    options,
    questions::Questions,
};

/// How a line begins: an answer, an error, the outcome of a check that came before, of the final check.
pub const SAID: &str = "said";
pub const FAILED: &str = "failed";
pub const CHECKED: &str = "checked";
pub const FOUND: &str = "found";
/// How a check ends that found nothing.
pub const SOUND: &str = "sound";

/// Every so many accounts are asked one by one on a server.
const SERVER_STEP: usize = 5;
/// Requests in one call.
const REPLAYS: usize = 100;
/// Answers longer than this are cut, and end with a hash of their text.
const LONG: usize = 400;

/// The interview stopped at an error.
struct Stopped;

struct Interview<'a> {
    location: &'a Location,
    questions: Questions,
    out: &'a mut dyn FnMut(String),
}

/// Checks the books as they are, without opening them for writing.
pub fn check(location: &Location, out: &mut dyn FnMut(String)) {
    out(format!("{CHECKED} {}", whole_check(location)));
}

/// Uses the books, and passes each answer on as a line. Half of the seeds read the books before they are opened for
/// writing.
///
/// # Panics
/// If the undamaged books cannot be read.
pub fn interview(location: &Location, undamaged: &Location, seed: u64, out: &mut dyn FnMut(String)) {
    let questions = Questions::read(undamaged, seed).expect("undamaged books");
    let mut interview = Interview { location, questions, out };
    if interview.hold(seed.is_multiple_of(2)).is_ok() {
        let found = whole_check(location);
        (interview.out)(format!("{FOUND} {found}"));
    }
}

/// The first finding of the audit, of the indexes' check, and of the pages' check.
fn whole_check(location: &Location) -> String {
    let audited = || -> Result<(), StoreError> {
        Audit::new(Reader::open(location)?).run(|_| {})?;
        let reader = Reader::open(location)?;
        reader.check_indexes(|_| {})?;
        reader.check_pages(None).map(drop)
    };
    audited().map_or_else(|error| one_line(&with_sources(&error)), |()| SOUND.into())
}

fn with_sources(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", with_sources(source)))
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

impl Interview<'_> {
    fn hold(&mut self, reads_first: bool) -> Result<(), Stopped> {
        if reads_first {
            self.read()?;
        }
        let new = {
            let ledger = self.open()?;
            self.read()?;
            self.replay(&ledger)?;
            let new = self.write(&ledger)?;
            self.read_balances()?;
            ledger.close();
            new
        };
        let ledger = self.open()?;
        for request in new {
            self.submit(&ledger, "once more", request)?;
        }
        ledger.close();
        self.read_balances()
    }

    fn answer<T: Debug, E: Display>(&mut self, what: impl Display, answer: Result<T, E>) -> Result<(), Stopped> {
        match answer {
            Ok(answer) => {
                let text = one_line(&format!("{answer:?}"));
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                let cut = text.char_indices().nth(LONG).map(|(place, _)| &text[..place]);
                let shown = cut.map_or(text.clone(), |cut| format!("{cut}... {:016x}", hasher.finish()));
                (self.out)(format!("{SAID} {what}: {shown}"));
                Ok(())
            }
            Err(error) => {
                (self.out)(format!("{FAILED} {what}: {}", one_line(&error.to_string())));
                Err(Stopped)
            }
        }
    }

    fn open(&mut self) -> Result<Ledger, Stopped> {
        let (options, _) = options(self.location, self.questions.now());
        match Ledger::open(options) {
            Ok(ledger) => {
                self.answer("open", Ok::<_, StoreError>(()))?;
                // Holds that are due expire before the next question, not at a moment that the writer chooses.
                self.answer("tick", ledger.tick().map_err(|error| format!("{error}: {:?}", ledger.stopped_by())))?;
                Ok(ledger)
            }
            Err(error) => Err(self.answer("open", Err::<(), _>(with_sources(&error))).err().unwrap_or(Stopped)),
        }
    }

    /// As the commands read: a page that went back to an older state is no other page to a reader that compares nothing.
    fn reader(&mut self) -> Result<Reader, Stopped> {
        let opened = Reader::open(self.location).and_then(|reader| reader.verify_tail().map(|_| reader));
        opened.map_err(|error| {
            (self.out)(format!("{FAILED} open for reading: {}", one_line(&with_sources(&error))));
            Stopped
        })
    }

    /// Accounts by name and number, and a sample of everything else.
    fn read(&mut self) -> Result<(), Stopped> {
        self.read_balances()?;
        let reader = self.reader()?;
        self.answer("assets", reader.assets())?;
        // On a server, where each question is a round trip, some of them.
        let step = if matches!(self.location, Location::Folder(_)) { 1 } else { SERVER_STEP };
        let first = self.questions.rng.usize(..step);
        for account in self.questions.accounts.clone().into_iter().skip(first).step_by(step) {
            let named = reader.account_named(&account.name).map(|found| found.map(|found| (found.id, found.name)));
            self.answer(format!("account {}", account.name), named)?;
            self.answer(format!("account {}", account.id), reader.account(account.id))?;
            self.answer(format!("open holds of {}", account.name), reader.open_holds(account.id))?;
        }
        for account in self.questions.some_players(4) {
            self.answer(format!("statement of {account}"), reader.statement(&StatementQuery::of(account)))?;
            let at = Time(self.questions.rng.u64(..self.questions.head.at.0));
            self.answer(format!("balance of {account} at {at:?}"), reader.balance_at(account, at))?;
        }
        for seq in self.questions.some_places(6) {
            let receipt = reader.receipt(seq);
            let proven = receipt.map(|receipt| receipt.map(|(receipt, head)| (receipt.proves_under(&head), receipt)));
            self.answer(format!("receipt of {seq}"), proven)?;
            self.answer(format!("record {seq}"), reader.record(seq))?;
            self.answer(format!("reversal of {seq}"), reader.reversal_of(seq))?;
        }
        let keys: Vec<IdempotencyKey> = self.questions.replays(3).into_iter().map(|request| request.key).collect();
        for key in keys {
            self.answer(format!("key {}", key.text), reader.find_key(&key))?;
        }
        for account in self.questions.some_players(2) {
            let known = self.questions.accounts.iter().find(|known| known.id == account);
            let Some(owner) = known.and_then(|known| known.name.owner.clone()) else { continue };
            let query = SearchQuery::of(SearchSubject::Wallet(owner.clone()));
            self.answer(format!("search of {owner}"), reader.search(&query))?;
        }
        // Not the rows of flows: flows read them with their own SQL, and only the audit compares them with the facts.
        self.answer("announcements", reader.events_after(Seq(0), usize::MAX))
    }

    fn read_balances(&mut self) -> Result<(), Stopped> {
        let reader = self.reader()?;
        self.answer("head", reader.head())?;
        self.answer("all accounts", reader.accounts(&AccountFilter::default(), usize::MAX))
    }

    fn replay(&mut self, ledger: &Ledger) -> Result<(), Stopped> {
        for request in self.questions.replays(12) {
            self.submit(ledger, "replay", request)?;
        }
        // In a folder all of them: a lookup is cheap there.
        if matches!(self.location, Location::Folder(_)) {
            let all: Vec<Request> = self.questions.decided.iter().map(|(_, request)| request.clone()).collect();
            for (some, number) in all.chunks(REPLAYS).zip(1_usize..) {
                let answers =
                    ledger.submit(some.to_vec()).map_err(SubmitError::from).and_then(|reply| Ok(reply.wait()?));
                let places = answers.map(|answers| {
                    answers.into_iter().map(|answer| (answer.replayed, answer.seq, answer.verdict)).collect::<Vec<_>>()
                });
                let places = places.map_err(|error| format!("{error}: {:?}", ledger.stopped_by()));
                self.answer(format!("replays, part {number}"), places)?;
            }
        }
        let known: Vec<_> = self.questions.accounts.iter().map(|account| account.name.clone()).collect();
        let opened = known.chunks(100).try_fold(Vec::new(), |mut all, some| {
            all.extend(ledger.open_accounts(&Principal::System, some.to_vec())?);
            Ok::<_, SubmitError>(all)
        });
        let opened = opened.map_err(|error| format!("{error}: {:?}", ledger.stopped_by()));
        self.answer("open known accounts", opened)
    }

    /// New requests on old accounts, holds and transfers; returns them.
    fn write(&mut self, ledger: &Ledger) -> Result<Vec<Request>, Stopped> {
        let mut all = Vec::new();
        let text = |what: &str, number: usize| format!("asked-{what}-{number}");
        for (id, number) in self.questions.some_players(6).into_iter().zip(0..) {
            let account = self.questions.accounts.iter().find(|account| account.id == id);
            let free = account.map_or(0, |account| account.balance.units() - account.held.units());
            all.push(request(&text("more", number), game_server(), vec![moving(id, WORLD, free + 1)]));
            all.push(request(&text("all", number), game_server(), vec![moving(id, WORLD, free.max(1))]));
            all.push(deposit(&text("deposit", number), id, 7));
        }
        for (hold, number) in self.questions.some_holds(12).into_iter().zip(0..) {
            let legs = vec![Leg::Release { hold }];
            all.push(request(&text("release", number), Principal::System, legs));
        }
        for (original, number) in self.questions.some_originals(6).into_iter().zip(0..) {
            all.push(reverse(&text("reverse", number), original));
        }
        for request in &all {
            self.submit(ledger, "new", request.clone())?;
        }
        let unknown = [1_000, 1_001].into_iter().flat_map(names_of).collect();
        let opened = ledger.open_accounts(&Principal::System, unknown);
        self.answer("open new accounts", opened.map_err(|error| format!("{error}: {:?}", ledger.stopped_by())))?;
        self.answer("tick", ledger.tick().map_err(|error| format!("{error}: {:?}", ledger.stopped_by())))?;
        Ok(all)
    }

    fn submit(&mut self, ledger: &Ledger, what: &str, request: Request) -> Result<(), Stopped> {
        let what = format!("{what} {}", request.key.text);
        let answer = ledger.apply(request);
        self.answer(what, answer.map_err(|error| format!("{error}: {:?}", ledger.stopped_by())))
    }
}
