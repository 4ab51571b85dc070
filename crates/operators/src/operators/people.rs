//! People, their keys and sessions, and keys of programs.

use std::collections::BTreeSet;

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;

use super::{Effect, Operators, check_text, missing};
use crate::{AuthorName, LogEntry, OperatorRefusal, OperatorRole, Person, PersonKey, ProgramKey, Right, Rights};

impl Operators {
    pub(super) fn add_person(
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

    pub(super) fn set_roles(&mut self, name: &Name, roles: &BTreeSet<OperatorRole>) -> Result<(), OperatorRefusal> {
        let person = self.people.get_mut(name).ok_or_else(|| missing("person", name))?;
        person.roles.clone_from(roles);
        self.check_owner_left()
    }

    pub(super) fn add_key(&mut self, name: &Name, address: Address, at: Time) -> Result<(), OperatorRefusal> {
        self.check_new_key(address)?;
        let person = self.people.get_mut(name).ok_or_else(|| missing("person", name))?;
        person.keys.insert(address, PersonKey { since: at, revoked_at: None });
        self.key_owners.insert(address, name.clone());
        Ok(())
    }

    pub(super) fn check_new_key(&self, address: Address) -> Result<(), OperatorRefusal> {
        if address == Address::ZERO {
            return Err(OperatorRefusal::Malformed { field: "address", why: "no key exists for the zero address" });
        }
        match self.key_owners.get(&address) {
            Some(_) => Err(OperatorRefusal::AlreadyExists { what: "key", id: address.to_string() }),
            None => Ok(()),
        }
    }

    /// A person revokes their own keys; the keys of others need the right.
    pub(super) fn revoke_key(&mut self, address: Address, by: &Name, at: Time) -> Result<(), OperatorRefusal> {
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

    pub(super) fn suspend(&mut self, name: &Name, by: &Name, at: Time) -> Result<(), OperatorRefusal> {
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
    pub(super) fn check_owner_left(&self) -> Result<(), OperatorRefusal> {
        let can_act = |person: &&Person| person.keys.keys().any(|address| person.acts_with(*address));
        let owners = self.people.values().filter(|person| person.roles.contains(&OperatorRole::Owner));
        if owners.filter(can_act).count() == 0 { Err(OperatorRefusal::LastOwner) } else { Ok(()) }
    }

    pub(super) fn revoke_session(&mut self, session: &str, entry: &LogEntry) -> Result<Vec<Effect>, OperatorRefusal> {
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

    pub(super) fn create_program_key(
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

    pub(super) fn need(&self, person: &Name, right: Right) -> Result<(), OperatorRefusal> {
        match self.people.get(person) {
            Some(found) if found.may(right) => Ok(()),
            _ => Err(OperatorRefusal::NoRight { person: person.clone(), right }),
        }
    }
}

pub(super) fn check_roles(roles: &BTreeSet<OperatorRole>) -> Result<(), OperatorRefusal> {
    let why = "a person has one role or more";
    if roles.is_empty() { Err(OperatorRefusal::Malformed { field: "roles", why }) } else { Ok(()) }
}
