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
//! | anvil | blocks keep the blobs of transactions, and the root covers them | `sidecars.rs` |
//! | all | a revert carries a text that the contract chose: "execution reverted: timeout" | codes before texts |
//! | hardhat | code -32603, "internal error", for a contract that reverts | a refusal, for calls and estimates |

use std::io::ErrorKind;

use crate::error::{RpcError, RpcRefusal, Unavailable};
use crate::wire::RpcFailure;

/// No such method.
pub const NO_METHOD: i64 = -32601;
/// Wrong parameters.
const BAD_PARAMETERS: i64 = -32602;
/// A contract reverted.
pub const REVERTED: i64 = 3;

/// Classifies an error: about the request, or about the node. By code wherever a code decides, because a text may be
/// a contract's: a player could otherwise take every node out of use with a contract that says "timeout".
pub fn failure(failure: RpcFailure, method: &'static str) -> RpcError {
    let RpcFailure { code, message } = failure;
    match code {
        REVERTED | NO_METHOD | BAD_PARAMETERS => RpcRefusal { code, message }.into(),
        429 | -32005 | -32029 => Unavailable::RateLimited.into(),
        _ if runs_contracts(method) => RpcRefusal { code, message }.into(),
        _ => by_text(code, message, method),
    }
}

fn by_text(code: i64, message: String, method: &'static str) -> RpcError {
    let words = message.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    // "batch limit exceeded" and "response size limit exceeded" ask for less, not for later.
    if method != "eth_sendRawTransaction" && has(&["batch", "too large", "too big", "response size"]) {
        return RpcRefusal { code, message }.into();
    }
    if has(&["rate limit", "too many requests", "request limit", "limit exceeded"]) {
        return Unavailable::RateLimited.into();
    }
    if code == -32603
        || has(&["timeout", "timed out", "unavailable", "missing trie node", "not synced", "internal error"])
    {
        return Unavailable::Failed { code, message }.into();
    }
    RpcRefusal { code, message }.into()
}

/// Whether less at once may succeed. A text that means it has no form of its own, so every refusal of several things
/// at once is one.
pub fn is_too_much(error: &RpcError) -> bool {
    match error {
        RpcError::Unavailable(Unavailable::Broken(ErrorKind::FileTooLarge) | Unavailable::Status(413)) => true,
        RpcError::Unavailable(_) | RpcError::Disagreeing(_) => false,
        // Some nodes answer a batch with one error, or with fewer answers.
        RpcError::Malformed(_) => true,
        RpcError::Refused(_) => !has_no_method(error),
    }
}

/// Whether the answer's words, and even how long it takes, are up to a contract that any player may have written.
pub fn runs_contracts(method: &str) -> bool {
    matches!(method, "eth_call" | "eth_estimateGas")
}

/// Whether the contract itself said no, as far as its node tells that from other refusals.
pub fn is_revert(refusal: &RpcRefusal) -> bool {
    // -32015 is the code of OpenEthereum and Nethermind.
    matches!(refusal.code, REVERTED | -32015) || refusal.message.to_ascii_lowercase().contains("revert")
}

/// Whether the node does not support the method.
pub fn has_no_method(error: &RpcError) -> bool {
    let RpcError::Refused(RpcRefusal { code, message }) = error else { return false };
    let words = message.to_ascii_lowercase();
    if words.contains("batch") {
        // "batches are not supported" is about the form of the request.
        return false;
    }
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
            let error = failure(RpcFailure { code, message: message.into() }, "eth_getBlockByHash");
            assert_eq!(matches!(error, RpcError::Unavailable(_)), unavailable, "{message}");
        };
        check(-32005, "limit exceeded", true);
        check(-32000, "Too Many Requests", true);
        check(-32603, "internal error", true);
        check(-32000, "missing trie node 5d2a (path )", true);
        check(-32000, "insufficient funds for transfer", false);
        check(-32000, "batch limit exceeded", false);
        check(3, "execution reverted", false);
    }

    #[test]
    fn what_a_contract_says_is_a_refusal_whatever_it_says() {
        let texts = ["execution reverted: timeout", "execution reverted: rate limit exceeded", "internal error"];
        for text in texts {
            for (code, method) in
                [(3, "eth_getBlockByHash"), (3, "eth_call"), (-32000, "eth_call"), (-32603, "eth_call")]
            {
                let error = failure(RpcFailure { code, message: text.into() }, method);
                assert_eq!(error, RpcRefusal { code, message: text.into() }.into(), "{method}");
            }
            let estimated = failure(RpcFailure { code: -32000, message: text.into() }, "eth_estimateGas");
            assert!(matches!(estimated, RpcError::Refused(_)), "{text}");
        }
        // No contract chooses a code.
        let limited = failure(RpcFailure { code: -32005, message: "slow down".into() }, "eth_call");
        assert_eq!(limited, Unavailable::RateLimited.into());
    }

    #[test]
    fn a_missing_method_is_missing_whatever_its_text_says() {
        let error =
            failure(RpcFailure { code: NO_METHOD, message: "trace_block is unavailable".into() }, "trace_block");
        assert!(has_no_method(&error), "{error:?}");
        let error = RpcRefusal { code: -32600, message: "batches are not supported".into() }.into();
        assert!(!has_no_method(&error) && is_too_much(&error), "{error:?}");
    }

    #[test]
    fn a_revert_differs_from_other_refusals() {
        let check = |code, message: &str| is_revert(&RpcRefusal { code, message: message.into() });
        assert!(check(3, "execution reverted"));
        assert!(check(-32603, "VM Exception while processing transaction: reverted with reason string 'no'"));
        assert!(check(-32015, "VM execution error."));
        assert!(!check(-32000, "missing trie node 5d2a (path )"));
    }
}
