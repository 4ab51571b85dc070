//! What happens on the imagined chain, as the processes that watch it hand it over to the books, and what the books make
//! of it. In one process nobody needs to report; the requests are the same either way.

use anyhow::Context;
use bankroll_ledger::{Amount, HoldId, Request};
use bankroll_store::{
    Consumed, Consumer, INDEXER_EVENTS, InboxRow, InboxTable, Location, NewRow, PAYOUT_EVENTS, Reader,
};
use serde::{Deserialize, Serialize};

use super::{
    arena::Arena,
    asks::{Ask, Asked},
    room::{Player, Purse},
};

/// One thing that happened, with all that the books need to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    run: u64,
    room: usize,
    number: u64,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    /// So much was paid in, and is final.
    Deposit { purse: Purse, paid: Amount },
    /// What was paid in before adds up to a buy-in.
    Allocate { purse: Purse, saved: Amount },
    /// The transaction that pays this hold out is final.
    Paid { hold: HoldId, amount: Amount },
}

/// The kinds of rows, by who hands them over.
const INDEXER_KINDS: [&str; 2] = ["demo.deposit", "demo.allocate"];
const PAYOUT_KINDS: [&str; 1] = ["demo.paid"];

impl Arena {
    /// What the chain sees of an ask; `None` for what happens in the game alone.
    pub fn report(&self, room: usize, players: &[Player], asked: &Asked) -> Option<Report> {
        let what = match asked.ask {
            Ask::Deposit { player, paid, .. } => What::Deposit { purse: players[player].purse, paid },
            Ask::Allocate { player, saved, .. } => What::Allocate { purse: players[player].purse, saved },
            Ask::Payout { hold, amount, .. } => What::Paid { hold, amount },
            _ => return None,
        };
        Some(Report { run: self.run, room, number: asked.number, what })
    }

    /// What the books are asked because of a report.
    fn request_for(&self, report: &Report) -> Result<Request, String> {
        let arena = Self { run: report.run, ..self.clone() };
        let (room, number) = (report.room, report.number);
        match report.what {
            What::Deposit { purse, paid } => Ok(arena.deposit(room, number, purse, arena.buy_in.split(paid))),
            What::Allocate { purse, saved } => {
                let split = arena.buy_in.allocate(saved).ok_or("it is no buy-in yet")?;
                Ok(arena.allocation(room, number, purse, split))
            }
            What::Paid { hold, amount } => Ok(arena.payout(hold, amount, room, number)),
        }
    }
}

impl Report {
    /// The table it is handed over through.
    pub fn table(&self) -> InboxTable {
        match self.what {
            What::Deposit { .. } | What::Allocate { .. } => INDEXER_EVENTS,
            What::Paid { .. } => PAYOUT_EVENTS,
        }
    }

    /// What it is called wherever it is told.
    pub fn id(&self) -> String {
        let Self { run, room, number, .. } = self;
        match &self.what {
            What::Deposit { .. } => format!("deposit/{run}-{room}-{number:09}"),
            What::Allocate { .. } => format!("allocate/{run}-{room}-{number:09}"),
            What::Paid { hold, .. } => format!("paid/{hold}"),
        }
    }

    /// The row that hands it over.
    pub fn row(&self, node: &str, now: bankroll_ledger::Time) -> anyhow::Result<NewRow> {
        let kind = match self.what {
            What::Deposit { .. } => INDEXER_KINDS[0],
            What::Allocate { .. } => INDEXER_KINDS[1],
            What::Paid { .. } => PAYOUT_KINDS[0],
        };
        let (id, body) = (self.id(), serde_json::to_string(self).context("a report cannot be written down")?);
        Ok(NewRow { subject: id.clone(), id, kind: kind.into(), body, node: node.into(), created_at: now })
    }
}

/// The books' side: takes in what is reported to the arena in these books.
pub fn consumers(location: &Location, rows_max: usize) -> anyhow::Result<Vec<Consumer>> {
    let arena = Arena::find(&Reader::open(location)?)?;
    let consumer = |table: InboxTable, kinds: &[&str]| {
        let arena = arena.clone();
        Consumer::new(table, kinds, location, rows_max, move |row| understand(&arena, row))
    };
    Ok(vec![consumer(INDEXER_EVENTS, &INDEXER_KINDS), consumer(PAYOUT_EVENTS, &PAYOUT_KINDS)])
}

fn understand(arena: &Arena, row: &InboxRow) -> Consumed {
    let request = serde_json::from_str(&row.body).map_err(|error| error.to_string());
    match request.and_then(|report| arena.request_for(&report)) {
        Ok(request) => Consumed::Money(Box::new(request)),
        Err(reason) => Consumed::Refused(reason),
    }
}
