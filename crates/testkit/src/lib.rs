//! Shared tools of the tests: a model, generators, the simulator, a Postgres database per test.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`damage`] | books to be damaged, and an interview that uses them as their users do |
//! | [`event_stream`] | a reader of Server-Sent Events on a plain socket |
//! | [`model`] | a second, naive and independent implementation of the ledger's rules |
//! | [`streams`] | seeded streams of requests, each with the answer that the model expects |
//! | [`checksums`] | the checksums of edited rows, computed again |
//! | [`postgres`] | a database of its own for each test, on the server that the suite runs with |
//! | [`sim`] | the simulator: the whole system from one seed, and the promises it must keep |
//! | [`script`] | the calls of the `victim` program, which the crash tests kill, and the lines it prints |
//!
//! Nothing here is shipped.

pub mod checksums;
pub mod damage;
pub mod event_stream;
pub mod model;
pub mod postgres;
pub mod script;
pub mod sim;
pub mod streams;
