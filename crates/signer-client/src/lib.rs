//! How the payouts role asks the signer: one thing at a time over its socket, and never a guess about what happened.
//!
//! It guarantees that "refused" is only what the signer itself said to this very request. Everything between the first
//! byte that left and an answer that makes sense is [`AskError::Unknown`]: the order may have been signed. Asking the
//! same again is always safe, and is the only thing to do then.
//!
//! It does not know: when to ask again, and where heads are kept. Whoever asks stores the newest head with what it
//! got, before it acts on it, and sends it along with the next request.

#![warn(clippy::pedantic)]

use std::{
    io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use bankroll_orders::{Address, Answer, Head, IntentId, Order, Refusal, Request, Signed, Status, frame};
use sha3::{Digest, Keccak256};

/// A way to the signer. Holds a connection between requests, and makes a new one when that is gone.
#[derive(Debug)]
pub struct SignerClient {
    path: PathBuf,
    patience: Duration,
    connection: Option<UnixStream>,
    in_process: Option<InProcess>,
}

/// A request in, an answer out; an error is an answer that was lost.
type Exchange = dyn FnMut(&Request) -> io::Result<Answer> + Send;

/// A signer in the same process.
struct InProcess(Box<Exchange>);

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InProcess")
    }
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Signed, now or before.
    Signed(Signed),
    /// The signer said no; this request released nothing.
    Refused {
        /// Why.
        refusal: Refusal,
        /// Where its memory stands.
        head: Option<Head>,
    },
}

/// What came of renouncing an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renounced {
    /// Nothing is signed for it and never will be. Proof that it can be given back.
    Never {
        /// Where the memory stands.
        head: Head,
    },
    /// The signer said no.
    Refused {
        /// Why.
        refusal: Refusal,
        /// Where its memory stands.
        head: Option<Head>,
    },
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nothing was sent: nothing happened.
    #[error("the signer cannot be reached")]
    Unreachable(#[source] io::Error),
    /// It was sent, and there is no answer: it may have happened. Ask the same again.
    #[error("the signer did not answer, and may have signed")]
    Unknown(#[source] io::Error),
    /// The answer cannot be one to what was asked. Somebody must look before anything else is asked.
    #[error("the signer's answer is not one to the request: {what}")]
    Diverged {
        /// What does not fit.
        what: &'static str,
    },
}

impl SignerClient {
    /// A way to the signer that listens at this path; no answer after so long is no answer.
    #[must_use]
    pub fn new(path: &Path, patience: Duration) -> Self {
        Self { path: path.into(), patience, connection: None, in_process: None }
    }

    /// A way to a signer in the same process, for a simulator: what it answers is looked at as if it came from a socket.
    #[must_use]
    pub fn in_process(signer: impl FnMut(&Request) -> io::Result<Answer> + Send + 'static) -> Self {
        let in_process = Some(InProcess(Box::new(signer)));
        Self { path: PathBuf::new(), patience: Duration::ZERO, connection: None, in_process }
    }

    /// Asks for an order to be signed, or for the bytes that were signed for it before.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub fn sign(&mut self, order: &Order, head: Head) -> Result<Outcome, AskError> {
        let request = Request::Sign { order: order.clone(), approvals: Vec::new(), head };
        match self.ask(&request)? {
            Answer::Signed(signed) => {
                let hash: [u8; 32] = Keccak256::digest(&signed.raw).into();
                if hash != signed.hash {
                    return Err(AskError::Diverged { what: "the hash is not that of the bytes" });
                }
                Ok(Outcome::Signed(signed))
            }
            Answer::Refused { refusal, head } => Ok(Outcome::Refused { refusal, head }),
            _ => Err(AskError::Diverged { what: "neither signed nor refused" }),
        }
    }

    /// Asks the signer never to sign an intent.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub fn renounce(&mut self, intent: &IntentId, wallet: Address, head: Head) -> Result<Renounced, AskError> {
        match self.ask(&Request::Renounce { intent: intent.clone(), wallet, head })? {
            Answer::Renounced { head } => Ok(Renounced::Never { head }),
            Answer::Refused { refusal, head } => Ok(Renounced::Refused { refusal, head }),
            _ => Err(AskError::Diverged { what: "neither renounced nor refused" }),
        }
    }

    /// Asks where the memory stands. Whoever has a head already gives it, and hears of a memory that is behind it.
    ///
    /// # Errors
    /// As [`AskError`] says; a wallet that the signer does not have is `Diverged`, because one of both is configured
    /// wrong.
    pub fn status(&mut self, wallet: Address, known: Option<Head>) -> Result<Status, AskError> {
        match self.ask(&Request::Status { wallet })? {
            Answer::Status(status) => {
                if known.is_some_and(|known| is_behind(&status.head, &known)) {
                    return Err(AskError::Diverged { what: "its memory is not the one it answered from before" });
                }
                Ok(status)
            }
            Answer::Refused { refusal: Refusal::WalletUnknown, .. } => {
                Err(AskError::Diverged { what: "it does not have the wallet" })
            }
            _ => Err(AskError::Diverged { what: "no status" }),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, AskError> {
        let (answer, stream) = match (&mut self.in_process, self.connection.take()) {
            (Some(signer), _) => ((signer.0)(request).map_err(AskError::Unknown)?, None),
            (None, Some(stream)) => exchange(stream, request).map_err(AskError::Unknown)?,
            (None, None) => {
                let stream = self.connect().map_err(AskError::Unreachable)?;
                exchange(stream, request).map_err(AskError::Unknown)?
            }
        };
        let unknown = |why: &str| AskError::Unknown(io::Error::other(why.to_owned()));
        match answer {
            Answer::Failed => return Err(unknown("its memory failed in the middle")),
            Answer::NotUnderstood => return Err(AskError::Diverged { what: "it does not understand the request" }),
            _ => {}
        }
        if let (Some(sent), Some(told)) = (request.head(), answer.head()) {
            // A signer that has noticed this itself says that it has stopped, and that is an answer.
            let stopped = matches!(answer, Answer::Refused { refusal: Refusal::Stopped(_) | Refusal::HeadForged, .. });
            if !stopped && is_behind(told, sent) {
                return Err(AskError::Diverged { what: "its memory is older than what it answered before" });
            }
        }
        self.connection = stream;
        Ok(answer)
    }

    fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_write_timeout(Some(self.patience))?;
        Ok(stream)
    }
}

/// After an error the connection is not used again: an answer that comes late must not be taken for the next one's.
fn exchange(mut stream: UnixStream, request: &Request) -> io::Result<(Answer, Option<UnixStream>)> {
    frame::write(&mut stream, &request.encode())?;
    let body = frame::read(&mut stream)?.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    let answer = Answer::decode(&body).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((answer, Some(stream)))
}

fn is_behind(head: &Head, known: &Head) -> bool {
    head.memory != known.memory || head.count < known.count || (head.count == known.count && head.hash != known.hash)
}

#[cfg(test)]
mod tests;
