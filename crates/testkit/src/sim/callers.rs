//! Players and game servers, which call the books until they have an answer.
//!
//! Each records a call before it makes it, and retries the same call while it has no answer: so every call ends in one
//! answer, which the model counts. Calls and answers are lost and repeated in transit.

use std::collections::BTreeMap;

use bankroll_ledger::{AccountId, Amount, Principal, Rejection, Request};
use bankroll_orders::Address;
use bankroll_withdrawals::{ApprovalPolicy, IntentError, Intents, WithdrawalRequest};
use fastrand::Rng;

use super::{
    Bug,
    people::{PLAYERS, SERVERS, SimPlayer},
    promises::{BrokenPromise, SafetyPromise},
    world::World,
};

#[derive(Default)]
pub(super) struct Callers {
    pub calls: Vec<SimCall>,
    /// Requested payouts by id.
    pub intents: BTreeMap<String, RequestedPayout>,
    pub accounts: BTreeMap<String, AccountId>,
    /// Requests that were answered and not applied yet: a planted bug.
    pub deferred: Vec<Request>,
}

pub(super) struct SimCall {
    pub what: SimCallBody,
    pub server: &'static str,
    pub player: &'static str,
    /// The amount that it moves into the game; negative if it moves out.
    pub into_world: i128,
    /// The answer, once it was received.
    pub answer: Option<SimAnswer>,
    times: u32,
}

pub(super) enum SimCallBody {
    Money(Box<Request>),
    Payout(Box<WithdrawalRequest>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SimAnswer {
    Done,
    No(Rejection),
}

pub(super) struct RequestedPayout {
    pub id: String,
    pub server: &'static str,
    pub player: &'static str,
    pub to: Address,
    pub amount: u128,
    pub is_players_gas: bool,
    pub at: u64,
}

impl World {
    pub fn open_accounts(&mut self) {
        let of_server = |server: &str| ["world", "developer", "ecosystem"].map(|kind| format!("{server}/{kind}/1"));
        let of_player = |player: &SimPlayer| {
            ["funds", "unallocated", "debt"].map(|kind| format!("{}/{kind}/1/{}", player.server, player.name))
        };
        let servers = SERVERS.iter().flat_map(|(server, ..)| of_server(server));
        let texts: Vec<String> = servers.chain(PLAYERS.iter().flat_map(of_player)).collect();
        let names = texts.iter().map(|text| text.parse().expect("an account's name")).collect();
        let opened = self.books.ledger().open_accounts(&Principal::System, names).expect("accounts can be opened");
        let numbered =
            texts.into_iter().zip(opened).map(|(text, number)| (text, number.expect("these accounts may be opened")));
        self.callers.accounts = numbered.collect();
    }

    pub fn account(&self, text: &str) -> AccountId {
        self.callers.accounts[text]
    }

    /// Retries a call: one without an answer, or any.
    pub fn retry(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let unanswered: Vec<usize> = self.unanswered();
        let any: Vec<usize> = (0..self.callers.calls.len()).collect();
        let is_new = random.u8(..4) > 0 && !unanswered.is_empty();
        let place = random.choice(if is_new { &unanswered } else { &any });
        let Some(place) = place.copied() else { return self.note_ok("nothing was asked yet") };
        self.submit(place, random)
    }

    pub fn unanswered(&self) -> Vec<usize> {
        (0..self.callers.calls.len()).filter(|place| self.callers.calls[*place].answer.is_none()).collect()
    }

    /// Records a call before it is made; returns its number.
    pub fn record_call(&mut self, what: SimCallBody, player: SimPlayer, into_world: i128) -> usize {
        let asked = SimCall { what, server: player.server, player: player.name, into_world, answer: None, times: 0 };
        self.callers.calls.push(asked);
        self.callers.calls.len() - 1
    }

    /// Makes a call over a connection that may lose or repeat calls and answers.
    pub fn submit(&mut self, place: usize, random: &mut Rng) -> Result<(), BrokenPromise> {
        self.callers.calls[place].times += 1;
        match random.u8(..10) {
            0 => {
                self.counts.count("books: request lost");
                return self.note_ok(format_args!("question {place} is lost"));
            }
            1 => {
                let _ = self.apply_call(place);
                self.counts.count("books: answer lost");
                return self.note_ok(format_args!("the answer to {place} is lost"));
            }
            2 => {
                let _ = self.apply_call(place);
                self.counts.count("books: request repeated");
            }
            _ => {}
        }
        self.submit_reliably(place)
    }

    /// Makes a call over a reliable connection.
    pub fn submit_reliably(&mut self, place: usize) -> Result<(), BrokenPromise> {
        let answer = match self.acknowledge_early(place) {
            Some(answer) => Ok(answer),
            None => self.apply_call(place),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => return self.note_ok(format_args!("question {place} has no answer: {why}")),
        };
        self.note(format_args!("the answer to {place} is {answer:?}"));
        match self.callers.calls[place].answer.replace(answer) {
            Some(before) if before != answer => Err(SafetyPromise::OneEffect
                .broken(format!("question {place} was answered {before:?}, and now {answer:?}"))),
            _ => Ok(()),
        }
    }

    fn apply_call(&self, place: usize) -> Result<SimAnswer, String> {
        if self.books.has_ended() {
            return Err("the process has ended".into());
        }
        let asked = &self.callers.calls[place];
        let outcome = match &asked.what {
            SimCallBody::Money(request) => {
                let mut request = Request::clone(request);
                if self.bug == Some(Bug::KeyDropped) && asked.times > 1 {
                    request.key.text = format!("{}-{}", request.key.text, asked.times);
                }
                let answer = self.books.ledger().apply(request).map_err(|error| error.to_string())?;
                answer.effects().map(drop)
            }
            SimCallBody::Payout(wanted) => {
                let policy = ApprovalPolicy { at_once: Amount::new(u128::MAX) };
                match Intents::new(policy).create(wanted, self.books.ledger(), self.books.rows()) {
                    Ok(_) => Ok(()),
                    Err(IntentError::Rejected(rejection)) => Err(rejection),
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        Ok(outcome.map_or_else(SimAnswer::No, |()| SimAnswer::Done))
    }
}

/// An intent's id as the history prints it.
pub(super) fn short(id: &str) -> String {
    let from = id.find("wd-").unwrap_or_default();
    id.get(from..from + 9).unwrap_or(id).to_owned()
}
