//! The model's answer to a request in plain numbers, and the store's answer converted to it.

use bankroll_ledger::{Effects, Posting, Role, Verdict};
use bankroll_store::Answer;

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelOutcome {
    /// Its position in the journal; `None` for a rejection that is not recorded.
    pub seq: Option<u64>,
    pub replayed: bool,
    pub verdict: ModelVerdict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelVerdict {
    Applied(ModelEffect),
    /// The code.
    Rejected(String),
}

/// The changes made by an applied request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEffect {
    pub moved: Vec<ModelPosting>,
    pub holds: Vec<ModelHoldChange>,
    pub reverses: Option<u64>,
}

/// One movement of money and both balances after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPosting {
    pub from: u64,
    pub to: u64,
    pub amount: u128,
    pub from_after: u128,
    pub to_after: u128,
}

/// A hold after a change, and the sum held in its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelHoldChange {
    pub id: u64,
    pub account: u64,
    pub remaining: u128,
    pub expires: Option<u64>,
    pub settler: String,
    pub state: String,
    pub held_after: u128,
}

impl ModelOutcome {
    pub(super) fn unrecorded(code: &str) -> Self {
        Self { seq: None, replayed: false, verdict: ModelVerdict::Rejected(code.to_owned()) }
    }

    pub(super) fn again(&self) -> Self {
        Self { replayed: true, ..self.clone() }
    }

    /// The code of a rejection.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match &self.verdict {
            ModelVerdict::Applied(_) => None,
            ModelVerdict::Rejected(code) => Some(code),
        }
    }
}

impl From<&Answer> for ModelOutcome {
    fn from(answer: &Answer) -> Self {
        let verdict = match &answer.verdict {
            Verdict::Applied(effects) => ModelVerdict::Applied(effects.into()),
            Verdict::Rejected(rejection) => ModelVerdict::Rejected(rejection.code().to_owned()),
        };
        Self { seq: answer.seq.map(|seq| seq.0), replayed: answer.replayed, verdict }
    }
}

impl From<&Effects> for ModelEffect {
    fn from(effects: &Effects) -> Self {
        let moved = |posting: &Posting| ModelPosting {
            from: posting.from.0,
            to: posting.to.0,
            amount: posting.amount.units(),
            from_after: posting.from_after.units(),
            to_after: posting.to_after.units(),
        };
        let change = |change: &bankroll_ledger::HoldChange| ModelHoldChange {
            id: change.hold.id.0,
            account: change.hold.account.0,
            remaining: change.hold.remaining.units(),
            expires: change.hold.expires.map(|expires| expires.0),
            settler: role_name(change.hold.settler).to_owned(),
            state: format!("{:?}", change.hold.state).to_lowercase(),
            held_after: change.held_after.units(),
        };
        Self {
            moved: effects.postings.iter().map(moved).collect(),
            holds: effects.holds.iter().map(change).collect(),
            reverses: effects.reverses.map(|original| original.0),
        }
    }
}

/// The role's name in the model.
#[must_use]
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Indexer => "indexer",
        Role::Admin => "admin",
        Role::Developer => "developer",
        Role::GameServer => "game_server",
        Role::User => "user",
        Role::Tables => "tables",
        Role::System => "system",
    }
}
