//! Hands in the Poker Hand History format (PHH), variant `NT`: no-limit hold'em, one hand a file, TOML.
//!
//! | to do | call |
//! | --- | --- |
//! | write a hand | [`HandHistory::of`], then [`HandHistory::to_text`] |
//! | read a file | [`HandHistory::read`], then [`HandHistory::replay`] |
//!
//! The format numbers players from the one left of the button and knows nothing of clocks, rake or house rules, so a
//! reader brings those. What it can say and we do not play (other variants, straddles, antes that differ, fractions of
//! a chip, hands half shown) is refused by name, never guessed at.

mod action;
mod error;
mod file;
mod history;
mod replay;

pub use action::PhhLine;
pub use error::PhhError;
pub use history::HandHistory;
pub use replay::ReplayOutcome;
