//! Keys of a hand.
//!
//! Shufflers encrypt the deck under the sum of their keys; players receive their cards under their own. All are made
//! for one hand (see [`MasterSecret::key`]), so that what is revealed in one hand is useless in the next, and each is
//! admitted only with a proof that its owner has the secret. The keys that sign messages are not known here.

mod hand;
mod member;
pub(crate) mod possession;
mod secret;

pub use hand::{HandKeys, KeyError};
pub use member::{Member, MemberRole};
pub use possession::Possession;
pub use secret::{MasterSecret, SecretKey};

use crate::{
    Curve, DeckDecodeError,
    codec::{ByteReader, put_point},
    curve::Point,
};

/// A public key: `x G` for a secret `x`, never the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey<C: Curve>(pub(crate) Point<C>);

impl<C: Curve> PublicKey<C> {
    #[must_use]
    pub const fn point(&self) -> &Point<C> {
        &self.0
    }

    /// One point.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_point::<C>(&mut bytes, &self.0);
        bytes
    }

    /// Reads a key.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a point of the group other than the identity.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        Ok(Self(ByteReader::exactly(bytes, crate::codec::point_bytes::<C>())?.point::<C>()?))
    }
}
