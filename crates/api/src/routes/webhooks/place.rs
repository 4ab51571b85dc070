//! Whose webhooks: those of the deployment, which operators manage, or those of a game server, which it manages itself.

use bankroll_ledger::{Event, Fact, Name};
use bankroll_notify::{EndpointId, NotifyError, WebhookEndpoint, endpoint};
use bankroll_operators::Right;
use bankroll_store::Reader;

use crate::{
    ApiError, ErrorCode,
    input::ApiCall,
    state::{ChangeGate, Gate},
};

/// What a path names.
#[derive(Debug)]
pub(super) struct WebhookPath {
    /// The game server; `None` for the deployment.
    pub server: Option<String>,
    /// Empty where the path names all of them.
    pub webhook: String,
}

/// Who may change webhooks, and which.
#[derive(Clone, Debug)]
pub(super) enum WebhookManager {
    Operator(Name),
    Server(Name),
}

impl WebhookPath {
    /// The server whose webhooks the caller may read; `None` for all.
    pub fn reader(&self, gate: &Gate) -> Result<Option<Name>, ApiError> {
        match &self.server {
            Some(server) => gate.reader_of(server).map(Some),
            None => gate.operator(Right::ManageWebhooks).map(|_| None),
        }
    }

    pub fn manager(&self, gate: &ChangeGate) -> Result<WebhookManager, ApiError> {
        match &self.server {
            Some(server) => gate.game_server(server).map(WebhookManager::Server),
            None => gate.operator(Right::ManageWebhooks).map(WebhookManager::Operator),
        }
    }

    pub fn id(&self) -> Result<EndpointId, ApiError> {
        EndpointId::parse(&self.webhook).ok_or_else(|| ErrorCode::NotFound.into())
    }
}

impl WebhookManager {
    /// The server of the webhooks that they make.
    pub fn server(&self) -> Option<&Name> {
        match self {
            Self::Operator(_) => None,
            Self::Server(server) => Some(server),
        }
    }

    /// Part of the ids of what they make.
    pub fn author(&self) -> String {
        match self {
            Self::Operator(person) => format!("operator:{person}"),
            Self::Server(server) => format!("server:{server}"),
        }
    }

    /// Commits a change. Answers whether the same request was committed before.
    pub async fn commit(
        &self,
        gate: ChangeGate,
        call: &ApiCall,
        facts: Vec<Fact>,
        events: Vec<Event>,
    ) -> Result<bool, ApiError> {
        match self {
            Self::Operator(_) => gate.commit_act(call, Right::ManageWebhooks, facts, events).await,
            Self::Server(server) => gate.commit_server_act(call, server, facts, events).await,
        }
    }
}

/// The webhook, if the caller may see it: operators see all, a game server its own.
pub(super) fn find(reader: &Reader, id: &EndpointId, server: Option<&Name>) -> Result<WebhookEndpoint, ApiError> {
    let found = endpoint(reader, id).map_err(|error: NotifyError| ApiError::from(error))?;
    let visible = found.filter(|endpoint| server.is_none() || endpoint.server.as_ref() == server);
    visible.ok_or_else(|| ErrorCode::NotFound.into())
}
