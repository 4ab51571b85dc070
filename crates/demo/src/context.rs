//! What the game and its view share.

use std::sync::Arc;

use bankroll_roles::flows::StopFlag;

use super::{
    environment::Environment,
    funds::{ArenaSession, GameClient},
    service::DemoService,
};

/// What a game runs with: the service that answers its requests, its session there, and the environment.
pub struct GameContext<'a> {
    pub service: &'a DemoService,
    pub session: &'a Arc<ArenaSession>,
    pub environment: &'a Environment,
    /// Requested when the game cannot continue.
    pub over: &'a StopFlag,
}

impl GameContext<'_> {
    /// A client of the game server.
    pub fn client(&self) -> GameClient {
        GameClient::new(self.session, self.over)
    }

    /// The messages of nodes and signer since the last call.
    pub fn notes(&self) -> Vec<String> {
        self.service.notes().into_iter().chain(self.environment.notes()).collect()
    }

    /// Fails if waiting is in vain.
    pub fn check(&self) -> anyhow::Result<()> {
        self.environment.check()?;
        self.service.check()
    }

    /// Ends everything that waits for an answer or a payment.
    pub fn give_up(&self) {
        self.over.request();
        self.environment.wallets.give_up();
    }
}
