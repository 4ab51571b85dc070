//! Dealing: what each party derives from the contributions to each card, without sending it.
//!
//! A [`Deal`] is built from the hand's keys, the final deck and the plan (which position goes where), and then only
//! from contributions, each proven for exactly its card, author and kind. It guarantees:
//! - shares of a hole card are taken only when all its blindings are in, since they depend on all of them;
//! - independent contributions may come in any order, and give the same state;
//! - no blinding counts twice, no card is open twice, and only the cards that the plan opens are opened;
//! - a refused contribution, or a batch with one in it, changes nothing, and is named.
//!
//! It does not know the rules of the game: whose turn it is, and when a street is over.

mod contribution;
mod make;
mod parts;
mod place;
mod refusal;
mod seen;
mod task;

pub use contribution::{Contribution, ProvenContribution};
pub use parts::{Blinding, Share};
pub use place::{BlindedCard, Destination, SealedCard};
pub use refusal::{ContributionRefusal, DealRefusal, PlanError};
pub use seen::SeenBlindings;

use ark_ec::AffineRepr;

use crate::{ContextDigest, Curve, Deck, DeckCard, EqualityClaim, HandKeys, Parameters, ProofKind, verify_claims};
use place::CardPlace;
use task::ContributionTask;

/// The cards of one hand on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deal<C: Curve> {
    keys: HandKeys<C>,
    deck: ContextDigest,
    places: Vec<CardPlace<C>>,
    seen: SeenBlindings,
}

impl<C: Curve> Deal<C> {
    /// Nothing dealt yet. Every position of the deck needs a destination; `seen` has the blindings of earlier hands, if
    /// the caller keeps them.
    ///
    /// # Errors
    /// If the plan is not for this deck and these seats.
    pub fn new(
        keys: &HandKeys<C>,
        deck: &Deck<C>,
        plan: &[Destination],
        mut seen: SeenBlindings,
    ) -> Result<Self, PlanError> {
        let (expected, found) = (deck.cards().len(), plan.len());
        if expected != found {
            return Err(PlanError::Length { expected, found });
        }
        // A key must not serve as a blinding: the player's multiple would then be the same for all their cards.
        for (_, key) in keys.shufflers() {
            let _ = seen.insert::<C>(key.point());
        }
        let _ = seen.insert::<C>(keys.aggregate().point());
        let mut places = Vec::with_capacity(expected);
        for (position, (card, destination)) in (0..).zip(deck.cards().iter().zip(plan)) {
            if let Destination::Seat(seat) = *destination {
                let player = keys.player(seat).ok_or(PlanError::EmptySeat { position, seat })?;
                let _ = seen.insert::<C>(player.key().point());
            }
            places.push(CardPlace::new(*card, *destination));
        }
        Ok(Self { keys: keys.clone(), deck: deck.hash(), places, seen })
    }

    /// Takes one contribution.
    ///
    /// # Errors
    /// The first rule it breaks; then nothing has changed.
    pub fn accept(&mut self, parameters: &Parameters<C>, contribution: &Contribution<C>) -> Result<(), DealRefusal> {
        self.accept_all(parameters, std::slice::from_ref(contribution)).map_err(|refused| refused.refusal)
    }

    /// Takes contributions in this order, all proofs checked at once.
    ///
    /// # Errors
    /// The first that is refused, and why; then nothing has changed.
    pub fn accept_all(
        &mut self,
        parameters: &Parameters<C>,
        contributions: &[Contribution<C>],
    ) -> Result<(), ContributionRefusal> {
        self.judge(parameters, contributions).map(|(after, _)| *self = after)
    }

    /// Checks contributions that follow each other, all proofs at once, against a state that may be a copy;
    /// [`Deal::take`] then takes them one by one, with whatever lies between them.
    ///
    /// # Errors
    /// The first that is refused, and why.
    pub fn check_all(
        &self,
        parameters: &Parameters<C>,
        contributions: &[Contribution<C>],
    ) -> Result<Vec<ProvenContribution<C>>, ContributionRefusal> {
        let (_, claims) = self.judge(parameters, contributions)?;
        let proven = |(contribution, claim): (&Contribution<C>, EqualityClaim<C>)| ProvenContribution {
            contribution: *contribution,
            claim,
        };
        Ok(contributions.iter().zip(claims).map(proven).collect())
    }

    /// What becomes of the deal, and what each contribution claimed when its turn came.
    fn judge(
        &self,
        parameters: &Parameters<C>,
        contributions: &[Contribution<C>],
    ) -> Result<(Self, Vec<EqualityClaim<C>>), ContributionRefusal> {
        let (mut after, mut claims, mut refused) = (self.clone(), Vec::new(), Ok(()));
        for (index, contribution) in contributions.iter().enumerate() {
            let taken = after.claim(contribution).and_then(|claim| {
                // Before it is applied: if the result is not a card, its proof is still checked first.
                claims.push(claim);
                after.apply(parameters, contribution)
            });
            if let Err(refusal) = taken {
                refused = Err(ContributionRefusal { index, refusal });
                break;
            }
        }
        verify_claims(&claims).map_err(|false_claim| {
            let position = contributions.get(false_claim.index).map_or(u8::MAX, Contribution::position);
            ContributionRefusal { index: false_claim.index, refusal: DealRefusal::NotProven { position } }
        })?;
        refused?;
        Ok((after, claims))
    }

    /// Checks a contribution against a state that may be a copy, on any thread; [`Deal::take`] then needs no more
    /// mathematics.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check(&self, contribution: &Contribution<C>) -> Result<ProvenContribution<C>, DealRefusal> {
        let claim = self.claim(contribution)?;
        let position = contribution.position();
        verify_claims(std::slice::from_ref(&claim)).map_err(|_| DealRefusal::NotProven { position })?;
        Ok(ProvenContribution { contribution: *contribution, claim })
    }

    /// Takes a contribution that was checked before. All cheap rules are checked again, and that it was proven for
    /// what is claimed here and now.
    ///
    /// # Errors
    /// The first rule it breaks; then nothing has changed.
    pub fn take(&mut self, parameters: &Parameters<C>, proven: &ProvenContribution<C>) -> Result<(), DealRefusal> {
        let position = proven.contribution.position();
        if self.claim(&proven.contribution)? != proven.claim {
            return Err(DealRefusal::NotProven { position });
        }
        let mut after = self.clone();
        after.apply(parameters, &proven.contribution)?;
        *self = after;
        Ok(())
    }

    /// What a contribution claims, if it is due: all cheap rules are checked, its proof is not.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn claim(&self, contribution: &Contribution<C>) -> Result<EqualityClaim<C>, DealRefusal> {
        let position = contribution.position();
        let (task, proof) = match contribution {
            Contribution::Blinding { shuffler, blinding, .. } => {
                (ContributionTask::Blinding { shuffler: *shuffler }, blinding.proof)
            }
            Contribution::Unblinding { shuffler, share, .. } => {
                (ContributionTask::Unblinding { shuffler: *shuffler }, share.proof)
            }
            Contribution::Community { shuffler, share, .. } => {
                (ContributionTask::Community { shuffler: *shuffler }, share.proof)
            }
            Contribution::Showdown { seat, share, .. } => (ContributionTask::Showdown { seat: *seat }, share.proof),
        };
        let (context, base) = self.task(task, position)?;
        let statement = match contribution {
            Contribution::Blinding { blinding, .. } if self.seen.contains::<C>(&blinding.a) => {
                return Err(DealRefusal::BlindingReused { position });
            }
            Contribution::Blinding { blinding, .. } => blinding.statement(&base),
            Contribution::Unblinding { share, .. }
            | Contribution::Community { share, .. }
            | Contribution::Showdown { share, .. } => {
                let key = self.key(task).ok_or(DealRefusal::WrongKey)?;
                share.statement(key, &base)
            }
        };
        Ok(EqualityClaim { context, statement, proof })
    }

    /// Puts in what is due, and derives what follows.
    fn apply(&mut self, parameters: &Parameters<C>, contribution: &Contribution<C>) -> Result<(), DealRefusal> {
        let position = contribution.position();
        let place = self.places.get_mut(usize::from(position)).ok_or(DealRefusal::NoSuchPosition { position })?;
        let opened = match contribution {
            Contribution::Blinding { shuffler, blinding, .. } => {
                place.blindings.insert(*shuffler, *blinding);
                if place.blindings.len() == self.keys.blinders().len() {
                    let blinded = place.sum_blindings();
                    if blinded.a.is_zero() || blinded.d.is_zero() {
                        return Err(DealRefusal::Degenerate { position });
                    }
                    place.blinded = Some(blinded);
                }
                let _ = self.seen.insert::<C>(&blinding.a);
                return Ok(());
            }
            Contribution::Unblinding { shuffler, share, .. } => {
                place.shares.insert(*shuffler, *share);
                if let Some(blinded) = place.blinded.filter(|_| place.shares.len() == self.keys.quorum()) {
                    place.sealed = Some(SealedCard { d: blinded.d, e: place.without_layers(&self.keys, &blinded.b) });
                }
                return Ok(());
            }
            Contribution::Community { shuffler, share, .. } => {
                place.shares.insert(*shuffler, *share);
                if place.shares.len() != self.keys.quorum() {
                    return Ok(());
                }
                place.without_layers(&self.keys, &place.card.c2)
            }
            Contribution::Showdown { share, .. } => {
                place.sealed.as_ref().ok_or(DealRefusal::TooEarly { position })?.without(&share.point)
            }
        };
        let card = parameters.card(&opened).ok_or(DealRefusal::NotACard { position })?;
        let first = (0_u8..).zip(&self.places).find(|(_, place)| place.opened == Some(card));
        if let Some((first, _)) = first {
            return Err(DealRefusal::DuplicateCard { card, position, first });
        }
        if let Some(place) = self.places.get_mut(usize::from(position)) {
            place.opened = Some(card);
        }
        Ok(())
    }

    /// The card at a position, if it is open to all.
    #[must_use]
    pub fn opened(&self, position: u8) -> Option<DeckCard> {
        self.place(position).ok()?.opened
    }

    #[must_use]
    pub const fn deck(&self) -> &ContextDigest {
        &self.deck
    }

    /// The hole card at a position with all blindings on it, once all have arrived.
    #[must_use]
    pub fn blinded(&self, position: u8) -> Option<&BlindedCard<C>> {
        self.place(position).ok()?.blinded.as_ref()
    }

    /// The hole card at a position, encrypted to its player, once enough shares have arrived.
    #[must_use]
    pub fn sealed(&self, position: u8) -> Option<&SealedCard<C>> {
        self.place(position).ok()?.sealed.as_ref()
    }

    /// The shufflers that the card at a position waits for, with the kind of contribution; empty if it waits for none.
    #[must_use]
    pub fn awaited(&self, position: u8) -> Vec<(u8, ProofKind)> {
        let Ok(place) = self.place(position) else { return Vec::new() };
        let shufflers = || self.keys.shufflers().iter().zip(0_u8..).map(|(_, shuffler)| shuffler);
        let due = |kind| {
            let missing = shufflers().filter(|shuffler| !place.shares.contains_key(shuffler));
            missing.map(move |shuffler| (shuffler, kind)).collect()
        };
        match place.destination {
            Destination::Seat(_) if place.blinded.is_none() => {
                let missing = self.keys.blinders().iter().filter(|shuffler| !place.blindings.contains_key(shuffler));
                missing.map(|shuffler| (*shuffler, ProofKind::Blinding)).collect()
            }
            Destination::Seat(_) if place.sealed.is_none() => due(ProofKind::Unblinding),
            Destination::Board if place.opened.is_none() => due(ProofKind::Community),
            _ => Vec::new(),
        }
    }

    /// All blindings of this hand and what it was given before, for an index over hands.
    #[must_use]
    pub const fn seen_blindings(&self) -> &SeenBlindings {
        &self.seen
    }
}
