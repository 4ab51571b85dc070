//! Hands in the Poker Hand History format (PHH), variant `NT`: no-limit hold'em, one hand a file, TOML.
//!
//! | to do | call |
//! | --- | --- |
//! | write a hand | [`History::of`], then [`History::to_text`] |
//! | read a file | [`History::read`], then [`History::replay`] |
//!
//! The format numbers players from the one left of the button and knows nothing of clocks, rake or house rules, so a
//! reader brings those. What it can say and we do not play (other variants, straddles, antes that differ, fractions of
//! a chip, hands half shown) is refused by name, never guessed at.

mod action;
mod error;
mod file;
mod history;
mod replay;

pub use action::Line;
pub use error::PhhError;
pub use history::History;
pub use replay::Replayed;
