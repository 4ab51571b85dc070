//! Acts that need several people: proposing, confirming, and what takes effect with the last signature.

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;

use super::{Effect, Operators, RESERVED_NAMES, check_text, missing, people::check_roles};
use crate::{
    OperatorRefusal, Person, Proposal, ProposalContent, ProposalId, ProposalStatus, Right, Rights, role::rights_of,
};

/// The largest quorum: more people than a studio has would lock it out.
const QUORUM_MAX: u8 = 5;

impl Operators {
    pub(super) fn propose(
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

    pub(super) fn confirm(
        &mut self,
        id: ProposalId,
        content: &ProposalContent,
        (person, address): (&Name, Address),
        at: Time,
    ) -> Result<Vec<Effect>, OperatorRefusal> {
        self.need(person, Right::Confirm)?;
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
            self.people.get(name).is_some_and(|signer| signer.acts_with(*address) && signer.may(right))
        };
        let signatures = proposal.signed_by.iter().filter(|signed| counts(*signed)).count();
        let author_counts = proposal.signed_by.get_key_value(&proposal.author).is_some_and(counts);
        if author_counts
            && self.check_grant(&proposal.author, content).is_ok()
            && signatures >= usize::from(self.needed_for(content))
        {
            self.check_content(content)?;
            self.execute(id, at)
        } else {
            Ok(Vec::new())
        }
    }

    pub(super) fn reject(&mut self, id: ProposalId, person: &Name, at: Time) -> Result<(), OperatorRefusal> {
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
            | ProposalContent::Reverse { .. }
            | ProposalContent::ReleaseDeposit { .. }
            | ProposalContent::RefuseDeposit { .. }
            | ProposalContent::AssignDeposit { .. } => {}
        }
        Ok(vec![Effect::Execute { proposal: id, content, author, confirmed_by }])
    }

    /// How many people must sign this content. As long as one person alone could confirm anything, that person adds
    /// others and chooses a quorum alone; then several must sign for that as well. A suspended person counts here: one
    /// who could suspend all others must not be alone by that.
    #[must_use]
    pub fn needed_for(&self, content: &ProposalContent) -> u8 {
        let confirms = |person: &&Person| rights_of(&person.roles).contains(&Right::Confirm);
        let is_alone = self.people.values().filter(confirms).count() <= 1;
        if is_alone && content.is_about_people() { 1 } else { self.quorum() }
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
            ProposalContent::ReleaseDeposit { deposit, inclusion, reason }
            | ProposalContent::RefuseDeposit { deposit, inclusion, reason } => {
                check_deposit(deposit, *inclusion)?;
                check_text("reason", reason)
            }
            ProposalContent::AssignDeposit { deposit, inclusion, amount, reason, .. } => {
                check_deposit(deposit, *inclusion)?;
                if amount.is_zero() {
                    return Err(OperatorRefusal::Malformed { field: "amount", why: "nothing would move" });
                }
                check_text("reason", reason)
            }
        }
    }

    /// The author of a proposal grants no right that they do not have. A new key of a person, or the end of a suspension,
    /// gives all rights of that person.
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

    pub(super) fn check_has(&self, by: &Name, granted: &Rights) -> Result<(), OperatorRefusal> {
        let own = self.people.get(by).map(Person::rights).unwrap_or_default();
        match granted.difference(&own).next() {
            Some(right) => Err(OperatorRefusal::CannotGrant { person: by.clone(), right: *right }),
            None => Ok(()),
        }
    }
}

fn check_deposit(deposit: &str, inclusion: u64) -> Result<(), OperatorRefusal> {
    check_text("deposit", deposit)?;
    let why = "the first inclusion is 1";
    if inclusion == 0 { Err(OperatorRefusal::Malformed { field: "inclusion", why }) } else { Ok(()) }
}
