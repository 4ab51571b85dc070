//! Counters and histograms of requests, in the text format of Prometheus.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{MetricGauge, route_table::RouteTable};

/// Upper bounds of the histogram, in microseconds.
const BOUNDS: [u64; 11] = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_000_000, 10_000_000];
/// The statuses that are counted one by one; others are counted as 0.
const STATUSES: [u16; 20] =
    [200, 201, 204, 307, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 502, 503, 504, 0];

#[derive(Debug)]
pub(super) struct Metrics {
    pub routes: RouteTable,
    counts: Vec<RouteCounts>,
}

#[derive(Debug, Default)]
struct RouteCounts {
    statuses: [AtomicU64; STATUSES.len()],
    /// One more than the bounds, for what is slower.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Metrics {
    pub fn new(routes: RouteTable) -> Self {
        let counts = routes.templates.iter().map(|_| RouteCounts::default()).collect();
        Self { routes, counts }
    }

    pub fn count(&self, route: usize, status: u16, micros: u64) {
        let Some(counts) = self.counts.get(route) else { return };
        let status = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 1);
        let bucket = BOUNDS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS.len());
        counts.statuses[status].fetch_add(1, Ordering::Relaxed);
        counts.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        counts.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Everything as text. Routes without a request are left out.
    pub fn text(&self, gauges: &[MetricGauge]) -> String {
        let mut text = String::from(
            "# HELP bankroll_http_requests_total Requests that were answered.\n\
             # TYPE bankroll_http_requests_total counter\n",
        );
        let used = || self.routes.templates.iter().zip(&self.counts);
        for (route, counts) in used() {
            for (status, count) in STATUSES.iter().zip(&counts.statuses) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let _ =
                        writeln!(text, "bankroll_http_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
                }
            }
        }
        text.push_str(
            "# HELP bankroll_http_request_seconds Time from the head of a request to its answer.\n\
             # TYPE bankroll_http_request_seconds histogram\n",
        );
        for (route, counts) in used() {
            counts.write_histogram(&mut text, route);
        }
        text.push_str(&gauge_text(gauges));
        text
    }
}

/// Values of other parts of the process, as text.
pub(super) fn gauge_text(gauges: &[MetricGauge]) -> String {
    let (mut text, mut named) = (String::new(), "");
    for MetricGauge { name, help, labels, value } in gauges {
        if *name != named {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
            named = name;
        }
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(text, "{name}{labels} {value}");
    }
    text
}

impl RouteCounts {
    fn write_histogram(&self, text: &mut String, route: &str) {
        let mut sum = 0_u64;
        let buckets: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        if buckets.iter().all(|bucket| *bucket == 0) {
            return;
        }
        for (place, bucket) in buckets.iter().enumerate() {
            sum = sum.saturating_add(*bucket);
            let bound = BOUNDS.get(place).map_or_else(|| "+Inf".to_owned(), |bound| seconds(*bound));
            let _ = writeln!(text, "bankroll_http_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {sum}");
        }
        let total = seconds(self.micros.load(Ordering::Relaxed));
        let _ = writeln!(text, "bankroll_http_request_seconds_sum{{route=\"{route}\"}} {total}");
        let _ = writeln!(text, "bankroll_http_request_seconds_count{{route=\"{route}\"}} {sum}");
    }
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
