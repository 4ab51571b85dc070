//! Damages that a review found believed.
