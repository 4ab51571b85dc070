//! What wallets sign, compared with an independent implementation.

#![allow(clippy::unwrap_used, reason = "a test that is wrong should panic")]

mod viem;
