//! Answers: what a caller gets for a request, from the writer itself or from another node.

use serde::{Deserialize, Serialize};

use crate::{Effects, Rejection, Seq, Verdict};

/// The outcome of one request. Nodes send it to each other: the order of the fields is part of their protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Its position in the journal; `None` for a rejection that is not recorded.
    pub seq: Option<Seq>,
    /// Whether this is the stored answer to an earlier request with the same key and body.
    pub replayed: bool,
    pub verdict: Verdict,
}

impl Answer {
    /// The effects of an applied request.
    ///
    /// # Errors
    /// The rejection, if it was rejected.
    pub fn effects(&self) -> Result<&Effects, Rejection> {
        match &self.verdict {
            Verdict::Applied(effects) => Ok(effects),
            Verdict::Rejected(rejection) => Err(*rejection),
        }
    }
}
