//! Tests of the whole store, on real files.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod admission;
mod ahead;
mod books_move;
mod checksums;
mod creating;
mod edited;
mod events;
mod facts;
mod faults;
mod files;
mod inbox;
mod index;
mod keys;
mod lease_wait;
mod money;
mod names;
mod newest_head;
mod opening;
mod pages;
mod reading;
mod rebuild;
mod replaced_files;
mod rows;
mod schema;
mod scrub;
mod searching;
mod statements;
mod world;
