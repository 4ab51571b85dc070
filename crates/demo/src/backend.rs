//! The backend of the games: the ledger in this process, or the nodes of a deployment. A game cannot tell which.

use std::{thread, time::Duration};

use bankroll_store::{Answer, Ledger, SubmitFailure, SubmitRefusal};
use bankroll_withdrawals::Intents;

use super::{
    disk::DiskFull,
    game::{ArenaGame, RequestOutcome},
    nodes::NodeProcesses,
    requests::NumberedRequest,
};

/// The pause before a call is repeated that was not accepted.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub enum Backend {
    /// All roles in this process.
    Here(Ledger),
    /// Each role in a process of its own.
    Nodes(Box<NodeProcesses>),
}

impl Backend {
    /// Repeats the requests until each has an answer, or none can come. A repeated request is the same, byte by byte.
    pub fn ask(
        &self,
        room: &ArenaGame,
        asked: &[NumberedRequest],
        busy: impl Fn(),
    ) -> anyhow::Result<Vec<RequestOutcome>> {
        match self {
            Self::Here(ledger) => Ok(ask(ledger, room, asked, busy)?.iter().map(RequestOutcome::from).collect()),
            Self::Nodes(nodes) => nodes.ask(room, asked),
        }
    }

    /// The game is half over.
    pub fn half_time(&self) -> anyhow::Result<()> {
        match self {
            Self::Here(_) => Ok(()),
            Self::Nodes(nodes) => nodes.half_time(),
        }
    }

    /// What nodes have reported since the last call.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Here(_) => Vec::new(),
            Self::Nodes(nodes) => nodes.notes(),
        }
    }

    /// A game knows only that it got no answer; the writer knows why.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let hint = "the ledger's writer stopped in the middle of the game; start the demo again: it verifies the books";
        match self {
            Self::Here(ledger) => ledger.stopped_by().map_or(error, |cause| anyhow::Error::from(cause).context(hint)),
            Self::Nodes(_) => error,
        }
    }

    /// Closes the ledger, or stops the nodes; returns which of them had ended before, and how.
    pub fn close(self) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Here(ledger) => {
                ledger.close();
                Ok(Vec::new())
            }
            Self::Nodes(nodes) => nodes.stop(),
        }
    }
}

fn ask(ledger: &Ledger, room: &ArenaGame, asked: &[NumberedRequest], busy: impl Fn()) -> anyhow::Result<Vec<Answer>> {
    loop {
        let requests = asked.iter().map(|asked| room.request(asked)).collect();
        let reply = match Intents::submit(ledger, requests) {
            Ok(reply) => reply,
            Err(SubmitRefusal::Busy) => {
                busy();
                thread::sleep(BUSY_PAUSE);
                continue;
            }
            Err(refused) => return Err(refused.into()),
        };
        match reply.wait() {
            Ok(answers) => return Ok(answers),
            // Another program has locked the file, or the server is unreachable; nothing happened.
            Err(SubmitFailure::Locked | SubmitFailure::Unreachable) => thread::sleep(BUSY_PAUSE),
            Err(SubmitFailure::StorageFull) => return Err(DiskFull.into()),
            Err(failure @ SubmitFailure::Unknown) => return Err(failure.into()),
        }
    }
}
