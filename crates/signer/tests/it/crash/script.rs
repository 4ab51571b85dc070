//! Requests to a process that may crash at any of them, and the checks afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use bankroll_money::Time;
use bankroll_orders::{Meaning, MemoryHead, Order, OrderId, SignerRefusal, Slot};
use bankroll_signer_client::{SignOutcome, SignerClient, SignerClientError};
use tempfile::TempDir;

use super::strace::strace_on_memory;
use crate::{
    process::Running,
    world::{at, cancel, pay, pay_token, wallet},
};

/// The outcome of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptOutcome {
    Signed(Vec<u8>),
    Refused(SignerRefusal),
    Unknown,
    /// Nothing was sent.
    NotSent,
}

pub struct Script {
    orders: Vec<Order>,
    outcomes: Vec<ScriptOutcome>,
    /// The newest head that was answered.
    head: Option<MemoryHead>,
    whole: bool,
    /// Its output before it ended by itself.
    pub last_words: String,
}

/// Payouts, a token, a raise, a cancel: each kind of entry in the log.
fn orders() -> Vec<Order> {
    let first = pay("wd-0", 0, 100);
    let third = pay("wd-2", 2, 100);
    let orders = vec![
        first.clone(),
        at(&first, 90, 9),
        pay_token("wd-1", 1, 5),
        third,
        at(&cancel("wd-2", 2), 90, 9),
        pay("wd-3", 3, 7),
        cancel("wd-4", 4),
        pay("wd-5", 5, 9),
    ];
    orders.into_iter().map(lasting).collect()
}

/// The process has a clock of its own.
fn lasting(order: Order) -> Order {
    Order { expires: Time(u64::MAX), ..order }
}

impl Script {
    pub fn new() -> Self {
        Self { orders: orders(), outcomes: Vec::new(), head: None, whole: false, last_words: String::new() }
    }

    /// Sends all requests to a process whose nth system call crashes or fails.
    pub fn run(folder: &TempDir, call: &str, fault: &str, args: &[&str]) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        Self::run_under(strace_on_memory(log.path(), folder.path(), Some((call, fault))), folder.path(), args)
    }

    pub fn run_under(tracer: Command, folder: &Path, args: &[&str]) -> Self {
        let mut script = Self::new();
        if let Ok(running) = Running::start_under(Some(tracer), folder, args) {
            let length = script.orders.len();
            script.ask(&mut running.client(), length);
            let went_well = script
                .outcomes
                .iter()
                .all(|outcome| matches!(outcome, ScriptOutcome::Signed(_) | ScriptOutcome::Refused(_)));
            if went_well {
                script.whole = running.end().success();
            } else {
                // It was killed, or ends by itself.
                script.last_words = running.wait();
            }
        }
        script
    }

    /// Continues for the given number of requests, then kills the process.
    pub fn go_on_and_kill(&mut self, running: Running, requests: usize) {
        self.ask(&mut running.client(), requests);
        running.kill();
        if self.outcomes.len() == self.orders.len() {
            // All are sent: continue with similar ones at later nonces.
            let further = self.orders.len() as u64;
            let more = orders().into_iter().map(|order| moved(order, further)).collect::<Vec<_>>();
            self.orders.extend(more);
        }
    }

    fn ask(&mut self, client: &mut SignerClient, requests: usize) {
        let head = match client.status(wallet(), self.head) {
            Ok(status) => status.head,
            Err(SignerClientError::Diverged { what }) => panic!("{what}"),
            Err(_) => return,
        };
        self.head = Some(head);
        for _ in 0..requests {
            let Some(order) = self.orders.get(self.outcomes.len()).cloned() else { return };
            let outcome = sign(client, &order, &mut self.head);
            let ended = matches!(outcome, ScriptOutcome::Unknown | ScriptOutcome::NotSent);
            self.outcomes.push(outcome);
            if ended {
                return;
            }
        }
    }

    /// Every request was answered, and the process ended cleanly.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    pub fn outcomes(&self) -> impl Iterator<Item = &ScriptOutcome> {
        self.outcomes.iter()
    }

    pub fn answered(&self) -> usize {
        self.outcomes.iter().filter(|outcome| matches!(outcome, ScriptOutcome::Signed(_))).count()
    }

    /// Restarts the process without faults, and requests other payments for the same nonces and intents.
    pub fn check(&self, folder: &Path, what: &str) {
        let running = Running::start(folder);
        let mut client = running.client();
        // A memory that had lost an answer would be behind this head.
        let status = client.status(wallet(), self.head).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(status.stopped, None, "{what}");
        let mut head = self.head.or(Some(status.head));
        let mut payments: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        let mut note = |order: &Order| {
            if order.meaning != Meaning::Cancel {
                let payment = format!("{} {:?}", order.intent, order.meaning);
                payments.entry(order.slot.nonce).or_default().insert(payment);
            }
        };
        for (place, order) in self.orders.iter().enumerate() {
            let before = self.outcomes.get(place);
            // First other orders with the same nonce, and with the same intent.
            for other in [stolen(order, place), changed(order, place)] {
                match sign(&mut client, &other, &mut head) {
                    ScriptOutcome::Signed(_) => {
                        assert!(
                            !matches!(before, Some(ScriptOutcome::Signed(_))),
                            "{what}: signed twice\n{order:?}\n{other:?}"
                        );
                        note(&other);
                    }
                    ScriptOutcome::Refused(_) => {}
                    unexpected => panic!("{what}: {unexpected:?}"),
                }
            }
            let after = sign(&mut client, order, &mut head);
            if let ScriptOutcome::Signed(_) = &after {
                note(order);
            }
            let cancelled = self.orders.iter().zip(&self.outcomes).any(|(other, outcome)| {
                other.intent == order.intent
                    && other.meaning == Meaning::Cancel
                    && order.meaning != Meaning::Cancel
                    && *outcome != ScriptOutcome::NotSent
            });
            if let Some(ScriptOutcome::Signed(raw)) = before
                && !cancelled
            {
                assert_eq!(
                    after,
                    ScriptOutcome::Signed(raw.clone()),
                    "{what}: answered, and not in the memory\n{order:?}"
                );
            }
        }
        for (nonce, payments) in payments {
            assert!(payments.len() <= 1, "{what}: nonce {nonce} has {payments:?}");
        }
        assert!(running.end().success(), "{what}: it did not end well");
    }
}

fn sign(client: &mut SignerClient, order: &Order, head: &mut Option<MemoryHead>) -> ScriptOutcome {
    match client.sign(order, head.expect("status was requested before")) {
        Ok(SignOutcome::Signed(signed)) => {
            *head = Some(signed.head);
            ScriptOutcome::Signed(signed.raw)
        }
        Ok(SignOutcome::Refused { refusal: SignerRefusal::Stopped(why), .. }) => panic!("stopped: {why}"),
        Ok(SignOutcome::Refused { refusal, .. }) => ScriptOutcome::Refused(refusal),
        Err(SignerClientError::Unknown(_)) => ScriptOutcome::Unknown,
        Err(SignerClientError::Unreachable(_)) => ScriptOutcome::NotSent,
        Err(SignerClientError::Diverged { what }) => panic!("diverged: {what}"),
        Err(error @ SignerClientError::WalletUnknown) => panic!("{error}"),
    }
}

/// The nonce for another intent.
fn stolen(order: &Order, place: usize) -> Order {
    lasting(at(&pay(&format!("thief-{place}"), order.slot.nonce, 1), 500, 50))
}

/// The intent for another payment.
fn changed(order: &Order, place: usize) -> Order {
    let id = OrderId(format!("changed-{place}").parse().unwrap());
    Order { id, meaning: pay("any", 0, 999).meaning, ..at(order, 600, 60) }
}

fn moved(order: Order, further: u64) -> Order {
    let nonce = order.slot.nonce + further;
    let name = |name: &str| format!("{name}.m{further}").parse().unwrap();
    Order {
        id: OrderId(name(&order.id.to_string())),
        intent: bankroll_orders::IntentId(name(&order.intent.to_string())),
        slot: Slot { nonce, ..order.slot },
        ..order
    }
}
