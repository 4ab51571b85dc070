//! A page of events while it is written: as JSON, or as the frames of a stream. Events are copied as text.

use std::fmt::Write;

use axum::{body::Body, response::Response};
use bankroll_notify::PublicEvent;
use http::{HeaderValue, header};

use crate::{
    ApiError, ErrorCode,
    events_page::{self, FRAMES, FRAMES_BYTES_MAX},
};

/// The most bytes of a page as JSON; a single event may be longer.
const JSON_BYTES_MAX: usize = 2 << 20;

pub(super) struct EventPageText {
    text: String,
    count: usize,
    most: usize,
    is_stream: bool,
    /// The sequence up to which the page has everything.
    pub next: u64,
    /// Whether there are more events right now.
    pub has_more: bool,
}

impl EventPageText {
    pub fn new(next: u64, most: usize, is_stream: bool) -> Self {
        let text = if is_stream { String::new() } else { r#"{"events":["#.to_owned() };
        Self { text, count: 0, most, is_stream, next, has_more: false }
    }

    pub fn is_full(&self) -> bool {
        let bytes_max = if self.is_stream { FRAMES_BYTES_MAX } else { JSON_BYTES_MAX };
        self.count >= self.most || self.text.len() >= bytes_max
    }

    /// No JSON of an event has a line break: inside of strings it is escaped.
    pub fn add(&mut self, event: &PublicEvent, json: &str) {
        // Writing into a String cannot fail.
        let _ = if self.is_stream {
            write!(self.text, "id: {}\nevent: {}\ndata: {json}\n\n", event.sequence, event.kind)
        } else {
            let comma = if self.count == 0 { "" } else { "," };
            write!(self.text, "{comma}{json}")
        };
        self.count += 1;
    }

    /// The answer; a stream's says how the front goes on.
    pub fn response(mut self, lasts: u64, caller: HeaderValue) -> Result<Response, ApiError> {
        if !self.is_stream {
            let end = write!(self.text, r#"],"next":{},"more":{}}}"#, self.next, self.has_more);
            end.map_err(|_| ErrorCode::Internal)?;
        }
        let mut response = Response::new(Body::from(self.text));
        let headers = response.headers_mut();
        let media_type = if self.is_stream { FRAMES } else { "application/json" };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        if self.is_stream {
            headers.insert(events_page::NEXT, HeaderValue::from(self.next));
            headers.insert(events_page::LASTS, HeaderValue::from(lasts));
            headers.insert(events_page::CALLER, caller);
            if self.has_more {
                headers.insert(events_page::MORE, HeaderValue::from_static("true"));
            }
        }
        Ok(response)
    }
}
