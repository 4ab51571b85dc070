//! The payouts role's client of the signer: one request at a time over its socket, and no guesses about outcomes.
//!
//! It guarantees that "refused" is only what the signer answered to this request. Any failure between the first sent
//! byte and a valid answer is [`SignerClientError::Unknown`]: the order may have been signed. Retrying the same
//! request is always safe, and is the only correct reaction.
//!
//! It does not know: when to retry, and where heads are stored. The caller stores the newest head together with the
//! answer before it acts on it, and sends it with the next request.

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

/// Keeps a connection between requests, and reconnects when it is lost.
#[derive(Debug)]
pub struct SignerClient {
    path: PathBuf,
    timeout: Duration,
    connection: Option<UnixStream>,
    in_process: Option<InProcess>,
}

/// A request in, an answer out; an error is a lost answer.
type SignerExchange = dyn FnMut(&SignerRequest) -> io::Result<SignerAnswer> + Send;

/// A signer in the same process.
struct InProcess(Box<SignerExchange>);

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InProcess")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignOutcome {
    /// Signed, now or before.
    Signed(SignedTransaction),
    /// This request released nothing.
    Refused { refusal: SignerRefusal, head: Option<MemoryHead> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevokeOutcome {
    /// Nothing is signed for the intent and never will be: proof that it can be refunded.
    Never {
        head: MemoryHead,
    },
    Refused {
        refusal: SignerRefusal,
        head: Option<MemoryHead>,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum SignerClientError {
    /// Nothing was sent: nothing happened.
    #[error("the signer cannot be reached")]
    Unreachable(#[source] io::Error),
    /// The request was sent and has no answer: it may have happened. Retry the same request.
    #[error("the signer did not answer, and may have signed")]
    Unknown(#[source] io::Error),
    /// The signer answers, and has no key for the wallet: the caller or the signer is misconfigured.
    #[error("the signer does not have the key of the wallet")]
    WalletUnknown,
    /// The answer contradicts the request or earlier answers. It needs an operator before the next request.
    #[error("the signer's answer is wrong and needs an operator: {what}")]
    Diverged { what: &'static str },
}

impl SignerClient {
    /// A client of the signer at this socket; a request without an answer within `timeout` fails.
    #[must_use]
    pub fn new(path: &Path, timeout: Duration) -> Self {
        Self { path: path.into(), timeout, connection: None, in_process: None }
    }

    /// A signer in the same process, for simulators. Its answers are checked like answers from a socket.
    #[must_use]
    pub fn in_process(signer: impl FnMut(&SignerRequest) -> io::Result<SignerAnswer> + Send + 'static) -> Self {
        let in_process = Some(InProcess(Box::new(signer)));
        Self { path: PathBuf::new(), timeout: Duration::ZERO, connection: None, in_process }
    }

    /// Requests the signature of an order, or the bytes that were signed for it before.
    ///
    /// # Errors
    /// See [`SignerClientError`].
    pub fn sign(&mut self, order: &Order, head: MemoryHead) -> Result<SignOutcome, SignerClientError> {
        let request = SignerRequest::Sign { order: order.clone(), approvals: Vec::new(), head };
        match self.request(&request)? {
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

    /// Requests that the signer never signs an intent.
    ///
    /// # Errors
    /// See [`SignerClientError`].
    pub fn revoke(
        &mut self,
        intent: &IntentId,
        wallet: Address,
        head: MemoryHead,
    ) -> Result<RevokeOutcome, SignerClientError> {
        match self.request(&SignerRequest::Revoke { intent: intent.clone(), wallet, head })? {
            SignerAnswer::Revoked { head } => Ok(RevokeOutcome::Never { head }),
            SignerAnswer::Refused { refusal, head } => Ok(RevokeOutcome::Refused { refusal, head }),
            _ => Err(SignerClientError::Diverged { what: "neither revoked nor refused" }),
        }
    }

    /// Requests the head of the memory. With a `known` head it detects a memory that is behind it.
    ///
    /// # Errors
    /// See [`SignerClientError`].
    pub fn status(&mut self, wallet: Address, known: Option<MemoryHead>) -> Result<SignerStatus, SignerClientError> {
        match self.request(&SignerRequest::Status { wallet })? {
            SignerAnswer::Status(status) => {
                if known.is_some_and(|known| is_behind(&status.head, &known)) {
                    return Err(SignerClientError::Diverged {
                        what: "its memory is not the one it answered from before",
                    });
                }
                Ok(status)
            }
            SignerAnswer::Refused { refusal: SignerRefusal::WalletUnknown, .. } => {
                Err(SignerClientError::WalletUnknown)
            }
            _ => Err(SignerClientError::Diverged { what: "no status" }),
        }
    }

    fn request(&mut self, request: &SignerRequest) -> Result<SignerAnswer, SignerClientError> {
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
            SignerAnswer::Failed => return Err(unknown("its memory failed during the request")),
            SignerAnswer::NotUnderstood => {
                return Err(SignerClientError::Diverged { what: "it does not understand the request" });
            }
            _ => {}
        }
        if let (Some(sent), Some(answered)) = (request.head(), answer.head()) {
            // A signer that detected this itself answers that it has stopped; that answer is valid.
            let stopped = matches!(
                answer,
                SignerAnswer::Refused { refusal: SignerRefusal::Stopped(_) | SignerRefusal::HeadForged, .. }
            );
            if !stopped && is_behind(answered, sent) {
                return Err(SignerClientError::Diverged { what: "its memory is older than what it answered before" });
            }
        }
        self.connection = stream;
        Ok(answer)
    }

    fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(self.timeout))?;
        stream.set_write_timeout(Some(self.timeout))?;
        Ok(stream)
    }
}

/// After an error the connection is dropped: a late answer must not be taken for the answer to the next request.
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
