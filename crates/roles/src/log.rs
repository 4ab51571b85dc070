//! The log of a node: one line for each event, on standard output.

use std::{io::Write, sync::mpsc::Sender};

use bankroll_nodes::NodeName;
use bankroll_store::Clock;
use bankroll_terminal::when;
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub struct NodeLog {
    node: NodeName,
    out: Out,
    /// Whether each deposit and each payout is logged, too.
    verbose: bool,
    clock: Clock,
}

#[derive(Clone, Debug)]
enum Out {
    Text,
    Json,
    /// To a receiver in this process.
    Notes(Sender<String>),
    /// The lines of `Json`, to a receiver in this process.
    Lines(Sender<Value>),
}

/// What a line says to programs, in addition to its sentence.
type Fields = Vec<(&'static str, Value)>;

impl NodeLog {
    pub fn new(node: NodeName, json: bool, verbose: bool) -> Self {
        Self { node, out: if json { Out::Json } else { Out::Text }, verbose, clock: Clock::machine() }
    }

    /// To a receiver in this process; only what is out of the ordinary.
    pub fn notes(node: NodeName, to: Sender<String>) -> Self {
        Self { node, out: Out::Notes(to), verbose: false, clock: Clock::machine() }
    }

    /// To a receiver in this process, as the lines that a process writes with `--json`; only what is out of the ordinary.
    pub fn lines(node: NodeName, to: Sender<Value>) -> Self {
        Self { node, out: Out::Lines(to), verbose: false, clock: Clock::machine() }
    }

    /// An event that is frequent in normal operation: logged only if the log is verbose.
    pub fn write_verbose(&self, event: &str, line: impl FnOnce() -> (String, Fields)) {
        if self.verbose {
            let (sentence, fields) = line();
            self.write(event, &sentence, &fields);
        }
    }

    /// One line: a sentence for people; the event's name and its fields for programs.
    pub fn write(&self, event: &str, sentence: &str, fields: &[(&'static str, Value)]) {
        let at = when::show(self.clock.now());
        let line = match &self.out {
            Out::Json => self.line(at, event, sentence, fields).to_string(),
            Out::Lines(to) => {
                // The receiver may be gone already.
                let _ = to.send(self.line(at, event, sentence, fields));
                return;
            }
            Out::Text => format!("{at} {} {sentence}", self.node),
            Out::Notes(to) => {
                // The receiver may be gone already.
                let _ = to.send(sentence.to_owned());
                return;
            }
        };
        let mut out = std::io::stdout().lock();
        // Standard output may be closed; the node continues.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }

    fn line(&self, at: String, event: &str, sentence: &str, fields: &[(&'static str, Value)]) -> Value {
        let own = [("at", at), ("node", self.node.to_string()), ("event", event.to_owned())];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
        let message = [("message".to_owned(), Value::from(sentence))];
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        own.chain(message).chain(fields).collect::<Map<_, _>>().into()
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
