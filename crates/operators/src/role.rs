//! Roles and rights: what the people who run a deployment may do.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The role of a person. A person may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorRole {
    /// Sees money, no players.
    Viewer,
    /// Sees players, redacted.
    Support,
    /// Runs the deployment from day to day: pauses, freezes, alerts, proposals.
    Operator,
    /// Confirms what others propose.
    Approver,
    /// Changes the rules by which payouts are approved.
    PolicyAdmin,
    /// Everything, people included.
    Owner,
}

/// One thing that a person or a program may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Servers, accounts, deposits, payouts, events, alerts, heads, the registry.
    ReadMoney,
    /// Players, with their wallets redacted.
    ReadPlayers,
    /// Players, with all that the books know.
    ReadPlayersInFull,
    ReadAuditLog,
    /// Acknowledge and close.
    HandleAlerts,
    PauseServers,
    FreezePlayers,
    /// Stop one deposit before it is credited.
    HoldDeposits,
    ManageWebhooks,
    /// Chains, assets, wallets, keys of game servers.
    ChangeRegistry,
    /// Overrides, resumes, releases.
    Propose,
    Confirm,
    ChangePolicy,
    /// People, their keys and sessions, keys of programs.
    ManageOperators,
}

/// A set of rights.
pub type Rights = BTreeSet<Right>;

impl Right {
    pub const ALL: [Self; 14] = [
        Self::ReadMoney,
        Self::ReadPlayers,
        Self::ReadPlayersInFull,
        Self::ReadAuditLog,
        Self::HandleAlerts,
        Self::PauseServers,
        Self::FreezePlayers,
        Self::HoldDeposits,
        Self::ManageWebhooks,
        Self::ChangeRegistry,
        Self::Propose,
        Self::Confirm,
        Self::ChangePolicy,
        Self::ManageOperators,
    ];

    /// Whether a program may have it: programs read. What changes anything carries a person's signature.
    #[must_use]
    pub const fn is_for_programs(self) -> bool {
        matches!(self, Self::ReadMoney | Self::ReadPlayers | Self::ReadAuditLog)
    }

    /// As callers write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadMoney => "read_money",
            Self::ReadPlayers => "read_players",
            Self::ReadPlayersInFull => "read_players_in_full",
            Self::ReadAuditLog => "read_audit_log",
            Self::HandleAlerts => "handle_alerts",
            Self::PauseServers => "pause_servers",
            Self::FreezePlayers => "freeze_players",
            Self::HoldDeposits => "hold_deposits",
            Self::ManageWebhooks => "manage_webhooks",
            Self::ChangeRegistry => "change_registry",
            Self::Propose => "propose",
            Self::Confirm => "confirm",
            Self::ChangePolicy => "change_policy",
            Self::ManageOperators => "manage_operators",
        }
    }
}

impl OperatorRole {
    pub const ALL: [Self; 6] =
        [Self::Viewer, Self::Support, Self::Operator, Self::Approver, Self::PolicyAdmin, Self::Owner];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Support => "support",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::PolicyAdmin => "policy_admin",
            Self::Owner => "owner",
        }
    }

    /// What the role may do. An operator proposes and does not confirm, an approver confirms and does not propose.
    #[must_use]
    pub fn rights(self) -> Rights {
        use Right::{
            ChangePolicy, Confirm, FreezePlayers, HandleAlerts, HoldDeposits, ManageWebhooks, PauseServers, Propose,
            ReadAuditLog, ReadMoney, ReadPlayers, ReadPlayersInFull,
        };
        let rights: &[Right] = match self {
            Self::Viewer => &[ReadMoney],
            Self::Support => &[ReadMoney, ReadPlayers],
            Self::Operator => &[
                ReadMoney,
                ReadPlayers,
                ReadPlayersInFull,
                HandleAlerts,
                PauseServers,
                FreezePlayers,
                HoldDeposits,
                ManageWebhooks,
                Propose,
            ],
            Self::Approver => &[
                ReadMoney,
                ReadPlayers,
                ReadPlayersInFull,
                ReadAuditLog,
                HandleAlerts,
                PauseServers,
                FreezePlayers,
                HoldDeposits,
                Confirm,
            ],
            Self::PolicyAdmin => &[ReadMoney, ReadAuditLog, ChangePolicy],
            Self::Owner => &Right::ALL,
        };
        rights.iter().copied().collect()
    }
}

/// The rights of a person with these roles.
pub(crate) fn rights_of<'a>(roles: impl IntoIterator<Item = &'a OperatorRole>) -> Rights {
    roles.into_iter().flat_map(|role| role.rights()).collect()
}

impl fmt::Display for OperatorRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `policy-admin` and `policy_admin` are the same role.
impl FromStr for OperatorRole {
    type Err = UnknownOperatorWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = text.replace('-', "_");
        Self::ALL.into_iter().find(|role| role.as_str() == word).ok_or(UnknownOperatorWord)
    }
}

impl FromStr for Right {
    type Err = UnknownOperatorWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = text.replace('-', "_");
        Self::ALL.into_iter().find(|right| right.as_str() == word).ok_or(UnknownOperatorWord)
    }
}

/// A word that names no role and no right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such role or right")]
pub struct UnknownOperatorWord;
