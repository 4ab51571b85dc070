//! Variables that look like keys of the configuration and set none: one underscore instead of two.
//!
//! Other programs set variables with our prefix, too (`BANKROLL_PORT`, where a service has our name). So a variable is
//! an error only if it is nearly the name of a key, and a warning if it begins like one.

use super::{
    chain::CHAINS,
    keys::{KEYS, SECTIONS},
};

pub(super) const ENV_PREFIX: &str = "BANKROLL__";
/// How alike a variable and the variable of a key must be to be a mistake.
const MISTAKE: f64 = 0.9;

/// Variables that set no key: mistakes, and those that may be mistakes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StrayVariables {
    pub mistakes: Vec<String>,
    pub warnings: Vec<String>,
}

pub(super) fn variable_of(key: &str) -> String {
    format!("{ENV_PREFIX}{}", key.replace('.', "__").to_uppercase())
}

impl StrayVariables {
    pub fn among(names: impl IntoIterator<Item = String>) -> Self {
        let mut stray = Self::default();
        for name in names {
            let upper = name.to_uppercase();
            if upper == ENV_PREFIX {
                stray.mistakes.push(format!("{name}: this variable names no key; write BANKROLL__SECTION__KEY"));
            }
            if !upper.starts_with("BANKROLL_") || upper.starts_with(ENV_PREFIX) {
                continue;
            }
            let likeness = |key: &&str| strsim::normalized_damerau_levenshtein(&flat(&upper), &flat(&variable_of(key)));
            let best = KEYS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            let begins_with = |section: &&&str| flat(&upper).starts_with(&flat(&variable_of(section)));
            // `chains` begins like `chain`.
            let section = SECTIONS.iter().filter(begins_with).max_by_key(|section| section.len());
            match (best.filter(|key| likeness(key) >= MISTAKE), section) {
                (Some(key), _) => {
                    let variable = variable_of(key);
                    stray.mistakes.push(format!("{name}: this variable sets no key; did you mean {variable}?"));
                }
                (None, Some(section)) => {
                    let inner = if *section == CHAINS { ".name" } else { "" };
                    let variable = variable_of(&format!("{section}{inner}.key"));
                    let rule = format!("variables of keys have two underscores, as in {variable}");
                    stray.warnings.push(format!("{name} sets no key of the configuration: {rule}"));
                }
                (None, None) => {}
            }
        }
        stray
    }
}

fn flat(variable: &str) -> String {
    variable.replace("__", "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(name: &str) -> StrayVariables {
        StrayVariables::among([name.to_owned()])
    }

    #[test]
    fn a_variable_that_is_nearly_a_keys_is_a_mistake() {
        let check = |name: &str, meant: &str| {
            assert_eq!(among(name).mistakes, [format!("{name}: this variable sets no key; did you mean {meant}?")]);
        };
        check("BANKROLL_BOOKS_FOLDER", "BANKROLL__BOOKS__FOLDER");
        check("BANKROLL_CHAIN__RPC", "BANKROLL__CHAIN__RPC");
        check("BANKROLL_BOOKS_QUEU_MAX", "BANKROLL__BOOKS__QUEUE_MAX");
        assert_eq!(among("BANKROLL__").mistakes.len(), 1);
    }

    #[test]
    fn variables_of_others_are_left_alone() {
        assert_eq!(among("BANKROLL_BOOKS_X").warnings.len(), 1);
        let rule = "variables of keys have two underscores, as in BANKROLL__CHAINS__NAME__KEY";
        let warning = format!("BANKROLL_CHAINS_POLYGON_RPC sets no key of the configuration: {rule}");
        assert_eq!(among("BANKROLL_CHAINS_POLYGON_RPC").warnings, [warning]);
        for name in ["BANKROLL_SIGNER_PASSWORD", "BANKROLL_PORT", "BANKROLL__BOOKS__FOLDR", "PATH"] {
            assert_eq!(among(name), StrayVariables::default(), "{name}");
        }
    }
}
