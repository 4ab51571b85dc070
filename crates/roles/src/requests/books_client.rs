//! The way of a command to the books.
//!
//! | the books are in | and a node | then a command |
//! | --- | --- | --- |
//! | a folder | runs | relays its request through the node's socket in that folder |
//! | a folder | does not run | opens the ledger itself, and closes it again |
//! | a database | runs | relays as a node of role `api`, with the certificate that `node.name` names |

use std::{
    io,
    time::{Duration, Instant},
};

use bankroll_nodes::{Forwarder, NodeIdentity, NodeIdentityError};
use bankroll_store::{Clock, Ledger, LedgerOptions, Location, StoreError};

use crate::{
    config::LoadedConfig,
    serve::{BOOKS_SOCKET, forward},
};

/// How long a node may take to answer, or another command to end.
const WITHIN: Duration = Duration::from_secs(30);
/// How long a node may take to answer before the lock is tried again.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// Why a command cannot reach the books.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing happened.
    #[error("cannot use the books")]
    Open(#[source] StoreError),
    /// Nothing happened.
    #[error(
        "this node has no certificate for the books in the database; create one with `bankroll nodes add NAME --roles \
         api`, and name it: --set node.name=NAME"
    )]
    Identity(#[source] NodeIdentityError),
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

#[derive(Debug)]
pub(super) enum BooksClient {
    /// A node holds the books.
    Node(Forwarder),
    /// This process holds them, as long as the command takes.
    Ledger(Ledger),
}

impl BooksClient {
    /// # Errors
    /// See [`ClientError`].
    pub fn connect(loaded: &LoadedConfig) -> Result<Self, ClientError> {
        match loaded.books() {
            Location::Folder(folder) => {
                let node = Forwarder::start_local(&folder.join(BOOKS_SOCKET)).map_err(ClientError::Thread)?;
                let options = loaded.ledger_options();
                Self::node_or_ledger(node, options)
            }
            Location::Postgres(url) => {
                let (folder, name) = (loaded.certificates(), &loaded.config.node.name);
                let identity =
                    NodeIdentity::load(&folder, name, Clock::machine().now()).map_err(ClientError::Identity)?;
                forward::to_holder(&identity, &url).map(Self::Node).map_err(ClientError::Thread)
            }
        }
    }

    /// The lock of the folder decides. A node that runs has it, and answers; another command that has it ends soon.
    fn node_or_ledger(node: Forwarder, options: LedgerOptions) -> Result<Self, ClientError> {
        let begun = Instant::now();
        loop {
            match Ledger::open(options.clone()) {
                Ok(ledger) => return Ok(Self::Ledger(ledger)),
                Err(StoreError::InUse { .. }) => {}
                Err(error) => return Err(ClientError::Open(error)),
            }
            let answers = node.ping(LOOK_WITHIN).and_then(bankroll_nodes::PendingCall::wait).is_ok();
            // At the end the call itself says why the node cannot be reached.
            if answers || begun.elapsed() >= WITHIN {
                return Ok(Self::Node(node));
            }
        }
    }
}
