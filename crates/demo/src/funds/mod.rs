//! The game server and its players as callers of the Funds API: over HTTP, with keys of their own, as any caller.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `keys` | the key files of the owner and of the game server |
//! | `session` | the way to a session: the owner allow-lists the server's key, the server registers |
//! | `calls` | one request, repeated until it has an answer |
//! | `moves` | a tick of the game as a batch, exits one by one |
//! | `sign_in` | a player's accounts, and the proof of their wallet |
//!
//! Guarantees: a repeated request is the same, byte by byte, under the same key. A request whose outcome is unknown is
//! repeated until it is known; it never counts as one that did not happen.

mod calls;
mod keys;
mod moves;
mod session;
mod sign_in;

pub use calls::GameClient;
pub use keys::{ArenaKeys, SERVER_KEY_FILE};
pub use moves::{BatchMove, ExitMove};
pub use session::{ArenaSession, ServiceNames};
