//! Tasks: who may contribute what to which card, and whether it is due.

use super::{Deal, place::CardPlace};
use crate::{Context, Curve, DealRefusal, Destination, Member, ProofKind, PublicKey, curve::Point};

/// A contribution that is about to be made or checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContributionTask {
    Blinding { shuffler: u8 },
    Unblinding { shuffler: u8 },
    Community { shuffler: u8 },
    Showdown { seat: u8 },
}

impl<C: Curve> Deal<C> {
    /// The context of a task, and the point that it is about, if the task is due.
    pub(super) fn task(&self, task: ContributionTask, position: u8) -> Result<(Context, Point<C>), DealRefusal> {
        let place = self.place(position)?;
        let (early, repeated) = (DealRefusal::TooEarly { position }, DealRefusal::Repeated { position });
        let (kind, actor, done, base) = match task {
            ContributionTask::Blinding { shuffler } => {
                let actor = self.shuffler(shuffler)?;
                let Destination::Seat(seat) = place.destination else {
                    return Err(DealRefusal::WrongDestination { position });
                };
                if !self.keys.blinders().contains(&shuffler) {
                    return Err(DealRefusal::NotABlinder { shuffler });
                }
                let key = self.keys.blinding_key(seat).ok_or(DealRefusal::WrongSeat { position, seat })?;
                (ProofKind::Blinding, actor, place.blindings.contains_key(&shuffler), *key)
            }
            ContributionTask::Unblinding { shuffler } => {
                let actor = self.shuffler(shuffler)?;
                if !matches!(place.destination, Destination::Seat(_)) {
                    return Err(DealRefusal::WrongDestination { position });
                }
                let blinded = place.blinded.as_ref().ok_or(early)?;
                (ProofKind::Unblinding, actor, place.shares.contains_key(&shuffler), blinded.a)
            }
            ContributionTask::Community { shuffler } => {
                let actor = self.shuffler(shuffler)?;
                if place.destination != Destination::Board {
                    return Err(DealRefusal::WrongDestination { position });
                }
                (ProofKind::Community, actor, place.shares.contains_key(&shuffler), place.card.c1)
            }
            ContributionTask::Showdown { seat } => {
                let actor = self.owned_by(place, position, seat)?;
                let sealed = place.sealed.as_ref().ok_or(early)?;
                (ProofKind::Showdown, actor, place.opened.is_some(), sealed.d)
            }
        };
        if done { Err(repeated) } else { Ok((self.context(kind, actor, position), base)) }
    }

    fn context(&self, kind: ProofKind, actor: &str, position: u8) -> Context {
        let seat = match self.places.get(usize::from(position)).map(|place| place.destination) {
            Some(Destination::Seat(seat)) => Some(seat),
            _ => None,
        };
        let hand = self.keys.hand();
        Context { position: Some(position), seat, deck: Some(self.deck), ..hand.context(actor, kind) }
    }

    pub(super) fn place(&self, position: u8) -> Result<&CardPlace<C>, DealRefusal> {
        self.places.get(usize::from(position)).ok_or(DealRefusal::NoSuchPosition { position })
    }

    fn shuffler(&self, shuffler: u8) -> Result<&str, DealRefusal> {
        let found = self.keys.shufflers().get(usize::from(shuffler));
        found.map(|(actor, _)| actor.as_str()).ok_or(DealRefusal::NoSuchShuffler { shuffler })
    }

    /// The name of the player at the seat, if the card is theirs.
    pub(super) fn owned_by(&self, place: &CardPlace<C>, position: u8, seat: u8) -> Result<&str, DealRefusal> {
        if !matches!(place.destination, Destination::Seat(_)) {
            return Err(DealRefusal::WrongDestination { position });
        }
        let player = self.keys.player(seat).filter(|_| place.destination == Destination::Seat(seat));
        player.map(Member::actor).ok_or(DealRefusal::WrongSeat { position, seat })
    }

    /// The key that belongs to a task.
    pub(super) fn key(&self, task: ContributionTask) -> Option<&PublicKey<C>> {
        match task {
            ContributionTask::Blinding { shuffler }
            | ContributionTask::Unblinding { shuffler }
            | ContributionTask::Community { shuffler } => {
                self.keys.shufflers().get(usize::from(shuffler)).map(|(_, key)| key)
            }
            ContributionTask::Showdown { seat } => self.keys.player(seat).map(Member::key),
        }
    }
}
