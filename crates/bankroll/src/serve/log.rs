//! What a node says of itself: one line for each thing that happens, on standard output.

use std::io::Write;

use bankroll_nodes::NodeName;
use bankroll_store::Clock;
use serde_json::{Map, Value};

use crate::when;

/// Where the lines go, and in which form.
#[derive(Clone, Debug)]
pub struct Log {
    node: NodeName,
    json: bool,
    clock: Clock,
}

impl Log {
    pub fn new(node: NodeName, json: bool) -> Self {
        Self { node, json, clock: Clock::machine() }
    }

    /// One line: a sentence for people; the event's name and its fields for programs.
    pub fn say(&self, event: &str, sentence: &str, fields: &[(&str, Value)]) {
        let at = when::show(self.clock.now());
        let line = if self.json {
            let own = [("at", at), ("node", self.node.to_string()), ("event", event.to_owned())];
            let own = own.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
            let told = [("message".to_owned(), Value::from(sentence))];
            let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            Value::from(own.chain(told).chain(fields).collect::<Map<_, _>>()).to_string()
        } else {
            format!("{at} {} {sentence}", self.node)
        };
        let mut out = std::io::stdout().lock();
        // Nobody may be listening any more; the node goes on.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// An error with its causes, on one line.
pub fn on_one_line(error: &(dyn std::error::Error + 'static)) -> String {
    let mut causes = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes.dedup();
    causes.join(": ").replace('\n', " ")
}
