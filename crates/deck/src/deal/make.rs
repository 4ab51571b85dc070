//! The contributor's side: shufflers and players.
//!
//! A secret is multiplied only into points that the contributor's own [`Deal`] derived from the log, at positions and
//! for destinations that the plan gives: a shuffler never opens a point it was sent. Whether a street's
//! betting is over is not known here; the caller checks it before making a community share.

use rand_core::{CryptoRng, RngCore};

use super::{Deal, task::ContributionTask};
use crate::{Blinding, Contribution, Curve, DealRefusal, DeckCard, Parameters, SecretKey, Share};

impl<C: Curve> Deal<C> {
    /// A shuffler's blinding of a hole card.
    ///
    /// # Errors
    /// If this shuffler does not make it, or has already made it.
    pub fn blind(
        &self,
        shuffler: u8,
        secret: &SecretKey<C>,
        position: u8,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Result<Contribution<C>, DealRefusal> {
        let task = ContributionTask::Blinding { shuffler };
        let (context, base) = self.task(task, position)?;
        self.own(task, secret)?;
        let blinding = Blinding::make(&context, &base, secret, rng);
        Ok(Contribution::Blinding { shuffler, position, blinding })
    }

    /// A shuffler's layer of a hole card that all blinders have blinded.
    ///
    /// # Errors
    /// If it is not this shuffler's layer, or too early, or already done.
    pub fn unblind(
        &self,
        shuffler: u8,
        secret: &SecretKey<C>,
        position: u8,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Result<Contribution<C>, DealRefusal> {
        let share = self.share(ContributionTask::Unblinding { shuffler }, secret, position, rng)?;
        Ok(Contribution::Unblinding { shuffler, position, share })
    }

    /// A shuffler's layer of a community card. Only when the street before it is over.
    ///
    /// # Errors
    /// If it is not this shuffler's layer, or already done.
    pub fn reveal(
        &self,
        shuffler: u8,
        secret: &SecretKey<C>,
        position: u8,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Result<Contribution<C>, DealRefusal> {
        let share = self.share(ContributionTask::Community { shuffler }, secret, position, rng)?;
        Ok(Contribution::Community { shuffler, position, share })
    }

    /// A player opens their card to all.
    ///
    /// # Errors
    /// If the card is another player's, or not dealt yet, or already open.
    pub fn show(
        &self,
        seat: u8,
        secret: &SecretKey<C>,
        position: u8,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Result<Contribution<C>, DealRefusal> {
        let share = self.share(ContributionTask::Showdown { seat }, secret, position, rng)?;
        Ok(Contribution::Showdown { seat, position, share })
    }

    /// The player's own card, for the player alone.
    ///
    /// # Errors
    /// If the card is another player's, or not dealt yet.
    pub fn own_card(
        &self,
        parameters: &Parameters<C>,
        seat: u8,
        secret: &SecretKey<C>,
        position: u8,
    ) -> Result<DeckCard, DealRefusal> {
        let place = self.place(position)?;
        self.owned_by(place, position, seat)?;
        self.own(ContributionTask::Showdown { seat }, secret)?;
        let sealed = place.sealed.as_ref().ok_or(DealRefusal::TooEarly { position })?;
        let point = sealed.for_player(secret);
        parameters.card(&point).ok_or(DealRefusal::NotACard { position })
    }

    fn share(
        &self,
        task: ContributionTask,
        secret: &SecretKey<C>,
        position: u8,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Result<Share<C>, DealRefusal> {
        let (context, base) = self.task(task, position)?;
        self.own(task, secret)?;
        Ok(Share::make(&context, &base, secret, rng))
    }

    /// Checks that the secret is that of the key which the contribution will be checked against.
    fn own(&self, task: ContributionTask, secret: &SecretKey<C>) -> Result<(), DealRefusal> {
        if self.key(task) == Some(secret.public()) { Ok(()) } else { Err(DealRefusal::WrongKey) }
    }
}
