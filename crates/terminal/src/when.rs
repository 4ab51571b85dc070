//! Times as people write and read them. The ledger counts microseconds since 1970 UTC.

use bankroll_ledger::Time;
use time::{Date, Month, OffsetDateTime, Time as DayTime, UtcOffset, format_description::well_known::Rfc3339};

/// A time on the command line: `2026-11-15T08:30:00Z`, with any offset; a date, which is its first moment in UTC; or
/// a number since 1970, whose unit its count of digits says. Another count is refused: a wrong unit would be a silent
/// answer about 1970.
pub fn parse(text: &str) -> Result<Time, String> {
    let hint = || {
        "a time is 2026-11-15T08:30:00Z, a date like 2026-11-15 (its first moment in UTC), or seconds since 1970"
            .to_owned()
    };
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return parse_number(text);
    }
    // A time without an offset is ambiguous, and must not be read as its date.
    let stamp = OffsetDateTime::parse(text, &Rfc3339).ok().or_else(|| first_moment(text)).ok_or_else(hint)?;
    let micros = u64::try_from(stamp.unix_timestamp_nanos().div_euclid(1_000));
    micros.map(Time).map_err(|_| "a time is not before 1970".into())
}

/// The first moment of a date like `2026-11-15`, in UTC.
fn first_moment(text: &str) -> Option<OffsetDateTime> {
    let [year, month, day] = <[&str; 3]>::try_from(text.split('-').collect::<Vec<_>>()).ok()?;
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(year, 4) || !digits(month, 2) || !digits(day, 2) {
        return None;
    }
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()?;
    Some(date.with_time(DayTime::MIDNIGHT).assume_offset(UtcOffset::UTC))
}

fn parse_number(digits: &str) -> Result<Time, String> {
    let micros = match digits.len() {
        10 => 1_000_000,
        13 => 1_000,
        16 => 1,
        other => {
            return Err(format!(
                "a number since 1970 has 10 digits (seconds), 13 (milliseconds) or 16 (microseconds), not {other}; \
                 or write 2026-11-15T08:30:00Z"
            ));
        }
    };
    let number: Option<u64> = digits.parse().ok();
    number.and_then(|number| number.checked_mul(micros)).map(Time).ok_or_else(|| "the time is too large".into())
}

/// A period on the command line must not be empty by mistake.
pub fn check_period(from: Option<Time>, to: Option<Time>) -> Result<(), String> {
    match (from, to) {
        (Some(from), Some(to)) if from > to => {
            Err(format!("--from {} is after --to {}: exchange them", show(from), show(to)))
        }
        _ => Ok(()),
    }
}

/// A time as text, in UTC, with all its digits. A time outside the calendar is shown as its number.
pub fn show(time: Time) -> String {
    in_calendar(time).unwrap_or_else(|| time.to_string())
}

/// As [`show`]; `None` for a time outside the calendar.
pub fn in_calendar(time: Time) -> Option<String> {
    moment(time).map(|at| format!("{}T{}.{:06}Z", day(at), clock(at), at.microsecond()))
}

/// A time for tables: in UTC, cut to seconds.
pub fn seconds(time: Time) -> String {
    moment(time).map_or_else(|| time.to_string(), |at| format!("{} {}", day(at), clock(at)))
}

fn moment(time: Time) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(time.0) * 1_000).ok()
}

fn day(at: OffsetDateTime) -> String {
    format!("{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day())
}

fn clock(at: OffsetDateTime) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_several_ways_and_shown_in_one() {
        let check = |text: &str, shown: &str| assert_eq!(show(parse(text).unwrap()), shown, "{text}");
        check("2026-11-15T08:30:00Z", "2026-11-15T08:30:00.000000Z");
        check("2026-11-15T08:30:00.25+01:00", "2026-11-15T07:30:00.250000Z");
        check("2026-11-15", "2026-11-15T00:00:00.000000Z");
        check("1794778177", "2026-11-15T21:29:37.000000Z");
        check("1794778177250", "2026-11-15T21:29:37.250000Z");
        check("1794778177250001", "2026-11-15T21:29:37.250001Z");
        for wrong in
            ["", "yesterday", "2026-11-15T08:30:00", "1969-12-31", "-5", "0", "1000001", "18446744073709551615"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_in_a_table_is_cut_to_seconds() {
        assert_eq!(seconds(parse("2026-11-15T08:30:00.999Z").unwrap()), "2026-11-15 08:30:00");
        assert_eq!(seconds(Time(u64::MAX)), "18446744073709551615");
    }

    #[test]
    fn a_period_that_ends_before_it_begins_is_refused() {
        let [early, late] = ["2026-11-15", "2026-11-16"].map(|text| parse(text).ok());
        assert_eq!(check_period(early, late), Ok(()));
        assert_eq!(check_period(early, early), Ok(()));
        assert!(check_period(late, early).unwrap_err().contains("--from 2026-11-16T00:00:00.000000Z is after --to"));
    }
}
