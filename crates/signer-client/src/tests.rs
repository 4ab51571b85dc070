//! The client with a signer that disconnects, lies or refuses: it never reports a refusal that the signer did not send.

use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    thread,
    time::Duration,
};

use bankroll_money::{Amount, Time};
use bankroll_orders::{
    Address, ChainId, Gas, IntentId, Meaning, MemoryHead, MemoryId, Order, OrderId, Price, SignedTransaction,
    SignerAnswer, SignerRefusal, SignerStatus, Slot, StopReason, frame,
};
use sha3::{Digest, Keccak256};

use crate::{RevokeOutcome, SignOutcome, SignerClient, SignerClientError};

const WALLET: Address = Address([1; 20]);
/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_mins(1);
/// For a signer that never answers.
const SOON: Duration = Duration::from_millis(300);

fn head(count: u64) -> MemoryHead {
    MemoryHead { memory: MemoryId([1; 16]), count, hash: [2; 32], seal: [3; 32] }
}

fn order() -> Order {
    Order {
        id: OrderId("order-1".parse().unwrap()),
        intent: IntentId("wd-1".parse().unwrap()),
        slot: Slot { chain: ChainId(1), wallet: WALLET, nonce: 0 },
        meaning: Meaning::NativePayout { to: Address([2; 20]), amount: Amount::new(1) },
        gas: Gas { limit: 21_000, price: Price::Legacy { price: 1 } },
        expires: Time(1),
    }
}

fn signed(count: u64) -> SignerAnswer {
    SignerAnswer::Signed(SignedTransaction {
        raw: vec![7; 100],
        hash: Keccak256::digest([7; 100]).into(),
        head: head(count),
    })
}

/// A signer that does this with each connection in turn.
fn signer(talks: Vec<Box<dyn FnOnce(UnixStream) + Send>>) -> (tempfile::TempDir, SignerClient) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signer.sock");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || talks.into_iter().for_each(|talk| talk(listener.accept().unwrap().0)));
    let client = SignerClient::new(&path, PATIENCE);
    (folder, client)
}

/// Reads one request and sends these bytes.
fn sends(bytes: Vec<u8>) -> Box<dyn FnOnce(UnixStream) + Send> {
    Box::new(move |mut stream| {
        frame::read(&mut stream).unwrap();
        stream.write_all(&bytes).unwrap();
    })
}

fn answers(answer: &SignerAnswer) -> Box<dyn FnOnce(UnixStream) + Send> {
    let mut bytes = Vec::new();
    frame::write(&mut bytes, &answer.encode()).unwrap();
    sends(bytes)
}

fn ask(talk: Box<dyn FnOnce(UnixStream) + Send>) -> Result<SignOutcome, SignerClientError> {
    let (_folder, mut client) = signer(vec![talk]);
    client.sign(&order(), head(5))
}

#[test]
fn signed_and_refused_are_the_answers_of_the_signer() {
    assert!(matches!(ask(answers(&signed(7))), Ok(SignOutcome::Signed(signed)) if signed.head == head(7)));
    let no = SignerAnswer::Refused { refusal: SignerRefusal::PaidAboveLimit, head: Some(head(5)) };
    let refused = SignOutcome::Refused { refusal: SignerRefusal::PaidAboveLimit, head: Some(head(5)) };
    assert_eq!(ask(answers(&no)).unwrap(), refused);
}

#[test]
fn without_a_signer_nothing_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let asked = SignerClient::new(&folder.path().join("missing"), PATIENCE).sign(&order(), head(5));
    assert!(matches!(asked, Err(SignerClientError::Unreachable(_))), "{asked:?}");
}

#[test]
fn a_failure_after_sending_is_unknown() {
    let mut whole = Vec::new();
    frame::write(&mut whole, &signed(7).encode()).unwrap();
    let unknown = |talk, what: &str| {
        let asked = ask(talk);
        assert!(matches!(asked, Err(SignerClientError::Unknown(_))), "{what}: {asked:?}");
    };
    unknown(Box::new(drop), "closed at once");
    for length in 0..whole.len() {
        unknown(sends(whole[..length].to_vec()), &format!("cut after {length}"));
    }
    unknown(sends(vec![0xff; 64]), "no frame");
    unknown(sends(vec![0, 0, 0, 2, 1, 99]), "no answer");
    unknown(answers(&SignerAnswer::Failed), "its memory failed");
    let silent = |mut stream: UnixStream| {
        // Until the client times out.
        let _ = stream.read_to_end(&mut Vec::new());
    };
    let (_folder, mut client) = signer(vec![Box::new(silent)]);
    client.timeout = SOON;
    let asked = client.sign(&order(), head(5));
    assert!(matches!(asked, Err(SignerClientError::Unknown(_))), "silence: {asked:?}");
}

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let late = |mut stream: UnixStream| {
        frame::read(&mut stream).unwrap();
        // The client times out and closes; later bytes are lost.
        let _ = stream.read_to_end(&mut Vec::new());
        let _ = frame::write(&mut stream, &signed(6).encode());
    };
    let (_folder, mut client) = signer(vec![Box::new(late), answers(&signed(8))]);
    client.timeout = SOON;
    assert!(matches!(client.sign(&order(), head(5)), Err(SignerClientError::Unknown(_))));
    client.timeout = PATIENCE;
    assert!(matches!(client.sign(&order(), head(5)), Ok(SignOutcome::Signed(signed)) if signed.head == head(8)));
}

#[test]
fn impossible_answers_are_diverged() {
    let diverged = |answer: &SignerAnswer| {
        let asked = ask(answers(answer));
        assert!(matches!(asked, Err(SignerClientError::Diverged { .. })), "{asked:?}");
    };
    diverged(&signed(4));
    diverged(&SignerAnswer::Refused { refusal: SignerRefusal::Expired, head: Some(head(4)) });
    diverged(&SignerAnswer::Signed(SignedTransaction { raw: vec![7], hash: [0; 32], head: head(7) }));
    diverged(&SignerAnswer::Signed(SignedTransaction {
        raw: vec![7],
        hash: [0; 32],
        head: MemoryHead { memory: MemoryId([9; 16]), ..head(7) },
    }));
    diverged(&SignerAnswer::Revoked { head: head(7) });
    diverged(&SignerAnswer::NotUnderstood);
    // A signer that detected it itself answers so, and that answer is valid.
    let stopped = SignerRefusal::Stopped(StopReason::MemoryOlder);
    let asked = ask(answers(&SignerAnswer::Refused { refusal: stopped, head: Some(head(2)) }));
    assert!(matches!(asked, Ok(SignOutcome::Refused { refusal, .. }) if refusal == stopped));
}

#[test]
fn a_status_that_is_behind_is_detected() {
    let status = |count| answers(&SignerAnswer::Status(SignerStatus { head: head(count), stopped: None }));
    let (_folder, mut client) = signer(vec![status(5), status(5), status(4)]);
    let mut ask = |known| {
        let asked = client.status(WALLET, known);
        client.connection = None;
        asked
    };
    assert_eq!(ask(None).unwrap().head, head(5));
    assert_eq!(ask(Some(head(5))).unwrap().head, head(5));
    assert!(matches!(ask(Some(head(5))), Err(SignerClientError::Diverged { .. })));
}

#[test]
fn a_signer_without_the_wallet_is_no_signer_that_contradicts_itself() {
    let (_folder, mut client) =
        signer(vec![answers(&SignerAnswer::Refused { refusal: SignerRefusal::WalletUnknown, head: None })]);
    assert!(matches!(client.status(WALLET, None), Err(SignerClientError::WalletUnknown)));
}

#[test]
fn revoking_is_proven_or_refused() {
    let yes = answers(&SignerAnswer::Revoked { head: head(6) });
    let (_folder, mut client) = signer(vec![yes]);
    let revoked = client.revoke(&order().intent, WALLET, head(5)).unwrap();
    assert_eq!(revoked, RevokeOutcome::Never { head: head(6) });
    let no = answers(&SignerAnswer::Refused { refusal: SignerRefusal::IntentSigned, head: Some(head(5)) });
    let (_folder, mut client) = signer(vec![no]);
    let refused = RevokeOutcome::Refused { refusal: SignerRefusal::IntentSigned, head: Some(head(5)) };
    assert_eq!(client.revoke(&order().intent, WALLET, head(5)).unwrap(), refused);
}
