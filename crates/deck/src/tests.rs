//! Stories about decks: what an honest table does, and what a cheat tries.

mod deals;
mod run;
mod table;
