//! The signer's process: its memory in a folder, the signer while it runs, and the faults between it and its caller.
//!
//! Everything that ever left the signer is kept here, received or not: bytes that exist can be sent by a third party.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
};

use bankroll_chains_simulated::B256;
use bankroll_ledger::{Amount, Time};
use bankroll_orders::{ChainId, Meaning, MemoryHead, MemoryId, SignerAnswer, SignerRequest};
use bankroll_signer::{
    Memory, Signer, SigningPolicy,
    memory::CommitStage,
    policy::{ChainRules, GasPricing, SigningLimits},
};
use tempfile::TempDir;

use super::{
    books::memory_folder,
    counts::Counts,
    people::{CHAIN_ID, hot_key},
};

const GWEI: u128 = 1_000_000_000;
const COIN: u128 = 1_000_000_000 * GWEI;

/// A fault between the payouts role and the signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignerTrouble {
    RequestLost,
    AnswerLost,
    Repeated,
    /// The process ends at this write of its memory, counted from 0, before or after the write is on disk.
    Ends(usize, bool),
}

/// A transaction that the signer has released.
#[derive(Clone, Debug)]
pub(super) struct ReleasedTransaction {
    pub intent: String,
    pub is_cancel: bool,
    pub nonce: u64,
    pub raw: Vec<u8>,
}

pub(super) struct SignerProcess {
    folder: TempDir,
    signer: Option<Signer>,
    pub plan: VecDeque<SignerTrouble>,
    /// The time by its own clock.
    pub now: u64,
    /// Everything that ever left it, by the transaction's hash.
    pub released: BTreeMap<B256, ReleasedTransaction>,
    /// Intents that it promised never to sign.
    pub revoked: BTreeSet<String>,
    pub counts: Counts,
    /// Whether it forgets everything after each answer: a planted bug.
    pub forgets: bool,
}

impl SignerProcess {
    pub fn new(now: u64, forgets: bool) -> Self {
        let mut process = Self {
            folder: memory_folder(),
            signer: None,
            plan: VecDeque::new(),
            now,
            released: BTreeMap::new(),
            revoked: BTreeSet::new(),
            counts: Counts::default(),
            forgets,
        };
        process.create_memory();
        process
    }

    fn create_memory(&mut self) {
        let path = self.folder.path().join("memory.db");
        let memory = Memory::create(&path, MemoryId([1; 16]), &[hot_key().address()], Time(self.now));
        memory.expect("a memory can be created").close().expect("a memory can be closed");
    }

    pub fn restart(&mut self) {
        if let Some(signer) = self.signer.take() {
            let _ = signer.close();
        }
    }

    /// One request and its answer, with the planned fault.
    pub fn answer(&mut self, request: &SignerRequest) -> io::Result<SignerAnswer> {
        let between = self.plan.pop_front();
        if between == Some(SignerTrouble::RequestLost) {
            self.counts.count("signer: request lost");
            return Err(io::ErrorKind::TimedOut.into());
        }
        let answer =
            if self.forgets { self.answer_without_memory(request, between) } else { self.handle(request, between) }?;
        match between {
            Some(SignerTrouble::AnswerLost) => {
                self.counts.count("signer: answer lost");
                Err(io::ErrorKind::TimedOut.into())
            }
            Some(SignerTrouble::Repeated) => {
                self.counts.count("signer: request repeated");
                if self.forgets { Ok(answer) } else { self.handle(request, None) }
            }
            _ => Ok(answer),
        }
    }

    fn handle(&mut self, request: &SignerRequest, between: Option<SignerTrouble>) -> io::Result<SignerAnswer> {
        if self.signer.is_none() || matches!(between, Some(SignerTrouble::Ends(..))) {
            self.start(between);
        }
        let signer = self.signer.as_mut().expect("the signer was started");
        let answer = signer.handle(request, Time(self.now));
        if signer.fault().is_some() {
            let is_after = matches!(between, Some(SignerTrouble::Ends(_, true)));
            self.counts.count(if is_after { "signer: ends after a write" } else { "signer: ends before a write" });
            self.signer = None;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.keep(request, &answer);
        Ok(answer)
    }

    fn start(&mut self, between: Option<SignerTrouble>) {
        self.restart();
        let mut memory = Memory::open(&self.folder.path().join("memory.db")).expect("its memory is sound");
        if let Some(SignerTrouble::Ends(at, after)) = between {
            let (mut writes, moment) = (0, if after { CommitStage::AfterCommit } else { CommitStage::BeforeCommit });
            memory.interrupt_with(Box::new(move |now, _| {
                let ends = now == moment && writes == at;
                writes += usize::from(now == moment);
                ends
            }));
        }
        self.signer = Some(Signer::new(policy(), vec![hot_key()], memory).expect("the memory has the key's history"));
    }

    /// What has left the signer exists, whether the caller receives it or not.
    fn keep(&mut self, request: &SignerRequest, answer: &SignerAnswer) {
        match (request, answer) {
            (SignerRequest::Sign { order, .. }, SignerAnswer::Signed(signed)) => {
                let released = ReleasedTransaction {
                    intent: order.intent.to_string(),
                    is_cancel: matches!(order.meaning, Meaning::Cancel),
                    nonce: order.slot.nonce,
                    raw: signed.raw.clone(),
                };
                self.released.insert(B256::from(signed.hash), released);
            }
            (SignerRequest::Revoke { intent, .. }, SignerAnswer::Revoked { .. }) => {
                self.revoked.insert(intent.to_string());
            }
            _ => {}
        }
    }

    /// The planted bug: a new memory for each request, and heads that no client can reject.
    fn answer_without_memory(
        &mut self,
        request: &SignerRequest,
        between: Option<SignerTrouble>,
    ) -> io::Result<SignerAnswer> {
        self.restart();
        let folder = std::mem::replace(&mut self.folder, memory_folder());
        drop(folder);
        self.create_memory();
        let status = self.handle(&SignerRequest::Status { wallet: request.wallet() }, None)?;
        let mut request = request.clone();
        let mut known = request.head().copied();
        if let (SignerRequest::Sign { head, .. } | SignerRequest::Revoke { head, .. }, SignerAnswer::Status(status)) =
            (&mut request, status)
        {
            *head = status.head;
        }
        let mut answer = self.handle(&request, between)?;
        let next = known.as_mut().map(|head| MemoryHead { count: head.count.saturating_add(1), ..*head });
        if let Some(next) = next {
            match &mut answer {
                SignerAnswer::Signed(signed) => signed.head = next,
                SignerAnswer::Revoked { head } => *head = next,
                SignerAnswer::Refused { head: Some(head), .. } => *head = next,
                _ => {}
            }
        }
        Ok(answer)
    }
}

fn policy() -> SigningPolicy {
    let most = Amount::new(1_000 * COIN);
    let rules = ChainRules {
        manner: GasPricing::Eip1559,
        max_price: 1_000 * GWEI,
        max_priority: 100 * GWEI,
        max_gas: 200_000,
        fees_per_window: most,
        native: Some(SigningLimits { per_payout: most, per_window: most }),
        tokens: BTreeMap::new(),
    };
    SigningPolicy {
        window: 3_600_000_000,
        wallets: [hot_key().address()].into(),
        chains: [(ChainId(CHAIN_ID), rules)].into(),
    }
}
