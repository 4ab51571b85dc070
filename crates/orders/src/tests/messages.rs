//! Requests and answers have one encoding; `head` finds the head in each.

use super::{WALLET, payout};
use crate::{
    APPROVALS_MAX, MemoryHead, MemoryId, SignedApproval, SignedTransaction, SignerAnswer, SignerRefusal, SignerRequest,
    SignerStatus, StopReason,
};

fn head(count: u64) -> MemoryHead {
    MemoryHead { memory: MemoryId([3; 16]), count, hash: [4; 32], seal: [5; 32] }
}

fn sign(approvals: usize) -> SignerRequest {
    let approvals = vec![SignedApproval { approver: WALLET, signature: vec![1; 65] }; approvals];
    SignerRequest::Sign { order: payout(), approvals, head: head(9) }
}

#[test]
fn requests_survive_encoding() {
    let intent = payout().intent;
    for request in [
        sign(0),
        sign(APPROVALS_MAX),
        SignerRequest::Revoke { intent, wallet: WALLET, head: head(1) },
        SignerRequest::Status { wallet: WALLET },
    ] {
        assert_eq!(SignerRequest::decode(&request.encode()), Ok(request.clone()));
        assert_eq!(request.wallet(), WALLET);
        assert!(request.encode().len() < crate::FRAME_BYTES_MAX);
    }
    assert_eq!(sign(0).head(), Some(&head(9)));
    assert_eq!(SignerRequest::Status { wallet: WALLET }.head(), None);
}

#[test]
fn a_request_with_too_many_approvals_is_malformed() {
    assert!(SignerRequest::decode(&sign(APPROVALS_MAX + 1).encode()).is_err());
}

#[test]
fn answers_survive_encoding() {
    let answers = [
        SignerAnswer::Signed(SignedTransaction { raw: vec![2, 0xf8], hash: [9; 32], head: head(3) }),
        SignerAnswer::Revoked { head: head(3) },
        SignerAnswer::Status(SignerStatus { head: head(3), stopped: Some(StopReason::MemoryOlder) }),
        SignerAnswer::Refused { refusal: SignerRefusal::NonceTaken, head: Some(head(3)) },
    ];
    for answer in answers {
        assert_eq!(SignerAnswer::decode(&answer.encode()), Ok(answer.clone()));
        assert_eq!(answer.head(), Some(&head(3)));
    }
    for answer in [
        SignerAnswer::Failed,
        SignerAnswer::NotUnderstood,
        SignerAnswer::Refused { refusal: SignerRefusal::WalletUnknown, head: None },
    ] {
        assert_eq!(SignerAnswer::decode(&answer.encode()), Ok(answer.clone()));
        assert_eq!(answer.head(), None);
    }
}

#[test]
fn the_seal_covers_every_field_of_a_head() {
    let (one, mut other) = (head(3), head(3));
    other.seal = [0; 32];
    assert_eq!(one.sealed_bytes(), other.sealed_bytes());
    for other in [head(4), MemoryHead { hash: [0; 32], ..one }, MemoryHead { memory: MemoryId([0; 16]), ..one }] {
        assert_ne!(one.sealed_bytes(), other.sealed_bytes());
    }
    assert_eq!(one.to_string(), "03030303030303030303030303030303:3:04040404");
}

#[test]
fn a_refusal_says_whether_it_is_permanent() {
    assert!(SignerRefusal::NonceTaken.is_permanent());
    assert!(!SignerRefusal::PaidAboveLimit.is_permanent());
    assert_eq!(
        SignerRefusal::Stopped(StopReason::MemoryOlder).to_string(),
        "the signer has stopped: its memory is older than what it has answered before"
    );
}
