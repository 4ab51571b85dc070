//! Stories of alerts, on SQLite, and on Postgres if the environment names a server.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod audit;
mod crashes;
mod random;
mod stories;
mod world;
