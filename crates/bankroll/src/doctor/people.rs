//! The checks of the people who run the deployment: their log, whether they can still agree, and where their keys lie.

use std::path::Path;

use bankroll_operators::{Operators, Person, Right};
use bankroll_registry::{RegistryError, audit_operators};
use bankroll_roles::{AuthKey, OWNER_KEY_FILE};
use bankroll_store::Reader;
use bankroll_terminal::{counted, invocation};

use super::Check;

const LOG: &str = "audit log";
const PEOPLE: &str = "people";
const KEYS: &str = "people's keys";

/// Nothing for books that never were a node's. `base` is the folder of the configuration.
pub fn all(reader: &Reader, base: &Path) -> Vec<Check> {
    let operators = match audit_operators(reader) {
        Ok(None) => return Vec::new(),
        Ok(Some(operators)) => operators,
        Err(error) => return vec![broken(error)],
    };
    let entries = counted(operators.entries(), "entry", "entries");
    let log = Check::green(LOG, format!("{entries}: every hash and signature is good, and the journal has the same"));
    [log, people(&operators)].into_iter().chain(keys(&operators, base)).collect()
}

fn broken(error: RegistryError) -> Check {
    let is_unsound = error.is_unsound();
    let found = format!("{:#}", anyhow::Error::from(error));
    let fix = "no act of a person counts after that entry: stop the nodes, take every database login away, and go on with \
               your newest copy that `bankroll audit` finds sound";
    if is_unsound { Check::unsound(LOG, found, fix) } else { Check::red(LOG, found, "check the server") }
}

/// Who can act, and whether they are enough.
fn people(operators: &Operators) -> Check {
    let (me, quorum) = (invocation(), operators.quorum());
    let active: Vec<&Person> = operators.people().filter(|person| can_act(person)).collect();
    let proposing = with(&active, Right::Propose).count() as u64;
    let confirming = with(&active, Right::Confirm).count() as u64;
    let people = counted(active.len() as u64, "person", "people");
    let found = format!("{people}: {proposing} can propose, {confirming} can confirm; a proposal needs {quorum}");
    let add = format!("`{me} operators add NAME --role approver --address ADDRESS` adds the second person");
    if operators.entries() == 0 {
        let fix = "these books were not made by `bankroll init`, which records the first owner";
        return Check::warned(PEOPLE, "the books have no owner", fix);
    }
    if quorum == 1 {
        return Check::warned(PEOPLE, format!("{found}: one person is enough for every act"), add);
    }
    if is_alone(operators) {
        let fix = format!("{add}; a studio of one sets `{me} operators quorum 1`");
        return Check::warned(PEOPLE, format!("{found}, and there never was a second"), fix);
    }
    if most_signers(&active, Right::Propose).min(most_signers(&active, Right::ManageOperators)) < usize::from(quorum) {
        let fix = "bring back a key that is neither revoked nor of a suspended person, from its copy: whatever adds a \
                   person or a key needs as many signatures itself. Three people, or two keys for one of them, prevent it";
        return Check::red(PEOPLE, format!("{found}: too few are left, so that no proposal can be confirmed"), fix);
    }
    Check::green(PEOPLE, found)
}

/// Whether one person alone could ever confirm anything: that person still adds others alone.
fn is_alone(operators: &Operators) -> bool {
    let confirms = |person: &&Person| person.roles.iter().any(|role| role.rights().contains(&Right::Confirm));
    operators.people().filter(confirms).count() <= 1
}

fn can_act(person: &Person) -> bool {
    person.keys.keys().any(|address| person.acts_with(*address))
}

fn with<'a>(people: &'a [&Person], right: Right) -> impl Iterator<Item = &'a Person> {
    people.iter().copied().filter(move |person| person.may(right))
}

/// How many can sign a proposal whose author needs this right: the author, and everyone else who can confirm.
fn most_signers(people: &[&Person], author: Right) -> usize {
    let others = |author: &Person| with(people, Right::Confirm).filter(|other| other.name != author.name).count();
    with(people, author).map(|author| others(author).saturating_add(1)).max().unwrap_or_default()
}

/// Who takes over the machine of a node must not become a person by that.
fn keys(operators: &Operators, base: &Path) -> Option<Check> {
    let path = base.join(OWNER_KEY_FILE);
    let key = AuthKey::read(&path).ok()?;
    let person = operators.person_with(key.address())?;
    let found = format!("{} is in the folder of the node: who takes it over signs as {}", path.display(), person.name);
    let fix = "move it to a machine that runs no node, with a copy; commands of people take it with --key FILE";
    Some(Check::warned(KEYS, found, fix))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bankroll_ledger::Time;
    use bankroll_operators::{OperatorRole, PersonKey};
    use bankroll_orders::Address;

    use super::*;

    fn person(name: &str, role: OperatorRole) -> Person {
        let key = PersonKey { since: Time(0), revoked_at: None };
        Person {
            name: name.parse().unwrap(),
            roles: BTreeSet::from([role]),
            keys: [(Address([name.len() as u8; 20]), key)].into(),
            since: Time(0),
            suspended_at: None,
        }
    }

    #[test]
    fn an_author_counts_once_among_those_who_sign() {
        let (ann, bo) = (person("ann", OperatorRole::Owner), person("bo", OperatorRole::Approver));
        let guy = person("guys", OperatorRole::Operator);
        assert_eq!(most_signers(&[&ann], Right::Propose), 1);
        assert_eq!(most_signers(&[&ann, &bo], Right::Propose), 2);
        assert_eq!(most_signers(&[&guy, &bo], Right::Propose), 2);
        assert_eq!(most_signers(&[&guy], Right::Propose), 1, "an operator does not confirm");
        assert_eq!(most_signers(&[&bo], Right::Propose), 0, "an approver does not propose");
        assert_eq!(most_signers(&[&guy, &bo], Right::ManageOperators), 0, "there is no owner");
    }

    #[test]
    fn a_suspended_person_and_one_without_a_key_cannot_act() {
        let mut ann = person("ann", OperatorRole::Owner);
        assert!(can_act(&ann));
        ann.suspended_at = Some(Time(1));
        assert!(!can_act(&ann));
        let mut bo = person("bo", OperatorRole::Owner);
        bo.keys.values_mut().for_each(|key| key.revoked_at = Some(Time(1)));
        assert!(!can_act(&bo));
    }
}
