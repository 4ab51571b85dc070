//! What the game and its view share.

use super::{environment::Environment, teller::Teller};

/// What a game runs with: the backend that answers its requests, and the environment.
pub struct GameContext<'a> {
    pub teller: &'a Teller,
    pub environment: &'a Environment,
}

impl GameContext<'_> {
    /// The messages of nodes and flows since the last call.
    pub fn notes(&self) -> Vec<String> {
        self.teller.notes().into_iter().chain(self.environment.notes()).collect()
    }
}
