//! The second gate: all cheap facts once more, then what the message does, on a copy that is swapped in at the end.

use bankroll_deck::{Curve, Deal, HandKeys, Member, Parameters, ProvenContribution, Shuffling};

use super::{Cards, Table, VerifiedMessage, prove::Proof};
use crate::{
    Card, Chips, HandEvent, HandTime, Phase, Seat,
    log::{ActionEnvelope, Actor, LogMessage, MessageRejection},
};

impl<C: Curve> Table<C> {
    /// Applies a verified message at this time; returns the event of the rules that it causes, if any.
    ///
    /// # Errors
    /// The first rule it breaks; then nothing has changed.
    pub fn apply(
        &mut self,
        parameters: &Parameters<C>,
        verified: &VerifiedMessage<C>,
        at: HandTime,
    ) -> Result<Option<HandEvent>, MessageRejection> {
        let mut next = self.clone();
        let event = next.take(parameters, verified, at)?;
        *self = next;
        Ok(event)
    }

    fn take(
        &mut self,
        parameters: &Parameters<C>,
        verified: &VerifiedMessage<C>,
        at: HandTime,
    ) -> Result<Option<HandEvent>, MessageRejection> {
        let ActionEnvelope { header, message, .. } = &verified.envelope;
        self.in_order(header)?;
        self.due(&verified.envelope)?;
        if at < self.at {
            return Err(MessageRejection::TimeWentBack { at, last: self.at });
        }
        let event = match (message, &verified.proof) {
            (_, Proof::Key(member)) => self.register(parameters, header.actor, member)?,
            (_, Proof::Shuffle(proven)) => {
                let Cards::Shuffling(shuffling) = &mut self.cards else { return Err(self.wrong_phase(header.kind)) };
                shuffling.take(proven.as_ref().clone())?;
                self.deal_out();
                None
            }
            (_, Proof::Cards(proven)) => self.contribute(parameters, header.actor, message, proven)?,
            (message, Proof::Nothing) => self.apply_unproven(header.actor, message)?,
        };
        if let Some(event) = &event {
            self.hand = self.hand.apply(event, at)?;
        }
        if matches!(event, Some(HandEvent::Acted { .. } | HandEvent::TimedOut { .. })) {
            self.last_bet = Some(verified.id);
        }
        self.at = at;
        self.note(header.actor, verified.id);
        Ok(event)
    }

    /// The last key to come in makes the hand's keys.
    fn register(
        &mut self,
        parameters: &Parameters<C>,
        actor: Actor,
        member: &Member<C>,
    ) -> Result<Option<HandEvent>, MessageRejection> {
        let Cards::Keys(members) = &mut self.cards else { return Ok(None) };
        members.insert(actor, member.clone());
        if members.len() == self.config.actors().count() {
            let all = |wanted: fn(&Actor) -> bool| {
                members.iter().filter(|(actor, _)| wanted(actor)).map(|(_, member)| member.clone()).collect::<Vec<_>>()
            };
            let shufflers = all(|actor| matches!(actor, Actor::Shuffler(_)));
            let players = all(|actor| matches!(actor, Actor::Seat(_)));
            let keys = HandKeys::new(&self.id, &shufflers, &players)?;
            self.cards = Cards::Shuffling(Box::new(Shuffling::new(parameters, &keys)));
        }
        Ok(None)
    }

    /// The last shuffle makes the final deck.
    fn deal_out(&mut self) {
        let Cards::Shuffling(shuffling) = &self.cards else { return };
        let keys = shuffling.keys().clone();
        if let Some(deck) = shuffling.as_ref().clone().finished() {
            let plan = self.config.destinations();
            let deal = Deal::new(&keys, &deck, &plan, self.seen.clone());
            let deal = deal.expect("the plan follows from the seats that have registered, and is as long as the deck");
            self.cards = Cards::Dealing(Box::new(deal));
        }
    }

    /// Puts contributions in, and says what the rules learn from it.
    fn contribute(
        &mut self,
        parameters: &Parameters<C>,
        actor: Actor,
        message: &LogMessage,
        proven: &[ProvenContribution<C>],
    ) -> Result<Option<HandEvent>, MessageRejection> {
        let Cards::Dealing(deal) = &mut self.cards else { return Err(self.wrong_phase(message.kind())) };
        for contribution in proven {
            deal.take(parameters, contribution)?;
        }
        let Cards::Dealing(deal) = &self.cards else { return Err(self.wrong_phase(message.kind())) };
        let open = |position: u8| deal.opened(position).and_then(|card| Card::from_index(card).ok());
        Ok(match (message, self.hand.phase()) {
            (LogMessage::Unblinding(_), _) => {
                let holes = self.config.snapshot.plan().holes().iter().flat_map(|(_, places)| places);
                let mut holes = holes.map(|place| deal.sealed(*place));
                holes.all(|sealed| sealed.is_some()).then_some(HandEvent::HoleCardsDealt)
            }
            (LogMessage::Community(_), Phase::Opening { street, .. }) => {
                let cards: Option<Vec<Card>> = self.positions(*street).into_iter().map(open).collect();
                cards.map(|cards| HandEvent::BoardOpened { cards })
            }
            (LogMessage::Showdown(showdown), _) => match (actor, showdown.card_in_deck_position.map(open)) {
                (Actor::Seat(seat), [Some(first), Some(second)]) => {
                    Some(HandEvent::Shown { seat, cards: [first, second] })
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// Applies a message that needs no proof.
    fn apply_unproven(&mut self, actor: Actor, message: &LogMessage) -> Result<Option<HandEvent>, MessageRejection> {
        Ok(match (actor, message) {
            (Actor::Seat(seat), LogMessage::Player(decision)) => {
                Some(HandEvent::Acted { seat, action: decision.action })
            }
            (Actor::Seat(seat), LogMessage::Muck) => Some(HandEvent::Mucked { seat }),
            (_, LogMessage::TimeOut { seat, deadline }) => {
                let real = self.hand.deadline();
                if real != Some(*deadline) {
                    return Err(MessageRejection::WrongDeadline { deadline: real });
                }
                Some(HandEvent::TimedOut { seat: *seat })
            }
            (_, LogMessage::ClockRestart) => Some(HandEvent::ClockRestarted),
            (_, LogMessage::Cancellation { cause }) => {
                self.check_blame(cause)?;
                Some(HandEvent::Voided { cause: cause.clone() })
            }
            (_, LogMessage::Settlement { stacks, rake }) => {
                let (real, house) = self.settlement().ok_or_else(|| self.wrong_phase(message.kind()))?;
                if (stacks, rake) != (&real, &house) {
                    return Err(MessageRejection::WrongSettlement);
                }
                self.settled = true;
                None
            }
            _ => return Err(self.wrong_phase(message.kind())),
        })
    }

    /// The final stacks, by seat, and the rake; none while the hand goes on.
    #[must_use]
    pub fn settlement(&self) -> Option<(Vec<(Seat, Chips)>, Chips)> {
        let rake = match self.hand.phase() {
            Phase::Settled(settlement) => settlement.rake,
            Phase::Void(_) => Chips::ZERO,
            _ => return None,
        };
        let mut stacks: Vec<_> = self.hand.players().iter().map(|player| (player.seat, player.stack)).collect();
        stacks.sort_unstable();
        Some((stacks, rake))
    }
}
