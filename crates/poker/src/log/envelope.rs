//! A signed message and its one form in bytes.
//!
//! The signature covers everything: which hand of which game of which deployment, the author, the number of the message
//! and the one before it, its kind, and its content. A betting decision also names the last betting
//! event its author had seen, so that no "call" is ever put behind a raise that came later. The id of an envelope is
//! the hash of its bytes, signature included, and the bytes are kept as they came.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    Actor, HandConfig, LogHash, LogMessage, MessageKind,
    hex::Hex,
    signing::{MessageSigner, Signature, SignerKey},
};
use crate::codec::{self, HandDecodeError};

/// No envelope is longer; a start of a hand with 255 shufflers is far from it.
pub const ENVELOPE_BYTES_MAX: usize = 65_536;

const DOMAIN: &str = "bankroll envelope 1";

/// Where a message belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeHeader {
    /// The operator's deployment.
    pub deployment: String,
    /// The game within it.
    pub game: String,
    /// The hand within the game.
    pub hand: String,
    pub actor: Actor,
    /// The number of the message among its author's messages of this hand, from 1.
    pub nonce: u64,
    /// The id of the author's message before; for the first, the hash of the hand's configuration.
    pub previous: LogHash,
    /// What kind of message it is.
    pub kind: MessageKind,
    /// For a betting decision, the id of the last betting event its author had seen, if there was one.
    pub seen: Option<LogHash>,
}

/// A signed message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionEnvelope {
    /// Where it belongs.
    pub header: EnvelopeHeader,
    pub message: LogMessage,
    /// Of the author, over both.
    pub signature: Signature,
}

/// Why bytes are no envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// Longer than any envelope is.
    #[error("an envelope of {bytes} bytes is too long")]
    TooLong { bytes: usize },
    /// Not the one form of an envelope.
    #[error(transparent)]
    Bytes(#[from] HandDecodeError),
    /// The header says another kind than the message is.
    #[error("the header says {header:?}, the message is {message:?}")]
    Kind { header: MessageKind, message: MessageKind },
    /// A betting event is named by something that is no betting decision.
    #[error("only a betting decision names the last betting event seen")]
    Seen,
}

impl EnvelopeHeader {
    /// The header of an actor's next message in a hand.
    #[must_use]
    pub fn next(config: &HandConfig, actor: Actor, nonce: u64, previous: LogHash, kind: MessageKind) -> Self {
        let (deployment, game, hand) = (config.deployment.clone(), config.game.clone(), config.hand.clone());
        Self { deployment, game, hand, actor, nonce, previous, kind, seen: None }
    }
}

impl ActionEnvelope {
    #[must_use]
    pub fn sign(header: EnvelopeHeader, message: LogMessage, signer: &MessageSigner) -> Self {
        let signature = signer.sign(DOMAIN, &codec::encode(&(&header, &message)));
        Self { header, message, signature }
    }

    /// Whether the owner of this key signed it.
    #[must_use]
    pub fn is_signed_by(&self, key: &SignerKey) -> bool {
        key.signed(DOMAIN, &codec::encode(&(&self.header, &self.message)), &self.signature)
    }

    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads an envelope; the signature and the content are not checked here.
    ///
    /// # Errors
    /// If the bytes are not the one form of an envelope.
    pub fn decode(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(EnvelopeError::TooLong { bytes: bytes.len() });
        }
        let envelope: Self = codec::decode(bytes)?;
        let (header, message) = (envelope.header.kind, envelope.message.kind());
        if header != message {
            return Err(EnvelopeError::Kind { header, message });
        }
        if envelope.header.seen.is_some() && message != MessageKind::Player {
            return Err(EnvelopeError::Seen);
        }
        Ok(envelope)
    }
}

/// The id of an envelope: the hash of its bytes.
#[must_use]
pub fn event_id(envelope: &[u8]) -> LogHash {
    Hex(Sha256::new().chain_update(b"bankroll event 1\0").chain_update(envelope).finalize().into())
}
