//! What the game and its view share.

use super::{backend::Backend, environment::Environment};

/// What a game runs with: the backend that answers its requests, and the environment.
pub struct GameContext<'a> {
    pub backend: &'a Backend,
    pub environment: &'a Environment,
}

impl GameContext<'_> {
    /// The messages of nodes and flows since the last call.
    pub fn notes(&self) -> Vec<String> {
        self.backend.notes().into_iter().chain(self.environment.notes()).collect()
    }
}
