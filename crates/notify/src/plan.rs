//! Which deliveries of an endpoint are attempted now. Pure.

use std::collections::BTreeSet;

use bankroll_ledger::Time;

/// Requests in flight to one endpoint at most.
pub const IN_FLIGHT_MAX: usize = 4;

/// The record of an event and its place; record 0 for a test event.
pub type DeliveryPosition = (u64, u64);

/// An event that an endpoint has not got yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingDelivery {
    pub position: DeliveryPosition,
    pub resource: String,
    /// Made so far.
    pub attempts: u64,
    pub next_at: Time,
}

/// An endpoint that took longer than this, in microseconds, or failed, is slow until it does better.
pub const SLOW: u64 = 2_000_000;

/// The requests in flight, to all endpoints together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    pub all: usize,
    /// To slow endpoints.
    pub slow: usize,
}

impl InFlight {
    /// How many more may leave for an endpoint. Slow endpoints have half of the places, however many there are: they
    /// cannot delay the others.
    #[must_use]
    pub fn free(self, most: usize, is_slow: bool) -> usize {
        let free = most.saturating_sub(self.all);
        let share = (most / 2).max(1).saturating_sub(self.slow);
        if is_slow { free.min(share) } else { free }
    }
}

/// What to do for an endpoint now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryPlan {
    /// The places, in the list of pending deliveries, of those to attempt.
    pub attempt: Vec<usize>,
    /// When to look again, if nothing else happens; `None` if only an outcome can change anything.
    pub look_at: Option<Time>,
}

/// Plans for one endpoint. `pending` is in the order of events. Of each resource only the first event is attempted:
/// a later one waits for it. While attempts fail, one request at a time is enough to notice that the endpoint is back.
#[must_use]
pub fn plan(pending: &[PendingDelivery], in_flight: &BTreeSet<DeliveryPosition>, now: Time) -> DeliveryPlan {
    let is_failing = pending.iter().any(|delivery| delivery.attempts > 0);
    let most = if is_failing { 1 } else { IN_FLIGHT_MAX };
    let mut free = most.saturating_sub(in_flight.len());
    let (mut seen, mut plan) = (BTreeSet::new(), DeliveryPlan::default());
    for (place, delivery) in pending.iter().enumerate() {
        if !seen.insert(delivery.resource.as_str()) || in_flight.contains(&delivery.position) {
            continue;
        }
        if delivery.next_at > now {
            plan.look_at = Some(plan.look_at.map_or(delivery.next_at, |at| at.min(delivery.next_at)));
        } else if free > 0 {
            free = free.saturating_sub(1);
            plan.attempt.push(place);
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(rows: &[(u64, &str, u64, u64)]) -> Vec<PendingDelivery> {
        let row = |(seq, resource, attempts, next_at): &(u64, &str, u64, u64)| PendingDelivery {
            position: (*seq, 0),
            resource: (*resource).to_owned(),
            attempts: *attempts,
            next_at: Time(*next_at),
        };
        rows.iter().map(row).collect()
    }

    /// The records of the attempts, and when to look again.
    fn check(rows: &[(u64, &str, u64, u64)], in_flight: &[u64], attempts: &[u64], look_at: Option<u64>) {
        let rows = pending(rows);
        let plan = plan(&rows, &in_flight.iter().map(|seq| (*seq, 0)).collect(), Time(100));
        let attempted: Vec<u64> = plan.attempt.iter().map(|place| rows[*place].position.0).collect();
        assert_eq!((attempted.as_slice(), plan.look_at), (attempts, look_at.map(Time)));
    }

    #[test]
    fn a_later_event_of_a_resource_waits_for_the_earlier_one_and_others_go_on() {
        check(&[(1, "a", 0, 0), (2, "a", 0, 0), (3, "b", 0, 100), (4, "b", 0, 0)], &[], &[1, 3], None);
        // In flight, or not due: it still blocks its resource.
        check(&[(1, "a", 0, 0), (2, "a", 0, 0), (3, "b", 0, 0)], &[1], &[3], None);
        check(&[(1, "a", 2, 500), (2, "a", 0, 0), (3, "b", 0, 0), (4, "c", 0, 300)], &[], &[3], Some(300));
    }

    #[test]
    fn slow_endpoints_have_half_of_the_places() {
        let free = |all, slow| [false, true].map(|is_slow| InFlight { all, slow }.free(8, is_slow));
        assert_eq!(free(0, 0), [8, 4]);
        assert_eq!(free(4, 4), [4, 0]);
        assert_eq!(free(6, 3), [2, 1]);
        assert_eq!(free(8, 0), [0, 0]);
        assert_eq!(InFlight { all: 0, slow: 0 }.free(1, true), 1);
    }

    #[test]
    fn the_work_of_an_endpoint_is_bounded_and_less_while_it_fails() {
        let many: Vec<(u64, String)> = (1..=9).map(|seq| (seq, format!("r{seq}"))).collect();
        let rows = |attempts| many.iter().map(|(seq, name)| (*seq, name.as_str(), attempts, 0)).collect::<Vec<_>>();
        check(&rows(0), &[], &[1, 2, 3, 4], None);
        check(&rows(0), &[1, 2], &[3, 4], None);
        check(&rows(0), &[1, 2, 3, 4], &[], None);
        check(&rows(1), &[], &[1], None);
        check(&rows(1), &[1], &[], None);
    }
}
