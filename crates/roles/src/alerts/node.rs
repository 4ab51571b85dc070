//! Conditions of this node: its certificate, its disk, its clock. Of other nodes it says nothing.

use std::path::PathBuf;

use bankroll_alerts::{
    AlertCondition,
    AlertKind::{CertificateExpired, CertificateExpires, ClockDiffers, DiskLow},
    AlertObservation,
};
use bankroll_ledger::Time;
use bankroll_nodes::{NodeIdentity, NodeName};
use bankroll_store::Clock;
use bankroll_terminal::{counted, thousands, when};
use serde_json::json;

use super::ConditionSource;
use crate::log::on_one_line;

/// Free space below which a busy ledger is in danger: as `doctor` says.
const FREE_MIN: u64 = 1 << 30;
const SECOND: u64 = 1_000_000;
const DAY: u64 = 86_400 * SECOND;
/// A certificate that expires sooner needs a renewal: as `doctor` says.
const WARN_DAYS: u64 = 30;
/// How often the files of the certificate are read.
const CERTIFICATE_EVERY: u64 = 60 * SECOND;
/// A machine's clock that is synchronised drifts less.
const CLOCK_DIFFERS: u64 = 10 * SECOND;

/// Reads the certificate's files once a minute; between, it says the same again.
pub(super) fn certificate(node: NodeName, folder: PathBuf) -> ConditionSource {
    let mut last: Option<(Time, Vec<AlertObservation>)> = None;
    Box::new(move |_, now| {
        // Without certificates the node is alone.
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        if let Some((at, observed)) = &last
            && now.0.saturating_sub(at.0) < CERTIFICATE_EVERY
        {
            return Ok(observed.clone());
        }
        let expires = NodeIdentity::load(&folder, &node, now).map(|identity| identity.expires());
        let observed = certificate_state(&node, expires.map_err(|error| on_one_line(&error)), now);
        last = Some((now, observed.clone()));
        Ok(observed)
    })
}

fn certificate_state(node: &NodeName, expires: Result<Time, String>, now: Time) -> Vec<AlertObservation> {
    let subject = node.to_string();
    let (soon, expired) = match expires {
        Ok(at) => {
            let days = at.0.saturating_sub(now.0) / DAY;
            let left = counted(days, "day", "days");
            let summary = format!("the certificate of {node} expires at {}: {left} left", when::seconds(at));
            let soon = AlertCondition::new(CertificateExpires, &subject, &summary);
            ((days < WARN_DAYS).then_some(soon), None)
        }
        Err(why) => {
            let summary = format!("other nodes do not accept {node}: {why}");
            (None, Some(AlertCondition::new(CertificateExpired, &subject, &summary)))
        }
    };
    vec![
        AlertObservation::of_subject(CertificateExpires, &subject, soon),
        AlertObservation::of_subject(CertificateExpired, &subject, expired),
    ]
}

pub(super) fn disk(node: NodeName, folder: PathBuf) -> ConditionSource {
    Box::new(move |_, _| {
        let stat = rustix::fs::statvfs(&folder)?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let subject = node.to_string();
        let condition = (free < FREE_MIN).then(|| {
            // Without the number in it: it changes with every commit.
            let summary = format!("less than {} MiB are free where the books are", thousands(FREE_MIN >> 20));
            AlertCondition::new(DiskLow, &subject, &summary).with(&json!({ "folder": folder.display().to_string() }))
        });
        Ok(vec![AlertObservation::of_subject(DiskLow, &subject, condition)])
    })
}

/// The node's clock goes on from its start, so that a clock that is set does not move the books. `since_start` is such a
/// clock; the machine's may differ.
pub(super) fn clock(node: NodeName, since_start: Clock) -> ConditionSource {
    Box::new(move |_, _| {
        let (own, machine) = (since_start.now(), Clock::machine().now());
        let condition = clock_condition(&node, own, machine);
        Ok(vec![AlertObservation::of_subject(ClockDiffers, &node.to_string(), condition)])
    })
}

fn clock_condition(node: &NodeName, own: Time, machine: Time) -> Option<AlertCondition> {
    let seconds = own.0.abs_diff(machine.0) / SECOND;
    let side = if machine.0 > own.0 { "ahead of" } else { "behind" };
    let differ = counted(seconds, "second", "seconds");
    let summary = format!("the clock of {node}'s machine is {differ} {side} the time of the books");
    (own.0.abs_diff(machine.0) > CLOCK_DIFFERS).then(|| AlertCondition::new(ClockDiffers, &node.to_string(), &summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> NodeName {
        "node-1".parse().expect("a name")
    }

    #[test]
    fn a_certificate_is_said_to_expire_for_thirty_days_and_then_to_be_expired() {
        let said = |expires| {
            let observed = certificate_state(&node(), expires, Time(100 * DAY));
            observed.into_iter().flat_map(|seen| seen.conditions).map(|it| (it.kind, it.summary)).collect::<Vec<_>>()
        };
        assert_eq!(said(Ok(Time(130 * DAY))), []);
        let soon = "the certificate of node-1 expires at 1970-05-10 00:00:00: 29 days left".to_owned();
        assert_eq!(said(Ok(Time(129 * DAY))), [(CertificateExpires, soon)]);
        let expired = "other nodes do not accept node-1: it expired".to_owned();
        assert_eq!(said(Err("it expired".into())), [(CertificateExpired, expired)]);
    }

    #[test]
    fn a_clock_that_was_set_is_a_condition_and_one_that_drifts_is_none() {
        let said =
            |own, machine| clock_condition(&node(), Time(own * SECOND), Time(machine * SECOND)).map(|it| it.summary);
        assert_eq!(said(100, 110), None);
        assert_eq!(said(110, 100), None);
        let ahead = "the clock of node-1's machine is 3,600 seconds ahead of the time of the books";
        assert_eq!(said(100, 3_700).as_deref(), Some(ahead));
        let behind = "the clock of node-1's machine is 11 seconds behind the time of the books";
        assert_eq!(said(111, 100).as_deref(), Some(behind));
    }
}
