//! How the payouts role asks the signer: one thing at a time over its socket, and never a guess about what happened.
//!
//! It guarantees that "refused" is only what the signer itself said to this very request. Everything between the first
//! byte that left and an answer that makes sense is [`SignerClientError::Unknown`]: the order may have been signed. Asking the
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

use bankroll_orders::{
    Address, IntentId, MemoryHead, Order, SignedTransaction, SignerAnswer, SignerRefusal, SignerRequest, SignerStatus,
    frame,
};
use sha3::{Digest, Keccak256};
// TEMPORARY aliases of old names.
#[rustfmt::skip]
pub use self::{SignerClientError as AskError, SignOutcome as Outcome, RevokeOutcome as Renounced};

/// A way to the signer. Holds a connection between requests, and makes a new one when that is gone.
#[derive(Debug)]
pub struct SignerClient {
    path: PathBuf,
    patience: Duration,
    connection: Option<UnixStream>,
    in_process: Option<InProcess>,
}

/// A request in, an answer out; an error is an answer that was lost.
type Exchange = dyn FnMut(&SignerRequest) -> io::Result<SignerAnswer> + Send;

/// A signer in the same process.
struct InProcess(Box<Exchange>);

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InProcess")
    }
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignOutcome {
    /// Signed, now or before.
    Signed(SignedTransaction),
    /// The signer said no; this request released nothing.
    Refused {
        refusal: SignerRefusal,
        /// Where its memory stands.
        head: Option<MemoryHead>,
    },
}

/// What came of revoking an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevokeOutcome {
    /// Nothing is signed for it and never will be. Proof that it can be given back.
    Never {
        /// Where the memory stands.
        head: MemoryHead,
    },
    /// The signer said no.
    Refused {
        refusal: SignerRefusal,
        /// Where its memory stands.
        head: Option<MemoryHead>,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum SignerClientError {
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
    pub fn in_process(signer: impl FnMut(&SignerRequest) -> io::Result<SignerAnswer> + Send + 'static) -> Self {
        let in_process = Some(InProcess(Box::new(signer)));
        Self { path: PathBuf::new(), patience: Duration::ZERO, connection: None, in_process }
    }

    /// Asks for an order to be signed, or for the bytes that were signed for it before.
    ///
    /// # Errors
    /// As [`SignerClientError`] says.
    pub fn sign(&mut self, order: &Order, head: MemoryHead) -> Result<SignOutcome, SignerClientError> {
        let request = SignerRequest::Sign { order: order.clone(), approvals: Vec::new(), head };
        match self.ask(&request)? {
            SignerAnswer::Signed(signed) => {
                let hash: [u8; 32] = Keccak256::digest(&signed.raw).into();
                if hash != signed.hash {
                    return Err(SignerClientError::Diverged { what: "the hash is not that of the bytes" });
                }
                Ok(SignOutcome::Signed(signed))
            }
            SignerAnswer::Refused { refusal, head } => Ok(SignOutcome::Refused { refusal, head }),
            _ => Err(SignerClientError::Diverged { what: "neither signed nor refused" }),
        }
    }

    /// Asks the signer never to sign an intent.
    ///
    /// # Errors
    /// As [`SignerClientError`] says.
    pub fn revoke(
        &mut self,
        intent: &IntentId,
        wallet: Address,
        head: MemoryHead,
    ) -> Result<RevokeOutcome, SignerClientError> {
        match self.ask(&SignerRequest::Revoke { intent: intent.clone(), wallet, head })? {
            SignerAnswer::Revoked { head } => Ok(RevokeOutcome::Never { head }),
            SignerAnswer::Refused { refusal, head } => Ok(RevokeOutcome::Refused { refusal, head }),
            _ => Err(SignerClientError::Diverged { what: "neither revoked nor refused" }),
        }
    }

    // TEMPORARY alias
    pub fn renounce(
        &mut self,
        intent: &IntentId,
        wallet: Address,
        head: MemoryHead,
    ) -> Result<RevokeOutcome, SignerClientError> {
        self.revoke(intent, wallet, head)
    }

    /// Asks where the memory stands. Whoever has a head already gives it, and hears of a memory that is behind it.
    ///
    /// # Errors
    /// As [`SignerClientError`] says; a wallet that the signer does not have is `Diverged`, because one of both is configured
    /// wrong.
    pub fn status(&mut self, wallet: Address, known: Option<MemoryHead>) -> Result<SignerStatus, SignerClientError> {
        match self.ask(&SignerRequest::Status { wallet })? {
            SignerAnswer::Status(status) => {
                if known.is_some_and(|known| is_behind(&status.head, &known)) {
                    return Err(SignerClientError::Diverged {
                        what: "its memory is not the one it answered from before",
                    });
                }
                Ok(status)
            }
            SignerAnswer::Refused { refusal: SignerRefusal::WalletUnknown, .. } => {
                Err(SignerClientError::Diverged { what: "it does not have the wallet" })
            }
            _ => Err(SignerClientError::Diverged { what: "no status" }),
        }
    }

    fn ask(&mut self, request: &SignerRequest) -> Result<SignerAnswer, SignerClientError> {
        let (answer, stream) = match (&mut self.in_process, self.connection.take()) {
            (Some(signer), _) => ((signer.0)(request).map_err(SignerClientError::Unknown)?, None),
            (None, Some(stream)) => exchange(stream, request).map_err(SignerClientError::Unknown)?,
            (None, None) => {
                let stream = self.connect().map_err(SignerClientError::Unreachable)?;
                exchange(stream, request).map_err(SignerClientError::Unknown)?
            }
        };
        let unknown = |why: &str| SignerClientError::Unknown(io::Error::other(why.to_owned()));
        match answer {
            SignerAnswer::Failed => return Err(unknown("its memory failed in the middle")),
            SignerAnswer::NotUnderstood => {
                return Err(SignerClientError::Diverged { what: "it does not understand the request" });
            }
            _ => {}
        }
        if let (Some(sent), Some(told)) = (request.head(), answer.head()) {
            // A signer that has noticed this itself says that it has stopped, and that is an answer.
            let stopped = matches!(
                answer,
                SignerAnswer::Refused { refusal: SignerRefusal::Stopped(_) | SignerRefusal::HeadForged, .. }
            );
            if !stopped && is_behind(told, sent) {
                return Err(SignerClientError::Diverged { what: "its memory is older than what it answered before" });
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
fn exchange(mut stream: UnixStream, request: &SignerRequest) -> io::Result<(SignerAnswer, Option<UnixStream>)> {
    frame::write(&mut stream, &request.encode())?;
    let body = frame::read(&mut stream)?.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    let answer = SignerAnswer::decode(&body).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((answer, Some(stream)))
}

fn is_behind(head: &MemoryHead, known: &MemoryHead) -> bool {
    head.memory != known.memory || head.count < known.count || (head.count == known.count && head.hash != known.hash)
}

#[cfg(test)]
mod tests;
