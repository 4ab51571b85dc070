//! Who there is: people with their keys, programs with theirs, open sessions.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use serde::Serialize;

use crate::role::{OperatorRole, Right, Rights, rights_of};

/// A person who runs the deployment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Person {
    pub name: Name,
    pub roles: BTreeSet<OperatorRole>,
    pub keys: BTreeMap<Address, PersonKey>,
    pub since: Time,
    /// A suspended person can do nothing, and what they signed before counts for nothing that is still open.
    pub suspended_at: Option<Time>,
}

/// A key of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PersonKey {
    pub since: Time,
    pub revoked_at: Option<Time>,
}

impl Person {
    /// What the person may do now; nothing while suspended.
    #[must_use]
    pub fn rights(&self) -> Rights {
        if self.suspended_at.is_some() { Rights::new() } else { rights_of(&self.roles) }
    }

    #[must_use]
    pub fn may(&self, right: Right) -> bool {
        self.rights().contains(&right)
    }

    /// Whether this key of theirs counts.
    #[must_use]
    pub fn acts_with(&self, address: Address) -> bool {
        self.suspended_at.is_none() && self.keys.get(&address).is_some_and(|key| key.revoked_at.is_none())
    }
}

/// A key of a program: it reads, within its rights. The books keep the hash of its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramKey {
    /// Public: part of the key's text.
    pub id: Name,
    /// What it is for.
    pub label: String,
    pub rights: Rights,
    /// SHA-256 of the secret, which has 256 bits of its own.
    #[serde(skip)]
    pub secret_hash: [u8; 32],
    pub created_by: Name,
    pub since: Time,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
}

impl ProgramKey {
    #[must_use]
    pub fn is_live(&self, now: Time) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires| now < expires)
    }
}

/// A session of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperatorSession {
    /// `ses_...`
    pub session: String,
    pub person: Name,
    pub key: Address,
    pub since: Time,
    pub expires_at: Time,
}
