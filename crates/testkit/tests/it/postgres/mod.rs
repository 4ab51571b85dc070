//! Books on Postgres when the server, the way to it, a standby or another writer fails.
//!
//! | module | what fails |
//! | --- | --- |
//! | `cuts` | the connection, before, in and after every message of a commit |
//! | `kills` | the server: killed, restarted, its backends cancelled, under load |
//! | `renewal` | the server, under readers and the statement index |
//! | `failover` | the primary, with a synchronous standby that takes its place; the wait for the standby |
//! | `elsewhere` | nothing: other nodes ask the primary, whichever server is named first |
//! | `takeover` | the writer: stopped for longer than its lease, fighting another, with a wrong clock |
//! | `fence` | the writer: replaced, and without a word of it |
//! | `history` | nothing: what many clients of two processes saw fits one order |
//! | `tampering` | the data: every column of the books, edited |
//! | `derived` | tables that follow from the journal: rows lost, contents damaged |
//! | `settings` | the server, which would not keep what is committed, or not store it |
//! | `tls` | the certificate: of somebody else, for somebody else, or none |
//!
//! Whatever failed: no acknowledged request is lost, none is doubled, what was said not to have happened has not, and what
//! is unknown is resolved by asking again. Each test has a server of its own, which it may kill; without Postgres' programs
//! these tests fail and say so. Bounds: a few rounds by the printed seed; with `BANKROLL_SOAK_SECONDS` every cut, and
//! more seeds.

use crate::run::SoakTime;

mod cluster;
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
mod takeover;
mod tampering;
mod tls;

/// The time of one of the tests here that go on in a soak.
fn soak_time() -> SoakTime {
    SoakTime::shared_by(6)
}
