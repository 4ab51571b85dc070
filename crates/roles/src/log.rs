//! What a node says of itself: one line for each thing that happens, on standard output.

use std::{io::Write, sync::mpsc::Sender};

use bankroll_nodes::NodeName;
use bankroll_store::Clock;
use bankroll_terminal::when;
use serde_json::{Map, Value};

/// Where the lines go, and in which form.
#[derive(Clone, Debug)]
pub struct Log {
    node: NodeName,
    out: Out,
    /// Whether each deposit and each payout is told, too.
    tells_all: bool,
    clock: Clock,
}

#[derive(Clone, Debug)]
enum Out {
    Text,
    Json,
    /// To somebody in this process.
    Notes(Sender<String>),
}

/// What a line says to programs, beside its sentence.
type Fields = Vec<(&'static str, Value)>;

impl Log {
    pub fn new(node: NodeName, json: bool, tells_all: bool) -> Self {
        Self { node, out: if json { Out::Json } else { Out::Text }, tells_all, clock: Clock::machine() }
    }

    /// To somebody in this process, who wants to hear of what is out of the ordinary only.
    pub fn notes(node: NodeName, to: Sender<String>) -> Self {
        Self { node, out: Out::Notes(to), tells_all: false, clock: Clock::machine() }
    }

    /// Something that happens many times a minute when all is well.
    pub fn tell(&self, event: &str, line: impl FnOnce() -> (String, Fields)) {
        if self.tells_all {
            let (sentence, fields) = line();
            self.say(event, &sentence, &fields);
        }
    }

    /// One line: a sentence for people; the event's name and its fields for programs.
    pub fn say(&self, event: &str, sentence: &str, fields: &[(&'static str, Value)]) {
        let at = when::show(self.clock.now());
        let line = match &self.out {
            Out::Json => {
                let own = [("at", at), ("node", self.node.to_string()), ("event", event.to_owned())];
                let own = own.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
                let told = [("message".to_owned(), Value::from(sentence))];
                let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                Value::from(own.chain(told).chain(fields).collect::<Map<_, _>>()).to_string()
            }
            Out::Text => format!("{at} {} {sentence}", self.node),
            Out::Notes(to) => {
                // Whoever listened may have left already.
                let _ = to.send(sentence.to_owned());
                return;
            }
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
