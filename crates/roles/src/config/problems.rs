//! The problems of a configuration: all at once, each with its place and what may have been meant.

use std::path::Path;

use bankroll_terminal::plain;
use figment::{
    Figment,
    error::Kind,
    value::{Dict, Value},
};

use super::{
    Config,
    keys::{self, KEYS, SECTIONS},
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
    let place = |key: &str| all.find_metadata(key).map_or_else(String::new, |from| origin(from, key));
    let mut problems = Vec::new();
    find_unknown(given, &given_dict, "", &mut problems);
    let sections = SECTIONS.into_iter().map(|name| (name, keys::section_problem as fn(&str, &Value) -> _));
    let forms = KEYS.into_iter().map(|key| (key, keys::problem as fn(&str, &Value) -> _));
    for (key, check) in sections.chain(forms) {
        let problem = all.find_value(key).ok().and_then(|value| check(key, &value));
        problems.extend(problem.map(|what| format!("{}: {key}: {what}", place(key))));
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let config: Config = all.extract()?;
    let mut wrong: Vec<_> = config.books.problems().into_iter().collect();
    wrong.extend(config.node.problems(config.books.database.url().is_some()));
    wrong.extend(config.chain.setup(&config.server, Path::new(""), "").err().unwrap_or_default());
    if wrong.is_empty() {
        return Ok(config);
    }
    Err(ConfigError {
        problems: wrong.into_iter().map(|(key, what)| format!("{}: {key}: {what}", place(key))).collect(),
    })
}

fn find_unknown(given: &Figment, dict: &Dict, path: &str, unknown: &mut Vec<String>) {
    for (name, value) in dict {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let is_section = KEYS.iter().any(|known| known.starts_with(&format!("{key}.")));
        match value {
            Value::Dict(_, inner) if is_section || (!inner.is_empty() && !KEYS.contains(&key.as_str())) => {
                find_unknown(given, inner, &key, unknown);
            }
            // A section's name with a plain value is reported as such.
            _ if is_section || KEYS.contains(&key.as_str()) => {}
            _ => {
                let place = given.get_metadata(value.tag()).map_or_else(String::new, |from| origin(from, &key));
                unknown.push(format!("{place}: there is no key `{key}`{}", suggestion(&key, &KEYS)));
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
        if key.is_empty() { format!("{place}: {what}") } else { format!("{place}: {key}: {what}") }
    };
    ConfigError { problems: error.into_iter().map(problem).collect() }
}

/// The report of the TOML parser in one line. Its excerpt of the file is left out: it may be a line with a password.
fn without_excerpt(text: &str) -> String {
    let is_excerpt = |line: &&str| {
        line.trim_start().trim_start_matches(|of: char| of.is_ascii_digit()).trim_start().starts_with('|')
    };
    let mut lines = text.lines().filter(|line| !is_excerpt(line)).map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    let rest: Vec<&str> = lines.collect();
    if rest.is_empty() { first } else { format!("{first}: {}", rest.join(", ")) }
}

pub(super) fn suggestion(given: &str, known: &[&str]) -> String {
    let likeness = |name: &&str| strsim::normalized_damerau_levenshtein(given, name);
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.filter(|name| likeness(name) >= ALIKE).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_alike_is_suggested() {
        let check = |given: &str, expected: &str| assert_eq!(suggestion(given, &KEYS), expected);
        check("books.durabilty", "; did you mean `books.durability`?");
        check("boks.folder", "; did you mean `books.folder`?");
        check("books.que_max", "; did you mean `books.queue_max`?");
        check("payouts.hot_wallet", "");
    }

    #[test]
    fn a_report_of_the_parser_repeats_no_line_of_the_file() {
        let report = "TOML parse error at line 2, column 7\n  |\n2 | database = postgres://a:secret@b\n  |       ^\ninvalid\nexpected `.`\n";
        assert_eq!(without_excerpt(report), "TOML parse error at line 2, column 7: invalid, expected `.`");
        assert_eq!(without_excerpt("no such thing"), "no such thing");
    }
}
