//! The simulator: the whole system from one seed, and the safety promises it must keep.
//!
//! One seed gives a plan: what players, game servers, blocks and every kind of fault do, step by step. The flows, the
//! store, the signer and the chain's client are the real code; the simulator supplies clock, randomness, chain, disk
//! and every message between processes. Cheap checks run after each step. At the end, when all faults have stopped,
//! the full checks compare the books with a model of plain maps, built from the chain and the callers' answers.
//!
//! It guarantees that the same seed gives the same history, byte for byte, on any machine: one thread drives, one call
//! at a time, and nothing reads a clock. Each step draws from a seed of its own, so removing a step does not change
//! the draws of the others; shrinking a failure relies on that.
//!
//! It does not cover Postgres, several machines and sockets. Other suites do.
//!
//! | to learn | read |
//! | --- | --- |
//! | what a run is and what it returns | [`run`], [`RunOutcome`], [`SimFailure`] |
//! | what can happen | [`plan`] |
//! | what must hold | [`SafetyPromise`], `promises.rs` (after each step), `final_checks.rs` (at the end) |
//! | the simulated system | `world.rs`, `people.rs`, `books.rs`, `signer_process.rs`, `chain.rs`, `doubtful.rs` |
//! | its callers and roles | `callers.rs`, `requests.rs`, `roles.rs` |
//! | what goes wrong | `faults.rs`, [`Counts`] |
//! | planted bugs | [`Bug`], `planted_bugs.rs` |
//! | shrinking a failure | [`shrink`] |

mod books;
mod callers;
mod chain;
mod counts;
mod doubtful;
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
