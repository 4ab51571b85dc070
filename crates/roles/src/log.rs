//! The log of a node: one line for each event, on standard output.

use std::{io::Write, sync::mpsc::Sender};

use bankroll_ledger::Name;
use bankroll_nodes::NodeName;
use bankroll_store::Clock;
use bankroll_terminal::when;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How serious a line is. A log has all lines down to one level (`node.log_level`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// The node cannot go on, or its data is not sound.
    Error,
    /// Something does not work now, or was repaired; a person may want to look.
    Warning,
    #[default]
    Info,
    /// Each request of the Funds API.
    Debug,
}

impl LogLevel {
    /// The level of each event; one place says how serious they are.
    fn of(event: &str) -> Self {
        match event {
            "lost" | "unsound" => Self::Error,
            "no_api" | "no_books" | "no_commands" | "no_head" | "unreachable" | "trouble" | "waits"
            | "scrub_failed" | "unconfirmed" | "repaired" | "verifying" | "refused_rows" | "reorganised"
            | "signer_trouble" | "head_signer" | "request_failed" | "webhook_stopped" | "webhook_disabled"
            | "alert_opened" | "chain_not_prepared" => Self::Warning,
            "request" => Self::Debug,
            _ => Self::Info,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

#[derive(Clone, Debug)]
pub struct NodeLog {
    node: NodeName,
    out: Out,
    least: LogLevel,
    /// Whether each deposit and each payout is logged, too.
    each: bool,
    /// The chain that all lines are about.
    chain: Option<Name>,
    /// Whether lines for people name it: not where there is only one.
    names_chain: bool,
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
    /// `each`: whether each deposit and each payout is logged, too.
    pub fn new(node: NodeName, json: bool, least: LogLevel, each: bool) -> Self {
        Self::to(node, if json { Out::Json } else { Out::Text }, least, each)
    }

    /// To a receiver in this process; only what is out of the ordinary.
    pub fn notes(node: NodeName, to: Sender<String>) -> Self {
        Self::to(node, Out::Notes(to), LogLevel::Info, false)
    }

    /// To a receiver in this process, as the lines that a process writes with `--json`; only what is out of the ordinary.
    pub fn lines(node: NodeName, to: Sender<Value>) -> Self {
        Self::to(node, Out::Lines(to), LogLevel::Info, false)
    }

    fn to(node: NodeName, out: Out, least: LogLevel, each: bool) -> Self {
        Self { node, out, least, each, chain: None, names_chain: false, clock: Clock::machine() }
    }

    /// The same log for lines about one chain, which have it as the field `chain`; with `is_named` sentences begin with
    /// it.
    pub fn of_chain(&self, chain: &Name, is_named: bool) -> Self {
        Self { chain: Some(chain.clone()), names_chain: is_named, ..self.clone() }
    }

    /// One of many events of normal operation: its line is made only if the log has it.
    pub fn write_each(&self, event: &str, line: impl FnOnce() -> (String, Fields)) {
        if self.each && LogLevel::of(event) <= self.least {
            let (sentence, fields) = line();
            self.write(event, &sentence, &fields);
        }
    }

    /// One line: a sentence for people; the event's name and its fields for programs.
    pub fn write(&self, event: &str, sentence: &str, fields: &[(&'static str, Value)]) {
        let level = LogLevel::of(event);
        if level > self.least {
            return;
        }
        let at = when::show(self.clock.now());
        let named = self.chain.as_ref().filter(|_| self.names_chain).map(|chain| format!("{chain}: {sentence}"));
        let sentence = named.as_deref().unwrap_or(sentence);
        let line = match &self.out {
            Out::Json => self.line(at, event, sentence, fields).to_string(),
            Out::Lines(to) => {
                // The receiver may be gone already.
                let _ = to.send(self.line(at, event, sentence, fields));
                return;
            }
            Out::Text if level <= LogLevel::Warning => format!("{at} {} {}: {sentence}", self.node, level.as_str()),
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
        let (node, level) = (self.node.to_string(), LogLevel::of(event).as_str().to_owned());
        let own = [("at", at), ("level", level), ("node", node), ("event", event.to_owned())];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
        let message = [("message".to_owned(), Value::from(sentence))];
        let chain = self.chain.iter().map(|chain| ("chain".to_owned(), Value::from(chain.as_str())));
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        own.chain(message).chain(chain).chain(fields).collect::<Map<_, _>>().into()
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_log_has_the_lines_down_to_its_level() {
        let written = |least: LogLevel, each: bool| {
            let (to, lines) = channel();
            let log = NodeLog { least, each, ..NodeLog::notes("node-1".parse().unwrap(), to) };
            for event in ["lost", "trouble", "took"] {
                log.write(event, event, &[]);
            }
            for event in ["request_failed", "deposit_seen", "request"] {
                log.write_each(event, || (event.into(), Vec::new()));
            }
            drop(log);
            lines.iter().collect::<Vec<String>>().join(" ")
        };
        assert_eq!(written(LogLevel::Error, true), "lost");
        assert_eq!(written(LogLevel::Warning, true), "lost trouble request_failed");
        assert_eq!(written(LogLevel::Info, true), "lost trouble took request_failed deposit_seen");
        assert_eq!(written(LogLevel::Debug, true), "lost trouble took request_failed deposit_seen request");
        assert_eq!(written(LogLevel::Debug, false), "lost trouble took");
    }

    #[test]
    fn lines_about_a_chain_name_it() {
        let (to, lines) = channel();
        let log = NodeLog::lines("node-1".parse().unwrap(), to);
        let chain = "eip155:137".parse().unwrap();
        log.of_chain(&chain, false).write("trouble", "indexer: no connection", &[]);
        log.of_chain(&chain, true).write("trouble", "indexer: no connection", &[]);
        log.write("took", "acquired", &[]);
        drop(log);
        let said = |line: Value| (line["chain"].clone(), line["message"].as_str().unwrap().to_owned());
        let expected = [
            ("eip155:137".into(), "indexer: no connection".to_owned()),
            ("eip155:137".into(), "eip155:137: indexer: no connection".to_owned()),
            (Value::Null, "acquired".to_owned()),
        ];
        assert_eq!(lines.iter().map(said).collect::<Vec<_>>(), expected);
    }
}
