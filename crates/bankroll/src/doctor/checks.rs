//! The checks. Each one depends on those before it.

use std::{io, path::Path, time::Duration};

use bankroll_nodes::NodeRole;
use bankroll_roles::{
    audit,
    config::{DurabilityConfig, LoadedConfig},
};
use bankroll_store::{
    BOOKS, Clock, DamageRemedy, DatabaseUrl, HEAD_FILE, LeaseWatch, Location, Protection, Reader, StoreError,
};
use bankroll_terminal::{counted, invocation, thousands};

use super::{
    Check, alerts, certificates, chain, database_user, folder_state, head_key, interrupted, newest_head, people, scrub,
};
use crate::{audit::SCHEMA_FIX, location::LocationArgs};

/// Free space below which a busy ledger is in danger.
const FREE_MIN: u64 = 1 << 30;
/// How much of the file is checked without `--full`.
const PAGES_WITHIN: Duration = Duration::from_secs(5);
/// No command makes copies yet: the help of `doctor` says how.
const RESTORE: &str = "stop the writer, keep these books as they are, and go on with your newest copy that \
                       `bankroll audit --dir COPY` finds sound (`bankroll doctor --help` says how to make copies)";

pub fn all(location: &LocationArgs, full: bool, quiet: bool) -> Vec<Check> {
    let loaded = match location.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            return vec![Check::red(
                "configuration",
                format!("{error:#}"),
                "correct it, then run `bankroll config check`",
            )];
        }
    };
    let folder = match loaded.books() {
        Location::Folder(folder) => folder,
        Location::Postgres(url) => return of_database(location, &loaded, url, full, quiet),
    };
    // Before the books are opened: the check opens their file, and closing it would release SQLite's locks.
    let can_write = folder_state::writable(&folder);
    let mut checks = vec![configuration(&loaded), durability(&loaded), writable(&folder, &can_write)];
    checks.extend(space(&folder));
    let opened = Reader::open(&folder);
    match &opened {
        Ok(reader) => {
            checks.extend(moved(reader));
            checks.extend([
                schema(),
                head(reader),
                newest_head::check(&loaded, reader, &location.base()),
                head_key::check(&loaded, reader),
                lock(&folder),
            ]);
            // Where nothing can be written, SQLite does not say how it would write.
            checks.extend(can_write.is_ok().then(|| settings(&folder)));
            checks.extend([pages(reader, full), tail(reader)]);
            checks.push(scrub::check(&loaded.scrub_file(), reader, false, Clock::machine().now()));
            if !checks.iter().any(Check::is_unsound) {
                checks.extend(people::all(reader, &location.base()));
            }
            checks.extend(alerts::check(reader));
            if full {
                checks.push(books(&folder.clone().into(), quiet));
            }
        }
        Err(error) => checks
            .push(interrupted::check(error, &folder, location).unwrap_or_else(|| unreadable(error, &folder, location))),
    }
    checks.extend(chain::all(location, &loaded, opened.as_ref().ok()));
    checks
}

/// The checks of books in a database. Connecting checks the server's settings.
fn of_database(
    location: &LocationArgs,
    loaded: &LoadedConfig,
    url: DatabaseUrl,
    full: bool,
    quiet: bool,
) -> Vec<Check> {
    let mut checks = vec![configuration(loaded)];
    checks.extend(certificates::all(loaded, Clock::machine().now()));
    checks.push(protection(&url));
    let database = Location::from(url.clone());
    let mut reader = None;
    match Reader::open(&database) {
        // The login of another role cannot read most of the books, and need not.
        Ok(opened) if !loaded.config.node.roles.has(NodeRole::Books) => {
            checks.extend([server(), schema(), lease(&database), database_user::check(location, loaded, &url)]);
            reader = loaded.config.node.roles.has(NodeRole::Indexer).then_some(opened);
        }
        Ok(opened) => {
            let opened = reader.insert(opened);
            let noted = newest_head::check(loaded, opened, &location.base());
            let signer = head_key::check(loaded, opened);
            checks.extend([server(), schema(), head(opened), noted, signer]);
            checks.extend([lease(&database), checksums(opened), tail(opened)]);
            checks.push(scrub::check(&loaded.scrub_file(), opened, true, Clock::machine().now()));
            if !checks.iter().any(Check::is_unsound) {
                checks.extend(people::all(opened, &location.base()));
            }
            checks.extend(alerts::check(opened));
            checks.push(database_user::check(location, loaded, &url));
            if full {
                checks.push(books(&database, quiet));
            }
        }
        Err(error @ StoreError::NoBooks) => {
            checks.extend([server(), Check::red("books", error.to_string(), init_command(location))]);
        }
        Err(error) => {
            let found = format!("{:#}", anyhow::Error::from(error));
            checks.push(Check::red("server", found, "check books.database, and that the server runs"));
        }
    }
    checks.extend(chain::all(location, loaded, reader.as_ref()));
    checks
}

/// Opening the reader has checked the server's settings.
fn server() -> Check {
    Check::green("server", "fsync, full_page_writes and synchronous_commit make commits durable")
}

/// A page without a checksum can be damaged without a sign; the audit finds it in the books, and only there.
fn checksums(reader: &Reader) -> Check {
    match reader.has_page_checksums() {
        Ok(Some(false)) => Check::warned(
            "checksums",
            "data_checksums is off: the server does not notice a damaged page",
            "stop the server, run `pg_checksums --enable -D DATA_DIRECTORY`, and start it again",
        ),
        Ok(_) => Check::green("checksums", "data_checksums is on: the server notices a damaged page"),
        Err(error) => Check::red("checksums", format!("{:#}", anyhow::Error::from(error)), "check the server"),
    }
}

fn init_command(location: &LocationArgs) -> String {
    format!("{} init --dir {}", invocation(), location.base().display())
}

/// Whether an attacker between here and the server could read the connection, or impersonate the server.
fn protection(url: &DatabaseUrl) -> Check {
    const FIX: &str = "append ?sslmode=verify-full&sslrootcert=FILE to books.database";
    let name = "connection";
    match url.protection() {
        Ok(Protection::Local) => Check::green(name, "the server is on this machine"),
        Ok(Protection::Verified) => Check::green(name, "TLS, and the server's certificate is verified"),
        Ok(Protection::Unverified) => {
            Check::red(name, "TLS without verification: an attacker on the network can impersonate the server", FIX)
        }
        Ok(Protection::IfOffered { .. }) => {
            Check::red(name, "TLS only if the server offers it: an attacker on the network can turn it off", FIX)
        }
        Ok(Protection::PlainText) => {
            Check::red(name, "plain text: an attacker on the network can read the password and change transfers", FIX)
        }
        Err(error) => Check::red(name, format!("{:#}", anyhow::Error::from(error)), "correct books.database"),
    }
}

fn configuration(loaded: &LoadedConfig) -> Check {
    let found =
        loaded.file.as_ref().map_or_else(|| "no bankroll.toml: defaults".into(), |file| file.display().to_string());
    Check::green("configuration", found)
}

fn lease(database: &Location) -> Check {
    let Location::Postgres(url) = database else { return Check::green("lease", "not needed") };
    match LeaseWatch::new(url.clone()).holder() {
        Ok(Some(holder)) if holder.is_move() && !holder.left.is_zero() => {
            let found = "books are being moved into this database, or a move was interrupted";
            Check::red(
                "lease",
                found,
                "wait for the move to end; if it was interrupted, run it again, and if that is refused, drop this database and \
                 move again",
            )
        }
        Ok(Some(holder)) if !holder.left.is_zero() => {
            let at = if holder.address.is_empty() { String::new() } else { format!(" at {}", holder.address) };
            Check::green("lease", format!("held by {}{at}; epoch {}", holder.name, holder.epoch))
        }
        Ok(_) => Check::green("lease", "free: no writer is running"),
        Err(error) => Check::red("lease", format!("{:#}", anyhow::Error::from(error)), "check the server"),
    }
}

fn durability(loaded: &LoadedConfig) -> Check {
    match loaded.config.books.durability {
        DurabilityConfig::Full => Check::green("durability", "full: every commit is synced before it is answered"),
        DurabilityConfig::MayLoseRecentCommits => {
            let from =
                loaded.value_of("books.durability").map_or_else(String::new, |(_, from)| format!(" (from {from})"));
            let found = format!("may_lose_recent_commits{from}: a power cut loses acknowledged transfers");
            Check::red("durability", found, "set books.durability = \"full\"")
        }
    }
}

fn writable(folder: &Path, can_write: &io::Result<()>) -> Check {
    match can_write {
        Ok(()) => Check::green("folder", format!("{} is writable", folder.display())),
        Err(error) => {
            let fix = if folder.is_dir() {
                "make the writer's user its owner; a copy that is only read needs nothing"
            } else {
                "check its name; `bankroll init` creates a folder"
            };
            Check::red("folder", format!("{} is not writable: {error}", folder.display()), fix)
        }
    }
}

fn space(folder: &Path) -> Option<Check> {
    let free = folder_state::free_bytes(folder)?;
    let found = format!("{} MiB free", thousands(free >> 20));
    Some(if free >= FREE_MIN {
        Check::green("disk", found)
    } else {
        Check::red("disk", found, "free some space: on a full disk every transfer is refused (none is lost)")
    })
}

/// The reader has opened, so this program supports every step of the books' schema.
fn schema() -> Check {
    Check::green("schema", format!("schema {}, supported", BOOKS.steps.len()))
}

fn head(reader: &Reader) -> Check {
    match reader.head() {
        Ok(head) => {
            let records = counted(head.seq.0, "record", "records");
            let found = format!("{records} in {}", counted(head.batch, "batch", "batches"));
            Check::green("books", found)
        }
        Err(error) if error.is_unsound() => damaged("books", &error),
        Err(error) => Check::unsound("books", format!("cannot be read: {:#}", anyhow::Error::from(error)), RESTORE),
    }
}

fn lock(folder: &Path) -> Check {
    match folder_state::lock_holder(folder) {
        Ok(None) => Check::green("lock", "free: no writer is running"),
        Ok(Some(holder)) => Check::green("lock", format!("held by {holder}: a writer is running")),
        Err(error) => Check::red("lock", format!("cannot be checked: {error}"), "check who owns books.lock"),
    }
}

fn settings(folder: &Path) -> Check {
    match folder_state::journal_mode(folder) {
        Ok(mode) if mode == "wal" => Check::green("settings", "journal_mode is wal"),
        Ok(mode) => Check::red(
            "settings",
            format!(
                "journal_mode is {mode}: no writer has opened these books yet, or another program changed the file"
            ),
            "start the writer once: it sets wal",
        ),
        Err(error) => Check::red("settings", format!("cannot be read: {error}"), RESTORE),
    }
}

fn moved(reader: &Reader) -> Option<Check> {
    let moved = match reader.moved() {
        Ok(moved) => moved?,
        Err(error) => return Some(Check::red("moved", format!("{:#}", anyhow::Error::from(error)), RESTORE)),
    };
    let found = format!("these books were moved to {} at {}, and are not the ledger any more", moved.to, moved.at);
    let fix = format!("set books.database; to undo the move, see `{} migrate-books --help`", invocation());
    Some(Check::red("moved", found, fix))
}

/// Damage that a disk or another program did to the file, also where no record is read.
fn pages(reader: &Reader, full: bool) -> Check {
    match reader.check_pages((!full).then_some(PAGES_WITHIN)) {
        Ok(true) if full => {
            Check::green("pages", "every page of the file is sound, and every index agrees with its table")
        }
        Ok(true) => Check::green("pages", "every page of the file is sound"),
        Ok(false) => {
            let found = format!("no damage found in {} seconds; `--full` checks every page", PAGES_WITHIN.as_secs());
            Check::green("pages", found)
        }
        Err(error) if error.is_unsound() => damaged("pages", &error),
        Err(error) => Check::red("pages", format!("{:#}", anyhow::Error::from(error)), RESTORE),
    }
}

/// Damage, and what repairs it: a rebuild where the place follows from the journal, a copy otherwise.
fn damaged(name: &'static str, error: &StoreError) -> Check {
    match error {
        StoreError::PagesDamaged { place, what, remedy: remedy @ DamageRemedy::Rebuild { .. } } => {
            let fix = format!("stop the writer; {remedy}");
            Check::unsound(name, format!("the database file is damaged in {place}: {what}"), fix)
        }
        StoreError::PagesDamaged { place, what, remedy: DamageRemedy::Restore } => {
            Check::unsound(name, format!("the database file is damaged in {place}: {what}"), RESTORE)
        }
        // The error itself advises to run this command.
        StoreError::Damaged { what } => Check::unsound(name, format!("the database file is damaged: {what}"), RESTORE),
        // Tables that follow from the journal lose nothing by a rebuild; a copy may be older.
        error if error.is_derived_damage() || matches!(error, StoreError::Diverged { .. }) => {
            let fix = format!("stop the writer and run `{} rebuild`; if it refuses: {RESTORE}", invocation());
            Check::unsound(name, error.to_string(), fix)
        }
        error => Check::unsound(name, error.to_string(), RESTORE),
    }
}

fn tail(reader: &Reader) -> Check {
    match reader.verify_tail() {
        Ok(0) => Check::green("tail", "the journal is empty"),
        Ok(batches) => {
            Check::green("tail", format!("{} at the end of the journal verified", counted(batches, "batch", "batches")))
        }
        Err(error) if error.is_unsound() => damaged("tail", &error),
        Err(error) => Check::unsound("tail", format!("{:#}", anyhow::Error::from(error)), RESTORE),
    }
}

fn books(books: &Location, quiet: bool) -> Check {
    match audit::run(books, quiet) {
        Ok(audited) if !audited.schema.differences.is_empty() => {
            let found =
                format!("the schema is not what the migrations made: {}", audited.schema.differences.join("; "));
            Check::unsound("audit", found, SCHEMA_FIX)
        }
        Ok(audited) => {
            let records = counted(audited.report.rows, "record", "records");
            let accounts = counted(audited.report.accounts, "account", "accounts");
            let rate = thousands(audited.rows_per_s());
            Check::green("audit", format!("books balance to the wei: {records}, {accounts}, {rate} records/s"))
        }
        Err(error) if error.is_unsound() => damaged("audit", &error),
        Err(error) => Check::red(
            "audit",
            format!("{:#}", anyhow::Error::from(error)),
            "resolve the error, then run `bankroll doctor --full` again",
        ),
    }
}

fn unreadable(error: &StoreError, folder: &Path, location: &LocationArgs) -> Check {
    let found = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    match error {
        StoreError::NoLedger { .. } if folder.join(HEAD_FILE).exists() => {
            let found = format!("there is no ledger in this folder, and {HEAD_FILE} says that there was one");
            Check::unsound("books", found, "put your newest copy of the books back")
        }
        StoreError::NoLedger { .. } => Check::red("books", "there is no ledger in this folder", init_command(location)),
        StoreError::TailLost { .. } => newest_head::lost(error, &location.base()),
        StoreError::NoBooksInFile { path } => {
            let fix = format!(
                "put a sound copy in its place, or remove it with its -wal and -journal and run `{}`",
                init_command(location)
            );
            Check::red("books", format!("{} has no books in it", path.display()), fix)
        }
        error if error.is_unsound() => damaged("books", error),
        StoreError::NotReadableNow { .. } => Check::red("books", found, "run this as the writer's user"),
        StoreError::NewerSchema { .. } => {
            Check::red("schema", found, "install the version of Bankroll that created these books, or a newer one")
        }
        StoreError::Database(_) if folder_state::writable(folder).is_err() => {
            let fix = "run this as the writer's user, or copy the folder to a place that you can write to, and check the copy";
            Check::red("books", found, fix)
        }
        StoreError::Database(_) => Check::red("books", found, format!("if books.db was a ledger: {RESTORE}")),
        _ => Check::red("books", found, RESTORE),
    }
}
