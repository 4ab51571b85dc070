//! Bytes of points and scalars: one encoding for each value, and nothing else is read.
//!
//! Points are compressed as arkworks does it (the first coordinate, least significant byte first, then the sign), and
//! are on the curve, in the prime-order group and never the identity: no message of the protocol has a use for it.
//! Scalars are 32 bytes, least significant first, below the order. Lengths are exact.
//!
//! The decoder of arkworks takes several encodings for some values (extra bits next to the sign, any coordinate for
//! the identity), so what it read is encoded again and compared.

use ark_ec::AffineRepr;
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};

use crate::{
    Curve,
    curve::{Point, Scalar},
};

/// Why bytes were not read. Offsets count from the start of the value that was being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeckDecodeError {
    /// Too short or too long.
    #[error("expected {expected} bytes, found {found}")]
    Length { expected: usize, found: usize },
    /// No point of the group.
    #[error("no point of the group at byte {offset}")]
    NotAPoint {
        /// Where it begins.
        offset: usize,
    },
    /// The identity, which no message may contain.
    #[error("the identity at byte {offset}")]
    Identity {
        /// Where it begins.
        offset: usize,
    },
    /// A point in other bytes than the ones it is written in.
    #[error("a point in a second encoding at byte {offset}")]
    NotCanonical {
        /// Where it begins.
        offset: usize,
    },
    /// A scalar that is not below the order of the group.
    #[error("a scalar beyond the order at byte {offset}")]
    ScalarRange {
        /// Where it begins.
        offset: usize,
    },
}

#[must_use]
pub fn point_bytes<C: Curve>() -> usize {
    Point::<C>::GENERATOR.compressed_size()
}

#[must_use]
pub fn scalar_bytes<C: Curve>() -> usize {
    Scalar::<C>::default().compressed_size()
}

/// How many bytes so many points and scalars take.
pub(crate) fn bytes_of<C: Curve>(points: usize, scalars: usize) -> usize {
    let points = points.saturating_mul(point_bytes::<C>());
    points.saturating_add(scalars.saturating_mul(scalar_bytes::<C>()))
}

pub(crate) fn put_point<C: Curve>(bytes: &mut Vec<u8>, point: &Point<C>) {
    C::put_point(bytes, point);
}

pub(crate) fn put_scalar<C: Curve>(bytes: &mut Vec<u8>, scalar: &Scalar<C>) {
    C::put_scalar(bytes, scalar);
}

pub(crate) fn read_point<C: Curve>(bytes: &[u8], offset: usize) -> Result<Point<C>, DeckDecodeError> {
    let point = Point::<C>::deserialize_compressed(bytes).map_err(|_| DeckDecodeError::NotAPoint { offset })?;
    if point.is_zero() {
        return Err(DeckDecodeError::Identity { offset });
    }
    let mut again = Vec::with_capacity(bytes.len());
    put_point::<C>(&mut again, &point);
    if again != bytes {
        return Err(DeckDecodeError::NotCanonical { offset });
    }
    Ok(point)
}

pub(crate) fn read_scalar<C: Curve>(bytes: &[u8], offset: usize) -> Result<Scalar<C>, DeckDecodeError> {
    Scalar::<C>::deserialize_compressed(bytes).map_err(|_| DeckDecodeError::ScalarRange { offset })
}

/// Reads values off the front of bytes whose number was checked first.
pub(crate) struct ByteReader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> ByteReader<'a> {
    pub fn exactly(bytes: &'a [u8], expected: usize) -> Result<Self, DeckDecodeError> {
        match bytes.len() {
            found if found == expected => Ok(Self { rest: bytes, offset: 0 }),
            found => Err(DeckDecodeError::Length { expected, found }),
        }
    }

    /// The next so many bytes, and where they began.
    fn take(&mut self, count: usize) -> Result<(&'a [u8], usize), DeckDecodeError> {
        let offset = self.offset;
        let found = self.rest.len();
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or(DeckDecodeError::Length { expected: count, found })?;
        (self.rest, self.offset) = (rest, offset.saturating_add(count));
        Ok((taken, offset))
    }

    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], DeckDecodeError> {
        let (taken, _) = self.take(N)?;
        taken.try_into().map_err(|_| DeckDecodeError::Length { expected: N, found: taken.len() })
    }

    pub fn point<C: Curve>(&mut self) -> Result<Point<C>, DeckDecodeError> {
        let (bytes, offset) = self.take(point_bytes::<C>())?;
        C::read_point(bytes, offset)
    }

    pub fn scalar<C: Curve>(&mut self) -> Result<Scalar<C>, DeckDecodeError> {
        let (bytes, offset) = self.take(scalar_bytes::<C>())?;
        C::read_scalar(bytes, offset)
    }

    pub fn scalars<C: Curve>(&mut self, count: usize) -> Result<Vec<Scalar<C>>, DeckDecodeError> {
        (0..count).map(|_| self.scalar::<C>()).collect()
    }
}
