//! The language of stories, one event per line:
//!
//! ```text
//! open alice.debt arena/debt/1/alice                   an account and its name in the story
//! deposit d1 100 -> alice                              short for: d1 indexer: move vault -> alice 100  applied
//! k1 game_server: move alice -> world 60               applied
//! k2 game_server: hold alice 30 until 500              applied h1
//! k3 system: post h1 -> vault 10, release h1           applied
//! r1 admin(ann+ben): reverse d1                        applied
//! at 500                                               sets the clock
//! expire h1                                            the writer records the expiry
//! ```
//!
//! A request is `key principal: steps`, then two spaces and its expected outcome; `applied` names the holds that it
//! made, `... again` is the answer to a key used before. `#7` is an account, hold or record by number, `k1@deposits` a
//! key in a namespace that is not the principal's own. A line that begins with `//` is a comment.
//!
//! Facts are steps too: `make table/id col=value` (no such row yet), `turn table/id col=value into col=value` (else a
//! conflict), `need table/id col=value` (else the server is paused).

use super::Story;
use crate::{
    Action, Amount, Column, ColumnValue, Confirmation, Fact, Guard, GuardFailure, IdempotencyKey, Leg, Namespace,
    Principal, References, Request, RowKey, Scope, Settler, Time,
};

impl Story {
    /// Reads a request without submitting it.
    pub fn read(&self, asked: &str) -> Request {
        let (who, what) = asked.split_once(':').expect("key principal: steps");
        let (key, who) = who.split_once(' ').expect("key principal: steps");
        let (principal, confirmation) = principal(who);
        let (text, namespace) = key.split_once('@').map_or((key, None), |(text, other)| (text, Some(other)));
        let mut key = key_of(&principal, text);
        if let Some(other) = namespace {
            key.namespace = serde_json::from_str(&format!("\"{other}\"")).expect(other);
        }
        let mut request = Request {
            key,
            principal,
            confirmation,
            action: Action::Legs(Vec::new()),
            references: References::default(),
            facts: Vec::new(),
            events: Vec::new(),
        };
        for step in what.split(',').map(str::trim).filter(|step| !step.is_empty()) {
            self.read_step(step, &mut request);
        }
        request
    }

    fn read_step(&self, step: &str, request: &mut Request) {
        let amount = |text: &str| if text == "MAX" { Amount::MAX } else { text.parse().expect(text) };
        let hold = |nick: &str, sum: &str, expires: Option<&str>, settler| Leg::Hold {
            account: self.account(nick),
            amount: amount(sum),
            expires: expires.map(|time| Time(time.parse().unwrap())),
            settler,
        };
        let leg = match step.split_whitespace().collect::<Vec<_>>()[..] {
            ["move", from, "->", to, sum] => {
                Leg::Move { from: self.account(from), to: self.account(to), amount: amount(sum) }
            }
            ["hold", nick, sum] => hold(nick, sum, None, Settler::Holder),
            ["hold", nick, sum, "until", time] => hold(nick, sum, Some(time), Settler::Holder),
            ["hold", nick, sum, "by", "system"] => {
                let intent = format!("wd-{}", request.key.text);
                if request.references.intent.is_none() {
                    let row = format!("intents/{intent}");
                    request.facts.push(fact(&row, Guard::Absent, GuardFailure::Conflict, vec![column("state=new")]));
                }
                request.references.intent = Some(intent);
                hold(nick, sum, None, Settler::System)
            }
            ["hold", nick, sum, "by", "system", "without", "intent"] => hold(nick, sum, None, Settler::System),
            ["hold", nick, sum, "by", "system", "without", "row"] => {
                request.references.intent = Some(format!("wd-{}", request.key.text));
                hold(nick, sum, None, Settler::System)
            }
            ["post", nick, "->", to, sum] => {
                Leg::Post { hold: self.hold(nick), to: self.account(to), amount: amount(sum) }
            }
            ["release", nick] => Leg::Release { hold: self.hold(nick) },
            ["reverse", key] => {
                request.action = Action::Reverse(self.place(key));
                return;
            }
            ["make", row, set] => {
                return request.facts.push(fact(row, Guard::Absent, GuardFailure::Conflict, vec![column(set)]));
            }
            ["turn", row, is, "into", set] => {
                let guard = Guard::Is(vec![column(is)]);
                return request.facts.push(fact(row, guard, GuardFailure::Conflict, vec![column(set)]));
            }
            ["need", row, is] => {
                return request.facts.push(fact(row, Guard::Is(vec![column(is)]), GuardFailure::Paused, Vec::new()));
            }
            _ => panic!("no such step: {step}"),
        };
        if let Action::Legs(legs) = &mut request.action {
            legs.push(leg);
        }
    }
}

/// The key that this principal would use: in its own namespace, for its own server.
pub fn key_of(principal: &Principal, text: &str) -> IdempotencyKey {
    let namespace = match principal {
        Principal::Indexer => Namespace::Deposits,
        Principal::Tables => Namespace::Tables,
        Principal::System => Namespace::System,
        Principal::User(_) => Namespace::Player,
        _ => Namespace::Client,
    };
    let server = match principal {
        Principal::GameServer(server) | Principal::Developer(server) => server.clone(),
        _ => "arena".parse().unwrap(),
    };
    let text = match principal {
        Principal::User(wallet) => format!("{wallet}/{text}"),
        Principal::Developer(_) => format!("developer/{text}"),
        Principal::Admin(person) => format!("admin/{person}/{text}"),
        _ => text.to_owned(),
    };
    IdempotencyKey { namespace, scope: Scope::Server(server), text }
}

/// `system`, `game_server` (of arena), `game_server(rival)`, `user(alice)`, `admin(ann)`, `admin(ann+ben)`
/// (confirmed).
pub fn principal(text: &str) -> (Principal, Option<Confirmation>) {
    let (role, name) = text.strip_suffix(')').and_then(|text| text.split_once('(')).unwrap_or((text, "arena"));
    let (name, second) = name.split_once('+').map_or((name, None), |(first, second)| (first, Some(second)));
    let name = name.parse().unwrap();
    let principal = match role {
        "indexer" => Principal::Indexer,
        "admin" => Principal::Admin(name),
        "developer" => Principal::Developer(name),
        "game_server" => Principal::GameServer(name),
        "user" => Principal::User(name),
        "tables" => Principal::Tables,
        "system" => Principal::System,
        _ => panic!("no such principal: {text}"),
    };
    let confirmed = |by: &str| Confirmation { proposal: "p1".parse().unwrap(), by: by.parse().unwrap() };
    (principal, second.map(confirmed))
}

fn column(text: &str) -> Column {
    let (name, value) = text.split_once('=').expect("column=value");
    (name.to_owned(), ColumnValue::Text(value.to_owned()))
}

fn fact(row: &str, guard: Guard, otherwise: GuardFailure, set: Vec<Column>) -> Fact {
    let (table, id) = row.split_once('/').expect("table/id");
    let columns = vec![("id".to_owned(), ColumnValue::Text(id.to_owned()))];
    Fact { row: RowKey { table: table.to_owned(), columns }, guard, otherwise, set }
}
