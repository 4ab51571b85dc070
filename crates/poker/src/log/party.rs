//! The client side: a player or a shuffler, which trusts no other party.
//!
//! A party follows the log with a [`Table`] of its own, checks every receipt and every event as the operator did, and
//! sends what is its to send. It gives shares only for what its own table says is due. It knows no network; the
//! caller carries the bytes.

use bankroll_deck::{Curve, DeckCard, MasterSecret, MemberRole, Parameters, SecretKey, SeenBlindings};
use rand_core::{CryptoRng, RngCore};

use super::{
    ActionEnvelope, Actor, ChainLink, Checkpoint, Cosignature, EnvelopeHeader, EventReceipt,
    GameBlindingDecryptionMessage, GameCommunityShareMessage, GamePartialUnblindingShareMessage, GamePlayerMessage,
    GameShowdownMessage, GameShuffleMessage, KeyRegistrationMessage, LogHash, LogMessage, MessageRejection,
    MessageSigner, Table, event_id, hex::Bytes,
};
use crate::{Card, HandEvent, Phase, PlayerAction, Seat};

/// A player or shuffler with its secrets.
pub struct Party<C: Curve> {
    actor: Actor,
    signer: MessageSigner,
    secret: SecretKey<C>,
    table: Table<C>,
    head: LogHash,
    events: u64,
    receipts: Vec<EventReceipt>,
}

/// Why a party no longer trusts the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// The receipt is not the next link, or not signed by the operator.
    #[error("the operator did not sign this receipt for event {seq}")]
    Receipt { seq: u64 },
    /// The event should have been refused.
    #[error("event {seq} should have been refused: {rejection}")]
    Event {
        seq: u64,
        #[source]
        rejection: MessageRejection,
    },
    /// The hand has no such actor, or has another key for it.
    #[error("the hand has no {actor} with this key")]
    Stranger { actor: Actor },
    /// The checkpoint differs from this party's own state.
    #[error("the checkpoint differs from the state of the hand")]
    Checkpoint,
}

impl<C: Curve> Party<C> {
    /// Takes part in a hand that the operator started, with the key that follows from a master secret.
    ///
    /// # Errors
    /// If the start is not sound, or does not know this party.
    pub fn join(
        actor: Actor,
        signer: MessageSigner,
        master: &MasterSecret,
        start: &[u8],
        receipt: &EventReceipt,
    ) -> Result<Self, Distrust> {
        let table = Table::start(start, receipt.link.at, SeenBlindings::default())
            .map_err(|rejection| Distrust::Event { seq: 0, rejection })?;
        if table.config().key(actor) != Some(&signer.key()) {
            return Err(Distrust::Stranger { actor });
        }
        let role = match actor {
            Actor::Seat(seat) => MemberRole::Player { seat: seat.0 },
            _ => MemberRole::Shuffler,
        };
        let secret = master.key(&table.config().id(), role);
        let head = *table.origin();
        let mut party = Self { actor, signer, secret, table, head, events: 0, receipts: Vec::new() };
        party.check(start, receipt)?;
        party.follow(receipt);
        Ok(party)
    }

    /// Receives the next event.
    ///
    /// # Errors
    /// If it should have been refused, or its receipt is not the operator's.
    pub fn receive(
        &mut self,
        parameters: &Parameters<C>,
        bytes: &[u8],
        receipt: &EventReceipt,
    ) -> Result<Option<HandEvent>, Distrust> {
        self.check(bytes, receipt)?;
        let seq = self.events;
        let verified = self.table.verify(parameters, bytes);
        let applied = verified.and_then(|verified| self.table.apply(parameters, &verified, receipt.link.at));
        let event = applied.map_err(|rejection| Distrust::Event { seq, rejection })?;
        self.follow(receipt);
        Ok(event)
    }

    fn check(&self, bytes: &[u8], receipt: &EventReceipt) -> Result<(), Distrust> {
        let config = self.table.config();
        let link = ChainLink::next(config, self.events, event_id(bytes), self.head, receipt.link.at);
        let sound = link == receipt.link && receipt.is_signed_by(&config.operator);
        if sound { Ok(()) } else { Err(Distrust::Receipt { seq: self.events }) }
    }

    fn follow(&mut self, receipt: &EventReceipt) {
        (self.head, self.events) = (receipt.link.chain, self.events.saturating_add(1));
        self.receipts.push(receipt.clone());
    }

    #[must_use]
    pub const fn actor(&self) -> Actor {
        self.actor
    }

    /// The hand as this party knows it.
    #[must_use]
    pub const fn table(&self) -> &Table<C> {
        &self.table
    }

    /// Every receipt received, to be compared with the final log.
    #[must_use]
    pub fn receipts(&self) -> &[EventReceipt] {
        &self.receipts
    }

    /// What this party has to send now, signed and in order: its key, its shuffle, its shares. Decisions are not
    /// included. A second call before the receipts arrive gives the same messages with other randomness: send one set.
    pub fn duties(&self, parameters: &Parameters<C>, rng: &mut (impl CryptoRng + RngCore)) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        if self.table.shuffling().is_none() && self.table.deal().is_none() && self.table.progress(self.actor).nonce == 0
        {
            messages.extend(self.registration(rng));
        }
        if let Actor::Shuffler(number) = self.actor {
            messages.extend(self.shuffler_duties(number, parameters, rng));
        }
        self.sign_all(messages)
    }

    fn registration(&self, rng: &mut (impl CryptoRng + RngCore)) -> Option<LogMessage> {
        let config = self.table.config();
        let role = match self.actor {
            Actor::Seat(seat) => MemberRole::Player { seat: seat.0 },
            _ => MemberRole::Shuffler,
        };
        let name = &config.participant(self.actor)?.name;
        let (key, possession) = self.secret.register(&config.id(), name, role, rng);
        let (key, possession) = (Bytes(key.encode()), Bytes(possession.encode()));
        Some(LogMessage::KeyRegistration(KeyRegistrationMessage { key, possession }))
    }

    fn shuffler_duties(
        &self,
        number: u8,
        parameters: &Parameters<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Vec<LogMessage> {
        if let Some(shuffling) = self.table.shuffling().filter(|shuffling| shuffling.next() == Some(number)) {
            let shuffle = shuffling.shuffle(parameters, rng).map(|message| Bytes(message.encode()));
            return shuffle.map(|shuffle| LogMessage::Shuffle(GameShuffleMessage { shuffle })).into_iter().collect();
        }
        let Some(deal) = self.table.deal() else { return Vec::new() };
        let contributions = self.table.due_positions().into_iter().filter_map(|position| {
            let (_, kind) = deal.awaited(position).into_iter().find(|(shuffler, _)| *shuffler == number)?;
            let made = match kind {
                bankroll_deck::ProofKind::Blinding => deal.blind(number, &self.secret, position, rng),
                bankroll_deck::ProofKind::Unblinding => deal.unblind(number, &self.secret, position, rng),
                _ => deal.reveal(number, &self.secret, position, rng),
            };
            made.ok().map(contribution)
        });
        contributions.collect()
    }

    /// A betting decision, on what this party has seen.
    #[must_use]
    pub fn decide(&self, action: PlayerAction) -> Vec<u8> {
        let street = self.table.hand().street();
        self.sign(LogMessage::Player(GamePlayerMessage { street, action }))
    }

    /// Gives up at the showdown.
    #[must_use]
    pub fn muck(&self) -> Vec<u8> {
        self.sign(LogMessage::Muck)
    }

    /// Shows both cards, if this party has any and it is the time to.
    pub fn show(&self, rng: &mut (impl CryptoRng + RngCore)) -> Option<Vec<u8>> {
        let (Actor::Seat(seat), Phase::Showdown(_)) = (self.actor, self.table.hand().phase()) else { return None };
        let (deal, positions) = (self.table.deal()?, self.table.config().snapshot.plan().hole(seat)?);
        let mut share = |position| match deal.show(seat.0, &self.secret, position, rng) {
            Ok(bankroll_deck::Contribution::Showdown { share, .. }) => Some(Bytes(share.encode())),
            _ => None,
        };
        let [first, second] = positions;
        let shares = [share(first)?, share(second)?];
        Some(self.sign(LogMessage::Showdown(GameShowdownMessage { card_in_deck_position: positions, shares })))
    }

    /// The party's own cards, once they are dealt.
    #[must_use]
    pub fn own_cards(&self, parameters: &Parameters<C>) -> Option<[Card; 2]> {
        let Actor::Seat(Seat(seat)) = self.actor else { return None };
        let (deal, [first, second]) = (self.table.deal()?, self.table.config().snapshot.plan().hole(Seat(seat))?);
        let card = |position| -> Option<Card> {
            let number: DeckCard = deal.own_card(parameters, seat, &self.secret, position).ok()?;
            Card::from_index(number).ok()
        };
        Some([card(first)?, card(second)?])
    }

    /// Agrees to the final stacks, if the checkpoint is the state of this party's own table.
    ///
    /// # Errors
    /// If it is not.
    pub fn agree(&self, checkpoint: &Checkpoint) -> Result<Option<Cosignature>, Distrust> {
        let (page, own) = (&checkpoint.page, self.table.settlement());
        let same = (page.chain, page.state) == (self.head, self.table.state_hash())
            && own.is_some_and(|(stacks, rake)| (&stacks, rake) == (&page.stacks, page.rake))
            && checkpoint.is_signed_by(&self.table.config().operator);
        match self.actor {
            _ if !same => Err(Distrust::Checkpoint),
            Actor::Seat(seat) => Ok(Some(page.cosign(seat, &self.signer))),
            _ => Ok(None),
        }
    }

    fn sign(&self, message: LogMessage) -> Vec<u8> {
        self.sign_all(vec![message]).pop().unwrap_or_default()
    }

    /// Signs messages that follow each other.
    fn sign_all(&self, messages: Vec<LogMessage>) -> Vec<Vec<u8>> {
        let mut progress = self.table.progress(self.actor);
        let mut sign = |message: LogMessage| {
            progress.nonce = progress.nonce.saturating_add(1);
            let mut header =
                EnvelopeHeader::next(self.table.config(), self.actor, progress.nonce, progress.last, message.kind());
            if matches!(message, LogMessage::Player(_)) {
                header.seen = self.table.last_bet();
            }
            let bytes = ActionEnvelope::sign(header, message, &self.signer).encode();
            progress.last = event_id(&bytes);
            bytes
        };
        messages.into_iter().map(&mut sign).collect()
    }
}

fn contribution<C: Curve>(contribution: bankroll_deck::Contribution<C>) -> LogMessage {
    use bankroll_deck::Contribution;
    let card_in_deck_position = contribution.position();
    match contribution {
        Contribution::Blinding { blinding, .. } => {
            let share = Bytes(blinding.encode());
            LogMessage::Blinding(GameBlindingDecryptionMessage { card_in_deck_position, share })
        }
        Contribution::Unblinding { share, .. } => {
            let share = Bytes(share.encode());
            LogMessage::Unblinding(GamePartialUnblindingShareMessage { card_in_deck_position, share })
        }
        Contribution::Community { share, .. } | Contribution::Showdown { share, .. } => {
            let share = Bytes(share.encode());
            LogMessage::Community(GameCommunityShareMessage { card_in_deck_position, share })
        }
    }
}
