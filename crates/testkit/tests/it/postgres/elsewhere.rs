//! Queries of other nodes when the database is two servers: always to the one that accepts writes.
//!
//! A standby answers with old data. The standby here is paused, so that a query to it would be detected.

use std::time::{Duration, Instant};

use bankroll_ledger::Time;
use bankroll_store::columns::{text, text_of};
use bankroll_store::{
    DatabaseUrl, InboxConsumer, LeaseWatch, Ledger, LedgerOptions, NewInboxRow, PAYOUT_EVENTS, Reader, RowMeaning,
    Rows, StoreError,
};
use bankroll_testkit::postgres;

use super::cluster::Cluster;

/// Far longer than a server needs to start.
const PATIENCE: Duration = Duration::from_secs(60);

fn row(id: &str) -> NewInboxRow {
    NewInboxRow {
        id: id.into(),
        kind: "payout.ended".into(),
        subject: id.into(),
        body: "{}".into(),
        node: "wallet-1".into(),
        created_at: Time(1),
    }
}

fn state_of(rows: &Rows, id: &str) -> Result<Vec<String>, StoreError> {
    let found = rows.read("SELECT state FROM payout_events WHERE id = $1", vec![text(id)])?;
    Ok(found.iter().map(|row| text_of(row, "state").unwrap().to_owned()).collect())
}

#[test]
fn postgres_other_nodes_query_the_primary_and_never_a_standby() {
    let primary = Cluster::start();
    let open = |address: &str| {
        let url = DatabaseUrl::new(primary.url("books"));
        // Released when the books are closed, so it may be long.
        Ledger::open_or_create(LedgerOptions { address: address.into(), lease: PATIENCE, ..LedgerOptions::new(url) })
            .unwrap()
    };
    open("10.0.0.1:7450").close();
    let standby = Cluster::standby_of(&primary);
    postgres::run(&standby.url("postgres"), "SELECT pg_wal_replay_pause()");
    // The standby is tried first.
    let url = DatabaseUrl::new(standby.url_of_two(&primary));
    let (mut watch, giver) = (LeaseWatch::new(url.clone()), Rows::open(url.clone()).unwrap());
    let hand_over = |id: &str| giver.write(vec![PAYOUT_EVENTS.insert(&row(id))]);
    let mut consumer = InboxConsumer::new(PAYOUT_EVENTS, &["payout.ended"], url.clone(), 10, |_| RowMeaning::Nothing);

    let ledger = open("10.0.0.2:7450");
    let holder = watch.holder().unwrap().unwrap();
    assert_eq!((holder.address.as_str(), holder.left.is_zero()), ("10.0.0.2:7450", false));
    assert_eq!(hand_over("a").unwrap(), [1]);
    assert_eq!(consumer.round(&ledger, Time(2)).unwrap().applied, 1);
    assert_eq!(state_of(&giver, "a").unwrap(), ["applied"]);
    bankroll_testkit::script::set_up(&ledger).unwrap();
    assert_eq!(
        Reader::open(url.clone()).unwrap().head().unwrap().seq,
        Reader::open(ledger.location()).unwrap().head().unwrap().seq
    );
    ledger.close();
    assert_eq!(watch.holder().unwrap().unwrap().address, "", "given up");

    // Without a primary no server answers; the same reader and writer continue when there is one again.
    primary.stop("fast");
    assert!(watch.holder().is_err_and(|error| error.is_transient() || matches!(error, StoreError::Postgres(_))));
    assert!(hand_over("b").is_err());
    assert!(state_of(&giver, "a").is_err());
    primary.start_again();
    let deadline = Instant::now() + PATIENCE;
    while hand_over("b").is_err() {
        assert!(Instant::now() < deadline, "it comes back");
    }
    assert_eq!(state_of(&giver, "b").unwrap(), ["new"]);
    assert!(watch.holder().unwrap().is_some());
}
