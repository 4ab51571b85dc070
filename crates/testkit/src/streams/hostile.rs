//! Requests of a hostile or broken caller.

use bankroll_ledger::{Action, ColumnValue, Fact, Guard, GuardFailure, Leg, Namespace, Request, RowKey, Scope};

use super::{Stream, name};

impl Stream {
    /// Breaks one part of a request, or goes to the limit of what is allowed.
    pub(super) fn spoil(&mut self, request: &mut Request) {
        let text = &mut request.key.text;
        match self.rng.u32(0..17) {
            0 => text.clear(),
            1 => *text = fitting(text, 255),
            2 => *text = fitting(text, 256),
            3 => *text = "é".repeat(128),
            4 => text.push('\n'),
            5 => text.push('\u{85}'),
            6 => text.push('\u{7f}'),
            7 => request.key.namespace = self.one_of(&[Namespace::Client, Namespace::System, Namespace::Player]),
            8 => request.key.scope = Scope::Server(name("elsewhere")),
            9 => request.key.scope = Scope::House,
            10 => request.references.deposit = Some(String::new()),
            11 => request.references.intent = Some("in\u{0}tent".into()),
            12 => request.events.resize(17, super::extras::event("too-many")),
            13 => request
                .events
                .push(bankroll_ledger::Event { body: "x".repeat(17 * 1024), ..super::extras::event("too-large") }),
            14 => request.facts.push(self.malformed_fact()),
            15 => request.facts.resize(17, super::extras::checking("arena", 1)),
            _ => self.aim_at_one_account(request),
        }
    }

    fn aim_at_one_account(&mut self, request: &mut Request) {
        if let Action::Legs(legs) = &mut request.action {
            for leg in legs {
                if let Leg::Move { from, to, .. } = leg {
                    *to = *from;
                }
            }
        }
    }

    fn malformed_fact(&mut self) -> Fact {
        let fine = super::extras::checking("arena", 1);
        let columns = |name: &str| vec![(name.to_owned(), ColumnValue::Int(1))];
        let table = |name: &str| RowKey { table: name.into(), ..fine.row.clone() };
        let made = [
            Fact { row: table("tickets; DROP TABLE journal"), ..fine.clone() },
            Fact { row: table(""), ..fine.clone() },
            Fact { row: table(&"t".repeat(64)), ..fine.clone() },
            Fact { row: RowKey { table: "tickets".into(), columns: Vec::new() }, ..fine.clone() },
            Fact { guard: Guard::Is(columns("1st")), ..fine.clone() },
            Fact { set: columns("State"), otherwise: GuardFailure::Paused, ..fine.clone() },
            Fact { guard: Guard::Absent, set: Vec::new(), ..fine.clone() },
            Fact { set: columns("number"), ..fine.clone() },
        ];
        self.one_of(&made)
    }
}

/// The text, padded to so many bytes.
fn fitting(text: &str, bytes: usize) -> String {
    format!("{text}{}", "k".repeat(bytes.saturating_sub(text.len())))
}
