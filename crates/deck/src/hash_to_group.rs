//! Points with no known relation to each other.
//!
//! Each is the first hit of SHAKE256 over (domain, curve, purpose, index, counter), with rising counters. No party
//! knows a relation between two of them, or between one and the generator: with such knowledge commitments would not
//! bind. So they never come from a seeded generator, which would go through a scalar that the seed reveals.
//!
//! It takes variable time, which is harmless: all of its input is public.

use ark_ec::AffineRepr;
use sha3::{
    Shake256,
    digest::{ExtendableOutput, Update, XofReader},
};

use crate::{Curve, curve::Point};

const DOMAIN: &[u8] = b"bankroll deck v1 hash to group";

/// What a point is for; the same index gives another point for each purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointPurpose {
    Card,
    CommitmentBase,
}

impl PointPurpose {
    const fn name(self) -> &'static [u8] {
        match self {
            Self::Card => b"card",
            Self::CommitmentBase => b"commitment base",
        }
    }
}

/// The point of this purpose and index: never the identity, always in the prime-order group.
pub(crate) fn point<C: Curve>(purpose: PointPurpose, index: u16) -> Point<C> {
    let mut tries = (0_u32..).filter_map(|counter| candidate::<C>(purpose, index, counter));
    tries.next().expect("half of all coordinates belong to a point")
}

fn candidate<C: Curve>(purpose: PointPurpose, index: u16, counter: u32) -> Option<Point<C>> {
    let mut shake = Shake256::default();
    for part in [DOMAIN, C::NAME.as_bytes(), purpose.name()] {
        // Framed by its length, so that no two inputs give the same bytes.
        shake.update(&(part.len() as u64).to_le_bytes());
        shake.update(part);
    }
    shake.update(&index.to_le_bytes());
    shake.update(&counter.to_le_bytes());
    let mut output = shake.finalize_xof();
    let (mut coordinate, mut sign) = ([0; 64], [0; 1]);
    output.read(&mut coordinate);
    output.read(&mut sign);
    let point = C::lift(&coordinate, sign[0] % 2 == 1)?.clear_cofactor();
    (!point.is_zero()).then_some(point)
}
