//! The rules against others: PokerKit as an independent referee, and random hands against their own promises.
//!
//! | module | what it shows |
//! | --- | --- |
//! | `promises` | no random hand makes or loses a chip, is stuck, or replays to something else |
//! | `referee` | ten thousand random hands go as PokerKit says: legal actions, pots, winners, stacks |
//! | `histories` | PHH files of PokerKit replay here to the same stacks, and ours there |
//! | `log` | hands between parties that exchange only envelopes; what is refused; what a file proves |
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests go on with new seeds for about so long.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod deal;
mod histories;
mod log;
mod played;
mod player;
mod pokerkit;
mod promises;
mod referee;
mod run;
