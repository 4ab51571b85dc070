//! Everything about a bundle, offline: the chain first, because it is cheap; then signatures; then every rule and
//! proof.
//!
//! The first fault in this order of checks is reported, and within a check the first event. So a false proof is
//! reported only of a log whose bytes are what its operator signed, and its author can be named with certainty.

use bankroll_deck::{Bn254, Curve, Grumpkin, Parameters, Secp256k1};
use serde::Serialize;

use super::{Bundle, BundleDefect, BundleFault, BundleReplay};
use crate::{
    Card, Chips, HandEvent, HandTime, PhaseName, Seat,
    log::{ActionEnvelope, Actor, HandConfig, LogHash, LogMessage, MessageKind, SignerKey, chain, event_id, merkle},
};

/// What a sound bundle says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerificationReport {
    /// What the hand began with.
    pub config: HandConfig,
    pub ended: PhaseName,
    /// When it began and ended.
    pub times: (HandTime, HandTime),
    pub board: Vec<Card>,
    /// The final stacks, by seat.
    pub stacks: Vec<(Seat, Chips)>,
    /// What the house took.
    pub rake: Chips,
    /// The chain after the last event.
    pub chain: LogHash,
    pub root: LogHash,
    pub state: LogHash,
    /// Who agreed to the final stacks.
    pub agreed: Vec<Seat>,
    pub checked: BundleTally,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BundleTally {
    pub events: u64,
    /// Signatures of authors, receipts, the checkpoint and final stacks.
    pub signatures: u64,
    /// Possession proofs of keys.
    pub keys: u64,
    /// Shuffle proofs.
    pub shuffles: u64,
    /// Equality proofs of contributions to cards.
    pub equalities: u64,
}

impl Bundle {
    /// Checks everything. Without an expected operator, the hand is checked against the operator that it names.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self, operator: Option<&SignerKey>) -> Result<VerificationReport, BundleFault> {
        let envelopes = self.linked()?;
        let config = self.config()?;
        if operator.is_some_and(|operator| *operator != config.operator) {
            return Err(BundleFault::operator(Some(0), BundleDefect::Operator));
        }
        self.signed(&config)?;
        match config.curve.as_str() {
            Secp256k1::NAME => self.replayed::<Secp256k1>(&config, &envelopes),
            Bn254::NAME => self.replayed::<Bn254>(&config, &envelopes),
            Grumpkin::NAME => self.replayed::<Grumpkin>(&config, &envelopes),
            other => Err(BundleFault::operator(Some(0), BundleDefect::Curve { curve: other.to_owned() })),
        }
    }

    /// The first event's configuration, before anything is known about it.
    fn config(&self) -> Result<HandConfig, BundleFault> {
        let first = self.entries.first().ok_or(BundleFault::operator(None, BundleDefect::Empty))?;
        let envelope =
            ActionEnvelope::decode(&first.envelope.0).map_err(|error| BundleFault::operator(Some(0), error))?;
        match envelope.message {
            LogMessage::HandStart(config) => Ok(*config),
            _ => Err(BundleFault::operator(Some(0), BundleDefect::Unsettled)),
        }
    }

    /// Every event is an envelope, and the chain over them is what receipts and checkpoint say: no signature yet.
    fn linked(&self) -> Result<Vec<ActionEnvelope>, BundleFault> {
        let config = self.config()?;
        let mut head = config.hash();
        let (mut envelopes, mut ids) = (Vec::new(), Vec::new());
        for (entry, seq) in self.entries.iter().zip(0..) {
            let link = &entry.receipt.link;
            let (id, belongs) = (event_id(&entry.envelope.0), (&link.deployment, &link.game, &link.hand));
            let next = chain(&head, &id);
            let here = belongs == (&config.deployment, &config.game, &config.hand);
            if !here || (link.seq, link.event, link.previous, link.chain) != (seq, id, head, next) {
                return Err(BundleFault::operator(Some(seq), BundleDefect::Chain));
            }
            let envelope = ActionEnvelope::decode(&entry.envelope.0);
            envelopes.push(envelope.map_err(|error| BundleFault::operator(Some(seq), error))?);
            ids.push(id);
            head = next;
        }
        let page = &self.checkpoint.page;
        let claimed = (page.events, page.root, page.chain);
        if !page.is_of(&config) || claimed != (ids.len() as u64, merkle::root(&ids), head) {
            return Err(BundleFault::operator(None, BundleDefect::Checkpoint));
        }
        Ok(envelopes)
    }

    /// The operator signed the receipts and the checkpoint, the players the final stacks.
    fn signed(&self, config: &HandConfig) -> Result<(), BundleFault> {
        if !self.checkpoint.is_signed_by(&config.operator) {
            return Err(BundleFault::operator(None, BundleDefect::Checkpoint));
        }
        let mut receipts = self.entries.iter().zip(0..);
        if let Some((_, seq)) = receipts.find(|(entry, _)| !entry.receipt.is_signed_by(&config.operator)) {
            return Err(BundleFault::operator(Some(seq), BundleDefect::Receipt));
        }
        let mut before = None;
        for cosignature in &self.cosignatures {
            let seat = cosignature.seat;
            let key = config.key(Actor::Seat(seat));
            // Each seat at most once, in order: a bundle has one form.
            let sound = key.is_some_and(|key| self.checkpoint.page.is_agreed_by(key, cosignature));
            if !sound || before >= Some(seat) {
                return Err(BundleFault::operator(None, BundleDefect::Cosignature { seat }));
            }
            before = Some(seat);
        }
        Ok(())
    }

    fn replayed<C: Curve>(
        &self,
        config: &HandConfig,
        envelopes: &[ActionEnvelope],
    ) -> Result<VerificationReport, BundleFault> {
        config.check().map_err(|error| BundleFault::operator(Some(0), crate::log::MessageRejection::from(error)))?;
        let size = usize::from(config.cards);
        let parameters = Parameters::<C>::with_size(size).expect("a checked configuration has a deck that is one");
        let mut replay = BundleReplay::start(&parameters, &self.entries)?.batched();
        while let Some(step) = replay.step() {
            step?;
        }
        let (table, page) = (replay.table(), &self.checkpoint.page);
        let settled = table.settlement().filter(|_| table.is_settled());
        let (stacks, rake) = settled.ok_or(BundleFault::operator(None, BundleDefect::Unsettled))?;
        if (&stacks, rake, table.state_hash()) != (&page.stacks, page.rake, page.state) {
            return Err(BundleFault::operator(None, BundleDefect::State));
        }
        let time = |entry: Option<&super::BundleEntry>| entry.map_or(HandTime(0), |entry| entry.receipt.link.at);
        Ok(VerificationReport {
            config: config.clone(),
            ended: table.hand().phase().name(),
            times: (time(self.entries.first()), time(self.entries.last())),
            board: table.hand().board().to_vec(),
            stacks,
            rake,
            chain: page.chain,
            root: page.root,
            state: page.state,
            agreed: self.cosignatures.iter().map(|cosignature| cosignature.seat).collect(),
            checked: self.tally(envelopes),
        })
    }

    fn tally(&self, envelopes: &[ActionEnvelope]) -> BundleTally {
        let events = envelopes.len() as u64;
        let of = |kinds: &[MessageKind]| {
            envelopes.iter().filter(|envelope| kinds.contains(&envelope.header.kind)).count() as u64
        };
        let shares = of(&[MessageKind::Blinding, MessageKind::Unblinding, MessageKind::Community]);
        let shown = of(&[MessageKind::Showdown]);
        // An event has its author's signature and its receipt's; the checkpoint has one.
        let page = (self.cosignatures.len() as u64).saturating_add(1);
        BundleTally {
            events,
            signatures: events.saturating_mul(2).saturating_add(page),
            keys: of(&[MessageKind::KeyRegistration]),
            shuffles: of(&[MessageKind::Shuffle]),
            equalities: shares.saturating_add(shown.saturating_mul(2)),
        }
    }

    /// The events of the rules, with times, for hand histories. The bundle must have been verified.
    ///
    /// # Errors
    /// The first event that should have been refused.
    pub fn events<C: Curve>(&self, parameters: &Parameters<C>) -> Result<Vec<(HandEvent, HandTime)>, BundleFault> {
        let mut replay = BundleReplay::start(parameters, &self.entries)?.batched();
        let mut events = Vec::new();
        while let Some(step) = replay.step() {
            events.extend(step?.event.map(|event| (event, replay.table().at())));
        }
        Ok(events)
    }
}
