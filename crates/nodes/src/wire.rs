//! The protocol: frames of a length and that many bytes, each one message in postcard.
//!
//! The books' node sends the first frame ([`ServerFrame::Welcome`]), which proves to the other node that its
//! certificate was accepted. Then requests go one way and replies the other, in any order, matched by their numbers. A
//! peer that violates the protocol gets a last frame with the reason. Bounds: [`FRAME_MAX`] bytes per frame,
//! [`RELAYED_HEADERS_MAX`] headers, and [`LongFrames`] for the memory of long frames.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::{RELAYED_HEADERS_MAX, RelayedRequest, RelayedResponse};

/// The longest frame, in bytes: the longest batch of the Funds API (8 MiB) fits, and the answer to it, which is longer.
pub const FRAME_MAX: usize = 16 << 20;
/// A longer frame needs permits of [`LongFrames`].
const SHORT_FRAME: usize = 64 << 10;
/// The most bytes of long frames in memory, for all connections of a server.
const LONG_FRAMES_MAX: usize = 256 << 20;
/// The version of the protocol; both ends must have the same. Version 1 had ledger requests, too.
pub const VERSION: u16 = 2;

/// A stream that frames are sent over: TLS between nodes, a local socket for commands.
pub(crate) trait NodeStream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> NodeStream for S {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRequest {
    /// The reply has the same number.
    pub number: u64,
    pub body: CallBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallBody {
    Ping,
    /// Answer this request of the Funds API; its proofs are in it.
    Relay(RelayedRequest),
}

/// A frame from the books' node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerFrame {
    /// The first frame: the certificate was accepted.
    Welcome {
        /// See [`VERSION`].
        version: u16,
        /// Whether this node holds the books now.
        holds: bool,
    },
    Reply {
        number: u64,
        reply: Result<CallReply, CallRefusal>,
    },
    /// The last frame: the peer violated the protocol.
    Goodbye(FrameViolation),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallReply {
    Pong,
    Relayed(RelayedResponse),
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum CallRefusal {
    /// Nothing happened: this node does not hold the books.
    #[error("the node does not hold the books")]
    NotHolder,
    /// Nothing happened: the queue is full.
    #[error("the books are busy")]
    Busy,
    /// Nothing happened: the call does not fit one frame.
    #[error("the call is too long: at most {FRAME_MAX} bytes and {RELAYED_HEADERS_MAX} headers")]
    TooLong,
    /// Nothing happened: the node's roles do not allow it.
    #[error("the node's roles do not allow this request")]
    NotAllowed,
    /// It may have happened.
    #[error("the outcome is unknown")]
    Unknown,
    /// It happened, and would be answered with the same reply again: the reply does not fit one frame.
    #[error("the reply is too long: at most {FRAME_MAX} bytes and {RELAYED_HEADERS_MAX} headers")]
    ReplyTooLong,
}

/// How a peer violated the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FrameViolation {
    #[error("a frame is longer than {FRAME_MAX} bytes")]
    TooLong,
    #[error("a frame is not a message")]
    Malformed,
    #[error("the certificate names no node")]
    Nameless,
    #[error("the certificate is expired or revoked")]
    Untrusted,
    #[error("the connection was silent for too long")]
    Silent,
}

#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the connection failed")]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Violation(#[from] FrameViolation),
}

/// Bounds the memory of long frames, of all connections of a server together: a connection waits before it reads one.
/// Short frames need no permit, so that a node that sends long ones slowly stops no other call.
#[derive(Clone, Debug)]
pub struct LongFrames(Arc<Semaphore>);

impl Default for LongFrames {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LONG_FRAMES_MAX)))
    }
}

/// Reads one message; `None` if the connection ended between two.
///
/// # Errors
/// If the connection fails, ends within a frame, or the frame is not a message.
pub async fn read<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<T>, FrameError> {
    match read_length(from).await? {
        Some(length) => read_message(from, length).await.map(Some),
        None => Ok(None),
    }
}

/// Like [`read`], with the permit for a long frame, which its reader keeps as long as the message is in memory.
///
/// # Errors
/// As [`read`].
pub async fn read_bounded<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    long_frames: &LongFrames,
) -> Result<Option<(T, Option<OwnedSemaphorePermit>)>, FrameError> {
    let Some(length) = read_length(from).await? else { return Ok(None) };
    let permit = match u32::try_from(length) {
        Ok(bytes) if length > SHORT_FRAME => Arc::clone(&long_frames.0).acquire_many_owned(bytes).await.ok(),
        _ => None,
    };
    Ok(Some((read_message(from, length).await?, permit)))
}

async fn read_length(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<usize>, FrameError> {
    let mut length = [0; 4];
    match from.read_exact(&mut length[..1]).await {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    from.read_exact(&mut length[1..]).await?;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_MAX { Err(FrameViolation::TooLong.into()) } else { Ok(Some(length)) }
}

async fn read_message<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    length: usize,
) -> Result<T, FrameError> {
    // Allocates for received bytes, not for the announced length.
    let mut bytes = Vec::new();
    if from.take(length as u64).read_to_end(&mut bytes).await? < length {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    match postcard::take_from_bytes(&bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(FrameViolation::Malformed.into()),
    }
}

/// The frame of a message; `None` if it would be longer than [`FRAME_MAX`].
pub fn frame<T: Serialize>(message: &T) -> Option<Vec<u8>> {
    let bytes = postcard::to_extend(message, vec![0; 4]).ok()?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length as usize <= FRAME_MAX)?;
    let mut frame = bytes;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Some(frame)
}

/// The encoded body of a call, so that every retry sends the same bytes; `None` if it does not fit a frame.
pub fn encode_body(body: &CallBody) -> Option<Vec<u8>> {
    // The frame also has a number of at most ten bytes.
    postcard::to_stdvec(body).ok().filter(|bytes| bytes.len() + 10 <= FRAME_MAX)
}

/// The frame of a [`CallRequest`] with this number and this encoded body.
#[must_use]
pub fn request_frame(number: u64, body: &[u8]) -> Vec<u8> {
    // postcard encodes a struct as its fields, one after the other.
    let mut frame = postcard::to_extend(&number, vec![0; 4]).expect("encoding into memory cannot fail");
    frame.extend_from_slice(body);
    let length = u32::try_from(frame.len() - 4).expect("encode_body checked the size");
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame
}

/// Sends a frame.
///
/// # Errors
/// If the connection fails.
pub async fn send(to: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> std::io::Result<()> {
    to.write_all(frame).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_framed_again_is_the_same_request() {
        for number in [0, 1, 127, 128, u64::MAX] {
            let whole = frame(&CallRequest { number, body: CallBody::Ping }).unwrap();
            assert_eq!(request_frame(number, &encode_body(&CallBody::Ping).unwrap()), whole);
        }
    }
    /// Whether a read has its message at once.
    async fn is_read(frame: &[u8], long_frames: &LongFrames) -> Option<Option<OwnedSemaphorePermit>> {
        let mut from = frame;
        tokio::select! {
            biased;
            read = read_bounded::<Vec<u8>>(&mut from, long_frames) => Some(read.unwrap().unwrap().1),
            () = std::future::ready(()) => None,
        }
    }

    #[tokio::test]
    async fn long_frames_wait_for_memory_and_short_ones_do_not() {
        let long_frames = LongFrames(Arc::new(Semaphore::new(3 * SHORT_FRAME)));
        let (short, long) = (frame(&vec![7_u8; 100]).unwrap(), frame(&vec![7_u8; 2 * SHORT_FRAME]).unwrap());
        let first = is_read(&long, &long_frames).await.expect("there is memory for one");
        assert!(is_read(&long, &long_frames).await.is_none(), "there is none for a second");
        assert!(is_read(&short, &long_frames).await.expect("a short one needs none").is_none());
        drop(first);
        assert!(is_read(&long, &long_frames).await.is_some());
    }
}
