//! Output of commands: answers, tables, colours, amounts, times, CSV, exit codes, and Ctrl-C.
//!
//! It guarantees:
//! - an amount is written digit by digit, without rounding, and a time with all its digits, in UTC;
//! - standard output has the answer and nothing else, colours only on a terminal; errors go to standard error;
//! - the exit codes of [`Exit`] do not change: scripts rely on them;
//! - no cell of a [`Sheet`] is a formula to a spreadsheet.
//!
//! It does not know: commands, configuration, the store. The program passes the exit codes for errors of other crates
//! to [`report`].
//!
//! | to learn | read |
//! | --- | --- |
//! | how an answer is printed | `output.rs` |
//! | how the program ends, and how errors are printed | `exit.rs` |
//! | how wrong input is answered | `bankroll_input`: [`whole`], [`plain`] |
//! | how amounts and times are written | `decimal.rs`, [`when`] |
//! | how long values fit a screen | [`Width`] |

mod decimal;
mod exit;
mod output;
mod sheet;
mod short;
mod stop_signal;
pub mod when;

pub use bankroll_input::{in_range, plain, whole, without_excerpt};
pub use decimal::{Assets, base_units, decimal, decimal_cut, parse_decimal};
pub use exit::{Exit, NotFound, UnsoundError, UsageError, report, report_usage};
pub use output::{Paint, answer, answer_json, counted, invocation, per_second, table, thousands};
pub use sheet::Sheet;
pub use short::{Width, short};
pub use stop_signal::StopSignal;
