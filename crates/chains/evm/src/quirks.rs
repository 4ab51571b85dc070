//! What real nodes do differently, in one place: words and codes that mean something, methods that some do not have.
//!
//! | node | what it does | what we make of it |
//! | --- | --- | --- |
//! | all | tell refusals of transactions apart by words only, code -32000 | [`verdict`] reads the words |
//! | geth, reth, erigon, anvil, besu, nethermind | each has its own words for the same refusal | all are listed |
//! | load balancers | answer from a node that is behind: `null` receipts for a block that another node showed | unavailable, ask again |
//! | providers | code -32005, -32029 or 429 for "too often" | unavailable |
//! | geth | "finalized block not found" while it starts | no such block |
//! | older nodes | no `eth_getBlockReceipts` | receipts one by one, in batches |
//! | geth | no `trace_block`; nests `callTracer` as deep as contracts call | see `traces.rs` |
//! | anvil | "trace_block" of a pruned block: errors inside the list | unavailable, never "no transfers" |

use crate::error::{RpcError, RpcRefusal, Unavailable};
use crate::wire::RpcFailure;

/// No such method, by code or by words.
pub const NO_METHOD: i64 = -32601;

/// What an error of a node is: about the request, or about the node.
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

/// Whether a node says that it does not know such a method.
pub fn has_no_method(error: &RpcError) -> bool {
    let RpcError::Refused(RpcRefusal { code, message }) = error else { return false };
    let words = message.to_ascii_lowercase();
    *code == NO_METHOD || ["method not found", "not supported", "unsupported method"].iter().any(|w| words.contains(w))
}

/// Whether an error only says that there is no such block.
pub fn is_no_block(error: &RpcError) -> bool {
    let RpcError::Refused(RpcRefusal { message, .. }) = error else { return false };
    let words = message.to_ascii_lowercase();
    ["block not found", "unknown block", "header not found", "blocknotfound"].iter().any(|part| words.contains(part))
}

/// What a node that refused a transaction says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendVerdict {
    AlreadyKnown,
    NonceTooLow,
    Underpriced,
    Other,
}

/// By words, since there is nothing else. Those that say "it is here" come first: mistaking them would be the worst.
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
    fn refusals_of_transactions_by_the_words_of_each_node() {
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
    fn a_node_in_trouble_is_not_a_refusal() {
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
