//! A bundle event by event.

use bankroll_deck::{Curve, Parameters, SeenBlindings};

use super::{BundleEntry, BundleFault};
use crate::{
    HandEvent,
    log::{ActionEnvelope, MessageRejection, Table, VerifiedMessage, table::batch},
};

/// One event that was played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayStep {
    pub seq: u64,
    pub envelope: ActionEnvelope,
    /// The event of the rules that it caused, if any.
    pub event: Option<HandEvent>,
}

/// Plays the events of a bundle again, one by one, with every check. [`Bundle::verify`](super::Bundle::verify) does the
/// same with the proofs of neighbours checked at once.
pub struct BundleReplay<'a, C: Curve> {
    parameters: &'a Parameters<C>,
    entries: &'a [BundleEntry],
    next: usize,
    table: Table<C>,
    ahead: std::vec::IntoIter<VerifiedMessage<C>>,
    /// Up to this event the proofs were checked together and at least one failed.
    singly_until: usize,
    batched: bool,
}

impl<'a, C: Curve> BundleReplay<'a, C> {
    /// The hand has begun: its first event is taken.
    ///
    /// # Errors
    /// If the first event does not begin a hand.
    pub fn start(parameters: &'a Parameters<C>, entries: &'a [BundleEntry]) -> Result<Self, BundleFault> {
        let (envelope, at) = entries
            .first()
            .map_or((&[][..], crate::HandTime(0)), |entry| (entry.envelope.0.as_slice(), entry.receipt.link.at));
        let started = Table::start(envelope, at, SeenBlindings::default());
        let table = started.map_err(|rejection| BundleFault::operator(Some(0), rejection))?;
        let ahead = Vec::new().into_iter();
        Ok(Self { parameters, entries, next: 1, table, ahead, singly_until: 0, batched: false })
    }

    /// From here on, the proofs of neighbours are checked at once.
    #[must_use]
    pub fn batched(self) -> Self {
        Self { batched: true, ..self }
    }

    /// The state after the events so far.
    #[must_use]
    pub const fn table(&self) -> &Table<C> {
        &self.table
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    /// If it should have been refused. The caller must not continue the replay then.
    pub fn step(&mut self) -> Option<Result<ReplayStep, BundleFault>> {
        let entry = self.entries.get(self.next)?;
        let seq = self.next as u64;
        let verified = match self.looked_ahead() {
            Some(verified) => self.identified(verified),
            None => self.table.verify(self.parameters, &entry.envelope.0),
        };
        self.next = self.next.saturating_add(1);
        let applied = verified.and_then(|verified| {
            let event = self.table.apply(self.parameters, &verified, entry.receipt.link.at)?;
            Ok(ReplayStep { seq, envelope: verified.envelope, event })
        });
        Some(applied.map_err(|rejection| blame(seq, entry, rejection)))
    }

    /// Its proof was checked with its neighbours'; who signed it was not.
    fn identified(&self, verified: VerifiedMessage<C>) -> Result<VerifiedMessage<C>, MessageRejection> {
        self.table.identify(&verified.envelope).map(|()| verified)
    }

    fn looked_ahead(&mut self) -> Option<VerifiedMessage<C>> {
        if let Some(verified) = self.ahead.next() {
            return Some(verified);
        }
        if !self.batched || self.next < self.singly_until {
            return None;
        }
        let rest = self.entries.get(self.next..)?;
        let mut run = Vec::new();
        for entry in rest {
            let Ok(envelope) = ActionEnvelope::decode(&entry.envelope.0) else { break };
            let first = run.first().map_or(envelope.header.kind, |(first, _): &(ActionEnvelope, _)| first.header.kind);
            if batch(envelope.header.kind).is_none() || batch(envelope.header.kind) != batch(first) {
                break;
            }
            run.push((envelope, entry.envelope.0.clone()));
        }
        let length = run.len();
        if length < 2 {
            return None;
        }
        let Some(proven) = self.table.prove_run(self.parameters, run) else {
            self.singly_until = self.next.saturating_add(length);
            return None;
        };
        self.ahead = proven.into_iter();
        self.ahead.next()
    }
}

fn blame(seq: u64, entry: &BundleEntry, rejection: MessageRejection) -> BundleFault {
    match ActionEnvelope::decode(&entry.envelope.0) {
        Ok(envelope) => BundleFault::rejected(seq, envelope.header.actor, rejection),
        Err(_) => BundleFault::operator(Some(seq), rejection),
    }
}
