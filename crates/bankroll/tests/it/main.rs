//! The program as a user meets it: the built binary, real folders, its output and its exit codes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop loudly")]

mod accounts;
mod audit;
mod bad_input;
mod bench;
mod casino;
mod chain;
mod config;
mod demo;
mod demo_interrupted;
mod demo_loop;
mod demo_nodes;
mod doctor;
mod doctor_chain;
mod examples;
mod flows;
mod forwarded_payouts;
mod forwarding;
mod hand;
mod help;
mod init;
mod migrate_books;
mod nodes;
mod program;
mod read_only;
mod reading;
mod rebuild;
mod receipt;
mod requests;
mod running;
mod scrub;
mod serve;
mod serve_chain;
mod signer;
mod tutorial;
mod widths;
