//! The Funds API as its callers see it.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod alerts;
mod credits;
mod deposit_reviews;
mod document;
mod error_pages;
mod event_streams;
mod events;
mod exits;
mod freezes;
mod front;
mod front_rates;
mod heads;
mod idempotency;
mod limits;
mod matrix;
mod money;
mod owner;
mod people;
mod people_property;
mod person_sessions;
mod player_views;
mod proposals;
mod sessions;
mod spawns;
mod strict_input;
mod wallets;
mod webhooks;
mod world;
