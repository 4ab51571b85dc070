//! The state of all people, and the rules by which an entry may follow.

mod people;
mod proposals;

use std::collections::BTreeMap;

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;

use crate::{
    Act, ActHash, AuthorName, LogEntry, OperatorRefusal, OperatorRole, OperatorSession, Person, ProgramKey, Proof,
    Proposal, ProposalContent, ProposalId, Right, SignedRequest, request_act::NewProgramKey,
};

const TEXT_BYTES_MAX: usize = 500;
/// Whom the journal names as the second person where one is enough. No person has this name.
pub const QUORUM_OF_ONE: &str = "quorum-of-one";
/// Words with a meaning of their own in paths and in the journal.
const RESERVED_NAMES: [&str; 4] = [QUORUM_OF_ONE, "keys", "me", "sessions"];

/// What the log makes: the people, their open proposals and sessions, keys of programs, frozen players.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators {
    people: BTreeMap<Name, Person>,
    /// Of every key, revoked or not: a key belongs to one person for ever.
    key_owners: BTreeMap<Address, Name>,
    proposals: BTreeMap<ProposalId, Proposal>,
    sessions: BTreeMap<String, OperatorSession>,
    program_keys: BTreeMap<Name, ProgramKey>,
    frozen: BTreeMap<Name, String>,
    /// 0 before it was set, which means [`Operators::QUORUM`].
    quorum: u8,
    /// For which people sign: of the first signed entry, until a proposal changes it.
    audience: Option<(String, u64)>,
    entries: u64,
    head: ActHash,
}

/// What the books must do in the commit of an entry, or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    FreezePlayer {
        player: Name,
        reason: String,
    },
    /// The proposal has enough signatures: its content is carried out. `confirmed_by` is `None` for a quorum of one.
    Execute {
        proposal: ProposalId,
        content: ProposalContent,
        author: Name,
        confirmed_by: Option<Name>,
    },
    EndSession {
        session: String,
        expires: Time,
    },
}

/// Why a log is not one of these books.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    #[error("entry {0} of the audit log is not what was written")]
    Changed(u64),
    #[error("entry {0} of the audit log could not have been entered")]
    Refused(u64, #[source] OperatorRefusal),
}

impl Operators {
    /// How many people must sign a proposal unless they have decided otherwise.
    pub const QUORUM: u8 = 2;

    /// The state after all entries, given as their stored texts and hashes, in order.
    ///
    /// # Errors
    /// If one was changed, is missing, or was never allowed.
    pub fn replay<'a>(entries: impl IntoIterator<Item = (&'a str, ActHash)>) -> Result<Self, LogError> {
        let mut operators = Self::default();
        for (text, hash) in entries {
            let number = operators.entries.saturating_add(1);
            let entry = LogEntry::from_text(text).ok_or(LogError::Changed(number))?;
            if operators.head.after(text) != hash {
                return Err(LogError::Changed(number));
            }
            operators.enter(&entry).map_err(|refusal| LogError::Refused(number, refusal))?;
        }
        Ok(operators)
    }

    /// Enters an entry: checks its proof, the author's rights and the act itself, and takes it over. After an error
    /// the state is as it was.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn enter(&mut self, entry: &LogEntry) -> Result<Vec<Effect>, OperatorRefusal> {
        if entry.number != self.entries.saturating_add(1) {
            return Err(OperatorRefusal::ActMismatch);
        }
        let mut next = self.clone();
        next.check_proof(entry)?;
        let effects = next.act(entry)?;
        next.entries = entry.number;
        next.head = next.head.after(&entry.text());
        *self = next;
        Ok(effects)
    }

    /// Whether the proof is the author's, and is enough for this act.
    fn check_proof(&mut self, entry: &LogEntry) -> Result<(), OperatorRefusal> {
        match (&entry.author, &entry.proof) {
            (AuthorName::Init, Proof::Init) => match entry.act {
                Act::FirstOwner { .. } if self.people.is_empty() => Ok(()),
                _ => Err(OperatorRefusal::FirstOwnerExists),
            },
            (AuthorName::Person(person), Proof::Signed(request)) => self.check_signed(entry, person, request),
            (AuthorName::Person(person), Proof::Key(address)) => match entry.act {
                Act::OpenSession { .. } if self.person_with(*address).is_some_and(|of| of.name == *person) => Ok(()),
                _ => Err(OperatorRefusal::SignatureNeeded),
            },
            (AuthorName::Person(person), Proof::Session(session)) => match &entry.act {
                Act::ReadPlayer { .. } if self.people.get(person).is_some_and(|of| of.suspended_at.is_none()) => Ok(()),
                Act::RevokeSession { session: ended } if ended == session => Ok(()),
                _ => Err(OperatorRefusal::SignatureNeeded),
            },
            (AuthorName::Program(id), Proof::ProgramKey(key)) if id == key => match entry.act {
                Act::ReadPlayer { .. } if self.program_keys.get(id).is_some_and(|key| key.is_live(entry.at)) => Ok(()),
                _ => Err(OperatorRefusal::SignatureNeeded),
            },
            _ => Err(OperatorRefusal::SignatureNeeded),
        }
    }

    fn check_signed(
        &mut self,
        entry: &LogEntry,
        person: &Name,
        request: &SignedRequest,
    ) -> Result<(), OperatorRefusal> {
        if self.person_with(request.address).is_none_or(|of| of.name != *person) {
            return Err(OperatorRefusal::UnknownKey);
        }
        let signed_for = (request.audience.clone(), request.chain_id);
        let (audience, chain_id) = self.audience.get_or_insert_with(|| signed_for.clone()).clone();
        if signed_for != (audience.clone(), chain_id) {
            return Err(OperatorRefusal::OtherAudience { audience, chain_id });
        }
        request.verify(entry.at)?;
        let right = match &entry.act {
            Act::Operation { right, .. } => Some(*right),
            _ => None,
        };
        let new_key = match &entry.act {
            Act::CreateProgramKey { id, secret_hash, .. } => {
                Some(NewProgramKey { id: id.clone(), secret_hash: secret_hash.clone() })
            }
            _ => None,
        };
        let said = request.act(person, entry.at, right, new_key.as_ref())?;
        if said == entry.act { Ok(()) } else { Err(OperatorRefusal::ActMismatch) }
    }

    fn act(&mut self, entry: &LogEntry) -> Result<Vec<Effect>, OperatorRefusal> {
        let at = entry.at;
        match &entry.act {
            Act::FirstOwner { person, address } => {
                let roles = [OperatorRole::Owner].into();
                self.add_person(person, &roles, *address, at).map(|()| Vec::new())
            }
            Act::Propose { proposal, content, expires } => {
                let (author, address) = signer(entry)?;
                self.propose(*proposal, content, (author, address), (at, *expires))
            }
            Act::Confirm { proposal, content } => {
                let (person, address) = signer(entry)?;
                self.confirm(*proposal, content, (person, address), at)
            }
            Act::Reject { proposal } => self.reject(*proposal, signer(entry)?.0, at).map(|()| Vec::new()),
            Act::RevokeKey { address } => self.revoke_key(*address, signer(entry)?.0, at).map(|()| Vec::new()),
            Act::Suspend { person } => self.suspend(person, signer(entry)?.0, at).map(|()| Vec::new()),
            Act::OpenSession { session, expires } => {
                let (AuthorName::Person(person), Proof::Key(key)) = (&entry.author, &entry.proof) else {
                    return Err(OperatorRefusal::SignatureNeeded);
                };
                self.sessions.retain(|_, open| open.expires_at > at);
                let (session, person) = (session.clone(), person.clone());
                let open = OperatorSession { session, person, key: *key, since: at, expires_at: *expires };
                self.sessions.insert(open.session.clone(), open);
                Ok(Vec::new())
            }
            Act::RevokeSession { session } => self.revoke_session(session, entry),
            Act::CreateProgramKey { id, label, rights, secret_hash, expires } => {
                let by = signer(entry)?.0;
                self.create_program_key((id, label, secret_hash), rights, *expires, (by, at)).map(|()| Vec::new())
            }
            Act::RevokeProgramKey { id } => {
                self.need(signer(entry)?.0, Right::ManageOperators)?;
                let key = self.program_keys.get_mut(id).filter(|key| key.revoked_at.is_none());
                key.ok_or_else(|| missing("program key", id))?.revoked_at = Some(at);
                Ok(Vec::new())
            }
            Act::FreezePlayer { player, reason } => {
                self.need(signer(entry)?.0, Right::FreezePlayers)?;
                check_text("reason", reason)?;
                if self.frozen.insert(player.clone(), reason.clone()).is_some() {
                    return Err(OperatorRefusal::AlreadyExists { what: "freeze of player", id: player.to_string() });
                }
                Ok(vec![Effect::FreezePlayer { player: player.clone(), reason: reason.clone() }])
            }
            Act::HoldDeposit { deposit, reason } => {
                self.need(signer(entry)?.0, Right::HoldDeposits)?;
                check_text("deposit", deposit)?;
                check_text("reason", reason).map(|()| Vec::new())
            }
            Act::Operation { right, .. } => self.need(signer(entry)?.0, *right).map(|()| Vec::new()),
            Act::ReadPlayer { .. } => match &entry.author {
                AuthorName::Person(person) => self.need(person, Right::ReadPlayers).map(|()| Vec::new()),
                AuthorName::Program(id) => match self.program_keys.get(id) {
                    Some(key) if key.rights.contains(&Right::ReadPlayers) => Ok(Vec::new()),
                    _ => Err(OperatorRefusal::UnknownKey),
                },
                AuthorName::Init => Err(OperatorRefusal::SignatureNeeded),
            },
        }
    }
}

/// Lookups.
impl Operators {
    /// The person who acts with this key now.
    #[must_use]
    pub fn person_with(&self, address: Address) -> Option<&Person> {
        self.key_owners.get(&address).and_then(|name| self.people.get(name)).filter(|person| person.acts_with(address))
    }

    #[must_use]
    pub fn person(&self, name: &Name) -> Option<&Person> {
        self.people.get(name)
    }

    pub fn people(&self) -> impl Iterator<Item = &Person> {
        self.people.values()
    }

    #[must_use]
    pub fn proposal(&self, id: ProposalId) -> Option<&Proposal> {
        self.proposals.get(&id)
    }

    pub fn proposals(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.values()
    }

    /// An open session, by its name.
    #[must_use]
    pub fn session(&self, session: &str, now: Time) -> Option<&OperatorSession> {
        self.sessions.get(session).filter(|found| found.expires_at > now)
    }

    pub fn sessions(&self, now: Time) -> impl Iterator<Item = &OperatorSession> {
        self.sessions.values().filter(move |session| session.expires_at > now)
    }

    #[must_use]
    pub fn program_key(&self, id: &Name) -> Option<&ProgramKey> {
        self.program_keys.get(id)
    }

    pub fn program_keys(&self) -> impl Iterator<Item = &ProgramKey> {
        self.program_keys.values()
    }

    /// Why a player is frozen, if they are.
    #[must_use]
    pub fn frozen(&self, player: &Name) -> Option<&str> {
        self.frozen.get(player).map(String::as_str)
    }

    pub fn frozen_players(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.frozen.iter().map(|(player, reason)| (player, reason.as_str()))
    }

    /// How many people must sign a proposal, its author included.
    #[must_use]
    pub fn quorum(&self) -> u8 {
        if self.quorum == 0 { Self::QUORUM } else { self.quorum }
    }

    /// For which audience and chain people sign here, once one has.
    #[must_use]
    pub fn audience(&self) -> Option<(&str, u64)> {
        self.audience.as_ref().map(|(audience, chain)| (audience.as_str(), *chain))
    }

    /// How many entries there are.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    #[must_use]
    pub fn head(&self) -> ActHash {
        self.head
    }
}

fn signer(entry: &LogEntry) -> Result<(&Name, Address), OperatorRefusal> {
    match (&entry.author, &entry.proof) {
        (AuthorName::Person(person), Proof::Signed(request)) => Ok((person, request.address)),
        _ => Err(OperatorRefusal::SignatureNeeded),
    }
}

fn check_text(field: &'static str, text: &str) -> Result<(), OperatorRefusal> {
    let is_fine = (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
    let why = "1 to 500 bytes without control characters";
    if is_fine { Ok(()) } else { Err(OperatorRefusal::Malformed { field, why }) }
}

fn missing(what: &'static str, id: &impl ToString) -> OperatorRefusal {
    OperatorRefusal::NotFound { what, id: id.to_string() }
}
