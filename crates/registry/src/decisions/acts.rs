//! Acts of people: the entry of the audit log, and what changes with it.

use bankroll_ledger::{Event, Name, Time};
use bankroll_operators::{Act, AuthorName, Effect, LogEntry, OperatorRefusal, Proof, ProposalContent, ProposalId};
use bankroll_orders::Address;

use super::act_events::act_events;
use crate::{LoggedAct, Pauses, PlayerFreeze, Registry, RegistryChange, RegistryRefusal, RevokedSession};

/// A decided act: what the request writes, and the money that it moves afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActDecision {
    /// The entry of the log comes first.
    pub changes: Vec<RegistryChange>,
    /// What others must hear about, in the same commit.
    pub events: Vec<Event>,
    /// A proposal about money that has all its signatures: the ledger carries it out once, under a key of its own.
    pub money: Option<ConfirmedProposal>,
}

/// A proposal about money with all its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedProposal {
    pub proposal: ProposalId,
    pub content: ProposalContent,
    pub author: Name,
    /// `None` where one person is enough.
    pub confirmed_by: Option<Name>,
}

/// Why an act is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActRefusal {
    #[error(transparent)]
    Operators(#[from] OperatorRefusal),
    #[error(transparent)]
    Registry(#[from] RegistryRefusal),
}

impl Registry {
    /// Decides an act. Write the changes in one request; without its entry none of them may be written.
    ///
    /// # Errors
    /// If its author may not do it, or it does not fit to what is registered.
    pub fn decide_act(&self, author: AuthorName, act: Act, proof: Proof, now: Time) -> Result<ActDecision, ActRefusal> {
        self.check_keys(&act)?;
        let number = self.operators().entries().saturating_add(1);
        let entry = LogEntry { number, at: now, author, act, proof };
        let mut operators = self.operators().clone();
        let effects = operators.enter(&entry)?;
        let mut changes = Vec::new();
        let mut money = None;
        let events = act_events(&entry, &effects);
        for effect in effects {
            match effect {
                Effect::FreezePlayer { player, reason } => changes.push(self.freeze(player, true, reason, now)),
                Effect::EndSession { session, expires } => changes.extend(ended(&session, expires, now)?),
                Effect::Execute { proposal, content, author, confirmed_by } => match content {
                    ProposalContent::UnfreezePlayer { player } => {
                        changes.push(self.freeze(player, false, String::new(), now));
                    }
                    ProposalContent::ResumeServer { server, deposits, spawns, withdrawals, disabled } => {
                        let pauses = Pauses { deposits, spawns, withdrawals, disabled };
                        changes.extend(self.set_pauses(&server, pauses, author, now)?);
                    }
                    content if content.is_about_money() => {
                        money = Some(ConfirmedProposal { proposal, content, author, confirmed_by });
                    }
                    _ => {}
                },
            }
        }
        changes.insert(0, RegistryChange::Act(Box::new(LoggedAct { entry, hash: operators.head() })));
        Ok(ActDecision { changes, events, money })
    }

    /// The first owner of a deployment, whose key `bankroll init` made.
    ///
    /// # Errors
    /// If there is an owner.
    pub fn add_first_owner(
        &self,
        person: Name,
        address: Address,
        now: Time,
    ) -> Result<Vec<RegistryChange>, ActRefusal> {
        let act = Act::FirstOwner { person, address };
        self.decide_act(AuthorName::Init, act, Proof::Init, now).map(|decided| decided.changes)
    }

    /// A key of a person that is also a game server's or a player's would be two callers with one key.
    fn check_keys(&self, act: &Act) -> Result<(), RegistryRefusal> {
        let address = match act {
            Act::Propose { content, .. } | Act::Confirm { content, .. } => match content {
                ProposalContent::AddPerson { address, .. } | ProposalContent::AddKey { address, .. } => *address,
                _ => return Ok(()),
            },
            Act::FirstOwner { address, .. } => *address,
            _ => return Ok(()),
        };
        if self.server_key(address).is_some() {
            return Err(RegistryRefusal::Malformed { field: "address", why: "it is the key of a game server" });
        }
        self.check_no_players(address)
    }

    fn freeze(&self, player: Name, frozen: bool, reason: String, now: Time) -> RegistryChange {
        let revision = self.player_freeze(&player).map_or(1, |known| known.revision.saturating_add(1));
        RegistryChange::PlayerFreeze(PlayerFreeze { player, frozen, reason, changed_at: now, revision })
    }
}

fn ended(session: &str, expires_at: Time, now: Time) -> Result<Option<RegistryChange>, RegistryRefusal> {
    let why = "not the name of a session";
    let session = session.parse().map_err(|_| RegistryRefusal::Malformed { field: "session", why })?;
    Ok(Some(RegistryChange::RevokedSession(RevokedSession { session, expires_at, revoked_at: now })))
}
