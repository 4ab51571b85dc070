//! Many checks as one sum of multiples of points, which must be zero.
//!
//! Equal points are merged, since the same generator, key or card stands in many equations; whether the sum is zero is
//! then one multi-scalar multiplication. Which equations go in, and with what weights, is for the caller to get right.

#![allow(clippy::arithmetic_side_effects, reason = "sums in a field and in a group; neither can overflow")]

use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    hash::BuildHasherDefault,
};

use ark_ec::AffineRepr;

use crate::{
    Curve,
    curve::{Point, Scalar},
};

pub(crate) struct Combination<C: Curve> {
    /// Where each point stands below. The hasher has no random state: the same proofs take the same steps everywhere.
    places: HashMap<Point<C>, usize, BuildHasherDefault<DefaultHasher>>,
    points: Vec<Point<C>>,
    scalars: Vec<Scalar<C>>,
}

impl<C: Curve> Combination<C> {
    pub fn new() -> Self {
        Self { places: HashMap::default(), points: Vec::new(), scalars: Vec::new() }
    }

    pub fn add(&mut self, point: &Point<C>, scalar: Scalar<C>) {
        if point.is_zero() {
            return;
        }
        let place = *self.places.entry(*point).or_insert(self.points.len());
        if let Some(sum) = self.scalars.get_mut(place) {
            *sum += scalar;
        } else {
            self.points.push(*point);
            self.scalars.push(scalar);
        }
    }

    pub fn is_zero(&self) -> bool {
        C::msm_unchecked(&self.points, &self.scalars).is_zero()
    }
}
