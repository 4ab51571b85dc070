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
//! | what a run is and what it gives | [`run`], [`RunOutcome`], [`SimFailure`] |
//! | what can happen | [`plan`] |
//! | what must hold | [`SafetyPromise`], `promises.rs` (after each step), `final_checks.rs` (at the end) |
//! | the world | `world.rs`, `people.rs`, `books.rs`, `signer_process.rs`, `chain.rs`, `callers.rs`, `requests.rs`, `roles.rs` |
//! | what goes wrong | `faults.rs`, [`Counts`] |
//! | bugs to be found | [`Bug`], `planted_bugs.rs` |
//! | making a failure small | [`shrink`] |

mod books;
mod callers;
mod chain;
mod counts;
mod faults;
mod final_checks;
mod ground_truth;
mod people;
pub mod plan;
mod planted_bugs;
mod promises;
mod quiescence;
mod requests;
mod roles;
mod run;
mod shrink;
mod signer_process;
mod world;

pub use counts::Counts;
pub use plan::{Plan, SimStep, StepKind};
pub use planted_bugs::Bug;
pub use promises::{BrokenPromise, SafetyPromise};
pub use run::{RunOutcome, SimFailure, Summary, run, run_many};
pub use shrink::shrink;
