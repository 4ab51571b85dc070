//! What the tests of the ledger stand on.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`model`] | the rules of the ledger a second time, naive and independent |
//! | [`streams`] | seeded worlds and streams of requests, each with the answer the model expects |
//! | [`postgres`] | a database of its own for each test, on the server the suite is run with |
//! | [`sim`] | the simulator: a whole world from one seed, and the promises it must keep |
//! | [`script`] | what the `victim` program does until somebody kills it, and what it says while it does it |
//!
//! Nothing here is shipped.

pub mod model;
pub mod postgres;
pub mod script;
pub mod sim;
pub mod streams;
