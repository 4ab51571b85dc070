//! Frozen players: an operator stops their spawns and payouts, several people lift that.

use bankroll_ledger::{Column, Name, Row, Time};
use bankroll_store::columns::{BadRow, number_of, parsed, text, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, flag, flag_of, shown, string_of, time_of};

/// Whether a player is frozen, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerFreeze {
    pub player: Name,
    pub frozen: bool,
    pub reason: String,
    pub changed_at: Time,
    pub revision: u64,
}

impl Entry for PlayerFreeze {
    const TABLE: &'static str = "player_freezes";

    fn key(&self) -> Vec<Column> {
        vec![column("player", shown(&self.player))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("frozen", flag(self.frozen)),
            column("reason", text(&self.reason)),
            column("changed_at", time(self.changed_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            player: parsed(row, "player")?,
            frozen: flag_of(row, "frozen")?,
            reason: string_of(row, "reason")?,
            changed_at: time_of(row, "changed_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
