//! The cheap facts: whether this author may send this message now. Checked before the proofs and again with
//! every message that is applied.

use bankroll_deck::Curve;

use super::{Cards, Table};
use crate::{
    Phase, Street,
    log::{ActionEnvelope, Actor, EnvelopeHeader, LogMessage, MessageKind, MessageRejection},
};

impl<C: Curve> Table<C> {
    /// Checks that the envelope is for this hand, by a member, and signed with the key bound to that member.
    pub(in crate::log) fn identify(&self, envelope: &ActionEnvelope) -> Result<(), MessageRejection> {
        let EnvelopeHeader { deployment, game, hand, actor, .. } = &envelope.header;
        if (deployment, game, hand) != (&self.id.deployment, &self.id.game, &self.id.hand) {
            return Err(MessageRejection::WrongHand);
        }
        let key = self.config.key(*actor).ok_or(MessageRejection::NotAMember { actor: *actor })?;
        if envelope.is_signed_by(key) { Ok(()) } else { Err(MessageRejection::BadSignature { actor: *actor }) }
    }

    /// Checks that it is the next of its author's messages.
    pub(super) fn in_order(&self, header: &EnvelopeHeader) -> Result<(), MessageRejection> {
        let (actor, said) = (header.actor, self.progress(header.actor));
        let (expected, found) = (said.nonce.saturating_add(1), header.nonce);
        if expected != found {
            return Err(MessageRejection::NonceConflict { actor, expected, found });
        }
        if header.previous == said.last { Ok(()) } else { Err(MessageRejection::WrongPrevious { actor }) }
    }

    /// Checks that this author may send this message now.
    pub(super) fn due(&self, envelope: &ActionEnvelope) -> Result<(), MessageRejection> {
        let ActionEnvelope { header, message, .. } = envelope;
        let (actor, kind) = (header.actor, header.kind);
        if !may_send(actor, kind) {
            return Err(MessageRejection::NotAllowed { actor, kind });
        }
        if self.settled {
            return Err(MessageRejection::Closed);
        }
        if self.hand.phase().is_over() && kind != MessageKind::Settlement {
            return Err(self.wrong_phase(kind));
        }
        match (message, &self.cards) {
            (LogMessage::KeyRegistration(_), Cards::Keys(members)) => {
                if members.contains_key(&actor) {
                    Err(MessageRejection::AlreadyRegistered { actor })
                } else {
                    Ok(())
                }
            }
            (LogMessage::Shuffle(_), Cards::Shuffling(shuffling)) => {
                let turn = shuffling.next().map(Actor::Shuffler);
                if turn == Some(actor) { Ok(()) } else { Err(MessageRejection::NotYourTurn { actor }) }
            }
            (LogMessage::Blinding(_) | LogMessage::Unblinding(_), Cards::Dealing(_)) => match self.hand.phase() {
                Phase::Dealing { .. } => Ok(()),
                _ => Err(self.wrong_phase(kind)),
            },
            (LogMessage::Community(community), Cards::Dealing(_)) => {
                let Phase::Opening { street, .. } = self.hand.phase() else { return Err(self.wrong_phase(kind)) };
                let position = community.card_in_deck_position;
                let opens = self.positions(*street).contains(&position);
                if opens { Ok(()) } else { Err(MessageRejection::NotOpenedNow { position }) }
            }
            (LogMessage::Player(decision), _) => {
                let (named, street) = (decision.street, self.hand.street());
                if named != street {
                    return Err(MessageRejection::WrongStreet { named, street });
                }
                if header.seen == self.last_bet { Ok(()) } else { Err(MessageRejection::StaleDecision) }
            }
            (LogMessage::Showdown(showdown), Cards::Dealing(_)) => {
                let Phase::Showdown(_) = self.hand.phase() else { return Err(self.wrong_phase(kind)) };
                let Actor::Seat(seat) = actor else { return Err(MessageRejection::NotAllowed { actor, kind }) };
                let own = self.config.snapshot.plan().hole(seat);
                if own == Some(showdown.card_in_deck_position) {
                    Ok(())
                } else {
                    Err(MessageRejection::NotYourCards { actor })
                }
            }
            (
                LogMessage::Muck
                | LogMessage::TimeOut { .. }
                | LogMessage::ClockRestart
                | LogMessage::Cancellation { .. }
                | LogMessage::Settlement { .. },
                _,
            ) => Ok(()),
            _ => Err(self.wrong_phase(kind)),
        }
    }

    pub(super) fn wrong_phase(&self, kind: MessageKind) -> MessageRejection {
        MessageRejection::WrongPhase { kind, phase: self.hand.phase().name() }
    }

    /// Where the cards of a street lie in the deck.
    pub(super) fn positions(&self, street: Street) -> Vec<u8> {
        let [flop @ .., turn, river] = self.config.snapshot.plan().board();
        match street {
            Street::Preflop => Vec::new(),
            Street::Flop => flop.to_vec(),
            Street::Turn => vec![turn],
            Street::River => vec![river],
        }
    }
}

/// Which actors may send which kinds.
const fn may_send(actor: Actor, kind: MessageKind) -> bool {
    match kind {
        MessageKind::HandStart
        | MessageKind::TimeOut
        | MessageKind::ClockRestart
        | MessageKind::Cancellation
        | MessageKind::Settlement => matches!(actor, Actor::Operator),
        MessageKind::KeyRegistration => !matches!(actor, Actor::Operator),
        MessageKind::Shuffle | MessageKind::Blinding | MessageKind::Unblinding | MessageKind::Community => {
            matches!(actor, Actor::Shuffler(_))
        }
        MessageKind::Player | MessageKind::Showdown | MessageKind::Muck => matches!(actor, Actor::Seat(_)),
    }
}
