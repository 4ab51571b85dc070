//! The log grows with the journal, and any two of its heads are connected.

use bankroll_heads::{HeadForm, HeadRefusal, PublishedRound, SignedHead, views};
use bankroll_ledger::merkle::proofs::is_consistent;
use bankroll_orders::Address;
use k256::ecdsa::SigningKey;

use crate::world::{AUDIENCE, CHAIN, START, World};

#[test]
fn a_head_states_the_journal_and_is_signed_by_the_deployment() {
    let world = World::new();
    assert_eq!(world.latest(), None);
    let round = world.publish().unwrap().unwrap();
    let journal = world.reader().head().unwrap();
    let head = round.head.clone();
    assert_eq!(round, PublishedRound { head: head.clone(), previous_signer: None, has_more: false });
    assert_eq!((head.batch, head.head, head.seconds), (2, journal.hash, START));
    assert_eq!((head.audience.as_str(), head.chain, head.address), (AUDIENCE, CHAIN, world.address()));
    assert_eq!(head.root, world.root_of(2));
    assert_eq!(head.verify(Some(world.address())), Ok(()));
    assert_eq!(world.latest(), Some(head.clone()));
    assert_eq!(world.publish().unwrap(), None, "publishing makes nothing new to publish");
    assert_eq!(world.reader().head().unwrap(), journal, "no batch was made");
    let form = HeadForm::from(&head);
    assert_eq!(SignedHead::try_from(&form), Ok(head));
}

#[test]
fn every_field_is_under_the_signature() {
    let world = World::new();
    let head = world.published();
    let other = Address([7; 20]);
    let edits: [fn(&mut SignedHead); 6] = [
        |head| head.audience = "other.example".into(),
        |head| head.chain.0 += 1,
        |head| head.batch += 1,
        |head| head.head[0] ^= 1,
        |head| head.root[31] ^= 1,
        |head| head.seconds += 1,
    ];
    for edit in edits {
        let mut edited = head.clone();
        edit(&mut edited);
        assert!(edited.verify(None).is_err(), "{edited:?}");
    }
    let claimed = SignedHead { address: other, ..head.clone() };
    assert_eq!(claimed.verify(None), Err(HeadRefusal::NotSigned { named: other }));
    let refusal = HeadRefusal::OtherSigner { named: head.address, expected: other };
    assert_eq!(head.verify(Some(other)), Err(refusal));
}

#[test]
fn any_two_heads_are_connected_across_the_blocks_of_the_tree() {
    let world = World::new();
    let sizes = [2, 3, 7, 255, 256, 257, 300, 512, 513, 600];
    let mut heads = Vec::new();
    for size in sizes {
        world.grow_to(size);
        world.pass(1);
        let head = world.published();
        assert_eq!((head.batch, head.root), (size, world.root_of(size)), "{size} batches");
        heads.push(head);
    }
    let reader = world.reader();
    for to in &heads {
        for from in &heads {
            let proof = views::consistency_of(&reader, from, to).unwrap();
            assert_eq!(proof.is_some(), from.batch <= to.batch, "{} to {}", from.batch, to.batch);
            let Some(proof) = proof else { continue };
            assert!(is_consistent(from.batch, &from.root, to.batch, &to.root, &proof));
            assert!(proof.len() <= 11, "{} hashes from {} to {}", proof.len(), from.batch, to.batch);
        }
    }
    let nodes = reader.rows("SELECT level, place FROM head_nodes ORDER BY level, place", Vec::new()).unwrap();
    assert_eq!(nodes.len(), 3, "two blocks of 256, and the 512 above them");
    world.audit();
}

#[test]
fn the_log_is_read_in_pages_from_the_newest_on() {
    let world = World::new();
    for size in 2..8 {
        world.grow_to(size);
        world.published();
    }
    let reader = world.reader();
    let page = |before| -> Vec<u64> {
        views::newest(&reader, before, 4).unwrap().into_iter().map(|head| head.batch).collect()
    };
    assert_eq!((page(None), page(Some(4)), page(Some(2))), (vec![7, 6, 5, 4], vec![3, 2], vec![]));
    assert_eq!(views::at(&reader, 5).unwrap().map(|head| head.batch), Some(5));
    assert_eq!(views::at(&reader, 8).unwrap(), None);
}

#[test]
fn another_key_goes_on_under_its_own_address_and_a_clock_set_back_does_not_show() {
    let mut world = World::new();
    let first = world.published();
    world.key = SigningKey::from_slice(&[0x43; 32]).unwrap();
    world.give(5);
    let now = world.now().0 / 1_000_000;
    let round = world.publish().unwrap().unwrap();
    assert_eq!((round.previous_signer, round.head.address), (Some(first.address), world.address()));
    assert!(round.head.address != first.address && round.head.seconds == now);
    world.give(5);
    let clock = world.now();
    let earlier = bankroll_ledger::Time(clock.0 - 3_600_000_000);
    let signer_round = world.publish_at(earlier).unwrap().unwrap();
    assert_eq!(signer_round.head.seconds, now, "not an hour before the head that it follows");
    world.restart();
    world.audit();
}

#[test]
fn after_a_long_pause_each_step_publishes_a_part() {
    let mut world = World::new();
    world.batches_max = 100;
    world.grow_to(250);
    let rounds: Vec<(u64, bool)> =
        std::iter::from_fn(|| world.publish().unwrap()).map(|round| (round.head.batch, round.has_more)).collect();
    assert_eq!(rounds, [(100, true), (200, true), (250, false)]);
    world.audit();
}
