//! Which types of events an endpoint or a reader of the stream wants.

use std::{fmt, str::FromStr};

/// At most this many patterns.
const PATTERNS_MAX: usize = 32;
const PATTERN_BYTES_MAX: usize = 64;

/// Patterns, separated by commas: `*`, `deposit.*` or `deposit.credited`. A type may be one that no flow announces yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFilter(Vec<String>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a type of events: write `*`, a noun as in `deposit.*`, or a type as in `deposit.credited`")]
pub struct BadTypeFilter {
    given: String,
}

impl TypeFilter {
    /// Every type.
    #[must_use]
    pub fn all() -> Self {
        Self(vec!["*".into()])
    }

    #[must_use]
    pub fn accepts(&self, kind: &str) -> bool {
        self.0.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => kind.starts_with(prefix),
            None => pattern == kind,
        })
    }

    /// The patterns, as the caller wrote them.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// A filter of these patterns; all types if there are none.
    ///
    /// # Errors
    /// The first pattern that is none, or too many.
    pub fn of<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, BadTypeFilter> {
        let mut known = Vec::new();
        for pattern in patterns {
            if !is_pattern(pattern) || known.len() >= PATTERNS_MAX {
                return Err(BadTypeFilter { given: pattern.chars().take(80).collect() });
            }
            known.push(pattern.to_owned());
        }
        Ok(if known.is_empty() { Self::all() } else { Self(known) })
    }
}

fn is_pattern(pattern: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    pattern == "*"
        || pattern.len() <= PATTERN_BYTES_MAX
            && pattern.split_once('.').is_some_and(|(noun, verb)| is_word(noun) && (verb == "*" || is_word(verb)))
}

impl FromStr for TypeFilter {
    type Err = BadTypeFilter;

    fn from_str(text: &str) -> Result<Self, BadTypeFilter> {
        Self::of(text.split(',').map(str::trim))
    }
}

impl fmt::Display for TypeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_accepts_types_nouns_or_everything() {
        let check = |filter: &str, kind: &str| filter.parse::<TypeFilter>().unwrap().accepts(kind);
        assert!(check("*", "deposit.credited") && check("deposit.*", "deposit.credited"));
        assert!(check("spawn.*, deposit.credited", "deposit.credited"));
        assert!(!check("deposit.credited", "deposit.reversed") && !check("deposit.*", "deposits.credited"));
        for wrong in ["", "deposit", "deposit.", ".credited", "Deposit.*", "a.b.c", "*.credited", "deposit.*,,", "d*"] {
            assert!(wrong.parse::<TypeFilter>().is_err(), "{wrong}");
        }
        assert_eq!(
            "deposit.*, spawn.committed".parse::<TypeFilter>().unwrap().to_string(),
            "deposit.*,spawn.committed"
        );
    }
}
