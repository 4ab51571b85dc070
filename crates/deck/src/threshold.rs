//! A key that a quorum of the shufflers holds together.
//!
//! Each shuffler draws a polynomial, publishes its coefficients as points (Feldman), and sends each other shuffler one
//! value of it. The hand's secret is the sum of all constant terms, which no party ever has; a shuffler's share of it
//! is the sum of the values it received, and its public half follows from the published points. Proofs stay as they
//! are.
//!
//! The price: a quorum that colludes reads the deck, where without this all must collude. A dealt value is secret, and
//! travels [sealed](SealedShare) to the receiver's key. A receiver detects a wrong value and its dealer, but
//! cannot prove it to others without revealing its own secret: a hand whose dealing fails does not begin.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

mod sealed;

pub use sealed::SealedShare;

use ark_ec::AffineRepr;
use ark_ff::{UniformRand, Zero};
use rand_core::{CryptoRng, RngCore};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Curve, DeckDecodeError, PublicKey, SecretKey,
    codec::{ByteReader, bytes_of, put_point, put_scalar, scalar_bytes},
    curve::{Point, Scalar},
};

/// A shuffler's own polynomial.
pub struct Dealing<C: Curve> {
    /// The constant term, whose public half the shuffler registers as its key.
    secret: SecretKey<C>,
    /// The others, lowest first.
    coefficients: Zeroizing<Vec<Scalar<C>>>,
}

/// The coefficients of a polynomial as points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolynomialCommitments<C: Curve>(Vec<Point<C>>);

/// What one shuffler sends another: a value of its polynomial.
pub struct DealtShare<C: Curve>(Scalar<C>);

/// Why a shuffler has no share of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DealingError {
    /// A value that is not on the polynomial that its dealer published.
    #[error("dealer {dealer} sent a value that is not on its polynomial")]
    WrongShare { dealer: usize },
    /// The values add up to zero, as they do if there is no dealer.
    #[error("the dealt values add up to zero")]
    Nothing,
}

impl<C: Curve> Dealing<C> {
    /// A random polynomial with this constant term, determined by a quorum of values. A quorum of zero counts as one.
    pub fn new(secret: SecretKey<C>, quorum: usize, rng: &mut (impl CryptoRng + RngCore)) -> Self {
        let coefficients = (1..quorum).map(|_| nonzero::<C>(rng)).collect();
        Self { secret, coefficients: Zeroizing::new(coefficients) }
    }

    /// The constant term, to be registered.
    #[must_use]
    pub const fn secret(&self) -> &SecretKey<C> {
        &self.secret
    }

    /// What to publish.
    #[must_use]
    pub fn commitments(&self) -> PolynomialCommitments<C> {
        let points =
            self.coefficients.iter().map(|coefficient| C::times(&Point::<C>::generator(), coefficient).affine());
        PolynomialCommitments(std::iter::once(*self.secret.public().point()).chain(points).collect())
    }

    /// The value for this shuffler, to be sent to no other party.
    #[must_use]
    pub fn share_for(&self, shuffler: u8) -> DealtShare<C> {
        let at = abscissa::<C>(shuffler);
        let rest =
            self.coefficients.iter().rev().fold(Scalar::<C>::zero(), |sum, coefficient| (sum + coefficient) * at);
        DealtShare(rest + self.secret.scalar())
    }
}

impl<C: Curve> PolynomialCommitments<C> {
    /// How many values give the polynomial.
    #[must_use]
    pub const fn quorum(&self) -> usize {
        self.0.len()
    }

    /// The public half of the constant term.
    #[must_use]
    pub fn constant(&self) -> PublicKey<C> {
        PublicKey(self.0.first().copied().unwrap_or_default())
    }

    /// The public half of the value for a shuffler.
    pub(crate) fn at(&self, shuffler: u8) -> C {
        let at = abscissa::<C>(shuffler);
        self.0.iter().rev().fold(C::zero(), |sum, point| sum * at + point)
    }

    /// The points, constant term first.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(bytes_of::<C>(self.0.len(), 0));
        self.0.iter().for_each(|point| put_point::<C>(&mut bytes, point));
        bytes
    }

    /// Reads the commitments of a polynomial for this quorum, which is at least one.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of so many points.
    pub fn decode(bytes: &[u8], quorum: usize) -> Result<Self, DeckDecodeError> {
        let quorum = quorum.max(1);
        let mut reader = ByteReader::exactly(bytes, bytes_of::<C>(quorum, 0))?;
        Ok(Self((0..quorum).map(|_| reader.point::<C>()).collect::<Result<_, _>>()?))
    }
}

impl<C: Curve> DealtShare<C> {
    /// The scalar. It is a secret between the dealer and the receiver: for keeping, not for sending.
    #[must_use]
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(scalar_bytes::<C>()));
        put_scalar::<C>(&mut bytes, &self.0);
        bytes
    }

    /// Reads a dealt value.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a scalar.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        Ok(Self(ByteReader::exactly(bytes, scalar_bytes::<C>())?.scalar::<C>()?))
    }
}

impl<C: Curve> Drop for DealtShare<C> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<C: Curve> SecretKey<C> {
    /// A shuffler's share of the hand's key: the sum of the values from all dealers, the shuffler included.
    ///
    /// # Errors
    /// Names the first dealer whose value is not on its published polynomial.
    pub fn from_dealt(shuffler: u8, dealt: &[(PolynomialCommitments<C>, DealtShare<C>)]) -> Result<Self, DealingError> {
        let wrong = |(commitments, share): &(PolynomialCommitments<C>, DealtShare<C>)| {
            Point::<C>::generator() * share.0 != commitments.at(shuffler)
        };
        if let Some(dealer) = dealt.iter().position(wrong) {
            return Err(DealingError::WrongShare { dealer });
        }
        let sum: Scalar<C> = dealt.iter().map(|(_, share)| share.0).sum();
        if sum.is_zero() { Err(DealingError::Nothing) } else { Ok(Self::of(sum)) }
    }
}

/// Where the polynomials are evaluated for a shuffler: never at zero, where the secret is.
fn abscissa<C: Curve>(shuffler: u8) -> Scalar<C> {
    Scalar::<C>::from(u16::from(shuffler) + 1)
}

/// The weights with which values at these shufflers give the value at zero. They must be different.
pub(crate) fn lagrange<F: ark_ff::PrimeField>(shufflers: &[u8]) -> Vec<F> {
    let at = |shuffler: &u8| F::from(u16::from(*shuffler) + 1);
    let weight = |own: &u8| {
        let others = || shufflers.iter().filter(move |other| *other != own);
        let above: F = others().map(at).product();
        let below: F = others().map(|other| at(other) - at(own)).product();
        above * below.inverse().unwrap_or_default()
    };
    shufflers.iter().map(weight).collect()
}

fn nonzero<C: Curve>(rng: &mut (impl CryptoRng + RngCore)) -> Scalar<C> {
    loop {
        let scalar = Scalar::<C>::rand(rng);
        if !scalar.is_zero() {
            return scalar;
        }
    }
}
