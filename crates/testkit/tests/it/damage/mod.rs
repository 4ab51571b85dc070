//! Damaged files and edited tables: refused, repaired, or harmless; never believed.
//!
//! Each number of a run is one damage to a copy of the same books. The `examiner` then uses the copy as its users do,
//! within bounds of memory and processor time, and the test compares every answer with an undamaged copy:
//!
//! | outcome | means |
//! | --- | --- |
//! | refused at open, in use | an error before any answer that differs |
//! | found by the audit | no answer differs, and the final audit names the damage |
//! | repaired | no answer differs, the audit found the damage before, and finds nothing after |
//! | harmless | no answer differs, and neither audit finds anything |
//! | rebuilt as advised | refused or found with the advice to rebuild, which a second copy follows: then harmless |
//! | not ours | a column of a flow that no fact sets: the ledger promises nothing about it |
//! | believed | an answer differs, or a stored row differs that the audit calls sound: the test fails |
//! | bad advice | the rebuild that a message names does not help: the test fails |
//! | hang, panic | the test fails |
//!
//! | module | what it is |
//! | --- | --- |
//! | `set` | the books: closed, killed with a log, and of yesterday |
//! | `files` | bits, bytes, bursts, pages, logs and files of yesterday |
//! | `edits` | rows edited with SQL on SQLite; on Postgres in `server` |
//! | `verdict` | the interview, and its outcome |
//! | `reviewed` | the damages that a review found believed, each as a story |
//!
//! Not covered: two damages at once, so not a whole folder of yesterday: that is a restored backup.

mod edits;
mod files;
mod reviewed;
mod server;
mod set;
mod verdict;

use std::{collections::BTreeMap, path::Path};

use fastrand::Rng;

use crate::run::{SoakTime, is_soak, report};
use files::FileDamage;
use set::{BooksSet, State};
use verdict::{Examination, Outcome};

/// The damages of a usual run. In a soak, at least `SOAKED` of each suite.
const FILES: u64 = 72;
const EDITS: u64 = 36;
const SOAKED: u64 = 1_000;

/// Repeats one damage of a suite, with the seed that was printed.
const NUMBER: &str = "BANKROLL_TEST_DAMAGE";

/// The numbers of a suite's damages.
fn numbers(usual: u64) -> Box<dyn Iterator<Item = u64>> {
    if let Ok(number) = std::env::var(NUMBER) {
        return Box::new(std::iter::once(number.parse().unwrap()));
    }
    let (time, least) = (SoakTime::shared_by(3), if is_soak() { SOAKED } else { usual });
    Box::new((0..).take_while(move |number| *number < least || !time.is_up()))
}

/// The sample of a usual run is always the same; a soak, and the repetition of one damage, take the seed they are given.
fn seed() -> u64 {
    if is_soak() || std::env::var_os(NUMBER).is_some() { crate::run::seed() } else { 20_261_115 }
}

fn rng_of(number: u64) -> Rng {
    Rng::with_seed(seed().wrapping_mul(1_000_003).wrapping_add(number))
}

/// The outcomes of a suite, by the kind of the damage.
struct Counts {
    suite: &'static str,
    outcomes: BTreeMap<String, BTreeMap<Outcome, u64>>,
    failures: Vec<String>,
}

impl Counts {
    fn new(suite: &'static str) -> Self {
        report(&format!("damage, {suite}: seed {}", seed()));
        Self { suite, outcomes: BTreeMap::new(), failures: Vec::new() }
    }

    fn add(&mut self, number: u64, kind: &str, what: &str, examination: &Examination) {
        let outcome = examination.outcome;
        *self.outcomes.entry(kind.to_owned()).or_default().entry(outcome).or_default() += 1;
        let line = format!("seed {} number {number}, {kind}, {what}: {outcome}: {}", seed(), examination.why);
        if outcome.is_failure() {
            report(&format!("damage, {}: {line}", self.suite));
            self.failures.push(line);
        } else if std::env::var_os(NUMBER).is_some() {
            report(&line);
        }
    }

    /// Prints the counts, and fails if a damage was believed.
    fn end(self) {
        let mut all = BTreeMap::<Outcome, u64>::new();
        for (kind, outcomes) in &self.outcomes {
            let counts: Vec<String> = outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
            report(&format!("damage, {}, {kind}: {}", self.suite, counts.join(", ")));
            outcomes.iter().for_each(|(outcome, count)| *all.entry(*outcome).or_default() += count);
        }
        let counts: Vec<String> = all.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
        let total: u64 = all.values().sum();
        report(&format!("damage, {} (seed {}): {total} damages: {}", self.suite, seed(), counts.join(", ")));
        let failures = &self.failures;
        assert!(failures.is_empty(), "{} of {total} damages failed:\n{}", failures.len(), failures.join("\n"));
    }
}

#[test]
fn damage_to_files_and_pages_is_never_believed() {
    let mut set = BooksSet::make();
    let mut counts = Counts::new("files");
    let kinds = FileDamage::kinds();
    for number in numbers(FILES) {
        let mut rng = rng_of(number);
        let kind = kinds[usize::try_from(number).unwrap() % kinds.len()];
        let state = kind.state(&mut rng);
        let copy = set.copy(state);
        let (what, examination) = match kind.inflict(copy.path(), &set, &mut rng) {
            Some(what) => {
                let spare = tempfile::tempdir().unwrap();
                copy_books(copy.path(), spare.path());
                (what, set.examine_and_follow(copy.path(), spare.path(), state, number))
            }
            None => (String::new(), Examination::of(Outcome::NotApplicable, "")),
        };
        counts.add(number, &kind.to_string(), &format!("{state:?} books, {what}"), &examination);
    }
    counts.end();
}

#[test]
fn damage_by_edits_of_every_table_and_column_is_never_believed() {
    let mut set = BooksSet::make();
    let mut counts = Counts::new("edits");
    let plan = edits::plan(&set.path(State::Closed));
    // A usual run takes some by the seed; a soak takes every column.
    let first = Rng::with_seed(seed()).usize(..plan.len());
    for number in numbers(EDITS) {
        let mut rng = rng_of(number);
        let edit = &plan[(first + usize::try_from(number).unwrap() * edits::STRIDE) % plan.len()];
        let copy = set.copy(State::Closed);
        let mut examination = match edit.inflict(copy.path(), &mut rng) {
            Ok(what) => {
                let spare = tempfile::tempdir().unwrap();
                copy_books(copy.path(), spare.path());
                let found = set.examine_and_follow(copy.path(), spare.path(), State::Closed, number);
                Examination { why: format!("{what}: {}", found.why), ..found }
            }
            Err(refused) => Examination::of(Outcome::NotApplicable, &refused),
        };
        if edit.is_of_flow() && matches!(examination.outcome, Outcome::Believed) {
            examination.outcome = Outcome::NotOurs;
        }
        counts.add(number, edit.how.name(), &format!("{}.{}", edit.table, edit.column), &examination);
    }
    counts.end();
}

/// Copies a folder of books; its locks and shared memory are not part of them.
fn copy_books(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
