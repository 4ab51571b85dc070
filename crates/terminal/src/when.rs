//! Times as people write and read them. The ledger counts microseconds since 1970 UTC.

use bankroll_ledger::Time;
use jiff::{Timestamp, civil, tz::TimeZone};

/// A time on the command line: `2026-11-15T08:30:00Z`, with any offset; a date, which is its first moment in UTC; or
/// microseconds since 1970.
pub fn parse(text: &str) -> Result<Time, String> {
    let hint = || "a time is 2026-11-15T08:30:00Z, a date like 2026-11-15 (its first moment in UTC), or microseconds since 1970";
    if let Ok(micros) = text.parse::<u64>() {
        return Ok(Time(micros));
    }
    let stamp: Timestamp = match text.parse() {
        Ok(stamp) => stamp,
        // A time without an offset is ambiguous, and must not be read as its date.
        Err(_) if text.len() != "2026-11-15".len() => return Err(hint().to_owned()),
        Err(_) => {
            let date: civil::Date = text.parse().map_err(|_| hint().to_owned())?;
            date.to_zoned(TimeZone::UTC).map_err(|_| hint().to_owned())?.timestamp()
        }
    };
    u64::try_from(stamp.as_microsecond()).map(Time).map_err(|_| "a time is not before 1970".into())
}

/// A time as text, in UTC, with all its digits. A time outside the calendar is shown as its number.
pub fn show(time: Time) -> String {
    let stamp = i64::try_from(time.0).ok().and_then(|micros| Timestamp::from_microsecond(micros).ok());
    stamp.map_or_else(|| time.to_string(), |stamp| format!("{stamp:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_three_ways_and_shown_in_one() {
        let check = |text: &str, shown: &str| assert_eq!(show(parse(text).unwrap()), shown, "{text}");
        check("2026-11-15T08:30:00Z", "2026-11-15T08:30:00.000000Z");
        check("2026-11-15T08:30:00.25+01:00", "2026-11-15T07:30:00.250000Z");
        check("2026-11-15", "2026-11-15T00:00:00.000000Z");
        check("1000001", "1970-01-01T00:00:01.000001Z");
        check("18446744073709551615", "18446744073709551615");
        for wrong in ["", "yesterday", "2026-11-15T08:30:00", "1969-12-31", "-5"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
