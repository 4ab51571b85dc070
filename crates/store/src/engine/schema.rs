//! Whether tables, indexes, triggers and constraints are what the migrations made.
//!
//! The rules of the books are also rules of the database: a journal that is append-only, balances that never fall below
//! what is held, names that exist once. An administrator, or a damaged page, can remove one without a trace in any row.
//! So the audit makes the same tables again, elsewhere, and compares the descriptions.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// The comparison of the database's schema with the migrations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaReport {
    /// How many tables, columns, indexes, triggers, constraints and functions were compared.
    pub objects: u64,
    /// What is missing, was changed, or is not of the migrations.
    pub differences: Vec<String>,
    /// What could not be compared, and why.
    pub not_compared: Option<String>,
}

/// A row of the table `migrations`: the owner, the number, the hash of the text that was applied.
pub(super) type AppliedMigration = (String, u32, Vec<u8>);

/// The applied migrations whose hash is not that of the text that this program has. Opening the books refuses them.
pub(super) fn changed_migrations<'a>(
    applied: &[AppliedMigration],
    steps_of: impl Fn(&str) -> Option<&'a [&'a str]>,
) -> Vec<String> {
    let differs = |(owner, number, hash): &&AppliedMigration| {
        let place = (*number as usize).checked_sub(1);
        let step = steps_of(owner).and_then(|steps| place.and_then(|place| steps.get(place)));
        step.is_some_and(|step| Sha256::digest(step)[..] != **hash)
    };
    let changed = applied.iter().filter(differs);
    changed.map(|(owner, number, _)| format!("the hash of migration {number} of {owner} was changed")).collect()
}

/// Descriptions by the kind and name of an object, as in `trigger journal_forgets_nothing`.
pub(super) type Objects = BTreeMap<String, String>;

impl SchemaReport {
    /// `is_foreign` says which surplus objects are not the books'.
    pub(super) fn compare(expected: &Objects, found: &Objects, is_foreign: impl Fn(&str) -> bool) -> Self {
        let lost = expected.iter().filter_map(|(name, description)| match found.get(name) {
            None => Some(format!("{name} is missing")),
            Some(other) if other != description => Some(format!("{name} was changed")),
            Some(_) => None,
        });
        let surplus = found.keys().filter(|name| !expected.contains_key(*name) && !is_foreign(name));
        let surplus = surplus.map(|name| format!("{name} is not of the migrations"));
        Self { objects: expected.len() as u64, differences: lost.chain(surplus).collect(), not_compared: None }
    }
}
