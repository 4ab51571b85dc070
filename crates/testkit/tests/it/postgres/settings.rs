//! Servers and databases whose settings would lose commits, or could not store the data: writers and readers refuse
//! them by the setting's name, and so does a writer whose server comes back like that.

use bankroll_ledger::AccountKind;
use bankroll_store::{
    DatabaseUrl, Ledger, LedgerOptions, Reader, StoreError, SubmitError, SubmitFailure, SubmitRefusal,
};
use bankroll_testkit::postgres;

use super::cluster::Cluster;
use crate::{
    run::wait_until,
    world::{World, moving},
};

/// The setting for which books at this address are opened neither for writing nor for reading.
fn refused(url: &str) -> &'static str {
    let named = |error: StoreError| match error {
        StoreError::Setting { setting, .. } => setting,
        error => panic!("{error:?}"),
    };
    let url = DatabaseUrl::new(url);
    let by_writer = named(Ledger::open(LedgerOptions::new(url.clone())).map(Ledger::close).unwrap_err());
    assert_eq!(named(Reader::open(url).map(drop).unwrap_err()), by_writer);
    by_writer
}

#[test]
fn postgres_that_would_lose_commits_or_letters_is_refused() {
    let mut cluster = Cluster::start();
    let url = cluster.url("books");
    let world = World::on(DatabaseUrl::new(&url).into());
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));

    postgres::run(&url, "ALTER DATABASE books SET synchronous_commit = off");
    assert_eq!(refused(&url), "synchronous_commit");
    // Weaker than the disks of all standbys, but not weaker than this server's own disk.
    postgres::run(&url, "ALTER DATABASE books SET synchronous_commit = local");
    Reader::open(DatabaseUrl::new(&url)).unwrap();
    // With a named standby, a fail-over would lose what is on this server's disk alone, or in the standby's memory.
    let set = |value: &str| {
        let set = format!("SET synchronous_commit = local; ALTER DATABASE books SET synchronous_commit = {value}");
        postgres::run(&url, &set);
    };
    let name_standby = |names: &str| {
        let postgres = cluster.url("postgres");
        postgres::run(&postgres, &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
        postgres::run(&postgres, "SELECT pg_reload_conf()");
        let is_set = format!(
            "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '{names}'"
        );
        wait_until("the server has read its settings", || postgres::Session::open(&postgres).count(&is_set) == 1);
    };
    name_standby("elsewhere");
    for weak in ["local", "remote_write", "off"] {
        set(weak);
        assert_eq!(refused(&url), "synchronous_commit", "{weak}");
    }
    for strong in ["on", "remote_apply"] {
        set(strong);
        Reader::open(DatabaseUrl::new(&url)).unwrap();
    }
    name_standby("");
    set("on");

    let other = "CREATE DATABASE letters ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    postgres::run(&cluster.url("postgres"), other);
    assert_eq!(refused(&cluster.url("letters")), "server_encoding");

    // The writer had a good server; the one that replaces it is not.
    cluster.set("full_page_writes=off");
    cluster.stop("fast");
    cluster.start_again();
    assert_eq!(refused(&url), "full_page_writes");
    let outcome = world.ledger().apply(world.play(vec![moving(alice, arena, 1)]));
    // It may have stopped before the call.
    let unanswered = [SubmitError::Failed(SubmitFailure::Unknown), SubmitError::Refused(SubmitRefusal::Stopped)];
    assert!(outcome.as_ref().is_err_and(|error| unanswered.contains(error)), "{outcome:?}");
    let why = world.ledger().stopped_by();
    assert!(matches!(why.as_deref(), Some(StoreError::Setting { setting: "full_page_writes", .. })), "{why:?}");

    cluster.set("fsync=off");
    cluster.stop("fast");
    cluster.start_again();
    assert_eq!(refused(&url), "fsync");
}
