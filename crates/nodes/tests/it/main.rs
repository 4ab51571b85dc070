//! Nodes that ask each other over real sockets, with real certificates and a real ledger behind the desk.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod certificates;
mod cuts;
mod findings;
mod frames;
mod moves;
mod proxy;
mod rights;
mod trust;
mod world;
