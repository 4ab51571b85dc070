//! Wrong input, answered in plain sentences.
//!
//! Libraries report a wrong argument or a damaged file in the words of their programming language. The people who read
//! our messages know the command and the file, so every program of ours passes such texts through this crate.
//!
//! It guarantees:
//! - a number that is refused is answered with its noun and its range;
//! - no text that passed [`plain`] names a type of the language, or an error number of the operating system.
//!
//! It deliberately does not know: commands, files, the argument parser. It has no dependencies, so that the signer can
//! use it, too.

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]

mod number;
mod plain;
mod usage;

pub use number::{in_range, whole};
pub use plain::{plain, without_excerpt};
pub use usage::usage_message;
