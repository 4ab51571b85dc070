//! Books on Postgres when the server, the connection, a standby or another writer fails.
//!
//! | module | what fails |
//! | --- | --- |
//! | `cuts` | the connection, before, in and after every message of a commit |
//! | `kills` | the server: killed, restarted, its backends cancelled, under load |
//! | `renewal` | the server, under readers and the statement index |
//! | `failover` | the primary, with a synchronous standby that replaces it; the wait for the standby |
//! | `standby` | the primary and the writer at once: the books are opened anew on the standby |
//! | `elsewhere` | nothing: other nodes query the primary, whichever server is named first |
//! | `takeover` | the writer: stopped for longer than its lease, competing with another, with a wrong clock |
//! | `fence` | the writer: replaced without knowing it |
//! | `history` | nothing: the observations of many clients of two processes fit one order |
//! | `tampering` | the data: every column of the books, edited |
//! | `derived` | tables that follow from the journal: rows lost, contents damaged |
//! | `settings` | the server, whose settings would lose commits or could not store the data |
//! | `tls` | the certificate: of another issuer, for another host, or none |
//!
//! Whatever failed: no acknowledged request is lost, none is applied twice, what was answered as not applied is not,
//! and what is unknown is resolved by a retry. Each test has a server of its own, which it may kill; without Postgres'
//! programs these tests fail and report it. Bounds: a few rounds by the printed seed; with `BANKROLL_SOAK_SECONDS`
//! every cut, and more seeds.

use crate::run::SoakTime;

pub mod cluster;
mod cuts;
mod derived;
mod elsewhere;
mod failover;
mod fence;
mod history;
mod kills;
mod proxy;
mod renewal;
mod service;
mod settings;
mod standby;
mod takeover;
mod tampering;
mod tls;

/// The share of one of the tests here that run longer in a soak.
fn soak_time() -> SoakTime {
    SoakTime::shared_by(6)
}
