//! The operator's log of one hand: verify, order, apply, receipt.
//!
//! [`HandLog::submit`] does all of it for one message. Where a message must be stored before it counts, the steps stand
//! alone: [`Table::verify`] anywhere, [`HandLog::draft`] on the one thread that orders, then the store, then
//! [`HandLog::commit`]; a draft that is dropped has changed nothing.
//!
//! Guarantees: the same bytes get the same receipt again; other bytes under a used nonce are refused and kept; refused
//! messages whose author is certain are kept as evidence, at most [`EVIDENCE_MAX`] of each author. It keeps everything
//! in memory and does not know where it is stored.

use std::collections::BTreeMap;

use bankroll_deck::{Curve, Parameters, SeenBlindings};

use super::{
    ActionEnvelope, Actor, Bundle, ChainLink, Checkpoint, CheckpointPage, Cosignature, EnvelopeHeader, EventReceipt,
    HandConfig, LogHash, LogMessage, MessageRejection, MessageSigner, Table, VerifiedMessage, bundle::BundleEntry,
    event_id, hex::Bytes, merkle,
};
use crate::{HandEvent, HandTime};

/// How many refused messages of one author are kept.
pub const EVIDENCE_MAX: usize = 64;

/// A refused message whose author is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub actor: Actor,
    /// The bytes as they came.
    pub bytes: Vec<u8>,
    pub rejection: MessageRejection,
    pub at: HandTime,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitVerdict {
    /// It is the next event.
    Accepted(EventReceipt),
    /// It was accepted before; the receipt it got then.
    Repeated(EventReceipt),
    /// It changed nothing.
    Refused(MessageRejection),
}

/// An event that would be next, with the state after it. It has no effect until it is committed.
#[derive(Clone, Debug)]
pub struct EventDraft<C: Curve> {
    table: Table<C>,
    entry: BundleEntry,
    event: Option<HandEvent>,
}

impl<C: Curve> EventDraft<C> {
    /// The envelope and its receipt, to be stored.
    #[must_use]
    pub const fn entry(&self) -> &BundleEntry {
        &self.entry
    }

    /// The event of the rules that it causes, if any.
    #[must_use]
    pub const fn event(&self) -> Option<&HandEvent> {
        self.event.as_ref()
    }
}

#[derive(Clone)]
pub struct HandLog<C: Curve> {
    operator: MessageSigner,
    table: Table<C>,
    entries: Vec<BundleEntry>,
    places: BTreeMap<LogHash, usize>,
    evidence: Vec<Evidence>,
}

impl<C: Curve> HandLog<C> {
    /// Starts a hand.
    ///
    /// # Errors
    /// The first rule that the configuration breaks, or if the signer is not its operator.
    pub fn start(
        config: &HandConfig,
        operator: MessageSigner,
        at: HandTime,
        seen: SeenBlindings,
    ) -> Result<Self, MessageRejection> {
        let (origin, message) = (config.hash(), LogMessage::HandStart(Box::new(config.clone())));
        let header = EnvelopeHeader::next(config, Actor::Operator, 1, origin, message.kind());
        let bytes = ActionEnvelope::sign(header, message, &operator).encode();
        let table = Table::start(&bytes, at, seen)?;
        let id = event_id(&bytes);
        let receipt = EventReceipt::issue(ChainLink::next(config, 0, id, origin, at), &operator);
        let entries = vec![BundleEntry { envelope: Bytes(bytes), receipt }];
        Ok(Self { operator, table, entries, places: BTreeMap::from([(id, 0)]), evidence: Vec::new() })
    }

    /// Accepts a message, or says why not.
    pub fn submit(&mut self, parameters: &Parameters<C>, bytes: &[u8], at: HandTime) -> SubmitVerdict {
        if let Some(receipt) = self.receipt_of(bytes) {
            return SubmitVerdict::Repeated(receipt.clone());
        }
        let taken = self.table.verify(parameters, bytes).and_then(|verified| self.draft(parameters, &verified, at));
        match taken {
            Ok(draft) => SubmitVerdict::Accepted(self.commit(draft)),
            Err(rejection) => {
                self.keep_evidence(bytes, &rejection, at);
                SubmitVerdict::Refused(rejection)
            }
        }
    }

    /// The receipt of these very bytes, if they were accepted before.
    #[must_use]
    pub fn receipt_of(&self, bytes: &[u8]) -> Option<&EventReceipt> {
        self.places.get(&event_id(bytes)).and_then(|place| self.entries.get(*place)).map(|entry| &entry.receipt)
    }

    /// What would happen if a verified message were the next event.
    ///
    /// # Errors
    /// The first rule it breaks in the state as it is now.
    pub fn draft(
        &self,
        parameters: &Parameters<C>,
        verified: &VerifiedMessage<C>,
        at: HandTime,
    ) -> Result<EventDraft<C>, MessageRejection> {
        let mut table = self.table.clone();
        let event = table.apply(parameters, verified, at)?;
        let seq = self.entries.len() as u64;
        let link = ChainLink::next(self.table.config(), seq, *verified.id(), self.head(), at);
        let receipt = EventReceipt::issue(link, &self.operator);
        Ok(EventDraft { table, entry: BundleEntry { envelope: Bytes(verified.bytes.clone()), receipt }, event })
    }

    /// Makes a draft the next event. It must be the draft of the log as it is.
    pub fn commit(&mut self, draft: EventDraft<C>) -> EventReceipt {
        let EventDraft { table, entry, .. } = draft;
        let receipt = entry.receipt.clone();
        assert_eq!(receipt.link.previous, self.head(), "a draft was committed that another event has overtaken");
        self.places.insert(receipt.link.event, self.entries.len());
        self.entries.push(entry);
        self.table = table;
        receipt
    }

    /// Keeps a refused message if its author is certain.
    pub fn keep_evidence(&mut self, bytes: &[u8], rejection: &MessageRejection, at: HandTime) {
        let Ok(envelope) = ActionEnvelope::decode(bytes) else { return };
        let actor = envelope.header.actor;
        let kept = self.evidence.iter().filter(|evidence| evidence.actor == actor);
        if rejection.is_evidence() && kept.count() < EVIDENCE_MAX {
            self.evidence.push(Evidence { actor, bytes: bytes.to_vec(), rejection: rejection.clone(), at });
        }
    }

    /// Signs and submits a message of the operator.
    pub fn issue(&mut self, parameters: &Parameters<C>, message: LogMessage, at: HandTime) -> SubmitVerdict {
        let progress = self.table.progress(Actor::Operator);
        let nonce = progress.nonce.saturating_add(1);
        let header = EnvelopeHeader::next(self.table.config(), Actor::Operator, nonce, progress.last, message.kind());
        let bytes = ActionEnvelope::sign(header, message, &self.operator).encode();
        self.submit(parameters, &bytes, at)
    }

    /// The operator closes the log with the final stacks and the rake; refused while the hand goes on.
    pub fn settle(&mut self, parameters: &Parameters<C>, at: HandTime) -> SubmitVerdict {
        let (stacks, rake) = self.table.settlement().unwrap_or_default();
        self.issue(parameters, LogMessage::Settlement { stacks, rake }, at)
    }

    #[must_use]
    pub const fn table(&self) -> &Table<C> {
        &self.table
    }

    /// All events with their receipts.
    #[must_use]
    pub fn entries(&self) -> &[BundleEntry] {
        &self.entries
    }

    /// The refused messages whose author is certain.
    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    #[must_use]
    pub fn head(&self) -> LogHash {
        self.entries.last().map_or(*self.table.origin(), |entry| entry.receipt.link.chain)
    }

    /// The signed end of the hand; none before it is settled.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let (stacks, rake) = self.table.settlement().filter(|_| self.table.is_settled())?;
        let config = self.table.config();
        let ids: Vec<LogHash> = self.entries.iter().map(|entry| entry.receipt.link.event).collect();
        let page = CheckpointPage {
            deployment: config.deployment.clone(),
            game: config.game.clone(),
            hand: config.hand.clone(),
            events: ids.len() as u64,
            root: merkle::root(&ids),
            chain: self.head(),
            state: self.table.state_hash(),
            stacks,
            rake,
        };
        Some(Checkpoint::issue(page, &self.operator))
    }

    /// The whole hand in one value, with what players signed of its end; none before it is settled.
    #[must_use]
    pub fn bundle(&self, cosignatures: Vec<Cosignature>) -> Option<Bundle> {
        Some(Bundle { entries: self.entries.clone(), checkpoint: self.checkpoint()?, cosignatures })
    }
}
