//! Whose request ids are whose: no asker can occupy the id of another's request. Pure.

use std::fmt;

use bankroll_ledger::{IdempotencyKey, Name, Namespace, Principal, Scope};
use bankroll_orders::IntentId;
use sha2::{Digest, Sha256};

/// The namespace of a request id. The same id in two namespaces names two requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    GameServer,
    /// A player, by wallet.
    Player(Name),
    /// The owner of the server's fees.
    Developer,
    /// An operator.
    Admin(Name),
    System,
    /// An exit from the world. Its id belongs to the server, regardless of who asks.
    Exit,
}

impl Asker {
    /// The namespace of what this principal requests.
    pub(crate) fn of(principal: &Principal, is_exit: bool) -> Self {
        match principal {
            _ if is_exit => Self::Exit,
            Principal::GameServer(_) => Self::GameServer,
            Principal::User(wallet) => Self::Player(wallet.clone()),
            Principal::Developer(_) => Self::Developer,
            Principal::Admin(person) => Self::Admin(person.clone()),
            Principal::System | Principal::Indexer | Principal::Tables => Self::System,
        }
    }

    /// The id of the intent that a request makes. The same request has the same id, and no caller can choose it.
    #[must_use]
    pub fn intent_id(&self, server: &Name, request_id: &Name) -> IntentId {
        // A zero byte is in no name, so that (ab, c) and (a, bc) differ.
        let digest = Sha256::new()
            .chain_update(server.as_str())
            .chain_update([0])
            .chain_update(self.to_string())
            .chain_update([0])
            .chain_update(request_id.as_str());
        let digest = hex::encode(digest.finalize());
        let short: String = digest.chars().take(32).collect();
        IntentId(format!("wd-{short}").parse().expect("a legal name"))
    }

    /// The ledger's key of a request: in a namespace, or under a prefix, that no other principal may use.
    pub(crate) fn key(&self, server: &Name, request_id: &Name) -> IdempotencyKey {
        let (namespace, text) = match self {
            Self::GameServer => (Namespace::Client, format!("withdrawal/{request_id}")),
            Self::Player(wallet) => (Namespace::Player, format!("{wallet}/withdrawal/{request_id}")),
            Self::Developer => (Namespace::Client, format!("developer/withdrawal/{request_id}")),
            Self::Admin(person) => (Namespace::Client, format!("admin/{person}/withdrawal/{request_id}")),
            Self::System => (Namespace::Payouts, format!("withdrawal/{request_id}")),
            // One key for an exit that is paid and for one that is kept: both cannot happen.
            Self::Exit => (Namespace::Client, format!("exit/{request_id}")),
        };
        IdempotencyKey { namespace, scope: Scope::Server(server.clone()), text }
    }
}

impl fmt::Display for Asker {
    /// The word in rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GameServer => f.write_str("server"),
            Self::Player(wallet) => write!(f, "player/{wallet}"),
            Self::Developer => f.write_str("developer"),
            Self::Admin(person) => write!(f, "admin/{person}"),
            Self::System => f.write_str("system"),
            Self::Exit => f.write_str("exit"),
        }
    }
}
