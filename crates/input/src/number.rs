//! Whole numbers as arguments and values.

use std::ops::RangeInclusive;

/// A parser of whole numbers in a range, for one argument: `whole::<u32>(1..=100, "the number of records")`.
///
/// `T` must hold every number of the range; a number that it cannot hold is refused like one outside the range.
pub fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
    what: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number
            .and_then(|number: u64| T::try_from(number).ok())
            .ok_or_else(|| format!("{what} is a whole number {}", in_range(&range)))
    }
}

/// `from 1 to 10000`; without an end that only a machine has: `of at least 1`.
#[must_use]
pub fn in_range(range: &RangeInclusive<u64>) -> String {
    match range.end() {
        &u64::MAX => format!("of at least {}", range.start()),
        end => format!("from {} to {end}", range.start()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_range_is_answered_with_the_range() {
        let players = whole::<u32>(1..=100, "the number of players");
        assert_eq!(players("7"), Ok(7));
        for wrong in ["0", "101", "-1", "1.5", "many", "", " 7", "99999999999999999999999"] {
            assert_eq!(players(wrong), Err("the number of players is a whole number from 1 to 100".into()), "{wrong}");
        }
    }

    #[test]
    fn a_range_without_an_end_names_its_begin() {
        let seed = whole::<u64>(0..=u64::MAX, "the seed");
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(seed("18446744073709551616"), Err("the seed is a whole number of at least 0".into()));
    }
}
