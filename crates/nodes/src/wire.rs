//! What goes over a connection: frames of a length and that many bytes, each one message in postcard.
//!
//! The books' node speaks first ([`ServerFrame::Welcome`]), which proves to the other that its certificate was taken. Then asks go
//! one way and replies the other, in any order, matched by their numbers. Whoever breaks the form is told so and cut off.
//! Bounds: [`FRAME_MAX`] bytes a frame, [`CALL_MAX`] requests a call.

use bankroll_ledger::{AccountId, AccountName, Answer, OpenRejected, Principal, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::PrincipalClaim;

/// The longest frame, in bytes.
pub const FRAME_MAX: usize = 4 << 20;
/// The most requests, or names of accounts, in one call.
pub const CALL_MAX: usize = 1_024;
/// The version of all this; another one is another language.
pub const VERSION: u16 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRequest {
    /// The number that the reply will have.
    pub number: u64,
    pub body: CallBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallBody {
    /// Whether anybody is there.
    Ping,
    /// To apply these requests, each on its own.
    Apply(Vec<Request>),
    /// To open these accounts, each with the policy of its kind.
    Open { by: Principal, names: Vec<AccountName> },
}

/// From the books' node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerFrame {
    /// The first frame: the certificate was taken.
    Welcome {
        /// See [`VERSION`].
        version: u16,
        /// Whether it holds the books at this moment.
        holds: bool,
    },
    Reply {
        number: u64,
        /// The answer, or why there is none.
        reply: Result<CallReply, CallRefusal>,
    },
    /// The last frame: what was heard makes no sense.
    Goodbye(FrameViolation),
}

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallReply {
    Pong,
    /// One for each request, in order.
    Applied(Vec<Answer>),
    /// One for each name, in order.
    Opened(Vec<Result<AccountId, OpenRejected>>),
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
    /// Nothing happened: the call is larger than a call may be.
    #[error("a call has 1 to {most} requests; this one has {given}")]
    CallSize { given: u32, most: u32 },
    /// Nothing happened: the node's roles do not allow it.
    #[error("the node may not ask this")]
    NotAllowed(#[source] PrincipalClaim),
    /// Nothing happened: the disk of the books is full.
    #[error("the disk of the books is full")]
    StorageFull,
    /// Nothing happened: the books' database was out of reach.
    #[error("the books' database was out of reach")]
    Unreachable,
    /// It may have happened.
    #[error("the outcome is unknown")]
    Unknown,
}

/// What makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FrameViolation {
    /// A frame that is longer than frames may be.
    #[error("a frame is longer than {FRAME_MAX} bytes")]
    TooLong,
    /// A frame that is no message.
    #[error("a frame is no message")]
    Malformed,
    /// A certificate that names no node.
    #[error("the certificate names no node")]
    Nameless,
    /// Nothing was said for too long.
    #[error("nothing was said for too long")]
    Silent,
}

/// Why no message was read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the connection failed")]
    Io(#[from] std::io::Error),
    /// What came makes no sense.
    #[error(transparent)]
    Violation(#[from] FrameViolation),
}

/// Reads one message; `None` if the connection ended between two.
///
/// # Errors
/// If the connection fails, ends within a frame, or the frame is no message.
pub async fn read<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<T>, FrameError> {
    let mut length = [0; 4];
    match from.read_exact(&mut length[..1]).await {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    from.read_exact(&mut length[1..]).await?;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_MAX {
        return Err(FrameViolation::TooLong.into());
    }
    // Memory is taken for what has come, not for what was promised.
    let mut bytes = Vec::new();
    if from.take(length as u64).read_to_end(&mut bytes).await? < length {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    match postcard::take_from_bytes(&bytes) {
        Ok((message, [])) => Ok(Some(message)),
        _ => Err(FrameViolation::Malformed.into()),
    }
}

/// The frame of a message; `None` if it would be longer than frames may be.
pub fn frame<T: Serialize>(message: &T) -> Option<Vec<u8>> {
    let bytes = postcard::to_extend(message, vec![0; 4]).ok()?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length as usize <= FRAME_MAX)?;
    let mut frame = bytes;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Some(frame)
}

/// A question as it goes into every frame that asks it, so that what is asked again is the same bytes; `None` if it is
/// longer than a frame may be.
pub fn encode_body(body: &CallBody) -> Option<Vec<u8>> {
    // Beside it there is a number, of ten bytes at the most.
    postcard::to_stdvec(body).ok().filter(|bytes| bytes.len() + 10 <= FRAME_MAX)
}

/// The frame of an [`CallRequest`] with this number and this encoded question.
#[must_use]
pub fn request_frame(number: u64, body: &[u8]) -> Vec<u8> {
    // A struct is its fields, one behind the other.
    let mut frame = postcard::to_extend(&number, vec![0; 4]).expect("encoding into memory cannot fail");
    frame.extend_from_slice(body);
    let length = u32::try_from(frame.len() - 4).expect("a question fits a frame");
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
    fn a_question_that_is_framed_again_is_the_same_ask() {
        for number in [0, 1, 127, 128, u64::MAX] {
            let whole = frame(&CallRequest { number, body: CallBody::Ping }).unwrap();
            assert_eq!(request_frame(number, &encode_body(&CallBody::Ping).unwrap()), whole);
        }
    }
}
