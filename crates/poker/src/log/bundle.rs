//! One hand in one file: every envelope as it came, its receipt, the checkpoint, and what players signed of the end.
//!
//! The file names itself and its version in its first bytes. It holds what was public at the table and nothing else: a
//! card that was mucked, folded or never dealt cannot be learned from it.
//!
//! | to do | call |
//! | --- | --- |
//! | check everything, or name the first thing that is wrong | [`Bundle::verify`] |
//! | go through it event by event | [`BundleReplay`] |
//! | read it with other programs | [`Bundle::view`] |

mod fault;
mod replay;
mod verify;
mod view;

pub use fault::{BundleDefect, BundleFault};
pub use replay::{BundleReplay, ReplayStep};
pub use verify::{BundleTally, VerificationReport};
pub use view::BundleView;

use serde::{Deserialize, Serialize};

use super::{Checkpoint, Cosignature, EventReceipt, hex::Bytes};
use crate::codec::{self, HandDecodeError};

/// What every bundle begins with; the last two bytes are the version, least significant first.
pub const MAGIC: [u8; 16] = *b"bankroll hand\0\x01\x00";

/// No bundle is longer.
pub const BUNDLE_BYTES_MAX: usize = 32 << 20;

/// An event of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleEntry {
    /// The envelope's bytes.
    pub envelope: Bytes,
    /// The operator's receipt for it.
    pub receipt: EventReceipt,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    pub entries: Vec<BundleEntry>,
    pub checkpoint: Checkpoint,
    /// What players signed of the end, if they did.
    pub cosignatures: Vec<Cosignature>,
}

/// Why bytes are no bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// Longer than any bundle is.
    #[error("a bundle of {bytes} bytes is too long")]
    TooLong { bytes: usize },
    /// It does not begin as a bundle does, or is of another version.
    #[error("not a hand bundle of version 1")]
    Magic,
    /// Not the one form of a bundle.
    #[error(transparent)]
    Bytes(#[from] HandDecodeError),
}

impl Bundle {
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        [MAGIC.as_slice(), &codec::encode(self)].concat()
    }

    /// Reads a file; [`Bundle::verify`] checks it.
    ///
    /// # Errors
    /// If the bytes are not the one form of a bundle.
    pub fn decode(bytes: &[u8]) -> Result<Self, BundleError> {
        if bytes.len() > BUNDLE_BYTES_MAX {
            return Err(BundleError::TooLong { bytes: bytes.len() });
        }
        let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or(BundleError::Magic)?;
        Ok(codec::decode(body)?)
    }

    #[must_use]
    pub fn receipts(&self) -> Vec<EventReceipt> {
        self.entries.iter().map(|entry| entry.receipt.clone()).collect()
    }
}
