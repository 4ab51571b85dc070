//! Receipts, the chain and the tree: what they prove, and what they do not.

use bankroll_poker::{
    HandTime, PlayerAction, Seat,
    log::{Actor, ChainLink, EventReceipt, Fraud, Hex, LogHash, Party, chain, equivocation, merkle, missing},
};

use super::test_table::{Secp, TestTable, checked_down};

#[test]
fn each_receipt_is_a_link_of_one_chain() {
    let (table, bundle) = checked_down(51);
    let key = table.operator.key();
    let mut head = table.log.table().config().hash();
    for (receipt, seq) in bundle.receipts().iter().zip(0..) {
        assert_eq!((receipt.link.seq, receipt.link.previous), (seq, head));
        head = chain(&head, &receipt.link.event);
        assert_eq!(receipt.link.chain, head);
        assert!(receipt.is_signed_by(&key));
        assert_eq!(EventReceipt::decode(&receipt.encode()).unwrap(), *receipt);
    }
    assert_eq!(head, bundle.checkpoint.page.chain);
    // What each party kept is what is in the file.
    assert!(table.parties.iter().all(|party| party.receipts() == bundle.receipts()));
}

#[test]
fn a_receipt_that_the_final_log_lacks_is_proof_of_fraud() {
    let mut table = TestTable::<Secp>::small(52, &[1_000, 1_000], 1);
    table.work();
    // A player's call is taken, with a receipt; then the operator continues as if the player had folded.
    let mut other = table.log.clone();
    let button = Actor::Seat(Seat(1));
    let [call, fold] = [PlayerAction::Call, PlayerAction::Fold].map(|action| table.party(button).decide(action));
    let receipt = table.accepted(&call);
    other.submit(&table.parameters, &fold, table.now);
    other.settle(&table.parameters, table.now);
    let shown = other.bundle(Vec::new()).unwrap();
    shown.verify(None).expect("the file alone looks sound");
    let (log, key) = (shown.receipts(), table.operator.key());
    let seq = receipt.link.seq;
    assert_eq!(missing(&receipt, &log, &key), Some(Fraud::Missing { seq }));
    assert_eq!(equivocation(&receipt, &log[seq as usize], &key), Some(Fraud::Equivocation { seq }));
    // An honest receipt proves nothing, nor does one that the operator never signed.
    assert_eq!(missing(&log[3], &log, &key), None);
    assert_eq!(equivocation(&log[3], &log[3], &key), None);
    assert_eq!(equivocation(&log[3], &log[4], &key), None);
    let mut forged = receipt.clone();
    forged.link.at = HandTime(99);
    assert_eq!(missing(&forged, &log, &key), None);
    assert_eq!(equivocation(&forged, &receipt, &key), None);
}

#[test]
fn a_party_accepts_only_the_next_link() {
    let mut table = TestTable::<Secp>::small(53, &[1_000, 1_000], 1);
    table.work();
    let button = Actor::Seat(Seat(1));
    let call = table.party(button).decide(PlayerAction::Call);
    let receipt = match table.log.submit(&table.parameters, &call, table.now) {
        bankroll_poker::log::SubmitVerdict::Accepted(receipt) => receipt,
        other => panic!("{other:?}"),
    };
    let parameters = &table.parameters;
    let mut changed = receipt.clone();
    changed.link.at = HandTime(receipt.link.at.0 + 1);
    let another = ChainLink { previous: Hex([1; 32]), ..receipt.link.clone() };
    let another = EventReceipt::issue(another, &table.operator);
    let party: &mut Party<Secp> = &mut table.parties[0];
    for wrong in [changed, another] {
        assert!(party.receive(parameters, &call, &wrong).is_err());
    }
    party.receive(parameters, &call, &receipt).unwrap();
    assert!(party.receive(parameters, &call, &receipt).is_err(), "the same again is not the next");
}

fn events(count: u8) -> Vec<LogHash> {
    (0..count).map(|number| Hex([number; 32])).collect()
}

#[test]
fn every_event_is_proven_to_be_in_the_tree_and_no_other() {
    for count in 1..=20 {
        let events = events(count);
        let (root, size) = (merkle::root(&events), u64::from(count));
        for (index, event) in (0..).zip(&events) {
            let proof = merkle::inclusion(&events, index).unwrap();
            let at = index as u64;
            assert!(merkle::includes(&root, size, at, event, &proof), "{index} of {count}");
            for (other_at, other) in (0..).zip(&events).filter(|(_, other)| *other != event) {
                assert!(!merkle::includes(&root, size, at, other, &proof));
                assert!(!merkle::includes(&root, size, other_at, event, &proof), "{index} of {count} at {other_at}");
            }
            let longer = [proof.as_slice(), &[root]].concat();
            assert!(!merkle::includes(&root, size, at, event, &longer));
            if let [_, rest @ ..] = proof.as_slice() {
                assert!(!merkle::includes(&root, size, at, event, rest));
            }
            assert!(!merkle::includes(&root, size, size, event, &proof));
        }
        assert_eq!(merkle::inclusion(&events, usize::from(count)), None);
    }
}

#[test]
fn a_longer_log_is_proven_to_continue_a_shorter_one() {
    for count in 1..=20_u8 {
        let all = events(count);
        let (new, total) = (merkle::root(&all), u64::from(count));
        for size in 1..=count {
            let (old, proof) =
                (merkle::root(&all[..usize::from(size)]), merkle::consistency(&all, usize::from(size)).unwrap());
            let size = u64::from(size);
            assert!(merkle::continues(&old, size, &new, total, &proof), "{size} of {count}");
            // Another beginning, another end, another number.
            let other = Hex([99; 32]);
            assert!(!merkle::continues(&other, size, &new, total, &proof));
            assert!(!merkle::continues(&old, size, &other, total, &proof));
            assert!(size == total || !merkle::continues(&old, size + 1, &new, total, &proof), "{size} of {count}");
            let longer = [proof.as_slice(), &[old]].concat();
            assert!(!merkle::continues(&old, size, &new, total, &longer));
        }
        assert_eq!(merkle::consistency(&all, 0), None);
        assert_eq!(merkle::consistency(&all, usize::from(count) + 1), None);
    }
}

/// Small trees, put together by hand from the definition.
#[test]
fn the_tree_is_that_of_rfc_6962() {
    use sha2::{Digest, Sha256};
    let hash = |prefix: u8, parts: &[&[u8]]| -> [u8; 32] {
        Sha256::new().chain_update([prefix]).chain_update(parts.concat()).finalize().into()
    };
    let leaf = |number: u8| hash(0, &[&[number; 32]]);
    let pair = hash(1, &[&leaf(0), &leaf(1)]);
    assert_eq!(merkle::root(&events(2)), Hex(pair));
    assert_eq!(merkle::root(&events(3)), Hex(hash(1, &[&pair, &leaf(2)])));
    assert_eq!(merkle::root(&[]).to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
