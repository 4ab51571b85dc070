//! Stories: text in, expected values visible, and a harness that verifies every step.
//!
//! The harness keeps books as the writer does and a replay as the auditor does. Every record must survive its
//! encoding, be accepted by the auditor, and leave both with the same sound books. The language is in `language`.

mod language;

use std::collections::HashMap;

use crate::{
    Account, AccountId, AccountPolicy, Action, Amount, Asset, AssetId, Books, Hold, HoldId, HoldState, IdempotencyKey,
    PastTransfer, Posting, Principal, Recall, Record, Rejection, Replay, Request, Seq, Side, Time, Unit, Verdict,
    decide, recall,
};

pub use self::language::{key_of, principal};

/// Opened before every story.
const CAST: [(&str, &str); 8] = [
    ("vault", "@house/custody/1/vault"),
    ("house", "@house/house/1"),
    ("suspense", "@house/suspense/1"),
    ("world", "arena/world/1"),
    ("ecosystem", "arena/ecosystem/1"),
    ("developer", "arena/developer/1"),
    ("alice", "arena/funds/1/alice"),
    ("bob", "arena/funds/1/bob"),
];

/// Runs a story and compares the balances of the accounts that are not empty at its end.
#[track_caller]
pub fn check(scenario: &str, expected: &str) {
    let mut story = Story::new();
    story.run(scenario);
    assert_eq!(story.standings(), expected);
}

/// The writer's books and the auditor's.
pub struct Story {
    pub books: Books,
    pub replay: Replay,
    pub journal: Vec<(Time, Record)>,
    pub now: Time,
    accounts: Vec<(String, AccountId)>,
    holds: HashMap<String, HoldId>,
    places: HashMap<String, Seq>,
    decided: HashMap<IdempotencyKey, (Request, Verdict)>,
}

impl Story {
    pub fn new() -> Self {
        let mut story = Self {
            books: Books::default(),
            replay: Replay::default(),
            journal: Vec::new(),
            now: Time(1),
            accounts: Vec::new(),
            holds: HashMap::new(),
            places: HashMap::new(),
            decided: HashMap::new(),
        };
        for (id, symbol) in [(1, "ETH"), (2, "POL")] {
            let chain = format!("eip155:{id}").parse().unwrap();
            let asset = Asset { chain, unit: Unit::Native, decimals: 18, symbol: symbol.to_owned() };
            story.commit(Record::AssetListed { id: AssetId(id), asset });
        }
        for (nick, name) in CAST {
            story.open(nick, name);
        }
        story
    }

    #[track_caller]
    pub fn run(&mut self, scenario: &str) -> &mut Self {
        for line in scenario.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["at", time] => self.now = Time(time.parse().unwrap()),
                ["open", nick, name] => self.open(nick, name),
                ["expire", hold] => self.expire(hold),
                ["deposit", key, amount, "->", to] => {
                    self.request(&format!("{key} indexer: move vault -> {to} {amount}  applied"));
                }
                _ => self.request(line),
            }
        }
        self
    }

    /// The accounts that are not empty, in the order in which they were opened.
    pub fn standings(&self) -> String {
        let standing = |(nick, id): &(String, AccountId)| {
            let Account { balance, held, .. } = self.books.account(*id).unwrap();
            let held = if held.is_zero() { String::new() } else { format!(" held {held}") };
            (!balance.is_zero()).then(|| format!("{nick} {balance}{held}"))
        };
        self.accounts.iter().filter_map(standing).collect::<Vec<_>>().join(", ")
    }

    /// Does what the writer does: checks the form and earlier keys, decides, records.
    pub fn ask(&mut self, request: Request) -> String {
        if let Err(rejection) = request.check() {
            return rejection.code().to_owned();
        }
        if let Some((earlier, verdict)) = self.decided.get(&request.key) {
            return match recall(earlier, &request) {
                Recall::Replay => format!("{} again", code(verdict)),
                _ => Rejection::KeyReused.code().to_owned(),
            };
        }
        if let Action::Reverse(place) = request.action {
            let reversed_by = self.replay.reversals.get(&place).copied();
            if let Some(past) = self.record(place).and_then(|record| PastTransfer::of(record, reversed_by)) {
                self.books.put_past(place, past);
            }
        }
        let verdict = decide(&self.books, &request, self.next_seq(), self.now);
        let answer = code(&verdict).to_owned();
        if matches!(verdict, Verdict::Rejected(rejection) if !rejection.is_remembered()) {
            return answer;
        }
        self.decided.insert(request.key.clone(), (request.clone(), verdict.clone()));
        let text = &request.key.text;
        // A story names keys without the prefix of their principal.
        let nick =
            if matches!(request.principal, Principal::User(_)) { Some(text.as_str()) } else { text.rsplit('/').next() };
        self.places.insert(nick.unwrap_or(text).to_owned(), self.next_seq());
        self.commit(Record::Decided { request, verdict });
        answer
    }

    pub fn open_with(&mut self, nick: &str, name: &str, policy: AccountPolicy) {
        let id = AccountId(self.accounts.len() as u64 + 1);
        self.accounts.push((nick.to_owned(), id));
        self.commit(Record::AccountOpened { id, name: name.parse().unwrap(), policy, by: Principal::System });
    }

    pub fn account(&self, nick: &str) -> AccountId {
        let known = |(known, _): &&(String, AccountId)| known == nick;
        let number = || nick.strip_prefix('#').map(|number| AccountId(number.parse().unwrap()));
        self.accounts.iter().find(known).map(|(_, id)| *id).or_else(number).expect(nick)
    }

    pub fn hold(&self, nick: &str) -> HoldId {
        let number = || nick.strip_prefix('#').map(|number| HoldId(number.parse().unwrap()));
        self.holds.get(nick).copied().or_else(number).expect(nick)
    }

    /// The place of the request with this key.
    pub fn place(&self, key: &str) -> Seq {
        let number = || key.strip_prefix('#').map(|number| Seq(number.parse().unwrap()));
        self.places.get(key).copied().or_else(number).expect(key)
    }

    /// What the request with this key moved, in order, with both balances after it.
    pub fn postings(&self, key: &str) -> Vec<String> {
        let Some(Record::Decided { verdict: Verdict::Applied(effects), .. }) = self.record(self.place(key)) else {
            panic!("{key} was not applied");
        };
        let nick = |id: AccountId| &self.accounts.iter().find(|(_, known)| *known == id).unwrap().0;
        let show = |posting: &Posting| {
            let Posting { from, to, amount, from_after, to_after } = posting;
            format!("{} -> {} {amount} (then {from_after} and {to_after})", nick(*from), nick(*to))
        };
        effects.postings.iter().map(show).collect()
    }

    pub fn next_seq(&self) -> Seq {
        Seq(self.journal.len() as u64 + 1)
    }

    pub fn record(&self, place: Seq) -> Option<Record> {
        record_at(&self.journal, place)
    }

    fn open(&mut self, nick: &str, name: &str) {
        let kind = name.split('/').nth(1).unwrap().parse().unwrap();
        self.open_with(nick, name, AccountPolicy::of(kind));
    }

    #[track_caller]
    fn request(&mut self, line: &str) {
        let (asked, expected) = line.rsplit_once("  ").expect("two spaces before the outcome");
        let (request, seq) = (self.read(asked.trim()), self.next_seq());
        let answer = self.ask(request);
        if answer.ends_with(" again") {
            assert_eq!(answer, expected, "{line}");
            return;
        }
        let mut expected = expected.split(' ');
        assert_eq!(Some(answer.as_str()), expected.next(), "{line}");
        let names: Vec<String> = expected.map(str::to_owned).collect();
        let made = self.books.holds().map(|hold| hold.id).filter(|id| id.made_by() == seq);
        let mut made: Vec<HoldId> = made.collect();
        made.sort();
        assert_eq!(names.len(), made.len(), "every hold made has a name: {line}");
        self.holds.extend(names.into_iter().zip(made));
    }

    fn expire(&mut self, hold: &str) {
        let change = self.books.expire(self.hold(hold)).expect("an open hold");
        self.commit(Record::HoldExpired(change));
    }

    /// Appends a record to the journal after all checks.
    fn commit(&mut self, record: Record) {
        let seq = self.next_seq();
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes).as_ref(), Ok(&record));
        let original = |place| record_at(&self.journal, place);
        assert_eq!(self.replay.check(seq, self.now, &record, original), Ok(()));
        self.replay.apply(seq, &record);
        match &record {
            Record::Decided { request, verdict } => {
                let mut appended = Vec::new();
                Record::append_decided(&mut appended, &request.encode(), verdict);
                assert_eq!(appended, bytes);
                if let Verdict::Applied(effects) = verdict {
                    self.books.apply(seq, effects, &request.facts);
                }
            }
            Record::HoldExpired(change) => self.books.apply_hold(change),
            // The writer loads new accounts as the auditor has them, debts linked both ways.
            Record::AccountOpened { .. } => {
                for account in self.replay.books.accounts() {
                    self.books.put_account(account.clone());
                }
            }
            Record::AssetListed { .. } | Record::LossAccepted(_) => {}
        }
        self.journal.push((self.now, record));
        assert_sound(&self.books);
        assert_eq!(everything(&self.books), everything(&self.replay.books), "replay and writer agree");
    }
}

fn record_at(journal: &[(Time, Record)], place: Seq) -> Option<Record> {
    let index = usize::try_from(place.0.checked_sub(1)?).ok()?;
    journal.get(index).map(|(_, record)| record.clone())
}

pub fn code(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Applied(_) => "applied",
        Verdict::Rejected(rejection) => rejection.code(),
    }
}

/// Debits equal credits per asset, and no account holds more than it has or than its holds say.
fn assert_sound(books: &Books) {
    for asset in [AssetId(1), AssetId(2)] {
        let side = |side: Side| {
            let of = |account: &&Account| account.name.asset == asset && account.name.kind.side() == side;
            sum(books.accounts().filter(of).map(|account| account.balance))
        };
        assert_eq!(side(Side::Debit), side(Side::Credit), "debits equal credits in asset {asset}");
    }
    for (asset, (debit, credit)) in books.totals() {
        assert_eq!(debit, credit, "the books see it themselves in asset {asset}");
    }
    for account in books.accounts() {
        assert!(account.held <= account.balance, "{} holds more than it has", account.name);
        let open = |hold: &&Hold| hold.account == account.id && hold.state == HoldState::Open;
        assert_eq!(sum([account.held]), sum(books.holds().filter(open).map(|hold| hold.remaining)), "{}", account.name);
    }
}

/// An exact sum in two halves, since the total of all accounts may leave 128 bits.
fn sum(amounts: impl IntoIterator<Item = Amount>) -> (u128, u128) {
    let halves = amounts.into_iter().map(|amount| (amount.units() >> 64, amount.units() & u128::from(u64::MAX)));
    let (high, low) = halves.fold((0, 0), |sum, half| (sum.0 + half.0, sum.1 + half.1));
    (high + (low >> 64), low & u128::from(u64::MAX))
}

/// All accounts and holds, in order.
pub fn everything(books: &Books) -> (Vec<Account>, Vec<Hold>) {
    let (mut accounts, mut holds): (Vec<_>, Vec<_>) =
        (books.accounts().cloned().collect(), books.holds().copied().collect());
    accounts.sort_by_key(|account| account.id);
    holds.sort_by_key(|hold| hold.id);
    (accounts, holds)
}
