//! Orders of a deck, each as likely as any other.
//!
//! Fisher-Yates, with every draw below its bound by rejection: a remainder of a division would favour some cards.

use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroize;

/// Where each card of the new deck was in the old one. It is the shuffler's secret, and is wiped.
pub(crate) struct Permutation(Vec<u8>);

impl Permutation {
    pub fn random(size: u8, rng: &mut (impl CryptoRng + RngCore)) -> Self {
        let mut places: Vec<u8> = (0..size).collect();
        for last in (1..size).rev() {
            places.swap(usize::from(last), usize::from(up_to(last, rng)));
        }
        Self(places)
    }

    /// These places, whether or not they are a permutation: a proof must fail if they are not.
    #[cfg(test)]
    pub const fn of(places: Vec<u8>) -> Self {
        Self(places)
    }

    pub fn places(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Permutation {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// A number from 0 to the bound, which is included.
fn up_to(bound: u8, rng: &mut (impl CryptoRng + RngCore)) -> u8 {
    // The smallest mask that covers the bound: at least every second draw is taken.
    let mask = u8::MAX.checked_shr(bound.leading_zeros()).unwrap_or_default();
    loop {
        let mut byte = [0; 1];
        rng.fill_bytes(&mut byte);
        let drawn = byte.map(|byte| byte & mask);
        if drawn <= [bound] {
            return drawn[0];
        }
    }
}
