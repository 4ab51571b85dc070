//! The front: everything of a request that is decided before the books are asked.
//!
//! It terminates TLS, bounds connections, bodies, time and rate, answers health and documentation pages, and writes one
//! access line per request. It proves nothing and believes nothing: the raw request goes to the router, in this process
//! or, relayed, in the process that holds the books.
//!
//! Bounds: [`FrontConfig`] has all of them. When the places for connections are full, the one that was idle for the
//! longest time is closed, so that idle connections keep no caller out. A connection whose body still arrives counts as
//! idle. One network has at most an eighth of the places.
//!
//! | file | what it does |
//! | --- | --- |
//! | `config` | settings, and what the process gives: checks, gauges, the log |
//! | `server` | listeners, connections, the drain at the end |
//! | `connections` | places for connections, and which one gives way |
//! | `gateway` | one request: id, limits, backend, headers, access line |
//! | `bodies` | how long bodies may be, and all of them together |
//! | `write_deadline` | ends connections whose caller takes nothing |
//! | `rate`, `cors`, `tls` | token buckets; origins; certificates |
//! | `streams` | event streams, made of pages |
//! | `relay` | HTTP as relayed requests and back |
//! | `local_pages` | `/livez`, `/readyz`, `/openapi.json`, `/docs`, `/errors/CODE` |
//! | `metrics`, `route_table` | counters and histograms by route and status |
//! | `metrics_server` | `/metrics` of a process without a front |

mod bodies;
mod config;
mod connections;
mod cors;
mod gateway;
mod local_pages;
mod metrics;
mod metrics_server;
mod rate;
mod relay;
mod route_table;
mod server;
mod streams;
mod tls;
mod write_deadline;

pub use config::{AccessLine, AccessLog, FrontBackend, FrontConfig, MetricGauge, RateLimit, ReadyCheck, RelayCall};
pub use metrics_server::{MetricSource, MetricsHandle, serve_metrics};
pub use relay::answer;
pub use server::{FrontError, FrontHandle, serve};
