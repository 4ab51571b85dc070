//! A page of events between the router and the front: what both sides must know of it.
//!
//! The router writes the frames of Server-Sent Events, and says in headers how to go on. The front passes the frames on
//! and keeps the headers to itself.

use http::HeaderName;

/// Pages of events, and streams made of them.
pub(crate) const PATH: &str = "/v1/events";
/// What fronts ask and no caller can reach: a front refuses every path that begins so.
pub(crate) const INTERNAL: &str = "/internal";
/// Waits until there is a newer event than `after`, or other rights than `rights`.
pub(crate) const NEWEST_PATH: &str = "/internal/events/newest";

pub(crate) const FRAMES: &str = "text/event-stream";
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The sequence up to which this page has everything.
pub(crate) const NEXT: HeaderName = HeaderName::from_static("x-bankroll-next");
/// There if the page ended because it was full.
pub(crate) const MORE: HeaderName = HeaderName::from_static("x-bankroll-more");
/// For how many seconds the proof of the caller lasts: not a time, because two machines have two clocks.
pub(crate) const LASTS: HeaderName = HeaderName::from_static("x-bankroll-proof-lasts");
/// Whose page it is.
pub(crate) const CALLER: HeaderName = HeaderName::from_static("x-bankroll-caller");

/// The last event of a stream that the service ends: its data is the error.
pub(crate) const END_EVENT: &str = "stream.end";
/// The most bytes of frames in a page; a single event may be longer.
pub(crate) const FRAMES_BYTES_MAX: usize = 64 << 10;
/// The most bytes of a page that a front takes.
pub(crate) const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// Whether a value of the header `Accept` names the media type of Server-Sent Events.
pub(crate) fn accepts_frames(accept: &[u8]) -> bool {
    let Ok(accept) = std::str::from_utf8(accept) else { return false };
    accept.split(',').any(|range| range.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(FRAMES))
}
