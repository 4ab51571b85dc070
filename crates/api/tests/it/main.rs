//! The Funds API as its callers see it.

mod error_pages;
mod front;
mod idempotency;
mod matrix;
mod money;
mod sessions;
mod spawns;
mod strict_input;
mod world;
