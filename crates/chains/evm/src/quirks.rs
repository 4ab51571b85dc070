//! Differences between real nodes, in one place: error texts, error codes, missing methods.
//!
//! | node | behaviour | handling |
//! | --- | --- | --- |
//! | all | distinguish refusals of transactions only by text, code -32000 | [`verdict`] reads the text |
//! | geth, reth, erigon, anvil, besu, nethermind | own texts for the same refusal | all are listed |
//! | load balancers | use a node that is behind: `null` receipts for a block of another node | unavailable, retry |
//! | providers | code -32005, -32029 or 429 for rate limits | unavailable |
//! | geth | "finalized block not found" while it starts | no such block |
//! | older nodes | no `eth_getBlockReceipts` | receipts one by one, in batches |
//! | geth | no `trace_block`; nests `callTracer` as deep as contracts call | see `traces.rs` |
//! | anvil | "trace_block" of a pruned block: errors inside the list | unavailable, never "no transfers" |

use crate::error::{RpcError, RpcRefusal, Unavailable};
use crate::wire::RpcFailure;

/// No such method.
pub const NO_METHOD: i64 = -32601;

/// Classifies an error: about the request, or about the node.
pub fn failure(failure: RpcFailure) -> RpcError {
    let RpcFailure { code, message } = failure;
    let words = message.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    match code {
        429 | -32005 | -32029 => Unavailable::RateLimited.into(),
        _ if has(&["rate limit", "too many requests", "request limit", "limit exceeded"]) => {
            Unavailable::RateLimited.into()
        }
        -32603 => Unavailable::Failed { code, message }.into(),
        _ if has(&["timeout", "timed out", "unavailable", "missing trie node", "not synced", "internal error"]) => {
            Unavailable::Failed { code, message }.into()
        }
        _ => RpcRefusal { code, message }.into(),
    }
}

/// Whether the node does not support the method.
pub fn has_no_method(error: &RpcError) -> bool {
    let RpcError::Refused(RpcRefusal { code, message }) = error else { return false };
    let words = message.to_ascii_lowercase();
    *code == NO_METHOD || ["method not found", "not supported", "unsupported method"].iter().any(|w| words.contains(w))
}

/// Whether the error means that there is no such block.
pub fn is_no_block(error: &RpcError) -> bool {
    let RpcError::Refused(RpcRefusal { message, .. }) = error else { return false };
    let words = message.to_ascii_lowercase();
    ["block not found", "unknown block", "header not found", "blocknotfound"].iter().any(|part| words.contains(part))
}

/// Why a node refused a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendVerdict {
    AlreadyKnown,
    NonceTooLow,
    Underpriced,
    Other,
}

/// By text, because there is nothing else. "Already known" comes first: misreading it would be the worst error.
pub fn verdict(message: &str) -> SendVerdict {
    const WORDS: &[(SendVerdict, &[&str])] = &[
        (
            SendVerdict::AlreadyKnown,
            &[
                "already known",
                "alreadyknown",
                "known transaction",
                "already imported",
                "already in mempool",
                "already exists",
                "already in the pool",
            ],
        ),
        (
            SendVerdict::NonceTooLow,
            &[
                "nonce too low",
                "oldnonce",
                "nonce is too low",
                "invalid nonce; got",
                "nonce has already been used",
                "nonce below",
                "old nonce",
            ],
        ),
        (
            SendVerdict::Underpriced,
            &[
                "underpriced",
                "max fee per gas less than block base fee",
                "feetoolow",
                "fee too low",
                "gas price below",
                "gas price too low",
                "replacement_not_allowed",
                "replacement not allowed",
                "tip too low",
                "feecap less than block base fee",
                "below configured minimum",
            ],
        ),
    ];
    let words = message.to_ascii_lowercase();
    let fits = |(_, parts): &&(SendVerdict, &[&str])| parts.iter().any(|part| words.contains(part));
    WORDS.iter().find(fits).map_or(SendVerdict::Other, |(verdict, _)| *verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_recognised_by_the_text_of_each_node() {
        let check = |message: &str, expected| assert_eq!(verdict(message), expected, "{message}");
        check("already known", SendVerdict::AlreadyKnown); // geth
        check("AlreadyKnown", SendVerdict::AlreadyKnown); // nethermind
        check("transaction already imported", SendVerdict::AlreadyKnown); // anvil
        check("Known transaction", SendVerdict::AlreadyKnown); // besu
        check("nonce too low: next nonce 5, tx nonce 3", SendVerdict::NonceTooLow); // geth, anvil
        check("OldNonce, Current nonce: 5, nonce of rejected tx: 3", SendVerdict::NonceTooLow); // nethermind
        check("replacement transaction underpriced", SendVerdict::Underpriced); // geth, reth, anvil
        check("transaction underpriced: gas tip cap 0, minimum needed 1", SendVerdict::Underpriced); // geth
        check("max fee per gas less than block base fee", SendVerdict::Underpriced); // geth, anvil
        check("insufficient funds for gas * price + value", SendVerdict::Other);
        check("", SendVerdict::Other);
    }

    #[test]
    fn a_failing_node_is_not_a_refusal() {
        let check = |code, message: &str, unavailable| {
            let error = failure(RpcFailure { code, message: message.into() });
            assert_eq!(matches!(error, RpcError::Unavailable(_)), unavailable, "{message}");
        };
        check(-32005, "limit exceeded", true);
        check(-32000, "Too Many Requests", true);
        check(-32603, "internal error", true);
        check(-32000, "missing trie node 5d2a (path )", true);
        check(-32000, "insufficient funds for transfer", false);
        check(3, "execution reverted", false);
    }
}
