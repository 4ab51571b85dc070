//! Nodes that call each other over real sockets, with real certificates and a real ledger.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod certificates;
mod cuts;
mod ending;
mod findings;
mod frames;
mod lifetimes;
mod local;
mod moves;
mod proxy;
mod relay;
mod trust;
mod world;
