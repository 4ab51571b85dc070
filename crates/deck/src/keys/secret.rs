//! Secrets. They are wiped when they are dropped, and no type here can be printed.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;
use ark_ff::{PrimeField, UniformRand, Zero};
use rand_core::{CryptoRng, RngCore};
use sha3::{
    Shake256,
    digest::{ExtendableOutput, Update, XofReader},
};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Curve, HandId, MemberRole, PublicKey,
    curve::{Point, Scalar},
};

/// The long-lived secret that a shuffler or player keeps, and from which the keys of all hands are derived.
pub struct MasterSecret(Zeroizing<[u8; 32]>);

/// The secret half of a key of one hand.
pub struct SecretKey<C: Curve> {
    scalar: Scalar<C>,
    public: PublicKey<C>,
}

impl MasterSecret {
    pub fn generate(rng: &mut (impl CryptoRng + RngCore)) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        rng.fill_bytes(bytes.as_mut_slice());
        Self(bytes)
    }

    /// A stored secret: 32 bytes as random as they were when it was generated.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes to keep.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key of one hand. It is always the same, so that a client that restarts during a hand has it;
    /// it reveals nothing about the key of any other hand.
    #[must_use]
    pub fn key<C: Curve>(&self, hand: &HandId, role: MemberRole) -> SecretKey<C> {
        let mut tries = (0_u32..).map(|counter| self.scalar::<C>(hand, role, counter));
        SecretKey::of(tries.find(|scalar| !scalar.is_zero()).expect("a hash is not zero for ever"))
    }

    fn scalar<C: Curve>(&self, hand: &HandId, role: MemberRole, counter: u32) -> Scalar<C> {
        let seat = role.seat().map_or(Vec::new(), |seat| vec![seat]);
        let mut shake = Shake256::default();
        let public = [C::NAME, role.kind().name(), &hand.deployment, &hand.game, &hand.hand];
        let parts = [b"bankroll deck v1 key of a hand".as_slice(), self.0.as_slice(), &seat];
        for part in parts.into_iter().chain(public.map(str::as_bytes)) {
            shake.update(&(part.len() as u64).to_le_bytes());
            shake.update(part);
        }
        shake.update(&counter.to_le_bytes());
        let mut wide = Zeroizing::new([0; 64]);
        shake.finalize_xof().read(wide.as_mut_slice());
        Scalar::<C>::from_le_bytes_mod_order(wide.as_slice())
    }
}

impl<C: Curve> SecretKey<C> {
    pub fn generate(rng: &mut (impl CryptoRng + RngCore)) -> Self {
        loop {
            let scalar = Scalar::<C>::rand(rng);
            if !scalar.is_zero() {
                return Self::of(scalar);
            }
        }
    }

    /// The scalar must not be zero.
    pub(crate) fn of(scalar: Scalar<C>) -> Self {
        let public = PublicKey(C::times(&Point::<C>::generator(), &scalar).affine());
        Self { scalar, public }
    }

    #[must_use]
    pub const fn public(&self) -> &PublicKey<C> {
        &self.public
    }

    pub(crate) const fn scalar(&self) -> &Scalar<C> {
        &self.scalar
    }
}

impl<C: Curve> Drop for SecretKey<C> {
    fn drop(&mut self) {
        self.scalar.zeroize();
    }
}
