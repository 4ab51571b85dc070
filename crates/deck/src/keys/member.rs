//! Members of a hand: shufflers and players whose keys were admitted with a proof.

use rand_core::{CryptoRng, RngCore};

use crate::{Context, Curve, HandId, KeyError, Possession, ProofKind, PublicKey, SecretKey};

/// What a key is registered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberRole {
    /// Shuffles, blinds and removes layers. A player who also shuffles has another key for it.
    Shuffler,
    /// Holds cards at this seat.
    Player { seat: u8 },
}

impl MemberRole {
    pub(crate) const fn kind(self) -> ProofKind {
        match self {
            Self::Shuffler => ProofKind::ShufflerKey,
            Self::Player { .. } => ProofKind::PlayerKey,
        }
    }

    pub(crate) const fn seat(self) -> Option<u8> {
        match self {
            Self::Shuffler => None,
            Self::Player { seat } => Some(seat),
        }
    }

    /// The context in which a key is registered for this role.
    #[must_use]
    pub fn context(self, hand: &HandId, actor: &str) -> Context {
        Context { seat: self.seat(), ..hand.context(actor, self.kind()) }
    }
}

/// A shuffler or player whose key was admitted: only a proof makes a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<C: Curve> {
    actor: String,
    role: MemberRole,
    hand: HandId,
    key: PublicKey<C>,
}

impl<C: Curve> Member<C> {
    /// Admits a key, if the proof shows possession for this very hand, name and role.
    ///
    /// # Errors
    /// If the proof does not show it.
    pub fn admit(
        hand: &HandId,
        actor: &str,
        role: MemberRole,
        key: PublicKey<C>,
        proof: &Possession<C>,
    ) -> Result<Self, KeyError> {
        if !proof.verify(&role.context(hand, actor), &key) {
            return Err(KeyError::NotPossessed { actor: actor.to_owned() });
        }
        Ok(Self { actor: actor.to_owned(), role, hand: hand.clone(), key })
    }

    /// The name that proofs are bound to.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// What the key is for.
    #[must_use]
    pub const fn role(&self) -> MemberRole {
        self.role
    }

    /// The hand it was admitted to.
    #[must_use]
    pub const fn hand(&self) -> &HandId {
        &self.hand
    }

    #[must_use]
    pub const fn key(&self) -> &PublicKey<C> {
        &self.key
    }
}

impl<C: Curve> SecretKey<C> {
    /// What its owner sends to be admitted: the public half and the proof.
    pub fn register(
        &self,
        hand: &HandId,
        actor: &str,
        role: MemberRole,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> (PublicKey<C>, Possession<C>) {
        (*self.public(), self.prove_possession(&role.context(hand, actor), rng))
    }
}
