//! Stories of alerts, on SQLite, and on Postgres if the environment names a server.

mod audit;
mod crashes;
mod random;
mod stories;
mod world;
