//! Bad input to every command: wrong types, huge and negative numbers, unicode, missing and damaged files, folders in
//! the place of files. Each row of the tables is run twice, as text and with `--json`, in a copy of the same folder.
//!
//! Every row checks the exit code and a part of the message, and that
//! - the message is about the user's input, without words of the programming language, and nothing panicked;
//! - with `--json` it is the JSON of an error (or of a report, where the command's answer is a report);
//! - the folder is as before, byte for byte. What it takes to look at books is no change: SQLite's `-shm` and empty
//!   `-wal`, and the lock of a writer.
//!
//! A command or an option with a value that has no row is a failure, too. Rows end by themselves: none starts a server.

mod alerts;
mod arguments;
mod configuration;
mod coverage;
mod deposit_decisions;
mod events;
mod files;
mod funds;
mod owner;
mod payments;
mod people;
mod permissions;
mod places;
mod reading;
mod row;
mod signers;
mod world;

use row::Row;
use world::World;

/// Rows that are run in a copy of the prepared folder.
const TABLES: [&[Row]; 13] = [
    deposit_decisions::ROWS,
    alerts::ROWS,
    arguments::ROWS,
    configuration::ROWS,
    events::ROWS,
    files::ROWS,
    funds::ROWS,
    owner::ROWS,
    payments::ROWS,
    people::ROWS,
    places::ROWS,
    reading::ROWS,
    signers::ROWS,
];

/// Runs all rows, and reports all that fail.
#[track_caller]
fn check(rows: &[Row]) {
    let mut world = World::new();
    let failures: Vec<String> = rows.iter().flat_map(|row| row.failures(&mut world)).collect();
    assert!(failures.is_empty(), "{} failures:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn wrong_alerts_are_refused() {
    check(alerts::ROWS);
}

#[test]
fn wrong_arguments_are_refused() {
    check(arguments::ROWS);
}

#[test]
fn wrong_input_about_events_is_refused() {
    check(events::ROWS);
}

#[test]
fn wrong_configurations_are_refused() {
    check(configuration::ROWS);
}

#[test]
fn wrong_folders_and_damaged_books_are_refused() {
    check(places::ROWS);
}

#[test]
fn wrong_questions_are_refused() {
    check(reading::ROWS);
}

#[test]
fn damaged_receipts_and_hands_are_refused() {
    check(files::ROWS);
}

#[test]
fn wrong_input_to_the_signer_is_refused() {
    check(signers::ROWS);
}

#[test]
fn wrong_requests_about_players_and_payments_are_refused() {
    check(payments::ROWS);
}

#[test]
fn wrong_requests_of_the_funds_api_are_refused() {
    check(funds::ROWS);
}

#[test]
fn wrong_changes_of_the_owner_are_refused() {
    check(owner::ROWS);
}

#[test]
fn wrong_input_about_people_is_refused() {
    check(people::ROWS);
    check(deposit_decisions::ROWS);
}
