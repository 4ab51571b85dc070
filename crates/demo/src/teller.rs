//! Whom the rooms ask: the ledger in this process, or the nodes of a deployment. The game cannot tell which.

use std::{thread, time::Duration};

use anyhow::bail;
use bankroll_store::{Answer, Failure, Ledger, Refused};
use bankroll_withdrawals::Intents;

use super::{
    asks::Asked,
    nodes::Nodes,
    room::{Heard, Room},
};

/// How long a room waits before it tries a call again that was not taken.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub enum Teller {
    /// All roles in this process.
    Here(Ledger),
    /// Each role in a process of its own.
    Nodes(Box<Nodes>),
}

impl Teller {
    /// Asks until there is an answer to each, or there can be none. What is asked again is the same, byte by byte.
    pub fn ask(&self, room: &Room, asked: &[Asked], busy: impl Fn()) -> anyhow::Result<Vec<Heard>> {
        match self {
            Self::Here(ledger) => Ok(ask(ledger, room, asked, busy)?.iter().map(Heard::from).collect()),
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

    /// What nodes have said since this was last asked.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Here(_) => Vec::new(),
            Self::Nodes(nodes) => nodes.notes(),
        }
    }

    /// A room knows only that it got no answer; the writer knows why.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let hint = "the ledger's writer stopped in the middle of the game; start the demo again: it verifies the books";
        match self {
            Self::Here(ledger) => ledger.stopped_by().map_or(error, |cause| anyhow::Error::from(cause).context(hint)),
            Self::Nodes(_) => error,
        }
    }

    /// Lets everybody finish.
    pub fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Here(ledger) => ledger.close(),
            Self::Nodes(nodes) => nodes.stop()?,
        }
        Ok(())
    }
}

fn ask(ledger: &Ledger, room: &Room, asked: &[Asked], busy: impl Fn()) -> anyhow::Result<Vec<Answer>> {
    loop {
        let requests = asked.iter().map(|asked| room.request(asked)).collect();
        let reply = match Intents::submit(ledger, requests) {
            Ok(reply) => reply,
            Err(Refused::Busy) => {
                busy();
                thread::sleep(BUSY_PAUSE);
                continue;
            }
            Err(refused) => return Err(refused.into()),
        };
        match reply.wait() {
            Ok(answers) => return Ok(answers),
            // Another program has the file for a moment, or the server is away; nothing happened.
            Err(Failure::Locked | Failure::Unreachable) => thread::sleep(BUSY_PAUSE),
            Err(Failure::StorageFull) => {
                bail!("the disk is full: nothing was lost, but nobody can play on; make room and start the demo again")
            }
            Err(failure @ Failure::Unknown) => return Err(failure.into()),
        }
    }
}
