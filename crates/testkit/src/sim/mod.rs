//! The simulator: a whole world from one number, and the promises it must keep.
//!
//! One seed gives a plan: what players, game servers, blocks and every kind of misfortune do, step by step. The flows, the
//! store, the signer and the chain's client are the real code; clock, randomness, chain, disk and every message between
//! processes are given from outside. After each step cheap checks, at the end, with all misfortune over, the full ones: the
//! books against a model of plain maps, made from what the chain and the askers did.
//!
//! It guarantees that the same seed gives the same history, byte for byte, on any machine: one thread drives, one call at a
//! time, and nothing reads a clock. A step's own choices follow from its own number, so leaving one out leaves the others
//! as they were; that is how a failure is made small.
//!
//! It does not know: Postgres, several machines, sockets. Other suites do.
//!
//! | to learn | read |
//! | --- | --- |
//! | what a run is and what it gives | [`run`], [`Outcome`], [`Failure`] |
//! | what can happen | [`plan`] |
//! | what must hold | [`Promise`], `promises.rs` (after each step), `at_rest.rs` (at the end) |
//! | the world | `world.rs`, `people.rs`, `books.rs`, `signing.rs`, `chain.rs`, `asking.rs`, `wishes.rs`, `roles.rs` |
//! | what goes wrong | `misfortune.rs`, [`Counts`] |
//! | bugs to be found | [`Bug`], `sabotage.rs` |
//! | making a failure small | [`shrink`] |

mod asking;
mod at_rest;
mod books;
mod chain;
mod counts;
mod misfortune;
mod people;
pub mod plan;
mod promises;
mod resting;
mod roles;
mod run;
mod sabotage;
mod shrink;
mod signing;
mod truth;
mod wishes;
mod world;

pub use counts::Counts;
pub use plan::{Kind, Plan, Step};
pub use promises::{Broken, Promise};
pub use run::{Failure, Outcome, Summary, run, run_many};
pub use sabotage::Bug;
pub use shrink::shrink;
