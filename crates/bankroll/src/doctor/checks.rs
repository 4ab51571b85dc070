//! The checks, in the order in which one depends on the other.

use std::path::Path;

use bankroll_nodes::{Identity, NodeRoles};
use bankroll_roles::{
    audit,
    config::{Durable, Loaded},
};
use bankroll_store::{BOOKS, Clock, DatabaseUrl, Location, Protection, Reader, StoreError, Watch};
use bankroll_terminal::{invocation, thousands};

use super::{Check, sight};
use crate::place::Place;

/// Free space below which a busy ledger is in danger.
const FREE_MIN: u64 = 1 << 30;
const RESTORE: &str = "stop the writer, keep this folder as it is, and restore a backup into another one";

pub fn all(place: &Place, full: bool, quiet: bool) -> Vec<Check> {
    let loaded = match place.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            return vec![Check::red(
                "configuration",
                format!("{error:#}"),
                "mend it; `bankroll config check` tells when it is",
            )];
        }
    };
    let folder = match loaded.books() {
        Location::Folder(folder) => folder,
        Location::Postgres(url) => return of_database(place, &loaded, url, full, quiet),
    };
    let mut checks = vec![configuration(&loaded), durability(&loaded), writable(&folder)];
    checks.extend(space(&folder));
    match Reader::open(&folder) {
        Ok(reader) => {
            checks.extend([schema(), head(&reader), lock(&folder), settings(&folder), tail(&reader)]);
            if full {
                checks.push(books(&folder.clone().into(), quiet));
            }
        }
        Err(error) => checks.push(unreadable(&error, &folder, place)),
    }
    checks
}

/// What can be seen of books in a database; connecting checks the server's settings.
fn of_database(place: &Place, loaded: &Loaded, url: DatabaseUrl, full: bool, quiet: bool) -> Vec<Check> {
    let mut checks = vec![configuration(loaded), node(loaded), protection(&url)];
    let database = Location::from(url);
    match Reader::open(&database) {
        Ok(reader) => {
            checks.extend([server(), schema(), head(&reader), lease(&database), tail(&reader)]);
            if full {
                checks.push(books(&database, quiet));
            }
        }
        Err(error @ StoreError::NoBooks) => {
            checks.extend([server(), Check::red("books", error.to_string(), made_by_init(place))]);
        }
        Err(error) => {
            let found = format!("{:#}", anyhow::Error::from(error));
            checks.push(Check::red("server", found, "check books.database, and that the server runs"));
        }
    }
    checks
}

/// Whoever connects has checked its settings.
fn server() -> Check {
    Check::green("server", "fsync, full_page_writes and synchronous_commit keep what is committed")
}

fn made_by_init(place: &Place) -> String {
    format!("{} init --dir {}", invocation(), place.base().display())
}

/// Whether somebody on the way to the server could read along, or be the server.
fn protection(url: &DatabaseUrl) -> Check {
    const FIX: &str = "let it prove who it is: ?sslmode=verify-full&sslrootcert=FILE behind books.database";
    let name = "connection";
    match url.protection() {
        Ok(Protection::Local) => Check::green(name, "the server is on this machine"),
        Ok(Protection::Verified) => Check::green(name, "TLS, with the server that its certificate names"),
        Ok(Protection::Unverified) => {
            Check::red(name, "TLS with whoever answers: anybody on the way can be the server", FIX)
        }
        Ok(Protection::IfOffered { .. }) => {
            Check::red(name, "TLS if the server offers it: anybody on the way can say that it does not", FIX)
        }
        Ok(Protection::PlainText) => {
            Check::red(name, "plain text: anybody on the way reads the password and can change money", FIX)
        }
        Err(error) => Check::red(name, format!("{:#}", anyhow::Error::from(error)), "mend books.database"),
    }
}

fn configuration(loaded: &Loaded) -> Check {
    let found =
        loaded.file.as_ref().map_or_else(|| "no bankroll.toml: defaults".into(), |file| file.display().to_string());
    Check::green("configuration", found)
}

/// Whether other nodes would believe this one.
fn node(loaded: &Loaded) -> Check {
    let (node, folder) = (&loaded.config.node, loaded.certificates());
    if !folder.is_dir() {
        return Check::green("node", format!("{}, alone: no certificates in {}", node.name, folder.display()));
    }
    match Identity::load(&folder, &node.name, Clock::machine().now()) {
        Ok(identity) if node.roles.is_within(identity.roles()) || node.roles == NodeRoles::ALL => {
            Check::green("node", format!("{}, with a certificate for the roles {}", node.name, identity.roles()))
        }
        Ok(identity) => {
            let found = format!("its certificate is for {}, and node.roles is {}", identity.roles(), node.roles);
            Check::red("node", found, "change node.roles, or make a certificate: bankroll nodes add")
        }
        Err(error) => {
            let fix = format!("{} nodes add {} --roles {}", invocation(), node.name, node.roles);
            Check::red("node", format!("{:#}", anyhow::Error::from(error)), fix)
        }
    }
}

fn lease(database: &Location) -> Check {
    let Location::Postgres(url) = database else { return Check::green("lease", "none is needed") };
    match Watch::new(url.clone()).look() {
        Ok(Some(holder)) if holder.is_move() && !holder.left.is_zero() => {
            let found = "books are being moved here, or were when that was interrupted";
            Check::red("lease", found, "wait for it; if it was interrupted, drop this database and move again")
        }
        Ok(Some(holder)) if !holder.left.is_zero() => {
            let at = if holder.address.is_empty() {
                String::new()
            } else {
                format!(", which answers at {}", holder.address)
            };
            Check::green("lease", format!("held by {}{at}; epoch {}", holder.name, holder.epoch))
        }
        Ok(_) => Check::green("lease", "free: no writer is running"),
        Err(error) => Check::red("lease", format!("{:#}", anyhow::Error::from(error)), "check the server"),
    }
}

fn durability(loaded: &Loaded) -> Check {
    match loaded.config.books.durability {
        Durable::Full => Check::green("durability", "full: every commit is synced before it is answered"),
        Durable::MayLoseRecentCommits => {
            let from =
                loaded.value_of("books.durability").map_or_else(String::new, |(_, from)| format!(" (from {from})"));
            let found = format!("may_lose_recent_commits{from}: a power cut loses acknowledged transfers");
            Check::red("durability", found, "set books.durability = \"full\"")
        }
    }
}

fn writable(folder: &Path) -> Check {
    match sight::writable(folder) {
        Ok(()) => Check::green("folder", format!("{} can be written to", folder.display())),
        Err(error) => {
            let fix = format!("make it, or give it to the user who runs the writer: {}", folder.display());
            Check::red("folder", format!("{} cannot be written to: {error}", folder.display()), fix)
        }
    }
}

fn space(folder: &Path) -> Option<Check> {
    let free = sight::free_bytes(folder)?;
    let found = format!("{} MiB free", thousands(free >> 20));
    Some(if free >= FREE_MIN {
        Check::green("disk", found)
    } else {
        Check::red("disk", found, "make room: a full disk refuses every transfer (and loses none)")
    })
}

/// The reader has opened, so no step of the books' schema is newer than what this program knows.
fn schema() -> Check {
    Check::green("schema", format!("known: {} or older", BOOKS.steps.len()))
}

fn head(reader: &Reader) -> Check {
    match reader.head() {
        Ok(head) => {
            let found = format!("{} records in {} batches", thousands(head.seq.0), thousands(head.batch));
            Check::green("books", found)
        }
        Err(error) => Check::unsound("books", format!("cannot be read: {:#}", anyhow::Error::from(error)), RESTORE),
    }
}

fn lock(folder: &Path) -> Check {
    match sight::lock_holder(folder) {
        Ok(None) => Check::green("lock", "free: no writer is running"),
        Ok(Some(holder)) => Check::green("lock", format!("held by {holder}: a writer is running")),
        Err(error) => Check::red("lock", format!("cannot be looked at: {error}"), "check who owns books.lock"),
    }
}

fn settings(folder: &Path) -> Check {
    match sight::journal_mode(folder) {
        Ok(mode) if mode == "wal" => Check::green("settings", "journal_mode is wal"),
        Ok(mode) => Check::red(
            "settings",
            format!("journal_mode is {mode}: somebody has changed the file"),
            "start the writer once: it sets wal, and reads it back",
        ),
        Err(error) => Check::red("settings", format!("cannot be read: {error}"), RESTORE),
    }
}

fn tail(reader: &Reader) -> Check {
    match sight::verify_tail(reader) {
        Ok(0) => Check::green("tail", "the journal is empty"),
        Ok(batches) => Check::green("tail", format!("the last {batches} batches are what their chain says")),
        Err(error) => Check::unsound("tail", format!("{:#}", anyhow::Error::from(error)), RESTORE),
    }
}

fn books(location: &Location, quiet: bool) -> Check {
    match audit::run(location, quiet) {
        Ok(audited) => {
            let (rows, accounts) = (thousands(audited.report.rows), thousands(audited.report.accounts));
            let rate = thousands(audited.rows_per_s());
            Check::green(
                "audit",
                format!("books balance to the wei: {rows} records, {accounts} accounts, {rate} records/s"),
            )
        }
        Err(error @ StoreError::Diverged { .. }) => Check::unsound("audit", error.to_string(), RESTORE),
        Err(error) => {
            Check::red("audit", format!("{:#}", anyhow::Error::from(error)), "read the message; then run it again")
        }
    }
}

fn unreadable(error: &StoreError, folder: &Path, place: &Place) -> Check {
    let found = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    match error {
        StoreError::NoLedger { .. } => Check::red("books", found, made_by_init(place)),
        StoreError::NewerSchema { .. } => {
            Check::red("schema", found, "install the version of Bankroll that made these books, or a newer one")
        }
        StoreError::Database(_) if sight::writable(folder).is_err() => {
            let fix = "run this as the user of the writer: beside a write-ahead log, readers write too";
            Check::red("books", found, fix)
        }
        StoreError::Database(_) => {
            Check::red("books", found, "is books.db a ledger? If it was one, restore a backup into another folder")
        }
        _ => Check::red("books", found, RESTORE),
    }
}
