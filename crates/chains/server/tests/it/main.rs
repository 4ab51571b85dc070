//! The served chain, as a client by WebSocket sees it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop loudly")]

mod heads;
