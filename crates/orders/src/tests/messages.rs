//! Requests and answers have one encoding, and the heads in them are found.

use super::{WALLET, payout};
use crate::{APPROVALS_MAX, Answer, Approval, Head, MemoryId, Refusal, Request, Signed, Status, Stop};

fn head(count: u64) -> Head {
    Head { memory: MemoryId([3; 16]), count, hash: [4; 32], seal: [5; 32] }
}

fn sign(approvals: usize) -> Request {
    let approvals = vec![Approval { approver: WALLET, signature: vec![1; 65] }; approvals];
    Request::Sign { order: payout(), approvals, head: head(9) }
}

#[test]
fn requests_come_back_as_they_were() {
    let intent = payout().intent;
    for request in [
        sign(0),
        sign(APPROVALS_MAX),
        Request::Renounce { intent, wallet: WALLET, head: head(1) },
        Request::Status { wallet: WALLET },
    ] {
        assert_eq!(Request::decode(&request.encode()), Ok(request.clone()));
        assert_eq!(request.wallet(), WALLET);
        assert!(request.encode().len() < crate::FRAME_BYTES_MAX);
    }
    assert_eq!(sign(0).head(), Some(&head(9)));
    assert_eq!(Request::Status { wallet: WALLET }.head(), None);
}

#[test]
fn too_many_approvals_are_no_request() {
    assert!(Request::decode(&sign(APPROVALS_MAX + 1).encode()).is_err());
}

#[test]
fn answers_come_back_as_they_were() {
    let answers = [
        Answer::Signed(Signed { raw: vec![2, 0xf8], hash: [9; 32], head: head(3) }),
        Answer::Renounced { head: head(3) },
        Answer::Status(Status { head: head(3), stopped: Some(Stop::MemoryOlder) }),
        Answer::Refused { refusal: Refusal::NonceTaken, head: Some(head(3)) },
    ];
    for answer in answers {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer.clone()));
        assert_eq!(answer.head(), Some(&head(3)));
    }
    for answer in
        [Answer::Failed, Answer::NotUnderstood, Answer::Refused { refusal: Refusal::WalletUnknown, head: None }]
    {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer.clone()));
        assert_eq!(answer.head(), None);
    }
}

#[test]
fn what_a_head_says_is_under_its_seal() {
    let (one, mut other) = (head(3), head(3));
    other.seal = [0; 32];
    assert_eq!(one.sealed(), other.sealed());
    for other in [head(4), Head { hash: [0; 32], ..one }, Head { memory: MemoryId([0; 16]), ..one }] {
        assert_ne!(one.sealed(), other.sealed());
    }
    assert_eq!(one.to_string(), "03030303030303030303030303030303:3:04040404");
}

#[test]
fn a_refusal_says_whether_asking_again_is_any_use() {
    assert!(Refusal::NonceTaken.is_for_ever());
    assert!(!Refusal::PaidAboveLimit.is_for_ever());
    assert_eq!(
        Refusal::Stopped(Stop::MemoryOlder).to_string(),
        "the signer has stopped: its memory is older than what it has answered before"
    );
}
