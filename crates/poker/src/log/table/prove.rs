//! The first gate: signatures and proofs, one message at a time or many that follow each other at once.

use bankroll_deck::{
    Blinding, Contribution, Curve, KeyError, Member, MemberRole, Parameters, Possession, ProvenContribution,
    ProvenShuffle, PublicKey, Share, ShuffleMessage,
};

use super::{Cards, Table};
use crate::{
    HandEvent,
    log::{
        ActionEnvelope, Actor, KeyRegistrationMessage, LogHash, LogMessage, MessageKind, MessageRejection, event_id,
    },
};

/// A message that was verified against a state of the table. Only [`Table::verify`] makes one.
#[derive(Clone, Debug)]
pub struct VerifiedMessage<C: Curve> {
    pub(in crate::log) id: LogHash,
    pub(in crate::log) envelope: ActionEnvelope,
    pub(in crate::log) bytes: Vec<u8>,
    pub(super) proof: Proof<C>,
}

/// What was proven in it.
#[derive(Clone, Debug)]
pub(super) enum Proof<C: Curve> {
    /// Nothing had to be proven.
    Nothing,
    Key(Box<Member<C>>),
    Shuffle(Box<ProvenShuffle<C>>),
    /// One card, or both of a showdown.
    Cards(Vec<ProvenContribution<C>>),
}

impl<C: Curve> VerifiedMessage<C> {
    /// The id of its envelope.
    #[must_use]
    pub const fn id(&self) -> &LogHash {
        &self.id
    }

    #[must_use]
    pub const fn envelope(&self) -> &ActionEnvelope {
        &self.envelope
    }
}

impl<C: Curve> Table<C> {
    /// Verifies a message: its signature, its nonce, whether it is due, and all that it proves.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn verify(&self, parameters: &Parameters<C>, bytes: &[u8]) -> Result<VerifiedMessage<C>, MessageRejection> {
        let envelope = ActionEnvelope::decode(bytes)?;
        self.identify(&envelope)?;
        self.in_order(&envelope.header)?;
        self.due(&envelope)?;
        let proof = self.prove(parameters, &envelope)?;
        Ok(VerifiedMessage { id: event_id(bytes), envelope, bytes: bytes.to_vec(), proof })
    }

    fn prove(&self, parameters: &Parameters<C>, envelope: &ActionEnvelope) -> Result<Proof<C>, MessageRejection> {
        let actor = envelope.header.actor;
        match (&envelope.message, &self.cards) {
            (LogMessage::KeyRegistration(message), Cards::Keys(members)) => {
                let member = self.member(actor, message)?;
                if members.values().any(|other| other.key() == member.key()) {
                    return Err(KeyError::DuplicateKey { actor: member.actor().to_owned() }.into());
                }
                Ok(Proof::Key(Box::new(member)))
            }
            (LogMessage::Shuffle(message), Cards::Shuffling(shuffling)) => {
                let message = ShuffleMessage::decode(&message.shuffle.0, parameters.size())?;
                Ok(Proof::Shuffle(Box::new(shuffling.check(parameters, &message)?)))
            }
            (LogMessage::Player(decision), _) => {
                let Actor::Seat(seat) = actor else { return Ok(Proof::Nothing) };
                self.hand.apply(&HandEvent::Acted { seat, action: decision.action }, self.at)?;
                Ok(Proof::Nothing)
            }
            (message, Cards::Dealing(deal)) => {
                let contributions = contributions(actor, message)?;
                let refused = |refused: bankroll_deck::ContributionRefusal| MessageRejection::Card(refused.refusal);
                match contributions.as_slice() {
                    [] => Ok(Proof::Nothing),
                    several => deal.check_all(parameters, several).map(Proof::Cards).map_err(refused),
                }
            }
            _ => Ok(Proof::Nothing),
        }
    }

    fn member(&self, actor: Actor, message: &KeyRegistrationMessage) -> Result<Member<C>, MessageRejection> {
        let role = match actor {
            Actor::Seat(seat) => MemberRole::Player { seat: seat.0 },
            _ => MemberRole::Shuffler,
        };
        let name = &self.config.participant(actor).ok_or(MessageRejection::NotAMember { actor })?.name;
        let key = PublicKey::decode(&message.key.0)?;
        let possession = Possession::decode(&message.possession.0)?;
        Ok(Member::admit(&self.id, name, role, key, &possession)?)
    }

    /// The proofs of messages that follow each other, checked at once; none if any of them is wrong in any way, in
    /// which case they are to be verified one by one. Everything else about them is still to be checked.
    pub(in crate::log) fn prove_run(
        &self,
        parameters: &Parameters<C>,
        envelopes: Vec<(ActionEnvelope, Vec<u8>)>,
    ) -> Option<Vec<VerifiedMessage<C>>> {
        let proofs: Vec<Proof<C>> = match &self.cards {
            Cards::Keys(_) => return None,
            Cards::Shuffling(shuffling) => {
                let message = |(envelope, _): &(ActionEnvelope, Vec<u8>)| match &envelope.message {
                    LogMessage::Shuffle(message) => ShuffleMessage::decode(&message.shuffle.0, parameters.size()).ok(),
                    _ => None,
                };
                let messages: Vec<ShuffleMessage<C>> = envelopes.iter().map(message).collect::<Option<_>>()?;
                let proven = shuffling.check_all(parameters, &messages).ok()?;
                proven.into_iter().map(|proven| Proof::Shuffle(Box::new(proven))).collect()
            }
            Cards::Dealing(deal) => {
                let of = |(envelope, _): &(ActionEnvelope, Vec<u8>)| {
                    contributions(envelope.header.actor, &envelope.message).ok()
                };
                let each: Vec<Vec<Contribution<C>>> = envelopes.iter().map(of).collect::<Option<_>>()?;
                let mut proven = deal.check_all(parameters, &each.concat()).ok()?.into_iter();
                each.iter().map(|some| Proof::Cards(proven.by_ref().take(some.len()).collect())).collect()
            }
        };
        let verified = |((envelope, bytes), proof): ((_, Vec<u8>), _)| {
            let id = event_id(&bytes);
            VerifiedMessage { id, envelope, bytes, proof }
        };
        Some(envelopes.into_iter().zip(proofs).map(verified).collect())
    }
}

/// Whether proofs of this kind are cheaper many at once, and with which others.
pub(in crate::log) const fn batch(kind: MessageKind) -> Option<u8> {
    match kind {
        MessageKind::Shuffle => Some(0),
        MessageKind::Blinding | MessageKind::Unblinding | MessageKind::Community | MessageKind::Showdown => Some(1),
        _ => None,
    }
}

/// What a message contributes to cards: one, or the two of a showdown; nothing if it is about something else.
fn contributions<C: Curve>(actor: Actor, message: &LogMessage) -> Result<Vec<Contribution<C>>, MessageRejection> {
    Ok(match (actor, message) {
        (Actor::Shuffler(shuffler), LogMessage::Blinding(message)) => {
            let (position, blinding) = (message.card_in_deck_position, Blinding::decode(&message.share.0)?);
            vec![Contribution::Blinding { shuffler, position, blinding }]
        }
        (Actor::Shuffler(shuffler), LogMessage::Unblinding(message)) => {
            let (position, share) = (message.card_in_deck_position, Share::decode(&message.share.0)?);
            vec![Contribution::Unblinding { shuffler, position, share }]
        }
        (Actor::Shuffler(shuffler), LogMessage::Community(message)) => {
            let (position, share) = (message.card_in_deck_position, Share::decode(&message.share.0)?);
            vec![Contribution::Community { shuffler, position, share }]
        }
        (Actor::Seat(seat), LogMessage::Showdown(message)) => {
            let mut cards = Vec::new();
            for (position, share) in message.card_in_deck_position.into_iter().zip(&message.shares) {
                cards.push(Contribution::Showdown { seat: seat.0, position, share: Share::decode(&share.0)? });
            }
            cards
        }
        _ => Vec::new(),
    })
}
