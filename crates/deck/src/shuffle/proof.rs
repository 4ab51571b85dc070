//! The proof of a shuffle: eight points and, for N cards, 3 N + 2 scalars.
//!
//! Names follow the argument: `a` is the committed order, `b` the powers of a challenge in that order, `w` and `e` hide
//! the factors and partial products of the product argument, `t` hides `b` in the multi-exponentiation.

use crate::{
    Curve, DeckDecodeError,
    codec::{ByteReader, bytes_of, put_point, put_scalar},
    curve::{Point, Scalar},
    transcript::Transcript,
};
use ark_ec::AffineRepr;

/// A proof that one deck is a shuffle of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShuffleProof<C: Curve> {
    /// Commitment to the order.
    pub(crate) order: Point<C>,
    /// Commitment to the powers in that order.
    pub(crate) powers: Point<C>,
    /// Product argument: commitments to the masks, to the masks' products, and to the cross terms.
    pub(crate) masks: Point<C>,
    pub(crate) products: Point<C>,
    pub(crate) crosses: Point<C>,
    /// Multi-exponentiation: commitment to its masks, and both halves of the masked sum of cards.
    pub(crate) hiding: Point<C>,
    pub(crate) hidden: [Point<C>; 2],
    /// Responses: the masked factors and their blinding.
    pub(crate) factors: Vec<Scalar<C>>,
    pub(crate) factors_blinding: Scalar<C>,
    /// The masked partial products, without the first and the last, which the verifier knows.
    pub(crate) partials: Vec<Scalar<C>>,
    pub(crate) partials_blinding: Scalar<C>,
    /// The masked powers, their blinding, and the masked sum of the randomness.
    pub(crate) exponents: Vec<Scalar<C>>,
    pub(crate) exponents_blinding: Scalar<C>,
    pub(crate) randomness: Scalar<C>,
}

impl<C: Curve> ShuffleProof<C> {
    pub(crate) const fn points(&self) -> [&Point<C>; 8] {
        let [hidden1, hidden2] = &self.hidden;
        [&self.order, &self.powers, &self.masks, &self.products, &self.crosses, &self.hiding, hidden1, hidden2]
    }

    fn scalars(&self) -> impl Iterator<Item = &Scalar<C>> {
        let factors = self.factors.iter().chain([&self.factors_blinding]);
        let partials = self.partials.iter().chain([&self.partials_blinding]);
        let exponents = self.exponents.iter().chain([&self.exponents_blinding, &self.randomness]);
        factors.chain(partials).chain(exponents)
    }

    /// Whether it has the shape of a proof for a deck of this size.
    pub(crate) fn has_shape(&self, size: usize) -> bool {
        let lengths = [self.factors.len(), self.exponents.len(), self.partials.len().saturating_add(2)];
        lengths == [size; 3]
    }

    /// Whether it has a point that no prover sends and no decoder reads.
    pub(crate) fn has_identity(&self) -> bool {
        self.points().into_iter().any(AffineRepr::is_zero)
    }

    /// How many bytes a proof about so many cards takes.
    #[must_use]
    pub fn encoded_bytes(size: usize) -> usize {
        bytes_of::<C>(8, size.saturating_mul(3).saturating_add(2))
    }

    /// The points, then the scalars, in the order in which the fields stand here.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes(self.factors.len()));
        self.put(&mut bytes);
        bytes
    }

    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        self.points().into_iter().for_each(|point| put_point::<C>(bytes, point));
        self.scalars().for_each(|scalar| put_scalar::<C>(bytes, scalar));
    }

    /// Reads a proof about so many cards.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of such a proof.
    pub fn decode(bytes: &[u8], size: usize) -> Result<Self, DeckDecodeError> {
        Self::read(&mut ByteReader::exactly(bytes, Self::encoded_bytes(size))?, size)
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>, size: usize) -> Result<Self, DeckDecodeError> {
        Ok(Self {
            order: reader.point::<C>()?,
            powers: reader.point::<C>()?,
            masks: reader.point::<C>()?,
            products: reader.point::<C>()?,
            crosses: reader.point::<C>()?,
            hiding: reader.point::<C>()?,
            hidden: [reader.point::<C>()?, reader.point::<C>()?],
            factors: reader.scalars::<C>(size)?,
            factors_blinding: reader.scalar::<C>()?,
            partials: reader.scalars::<C>(size.saturating_sub(2))?,
            partials_blinding: reader.scalar::<C>()?,
            exponents: reader.scalars::<C>(size)?,
            exponents_blinding: reader.scalar::<C>()?,
            randomness: reader.scalar::<C>()?,
        })
    }

    /// Absorbs the responses, when the whole proof is hashed.
    pub(crate) fn absorb_responses(&self, transcript: &mut Transcript) {
        let scalars: Vec<Scalar<C>> = self.scalars().copied().collect();
        transcript.scalars::<C>(b"responses", &scalars);
    }
}
