//! What people do. Each is one entry of the audit log.

use std::collections::BTreeSet;

use bankroll_ledger::{AccountName, Amount, Name, Seq, Time};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};

use crate::{
    ProposalId,
    role::{OperatorRole, Right, Rights},
    texts,
};

/// One privileged act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// The first entry, by `bankroll init`: the one person that no other has signed for.
    FirstOwner {
        person: Name,
        address: Address,
    },
    /// Asks the others to agree. With a quorum of one it takes effect at once.
    Propose {
        proposal: ProposalId,
        content: ProposalContent,
        expires: Time,
    },
    /// Agrees to exactly this content.
    Confirm {
        proposal: ProposalId,
        content: ProposalContent,
    },
    /// Ends a proposal without effect.
    Reject {
        proposal: ProposalId,
    },
    /// For ever.
    RevokeKey {
        address: Address,
    },
    /// At once, by one person; lifted by a proposal.
    Suspend {
        person: Name,
    },
    OpenSession {
        session: String,
        expires: Time,
    },
    RevokeSession {
        session: String,
    },
    CreateProgramKey {
        id: Name,
        label: String,
        rights: Rights,
        secret_hash: String,
        expires: Option<Time>,
    },
    RevokeProgramKey {
        id: Name,
    },
    /// No spawn and no payout for this player; lifted by a proposal.
    FreezePlayer {
        player: Name,
        reason: String,
    },
    /// A deposit that is not booked waits until several people have decided about it.
    HoldDeposit {
        deposit: String,
        reason: String,
    },
    /// An operation of the API with effects of its own, by one person: which one, on what, by which right.
    Operation {
        operation: String,
        resource: String,
        right: Right,
    },
    /// Data of a player was shown.
    ReadPlayer {
        player: Name,
    },
}

/// What a proposal does when enough people have signed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ProposalContent {
    AddPerson {
        person: Name,
        roles: BTreeSet<OperatorRole>,
        address: Address,
    },
    SetRoles {
        person: Name,
        roles: BTreeSet<OperatorRole>,
    },
    AddKey {
        person: Name,
        address: Address,
    },
    /// Lifts a suspension.
    Reinstate {
        person: Name,
    },
    /// How many people must sign a proposal, its author included.
    SetQuorum {
        quorum: u8,
    },
    /// From now on people sign for this audience on this chain.
    SetAudience {
        audience: String,
        chain_id: u64,
    },
    UnfreezePlayer {
        player: Name,
    },
    /// The pauses that remain.
    ResumeServer {
        server: Name,
        deposits: bool,
        spawns: bool,
        withdrawals: bool,
        disabled: bool,
    },
    /// Corrects an error among what we owe.
    Transfer {
        #[serde(with = "texts::account")]
        from: AccountName,
        #[serde(with = "texts::account")]
        to: AccountName,
        /// In base units.
        amount: Amount,
        reason: String,
    },
    /// Reverses what a record moved.
    Reverse {
        #[serde(with = "texts::record")]
        record: Seq,
        reason: String,
    },
    /// Lets a deposit through that waits for a person: from here on the ordinary rules credit it.
    ReleaseDeposit {
        deposit: String,
        /// Which inclusion of it, from 1: if the chain has replaced its block since, nothing happens.
        inclusion: u64,
        reason: String,
    },
    /// No player gets this deposit: one that waits is not credited, one in suspense stays there.
    RefuseDeposit {
        deposit: String,
        inclusion: u64,
        reason: String,
    },
    /// A deposit in suspense is this player's.
    AssignDeposit {
        deposit: String,
        inclusion: u64,
        /// All of it, in base units.
        amount: Amount,
        server: Name,
        player: Name,
        reason: String,
    },
}

impl ProposalContent {
    /// Its kind, as callers write it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::AddPerson { .. } => "add_person",
            Self::SetRoles { .. } => "set_roles",
            Self::AddKey { .. } => "add_key",
            Self::Reinstate { .. } => "reinstate",
            Self::SetQuorum { .. } => "set_quorum",
            Self::SetAudience { .. } => "set_audience",
            Self::UnfreezePlayer { .. } => "unfreeze_player",
            Self::ResumeServer { .. } => "resume_server",
            Self::Transfer { .. } => "transfer",
            Self::Reverse { .. } => "reverse",
            Self::ReleaseDeposit { .. } => "release_deposit",
            Self::RefuseDeposit { .. } => "refuse_deposit",
            Self::AssignDeposit { .. } => "assign_deposit",
        }
    }

    /// Whether it is about people themselves.
    #[must_use]
    pub const fn is_about_people(&self) -> bool {
        matches!(
            self,
            Self::AddPerson { .. }
                | Self::SetRoles { .. }
                | Self::AddKey { .. }
                | Self::Reinstate { .. }
                | Self::SetQuorum { .. }
                | Self::SetAudience { .. }
        )
    }

    /// Whether the ledger carries it out, in a request of its own: it moves money, or lets money be moved.
    #[must_use]
    pub fn is_about_money(&self) -> bool {
        matches!(self, Self::Transfer { .. } | Self::Reverse { .. }) || self.deposit().is_some()
    }

    /// The deposit that it decides about, and which inclusion of it.
    #[must_use]
    pub fn deposit(&self) -> Option<(&str, u64)> {
        match self {
            Self::ReleaseDeposit { deposit, inclusion, .. }
            | Self::RefuseDeposit { deposit, inclusion, .. }
            | Self::AssignDeposit { deposit, inclusion, .. } => Some((deposit, *inclusion)),
            _ => None,
        }
    }

    /// The right of its author.
    #[must_use]
    pub const fn right_to_propose(&self) -> Right {
        if self.is_about_people() { Right::ManageOperators } else { Right::Propose }
    }
}
