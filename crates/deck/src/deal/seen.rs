//! Blinding points that were already used.
//!
//! A blinding that is used twice links two cards: what a player reveals at the showdown of one opens the other.
//! A key used as blinding is worse. So each point counts once in a hand, and a caller that keeps the points of earlier
//! hands gives them to [`SeenBlindings::remember`] before the next.

use std::collections::BTreeSet;

use crate::{Curve, codec::put_point, curve::Point};

/// The points that must not be used as a blinding again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenBlindings {
    points: BTreeSet<Vec<u8>>,
}

impl SeenBlindings {
    /// Records a point; `false` if it was already recorded.
    #[must_use]
    pub fn insert<C: Curve>(&mut self, point: &Point<C>) -> bool {
        let mut bytes = Vec::new();
        put_point::<C>(&mut bytes, point);
        self.remember(bytes)
    }

    /// Records the bytes of a point of an earlier hand; `false` if they were already recorded.
    pub fn remember(&mut self, point: Vec<u8>) -> bool {
        self.points.insert(point)
    }

    #[must_use]
    pub fn contains<C: Curve>(&self, point: &Point<C>) -> bool {
        let mut bytes = Vec::new();
        put_point::<C>(&mut bytes, point);
        self.points.contains(&bytes)
    }

    /// The bytes of all points, in their order, for an index over hands.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.points.iter().map(Vec::as_slice)
    }
}
