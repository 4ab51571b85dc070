//! The signer without a socket: requests in, answers out. Clock, keys and memory are given from outside.
//!
//! The order of things, for everything it signs: judge, write down the promise, sign, write down the transaction, answer.
//! Each arrow to the disk is synced. Ended anywhere in between and asked again, it gives the same bytes or finishes the
//! same promise; nobody ever sees bytes that its memory does not have.

use std::collections::BTreeMap;

use bankroll_money::Time;
use bankroll_orders::{Address, Answer, Approval, Head, IntentId, Order, Refusal, Request, Signed, Status, Stop};

use crate::{
    evm,
    judge::{Transaction, Verdict, judge, judge_renouncing},
    key::{LocalKey, SignFault},
    memory::{Memory, MemoryError, OpenError},
    policy::Policy,
};

/// Keys, rules and memory together.
#[derive(Debug)]
pub struct Signer {
    policy: Policy,
    keys: BTreeMap<Address, LocalKey>,
    memory: Memory,
    fault: Option<Fault>,
}

/// Why a signer must be started again before it answers anything.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The memory failed.
    #[error("the memory failed")]
    Memory(#[source] MemoryError),
    /// A key made a signature that is not its own.
    #[error("a key failed")]
    Key(#[source] SignFault),
}

/// What ends a request early.
enum End {
    Refused(Refusal),
    Fault(Fault),
}

impl Signer {
    /// Puts a signer together.
    ///
    /// # Errors
    /// The memory does not have the history of one of the keys.
    pub fn new(policy: Policy, keys: Vec<LocalKey>, memory: Memory) -> Result<Self, OpenError> {
        let keys: BTreeMap<Address, LocalKey> = keys.into_iter().map(|key| (key.address(), key)).collect();
        match keys.keys().find(|wallet| !memory.wallets().contains(wallet)) {
            Some(wallet) => Err(memory.of_other_keys(*wallet)),
            None => Ok(Self { policy, keys, memory, fault: None }),
        }
    }

    /// Answers one request.
    pub fn handle(&mut self, request: &Request, now: Time) -> Answer {
        let wallet = request.wallet();
        if !self.keys.contains_key(&wallet) {
            return Answer::Refused { refusal: Refusal::WalletUnknown, head: None };
        }
        if self.fault.is_some() {
            return Answer::Failed;
        }
        let now = self.memory.time(now);
        let answered = self.check_standing(request, now).and_then(|()| match request {
            Request::Status { .. } => Ok(Answer::Status(self.status(wallet))),
            Request::Renounce { intent, .. } => self.renounce(wallet, intent, now),
            Request::Sign { order, approvals, .. } => self.sign(order, approvals, now),
        });
        answered.unwrap_or_else(|end| match end {
            End::Refused(refusal) => Answer::Refused { refusal, head: self.head(wallet) },
            End::Fault(fault) => {
                self.fault = Some(fault);
                Answer::Failed
            }
        })
    }

    /// Why it must be started again, if it must.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Where its memory stands, and whether it has stopped.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Closes the memory.
    ///
    /// # Errors
    /// The memory's. What was answered stays written.
    pub fn close(self) -> Result<(), MemoryError> {
        self.memory.close()
    }

    /// Whether anything may be answered at all, by what the asker has seen before.
    fn check_standing(&mut self, request: &Request, now: Time) -> Result<(), End> {
        let Some(head) = request.head() else { return Ok(()) };
        if let Some(why) = self.memory.stopped() {
            return Err(End::Refused(Refusal::Stopped(why)));
        }
        if !self.keys.get(&request.wallet()).is_some_and(|key| key.sealed(head)) {
            return Err(End::Refused(Refusal::HeadForged));
        }
        match self.forgotten(head)? {
            None => Ok(()),
            Some(why) => match self.memory.stop(why, now) {
                Ok(()) | Err(MemoryError::Full) => Err(End::Refused(Refusal::Stopped(why))),
                Err(error) => Err(End::Fault(Fault::Memory(error))),
            },
        }
    }

    /// Whether a head of ours shows that the memory is not all that we answered from.
    fn forgotten(&mut self, head: &Head) -> Result<Option<Stop>, End> {
        if head.memory != self.memory.head().memory {
            return Ok(Some(Stop::MemoryOther));
        }
        Ok(match self.memory.hash_at(head.count)? {
            None => Some(Stop::MemoryOlder),
            Some(hash) => (hash != head.hash).then_some(Stop::MemoryForked),
        })
    }

    fn renounce(&mut self, wallet: Address, intent: &IntentId, now: Time) -> Result<Answer, End> {
        let recalled = self.memory.recall_intent(intent)?;
        if judge_renouncing(&recalled).map_err(End::Refused)? {
            self.memory.renounce(intent, now)?;
        }
        Ok(Answer::Renounced { head: self.status(wallet).head })
    }

    fn sign(&mut self, order: &Order, approvals: &[Approval], now: Time) -> Result<Answer, End> {
        if !approvals.is_empty() {
            return Err(End::Refused(Refusal::ApprovalsNotUnderstood));
        }
        let recalled = self.memory.recall(order, self.policy.counts_since(now))?;
        let transaction = match judge(&recalled, &self.policy, order, now) {
            Verdict::Refuse(refusal) => return Err(End::Refused(refusal)),
            Verdict::Repeat(transaction) => transaction,
            Verdict::Finish { promise } => self.finish(promise, order, now)?,
            Verdict::Sign { counted, .. } => {
                let promise = self.memory.promise(order, counted, now)?;
                self.finish(promise, order, now)?
            }
        };
        let Transaction { raw, hash } = transaction;
        Ok(Answer::Signed(Signed { raw, hash, head: self.status(order.slot.wallet).head }))
    }

    fn finish(&mut self, promise: u64, order: &Order, now: Time) -> Result<Transaction, End> {
        let key = self.keys.get(&order.slot.wallet).ok_or(End::Refused(Refusal::WalletUnknown))?;
        let transaction = evm::sign(order, key).map_err(|fault| End::Fault(Fault::Key(fault)))?;
        self.memory.sign(promise, &transaction, now)?;
        Ok(transaction)
    }

    fn status(&self, wallet: Address) -> Status {
        let head = self.head(wallet).expect("asked only about wallets whose key is here");
        Status { head, stopped: self.memory.stopped() }
    }

    fn head(&self, wallet: Address) -> Option<Head> {
        self.keys.get(&wallet).map(|key| key.seal(self.memory.head()))
    }
}

impl From<MemoryError> for End {
    /// A full disk is a refusal: nothing was written, and the memory goes on. Anything else ends everything.
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Full => Self::Refused(Refusal::MemoryFull),
            error => Self::Fault(Fault::Memory(error)),
        }
    }
}
