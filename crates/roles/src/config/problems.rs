//! The problems of a configuration: all at once, each with its place and what may have been meant.

use std::path::Path;

use bankroll_terminal::{plain, without_excerpt};
use figment::{
    Figment,
    error::Kind,
    value::{Dict, Value},
};

use super::{
    Config,
    chain::{self, CHAINS},
    keys::{self, SECTIONS},
    layers::origin,
};

/// How alike two names must be for one to be suggested for the other.
const ALIKE: f64 = 0.7;

#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be used:{}", .problems.iter().map(|problem| format!("\n  - {problem}")).collect::<String>())]
pub struct ConfigError {
    /// Each in one line: where, what, and what may have been meant.
    pub problems: Vec<String>,
}

/// The configuration, if every given key is known and every value is valid.
pub fn extract(given: &Figment, all: &Figment) -> Result<Config, ConfigError> {
    let given_dict: Dict = given.extract()?;
    let located = |key: &str, what: String| {
        let place = all.find_metadata(key).map_or_else(String::new, |from| origin(from, key));
        at_place(&place, key, &what)
    };
    let chains = chain_names(given);
    let keys = keys::all(chains.iter().map(String::as_str));
    let mut problems = Vec::new();
    find_unknown(given, &given_dict, "", &keys, &mut problems);
    let sections = SECTIONS.into_iter().map(str::to_owned);
    let sections = sections.chain(chains.iter().map(|name| format!("{CHAINS}.{name}")));
    for (key, check) in sections
        .map(|key| (key, keys::section_problem as fn(&str, &Value) -> _))
        .chain(keys.into_iter().map(|key| (key, keys::problem as fn(&str, &Value) -> _)))
    {
        let problem = all.find_value(&key).ok().and_then(|value| match &value {
            // Its default is none.
            Value::Num(_, id) if is_missing_id(&key, id.to_u128()) => {
                Some("set this to the chain's id, as in 137".into())
            }
            value => check(&key, value),
        });
        problems.extend(problem.map(|what| located(&key, what)));
    }
    let names = chains.iter().filter_map(|name| Some((format!("{CHAINS}.{name}"), keys::chain_name_problem(name)?)));
    problems.extend(names.map(|(key, what)| located(&key, what)));
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let config: Config = all.extract()?;
    let own = |(key, what): (&'static str, String)| (key.to_owned(), what);
    let mut wrong: Vec<_> = config.books.problems().into_iter().map(own).collect();
    wrong.extend(config.node.problems(config.books.database.url().is_some()).into_iter().map(own));
    wrong.extend(config.api.problems().into_iter().map(own));
    wrong.extend(config.notify.problems(&config).map(own));
    wrong.extend(chain::setups(&config, Path::new("")).err().unwrap_or_default());
    if wrong.is_empty() {
        return Ok(config);
    }
    Err(ConfigError { problems: wrong.into_iter().map(|(key, what)| located(&key, what)).collect() })
}

/// The further chains that are given, by the names of their tables.
pub fn chain_names(given: &Figment) -> Vec<String> {
    match given.find_value(CHAINS) {
        Ok(Value::Dict(_, tables)) => tables.into_keys().collect(),
        _ => Vec::new(),
    }
}

fn is_missing_id(key: &str, id: Option<u128>) -> bool {
    id == Some(0) && key.starts_with(CHAINS) && key.ends_with(".id")
}

/// A problem with its key and where the value comes from. A flag is named by its key, and a default has no place.
pub(super) fn at_place(place: &str, key: &str, what: &str) -> String {
    match place {
        "default" | "" => format!("{key}: {what}"),
        place if place.ends_with(key) => format!("{place}: {what}"),
        place => format!("{place}: {key}: {what}"),
    }
}

fn find_unknown(given: &Figment, dict: &Dict, path: &str, known: &[String], unknown: &mut Vec<String>) {
    for (name, value) in dict {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let (is_section, is_key) = (keys::is_section(&key), known.contains(&key));
        match value {
            Value::Dict(_, inner) if is_section || (!inner.is_empty() && !is_key) => {
                find_unknown(given, inner, &key, known, unknown);
            }
            // A section's name with a plain value is reported as such.
            _ if is_section || is_key => {}
            _ => {
                let place = given.get_metadata(value.tag()).map_or_else(String::new, |from| origin(from, &key));
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                unknown.push(format!("{place}: there is no key `{key}`{}", suggestion(&key, &known)));
            }
        }
    }
}

/// Problems that the types report.
pub fn of(error: figment::Error) -> ConfigError {
    let problem = |error: figment::Error| {
        let key = error.path.join(".");
        let place = error.metadata.as_ref().map_or_else(|| "configuration".into(), |from| origin(from, &key));
        let what = match &error.kind {
            Kind::Message(text) => without_excerpt(text),
            kind => plain(kind.to_string().trim_end()),
        };
        if key.is_empty() { format!("{place}: {what}") } else { at_place(&place, &key, &what) }
    };
    ConfigError { problems: error.into_iter().map(problem).collect() }
}

pub(super) fn suggestion(given: &str, known: &[&str]) -> String {
    let likeness = |name: &&str| strsim::normalized_damerau_levenshtein(given, name);
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.filter(|name| likeness(name) >= ALIKE).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn only_what_is_alike_is_suggested() {
        let check = |given: &str, expected: &str| assert_eq!(suggestion(given, &KEYS), expected);
        check("books.durabilty", "; did you mean `books.durability`?");
        check("boks.folder", "; did you mean `books.folder`?");
        check("books.que_max", "; did you mean `books.queue_max`?");
        check("payouts.hot_wallet", "");
    }
}
