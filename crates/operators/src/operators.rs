//! The state of all people, and the rules by which an entry may follow.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;

use crate::{
    Act, AuthorName, LogEntry, LogHash, OperatorRefusal, OperatorRole, OperatorSession, Person, PersonKey, ProgramKey,
    Proof, Proposal, ProposalContent, ProposalId, ProposalStatus, Right, Rights, SignedRequest,
    request_act::NewProgramKey, role::rights_of,
};

/// The largest quorum: more people than a studio has would lock it out.
const QUORUM_MAX: u8 = 5;
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
    head: LogHash,
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
    pub fn replay<'a>(entries: impl IntoIterator<Item = (&'a str, LogHash)>) -> Result<Self, LogError> {
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

/// Proposals.
impl Operators {
    fn propose(
        &mut self,
        id: ProposalId,
        content: &ProposalContent,
        (author, address): (&Name, Address),
        (at, expires_at): (Time, Time),
    ) -> Result<Vec<Effect>, OperatorRefusal> {
        self.need(author, content.right_to_propose())?;
        self.check_grant(author, content)?;
        self.check_content(content)?;
        if self.proposals.contains_key(&id) {
            return Err(OperatorRefusal::AlreadyExists { what: "proposal", id: id.to_string() });
        }
        let proposal = Proposal {
            id,
            content: content.clone(),
            author: author.clone(),
            proposed_at: at,
            expires_at,
            signed_by: [(author.clone(), address)].into(),
            confirmed_by: None,
            status: ProposalStatus::Open,
            ended_at: None,
        };
        self.proposals.insert(id, proposal);
        if self.needed_for(content) <= 1 { self.execute(id, at) } else { Ok(Vec::new()) }
    }

    fn confirm(
        &mut self,
        id: ProposalId,
        content: &ProposalContent,
        (person, address): (&Name, Address),
        at: Time,
    ) -> Result<Vec<Effect>, OperatorRefusal> {
        self.need(person, Right::Confirm)?;
        self.check_grant(person, content)?;
        let proposal = self.open(id, at)?;
        if proposal.content != *content {
            return Err(OperatorRefusal::OtherContent);
        }
        if proposal.signed_by.contains_key(person) {
            return Err(OperatorRefusal::AlreadySigned { person: person.clone() });
        }
        proposal.signed_by.insert(person.clone(), address);
        proposal.confirmed_by = Some(person.clone());
        let proposal = proposal.clone();
        // Of those who signed earlier, some may have lost their key or their rights since.
        let counts = |(name, address): (&Name, &Address)| {
            let right = if *name == proposal.author { content.right_to_propose() } else { Right::Confirm };
            let signer = self.people.get(name).filter(|signer| signer.acts_with(*address) && signer.may(right));
            signer.is_some() && self.check_grant(name, content).is_ok()
        };
        let signatures = proposal.signed_by.iter().filter(|signed| counts(*signed)).count();
        let author_counts = proposal.signed_by.get_key_value(&proposal.author).is_some_and(counts);
        if author_counts && signatures >= usize::from(self.needed_for(content)) {
            self.check_content(content)?;
            self.execute(id, at)
        } else {
            Ok(Vec::new())
        }
    }

    fn reject(&mut self, id: ProposalId, person: &Name, at: Time) -> Result<(), OperatorRefusal> {
        let may_confirm = self.people.get(person).is_some_and(|person| person.may(Right::Confirm));
        let proposal = self.open(id, at)?;
        if !may_confirm && proposal.author != *person {
            return Err(OperatorRefusal::NoRight { person: person.clone(), right: Right::Confirm });
        }
        proposal.status = ProposalStatus::Rejected;
        proposal.ended_at = Some(at);
        Ok(())
    }

    fn open(&mut self, id: ProposalId, at: Time) -> Result<&mut Proposal, OperatorRefusal> {
        let proposal = self.proposals.get_mut(&id).ok_or_else(|| missing("proposal", &id))?;
        match proposal.status_at(at) {
            ProposalStatus::Open => Ok(proposal),
            _ => Err(OperatorRefusal::ProposalEnded),
        }
    }

    /// Carries a proposal out: what is about people here, the rest by the books.
    fn execute(&mut self, id: ProposalId, at: Time) -> Result<Vec<Effect>, OperatorRefusal> {
        let proposal = self.proposals.get_mut(&id).ok_or_else(|| missing("proposal", &id))?;
        proposal.status = ProposalStatus::Confirmed;
        proposal.ended_at = Some(at);
        let Proposal { content, author, confirmed_by, .. } = proposal.clone();
        match &content {
            ProposalContent::AddPerson { person, roles, address } => self.add_person(person, roles, *address, at)?,
            ProposalContent::SetRoles { person, roles } => self.set_roles(person, roles)?,
            ProposalContent::AddKey { person, address } => self.add_key(person, *address, at)?,
            ProposalContent::Reinstate { person } => {
                self.people.get_mut(person).ok_or_else(|| missing("person", person))?.suspended_at = None;
            }
            ProposalContent::SetQuorum { quorum } => self.quorum = *quorum,
            ProposalContent::SetAudience { audience, chain_id } => {
                self.audience = Some((audience.clone(), *chain_id));
            }
            ProposalContent::UnfreezePlayer { player } => drop(self.frozen.remove(player)),
            ProposalContent::ResumeServer { .. }
            | ProposalContent::Transfer { .. }
            | ProposalContent::Reverse { .. } => {}
        }
        Ok(vec![Effect::Execute { proposal: id, content, author, confirmed_by }])
    }

    /// How many people must sign this content. Alone, a first owner must be able to add the second person and to choose
    /// a quorum; from the second person on, that needs several as well.
    #[must_use]
    pub fn needed_for(&self, content: &ProposalContent) -> u8 {
        if self.people.len() == 1 && content.is_about_people() { 1 } else { self.quorum() }
    }

    /// What can be said about a content before it is signed.
    fn check_content(&self, content: &ProposalContent) -> Result<(), OperatorRefusal> {
        match content {
            ProposalContent::AddPerson { person, roles, address } => {
                if self.people.contains_key(person) {
                    return Err(OperatorRefusal::AlreadyExists { what: "person", id: person.to_string() });
                }
                if RESERVED_NAMES.contains(&person.as_str()) {
                    return Err(OperatorRefusal::Malformed { field: "person", why: "the name has another meaning" });
                }
                check_roles(roles)?;
                self.check_new_key(*address)
            }
            ProposalContent::SetRoles { person, roles } => {
                check_roles(roles)?;
                let found = self.people.get(person).ok_or_else(|| missing("person", person))?;
                if found.roles == *roles {
                    return Err(OperatorRefusal::NoChange { person: person.clone() });
                }
                Ok(())
            }
            ProposalContent::AddKey { person, address } => {
                self.people.get(person).ok_or_else(|| missing("person", person))?;
                self.check_new_key(*address)
            }
            ProposalContent::Reinstate { person } => {
                match self.people.get(person).ok_or_else(|| missing("person", person))?.suspended_at {
                    Some(_) => Ok(()),
                    None => Err(OperatorRefusal::NoChange { person: person.clone() }),
                }
            }
            ProposalContent::SetQuorum { quorum } => {
                let confirming = self.people.values().filter(|person| person.may(Right::Confirm)).count();
                if !(1..=QUORUM_MAX).contains(quorum) {
                    return Err(OperatorRefusal::Malformed { field: "quorum", why: "one to five people" });
                }
                if usize::from(*quorum) > confirming.max(usize::from(Self::QUORUM)) {
                    return Err(OperatorRefusal::Malformed {
                        field: "quorum",
                        why: "more than the people who confirm",
                    });
                }
                Ok(())
            }
            ProposalContent::SetAudience { audience, .. } => check_text("audience", audience),
            ProposalContent::UnfreezePlayer { player } => {
                if self.frozen.contains_key(player) {
                    Ok(())
                } else {
                    Err(missing("freeze of player", player))
                }
            }
            ProposalContent::ResumeServer { .. } => Ok(()),
            ProposalContent::Transfer { from, to, amount, reason } => {
                // The ledger would refuse these for ever, and remember nothing.
                if from == to || amount.is_zero() {
                    return Err(OperatorRefusal::Malformed { field: "amount", why: "nothing would move" });
                }
                check_text("reason", reason)
            }
            ProposalContent::Reverse { reason, .. } => check_text("reason", reason),
        }
    }

    /// A person grants no right that they do not have. Whoever gives a person a key, or lifts a suspension, gives all
    /// rights of that person.
    fn check_grant(&self, by: &Name, content: &ProposalContent) -> Result<(), OperatorRefusal> {
        let own = |person: &Name| self.people.get(person).map(|person| rights_of(&person.roles)).unwrap_or_default();
        let granted = match content {
            ProposalContent::AddPerson { roles, .. } => rights_of(roles),
            ProposalContent::SetRoles { person, roles } => rights_of(roles).union(&own(person)).copied().collect(),
            ProposalContent::AddKey { person, .. } | ProposalContent::Reinstate { person } => own(person),
            // They change what every act needs.
            ProposalContent::SetQuorum { .. } | ProposalContent::SetAudience { .. } => Right::ALL.into(),
            _ => Rights::new(),
        };
        self.check_has(by, &granted)
    }

    fn check_has(&self, by: &Name, granted: &Rights) -> Result<(), OperatorRefusal> {
        let own = self.people.get(by).map(Person::rights).unwrap_or_default();
        match granted.difference(&own).next() {
            Some(right) => Err(OperatorRefusal::CannotGrant { person: by.clone(), right: *right }),
            None => Ok(()),
        }
    }
}

/// People, keys, sessions.
impl Operators {
    fn add_person(
        &mut self,
        name: &Name,
        roles: &BTreeSet<OperatorRole>,
        address: Address,
        at: Time,
    ) -> Result<(), OperatorRefusal> {
        self.check_new_key(address)?;
        let keys = [(address, PersonKey { since: at, revoked_at: None })].into();
        let person = Person { name: name.clone(), roles: roles.clone(), keys, since: at, suspended_at: None };
        self.people.insert(name.clone(), person);
        self.key_owners.insert(address, name.clone());
        Ok(())
    }

    fn set_roles(&mut self, name: &Name, roles: &BTreeSet<OperatorRole>) -> Result<(), OperatorRefusal> {
        let person = self.people.get_mut(name).ok_or_else(|| missing("person", name))?;
        person.roles.clone_from(roles);
        self.check_owner_left()
    }

    fn add_key(&mut self, name: &Name, address: Address, at: Time) -> Result<(), OperatorRefusal> {
        self.check_new_key(address)?;
        let person = self.people.get_mut(name).ok_or_else(|| missing("person", name))?;
        person.keys.insert(address, PersonKey { since: at, revoked_at: None });
        self.key_owners.insert(address, name.clone());
        Ok(())
    }

    fn check_new_key(&self, address: Address) -> Result<(), OperatorRefusal> {
        if address == Address::ZERO {
            return Err(OperatorRefusal::Malformed { field: "address", why: "no key exists for the zero address" });
        }
        match self.key_owners.get(&address) {
            Some(_) => Err(OperatorRefusal::AlreadyExists { what: "key", id: address.to_string() }),
            None => Ok(()),
        }
    }

    /// A person revokes their own keys; the keys of others need the right.
    fn revoke_key(&mut self, address: Address, by: &Name, at: Time) -> Result<(), OperatorRefusal> {
        let owner = self.key_owners.get(&address).cloned().ok_or_else(|| missing("key", &address))?;
        if owner != *by {
            self.need(by, Right::ManageOperators)?;
        }
        let key = self.people.get_mut(&owner).and_then(|person| person.keys.get_mut(&address));
        let key = key.filter(|key| key.revoked_at.is_none()).ok_or_else(|| missing("key", &address))?;
        key.revoked_at = Some(at);
        self.sessions.retain(|_, session| session.key != address);
        self.check_owner_left()
    }

    fn suspend(&mut self, name: &Name, by: &Name, at: Time) -> Result<(), OperatorRefusal> {
        self.need(by, Right::ManageOperators)?;
        let person = self.people.get_mut(name).ok_or_else(|| missing("person", name))?;
        if person.suspended_at.is_some() {
            return Err(OperatorRefusal::NoChange { person: name.clone() });
        }
        person.suspended_at = Some(at);
        self.sessions.retain(|_, session| session.person != *name);
        self.check_owner_left()
    }

    /// Without an owner who can act, a deployment could never change again.
    fn check_owner_left(&self) -> Result<(), OperatorRefusal> {
        let can_act = |person: &&Person| person.keys.keys().any(|address| person.acts_with(*address));
        let owners = self.people.values().filter(|person| person.roles.contains(&OperatorRole::Owner));
        if owners.filter(can_act).count() == 0 { Err(OperatorRefusal::LastOwner) } else { Ok(()) }
    }

    fn revoke_session(&mut self, session: &str, entry: &LogEntry) -> Result<Vec<Effect>, OperatorRefusal> {
        let AuthorName::Person(by) = &entry.author else { return Err(OperatorRefusal::SignatureNeeded) };
        let found = self.sessions.get(session).filter(|found| found.expires_at > entry.at);
        let found = found.ok_or_else(|| missing("session", &session))?;
        if found.person != *by {
            self.need(by, Right::ManageOperators)?;
        }
        let effect = Effect::EndSession { session: found.session.clone(), expires: found.expires_at };
        self.sessions.remove(session);
        Ok(vec![effect])
    }

    fn create_program_key(
        &mut self,
        (id, label, secret_hash): (&Name, &str, &str),
        rights: &Rights,
        expires_at: Option<Time>,
        (by, at): (&Name, Time),
    ) -> Result<(), OperatorRefusal> {
        self.need(by, Right::ManageOperators)?;
        self.check_has(by, rights)?;
        check_text("label", label)?;
        if rights.is_empty() || !rights.iter().all(|right| right.is_for_programs()) {
            return Err(OperatorRefusal::Malformed { field: "rights", why: "one or more rights to read" });
        }
        if self.program_keys.contains_key(id) {
            return Err(OperatorRefusal::AlreadyExists { what: "program key", id: id.to_string() });
        }
        let mut hash = [0; 32];
        let decoded = hex::decode_to_slice(secret_hash, &mut hash);
        decoded.map_err(|_| OperatorRefusal::Malformed { field: "secret_hash", why: "not a hash" })?;
        let key = ProgramKey {
            id: id.clone(),
            label: label.to_owned(),
            rights: rights.clone(),
            secret_hash: hash,
            created_by: by.clone(),
            since: at,
            expires_at,
            revoked_at: None,
        };
        self.program_keys.insert(id.clone(), key);
        Ok(())
    }

    fn need(&self, person: &Name, right: Right) -> Result<(), OperatorRefusal> {
        match self.people.get(person) {
            Some(found) if found.may(right) => Ok(()),
            _ => Err(OperatorRefusal::NoRight { person: person.clone(), right }),
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
    pub fn head(&self) -> LogHash {
        self.head
    }
}

fn signer(entry: &LogEntry) -> Result<(&Name, Address), OperatorRefusal> {
    match (&entry.author, &entry.proof) {
        (AuthorName::Person(person), Proof::Signed(request)) => Ok((person, request.address)),
        _ => Err(OperatorRefusal::SignatureNeeded),
    }
}

fn check_roles(roles: &BTreeSet<OperatorRole>) -> Result<(), OperatorRefusal> {
    let why = "a person has one role or more";
    if roles.is_empty() { Err(OperatorRefusal::Malformed { field: "roles", why }) } else { Ok(()) }
}

fn check_text(field: &'static str, text: &str) -> Result<(), OperatorRefusal> {
    let is_fine = (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
    let why = "1 to 500 bytes without control characters";
    if is_fine { Ok(()) } else { Err(OperatorRefusal::Malformed { field, why }) }
}

fn missing(what: &'static str, id: &impl ToString) -> OperatorRefusal {
    OperatorRefusal::NotFound { what, id: id.to_string() }
}
