//! The way of a command to the books.
//!
//! | the books are in | and a node | then a command |
//! | --- | --- | --- |
//! | a folder | runs | sends its request to the node's socket in that folder |
//! | a folder | does not run | opens the ledger itself, and closes it again |
//! | a database | runs | forwards as a node of role `api`, with the certificate that `node.name` names |

use std::{
    io,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, AccountName, OpenRejection, Principal, Request};
use bankroll_nodes::{Answer, CallError, Forwarder, NodeIdentity, NodeIdentityError};
use bankroll_store::{Clock, Ledger, LedgerOptions, Location, StoreError, SubmitError, SubmitFailure, SubmitRefusal};
use bankroll_withdrawals::Intents;

use crate::{
    config::LoadedConfig,
    serve::{BOOKS_SOCKET, forward},
};

/// How long a call may take: far more than a commit, and not for ever.
const WITHIN: Duration = Duration::from_secs(30);
/// How long a node may take to answer before the lock is tried again.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// Why a command got no answer from the books.
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
    /// Nothing happened, or the outcome is unknown; the cause says which.
    #[error("the node that holds the books has not confirmed the request")]
    Call(#[source] CallError),
    /// Nothing happened.
    #[error("the ledger did not accept the request")]
    Refused(#[source] SubmitRefusal),
    #[error("the ledger has not confirmed the request")]
    Failed(#[source] SubmitFailure),
    #[error(transparent)]
    Rejected(#[from] OpenRejection),
}

#[derive(Debug)]
pub enum BooksClient {
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

    /// Opens accounts that do not exist yet; returns the numbers of all.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn open_accounts(&self, by: &Principal, names: Vec<AccountName>) -> Result<Vec<AccountId>, ClientError> {
        let opened = match self {
            Self::Node(node) => node
                .open_accounts(by.clone(), names, WITHIN)
                .and_then(bankroll_nodes::PendingCall::wait)
                .map_err(ClientError::Call)?,
            Self::Ledger(ledger) => ledger.open_accounts(by, names).map_err(|error| match error {
                SubmitError::Refused(refusal) => ClientError::Refused(refusal),
                SubmitError::Failed(failure) => ClientError::Failed(failure),
            })?,
        };
        Ok(opened.into_iter().collect::<Result<_, _>>()?)
    }

    /// Applies one request.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn apply(&self, request: Request) -> Result<Answer, ClientError> {
        let answers = match self {
            Self::Node(node) => node
                .apply(vec![request], WITHIN)
                .and_then(bankroll_nodes::PendingCall::wait)
                .map_err(ClientError::Call)?,
            Self::Ledger(ledger) => {
                let pending = Intents::submit(ledger, vec![request]).map_err(ClientError::Refused)?;
                pending.wait().map_err(ClientError::Failed)?
            }
        };
        answers.into_iter().next().ok_or(ClientError::Failed(SubmitFailure::Unknown))
    }

    /// Releases the books, if this process holds them.
    pub fn close(self) {
        if let Self::Ledger(ledger) = self {
            ledger.close();
        }
    }
}
