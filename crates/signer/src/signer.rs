//! The signer without a socket: requests in, answers out. The caller provides time, keys and memory.
//!
//! It signs in this order: judge, store the promise, sign, store the transaction, answer. Each write is synced. After
//! a crash at any step, a retry returns the same bytes or finishes the same promise; the signer never returns bytes
//! that its memory does not contain.

use std::collections::BTreeMap;

use bankroll_money::Time;
use bankroll_orders::{
    Address, IntentId, MemoryHead, Order, SignedApproval, SignedTransaction, SignerAnswer, SignerRefusal,
    SignerRequest, SignerStatus, StopReason,
};

use crate::{
    evm,
    judge::{SigningVerdict, TransactionFields, judge, judge_revocation},
    key::{LocalKey, SigningFault},
    memory::{Memory, MemoryError, OpenError},
    policy::SigningPolicy,
};

#[derive(Debug)]
pub struct Signer {
    policy: SigningPolicy,
    keys: BTreeMap<Address, LocalKey>,
    memory: Memory,
    fault: Option<SignerFault>,
}

/// Why a signer must be restarted before it answers again.
#[derive(Debug, thiserror::Error)]
pub enum SignerFault {
    #[error("the memory failed")]
    Memory(#[source] MemoryError),
    /// A key made a signature that does not verify.
    #[error("a key failed")]
    Key(#[source] SigningFault),
}

/// Ends a request early.
enum RequestFailure {
    Refused(SignerRefusal),
    Fault(SignerFault),
}

impl Signer {
    /// Puts a signer together.
    ///
    /// # Errors
    /// The memory does not have the history of one of the keys.
    pub fn new(policy: SigningPolicy, keys: Vec<LocalKey>, memory: Memory) -> Result<Self, OpenError> {
        let keys: BTreeMap<Address, LocalKey> = keys.into_iter().map(|key| (key.address(), key)).collect();
        match keys.keys().find(|wallet| !memory.wallets().contains(wallet)) {
            Some(wallet) => Err(memory.of_other_keys(*wallet)),
            None => Ok(Self { policy, keys, memory, fault: None }),
        }
    }

    pub fn handle(&mut self, request: &SignerRequest, now: Time) -> SignerAnswer {
        let wallet = request.wallet();
        if !self.keys.contains_key(&wallet) {
            return SignerAnswer::Refused { refusal: SignerRefusal::WalletUnknown, head: None };
        }
        if self.fault.is_some() {
            return SignerAnswer::Failed;
        }
        let now = self.memory.time(now);
        let answered = self.check_head(request, now).and_then(|()| match request {
            SignerRequest::Status { .. } => Ok(SignerAnswer::Status(self.status(wallet))),
            SignerRequest::Revoke { intent, .. } => self.revoke(wallet, intent, now),
            SignerRequest::Sign { order, approvals, .. } => self.sign(order, approvals, now),
        });
        answered.unwrap_or_else(|end| match end {
            RequestFailure::Refused(refusal) => SignerAnswer::Refused { refusal, head: self.head(wallet) },
            RequestFailure::Fault(fault) => {
                self.fault = Some(fault);
                SignerAnswer::Failed
            }
        })
    }

    #[must_use]
    pub fn fault(&self) -> Option<&SignerFault> {
        self.fault.as_ref()
    }

    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Closes the memory.
    ///
    /// # Errors
    /// The memory's. Everything that was answered is stored.
    pub fn close(self) -> Result<(), MemoryError> {
        self.memory.close()
    }

    /// Stops the signer if the caller's head proves that the memory lost entries.
    fn check_head(&mut self, request: &SignerRequest, now: Time) -> Result<(), RequestFailure> {
        let Some(head) = request.head() else { return Ok(()) };
        if let Some(why) = self.memory.stopped() {
            return Err(RequestFailure::Refused(SignerRefusal::Stopped(why)));
        }
        if !self.keys.get(&request.wallet()).is_some_and(|key| key.is_sealed(head)) {
            return Err(RequestFailure::Refused(SignerRefusal::HeadForged));
        }
        match self.detect_lost_memory(head)? {
            None => Ok(()),
            Some(why) => match self.memory.stop(why, now) {
                Ok(()) | Err(MemoryError::Full) => Err(RequestFailure::Refused(SignerRefusal::Stopped(why))),
                Err(error) => Err(RequestFailure::Fault(SignerFault::Memory(error))),
            },
        }
    }

    /// Whether a head that we sealed is missing from the memory.
    fn detect_lost_memory(&mut self, head: &MemoryHead) -> Result<Option<StopReason>, RequestFailure> {
        if head.memory != self.memory.head().memory {
            return Ok(Some(StopReason::MemoryOther));
        }
        Ok(match self.memory.hash_at(head.count)? {
            None => Some(StopReason::MemoryOlder),
            Some(hash) => (hash != head.hash).then_some(StopReason::MemoryForked),
        })
    }

    fn revoke(&mut self, wallet: Address, intent: &IntentId, now: Time) -> Result<SignerAnswer, RequestFailure> {
        let recalled = self.memory.recall_intent(intent)?;
        if judge_revocation(&recalled).map_err(RequestFailure::Refused)? {
            self.memory.revoke(intent, now)?;
        }
        Ok(SignerAnswer::Revoked { head: self.status(wallet).head })
    }

    fn sign(&mut self, order: &Order, approvals: &[SignedApproval], now: Time) -> Result<SignerAnswer, RequestFailure> {
        if !approvals.is_empty() {
            return Err(RequestFailure::Refused(SignerRefusal::ApprovalsNotUnderstood));
        }
        let recalled = self.memory.recall(order, self.policy.counts_since(now))?;
        let transaction = match judge(&recalled, &self.policy, order, now) {
            SigningVerdict::Refuse(refusal) => return Err(RequestFailure::Refused(refusal)),
            SigningVerdict::Repeat(transaction) => transaction,
            SigningVerdict::Finish { promise } => self.finish(promise, order, now)?,
            SigningVerdict::Sign { counted, .. } => {
                let promise = self.memory.promise(order, counted, now)?;
                self.finish(promise, order, now)?
            }
        };
        let TransactionFields { raw, hash } = transaction;
        Ok(SignerAnswer::Signed(SignedTransaction { raw, hash, head: self.status(order.slot.wallet).head }))
    }

    fn finish(&mut self, promise: u64, order: &Order, now: Time) -> Result<TransactionFields, RequestFailure> {
        let key = self.keys.get(&order.slot.wallet).ok_or(RequestFailure::Refused(SignerRefusal::WalletUnknown))?;
        let transaction = evm::sign(order, key).map_err(|fault| RequestFailure::Fault(SignerFault::Key(fault)))?;
        self.memory.sign(promise, &transaction, now)?;
        Ok(transaction)
    }

    fn status(&self, wallet: Address) -> SignerStatus {
        let head = self.head(wallet).expect("called only for wallets whose key is present");
        SignerStatus { head, stopped: self.memory.stopped() }
    }

    fn head(&self, wallet: Address) -> Option<MemoryHead> {
        self.keys.get(&wallet).map(|key| key.seal(self.memory.head()))
    }
}

impl From<MemoryError> for RequestFailure {
    /// A full disk is a refusal: nothing was written, and the memory still works. Any other failure stops the signer.
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Full => Self::Refused(SignerRefusal::MemoryFull),
            error => Self::Fault(SignerFault::Memory(error)),
        }
    }
}
