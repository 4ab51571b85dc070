//! The check of alerts: what a person must look at, as the books have it.

use bankroll_alerts::{
    AlertSeverity, AlertState,
    views::{self, AlertFilter},
};
use bankroll_store::Reader;
use bankroll_terminal::counted;

use super::Check;

const NAME: &str = "alerts";
const FIX: &str = "bankroll alerts list; its runbook says what to do";
const MOST: usize = 1_000;

/// Nothing for books that never were a node's. An alert that a person has acknowledged is not red: they work on it.
pub fn check(reader: &Reader) -> Option<Check> {
    let found = match views::has_tables(reader) {
        Ok(false) => return None,
        Ok(true) => views::list(reader, &AlertFilter::default(), MOST),
        Err(error) => Err(error),
    };
    let alerts = match found {
        Ok(alerts) => alerts,
        Err(error) => {
            return Some(Check::red(NAME, format!("{:#}", anyhow::Error::from(error)), "bankroll doctor --full"));
        }
    };
    let Some(worst) = alerts.iter().max_by_key(|alert| (alert.state == AlertState::Open, alert.kind.severity())) else {
        return Some(Check::green(NAME, "none is open"));
    };
    let count = counted(u64::try_from(alerts.len()).unwrap_or(u64::MAX), "is open", "are open");
    let (severity, kind) = (worst.kind.severity(), worst.kind);
    let found = format!("{count}; {} {kind}: {}", severity.as_str(), worst.summary);
    let fix = format!("{FIX} ({})", kind.runbook());
    let is_red = severity == AlertSeverity::Critical && worst.state == AlertState::Open;
    Some(if is_red { Check::red(NAME, found, fix) } else { Check::warned(NAME, found, fix) })
}
