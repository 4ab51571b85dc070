//! Acts of a game server about itself that move no money: their rows and events, in one commit.

use bankroll_ledger::{Event, Fact, Name, Scope};
use bankroll_operators::Right;
use bankroll_registry::Caller;

use super::{ChangeGate, committed};
use crate::{ApiError, ErrorCode, Funds, input::ApiCall};

impl ChangeGate {
    /// The game server of this name, for changes.
    pub fn game_server(&self, server: &str) -> Result<Name, ApiError> {
        let exists = || server.parse().is_ok_and(|name: Name| self.registry.server(&name).is_some());
        match &self.session()?.caller {
            Caller::GameServer(own) if own.as_str() == server => Ok(own.clone()),
            // They can read it, so there is nothing to hide.
            _ if self.reads(Right::ReadMoney) && exists() => Err(ErrorCode::Forbidden.into()),
            _ => Err(ErrorCode::NotFound.into()),
        }
    }

    /// Commits an act of this game server. Answers whether the same request was committed before; its rows are written
    /// once.
    pub async fn commit_server_act(
        self,
        call: &ApiCall,
        server: &Name,
        facts: Vec<Fact>,
        events: Vec<Event>,
    ) -> Result<bool, ApiError> {
        let key = format!("server/{server}/key/{}", call.key()?);
        let author = Funds::system_author(call, Scope::House, key, &format!("server:{server}"))?;
        if self.recorded(&author).await?.is_some() {
            return Ok(true);
        }
        let mut request = author.request(&[], self.now)?;
        request.facts.extend(facts);
        request.events.extend(events);
        let funds = self.funds.clone();
        let commit = async move {
            committed(&self.funds, self.books.ledger.submit(vec![request])?.await)?;
            Ok(false)
        };
        funds.finish(tokio::spawn(commit)).await
    }
}
