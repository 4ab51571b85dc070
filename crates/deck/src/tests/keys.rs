//! Keys: who is admitted to a hand, and what the keys of a hand may not be.

use ark_ec::{AffineRepr, CurveGroup};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use super::{
    run::rng,
    setup::{HandSetup, SHUFFLERS, admit, hand, member, seated},
};
use crate::{
    Context, HandId, HandKeys, KeyError, MasterSecret, Member, MemberRole, Point, Possession, ProofKind, PublicKey,
    Scalar, Secp256k1, SecretKey,
};

type C = Secp256k1;

#[test]
fn the_sum_of_the_shufflers_keys_is_the_key_of_the_deck() {
    let table = HandSetup::<C>::small("aggregate");
    let sum: Scalar<C> = table.shufflers.iter().map(|secret| *secret.scalar()).sum();
    assert_eq!(*table.keys.aggregate().point(), (Point::<C>::generator() * sum).into_affine());
    let blinding_key = (*table.keys.aggregate().point() + table.players[1].public().point()).into_affine();
    assert_eq!(table.keys.blinding_key(1), Some(&blinding_key));
    assert_eq!(table.keys.blinding_key(3), None);
    assert_eq!((table.keys.quorum(), table.keys.blinders()), (3, &[0, 1, 2][..]));
}

/// Defect g of the source: without possession, the last to register owns the deck alone.
#[test]
fn a_rogue_key_that_cancels_the_others_is_not_admitted() {
    let mut rng = rng("rogue key");
    let (ann, _) = member::<C>("ann", MemberRole::Shuffler, &mut rng);
    let (ben, _) = member::<C>("ben", MemberRole::Shuffler, &mut rng);
    let own = SecretKey::<C>::generate(&mut rng);
    let rogue = *own.public().point() - ann.key().point() - ben.key().point();
    let rogue = PublicKey::<C>(rogue.into_affine());
    // It would work: the sum of all three is a key whose secret the rogue has.
    let sum = (*ann.key().point() + ben.key().point() + rogue.point()).into_affine();
    assert_eq!(sum, *own.public().point());
    // But the rogue cannot prove possession of the key that it registers.
    let context = MemberRole::Shuffler.context(&hand(), "cleo");
    let proof = own.prove_possession(&context, &mut rng);
    let refused = Member::admit(&hand(), "cleo", MemberRole::Shuffler, rogue, &proof);
    assert_eq!(refused.err(), Some(KeyError::NotPossessed { actor: "cleo".into() }));
}

#[test]
fn possession_is_for_one_name_role_seat_and_hand() {
    let mut rng = rng("possession");
    let secret = SecretKey::<C>::generate(&mut rng);
    let (key, proof) = secret.register(&hand(), "dora", MemberRole::Player { seat: 2 }, &mut rng);
    let admits = |hand: &HandId, actor: &str, role| Member::admit(hand, actor, role, key, &proof).is_ok();
    assert!(admits(&hand(), "dora", MemberRole::Player { seat: 2 }));
    assert!(!admits(&hand(), "emil", MemberRole::Player { seat: 2 }), "another player copies it");
    assert!(!admits(&hand(), "dora", MemberRole::Player { seat: 1 }));
    assert!(!admits(&hand(), "dora", MemberRole::Shuffler));
    assert!(!admits(&HandId { hand: "42".into(), ..hand() }, "dora", MemberRole::Player { seat: 2 }));
    assert!(!admits(&HandId { game: "table-8".into(), ..hand() }, "dora", MemberRole::Player { seat: 2 }));
    assert!(!admits(&HandId { deployment: "other".into(), ..hand() }, "dora", MemberRole::Player { seat: 2 }));
}

#[test]
fn a_possession_proof_that_was_touched_is_refused() {
    let mut rng = rng("touched possession");
    let secret = SecretKey::<C>::generate(&mut rng);
    let context = hand().context("ann", ProofKind::ShufflerKey);
    let proof = secret.prove_possession(&context, &mut rng);
    let key = *secret.public();
    assert!(proof.verify(&context, &key));
    assert!(!Possession { response: proof.response + Scalar::<C>::from(1_u8), ..proof }.verify(&context, &key));
    assert!(!Possession { response: -proof.response, ..proof }.verify(&context, &key));
    assert!(!Possession { commitment: -proof.commitment, ..proof }.verify(&context, &key));
    assert!(!proof.verify(&context, &PublicKey(-*key.point())));
    // The identity has a known secret, zero, and is refused as key and as commitment.
    let nothing = Point::<C>::zero();
    let trivial = Possession::<C> { commitment: nothing, response: Scalar::<C>::from(0_u8) };
    assert!(!trivial.verify(&context, &PublicKey(nothing)));
    assert!(!trivial.verify(&context, &key));
}

#[test]
fn two_proofs_never_share_a_nonce() {
    let secret = SecretKey::<C>::generate(&mut rng("nonces"));
    let prove = |context: &Context, seed: u64| {
        secret.prove_possession(context, &mut ChaCha20Rng::seed_from_u64(seed)).commitment
    };
    let (ann, ben) = (hand().context("ann", ProofKind::ShufflerKey), hand().context("ben", ProofKind::ShufflerKey));
    assert_ne!(prove(&ann, 1), prove(&ben, 1), "the generator repeats itself, the statement does not");
    assert_ne!(prove(&ann, 1), prove(&ann, 2), "the statement repeats itself, the generator does not");
}

#[test]
fn hands_have_keys_of_their_own_which_follow_from_the_master_secret() {
    let master = MasterSecret::from_bytes([7; 32]);
    let key = |hand: &HandId, role| *master.key::<C>(hand, role).public();
    let first = key(&hand(), MemberRole::Shuffler);
    assert_eq!(first, *MasterSecret::from_bytes(*master.as_bytes()).key::<C>(&hand(), MemberRole::Shuffler).public());
    let others = [
        key(&HandId { hand: "42".into(), ..hand() }, MemberRole::Shuffler),
        key(&HandId { game: "table-8".into(), ..hand() }, MemberRole::Shuffler),
        key(&HandId { deployment: "other".into(), ..hand() }, MemberRole::Shuffler),
        // The same letters, divided otherwise.
        key(&HandId { game: "table-74".into(), hand: "1".into(), ..hand() }, MemberRole::Shuffler),
        key(&hand(), MemberRole::Player { seat: 0 }),
        key(&hand(), MemberRole::Player { seat: 1 }),
        *MasterSecret::from_bytes([8; 32]).key::<C>(&hand(), MemberRole::Shuffler).public(),
    ];
    for (number, other) in others.iter().enumerate() {
        assert_ne!(*other, first, "{number}");
    }
}

fn refusal(shufflers: &[Member<C>], players: &[Member<C>]) -> KeyError {
    HandKeys::new(&hand(), shufflers, players).unwrap_err()
}

#[test]
fn keys_that_cannot_play_together_are_refused() {
    let mut rng = rng("refused keys");
    let shufflers = SHUFFLERS.map(|actor| member::<C>(actor, MemberRole::Shuffler, &mut rng).0);
    let (players, _) = seated::<C>(&mut rng);
    let [ann, ben, _] = &shufflers;
    let [dora, emil, _] = &players[..] else { panic!() };
    let (named, one) = (|actor: &str| actor.to_owned(), std::slice::from_ref);
    assert!(HandKeys::new(&hand(), &shufflers, &players).is_ok());
    assert_eq!(refusal(&[], &players), KeyError::ShufflerCount { count: 0 });
    assert_eq!(refusal(&vec![ann.clone(); 256], &players), KeyError::ShufflerCount { count: 256 });
    assert_eq!(refusal(&[ann.clone(), dora.clone()], &[]), KeyError::WrongRole { actor: named("dora") });
    assert_eq!(refusal(one(ann), one(ben)), KeyError::WrongRole { actor: named("ben") });
    assert_eq!(refusal(&[ann.clone(), ann.clone()], &[]), KeyError::DuplicateActor { actor: named("ann") });
    assert_eq!(refusal(one(ann), &[emil.clone(), emil.clone()]), KeyError::DuplicateActor { actor: named("emil") });
    let (same_seat, _) = member::<C>("gus", MemberRole::Player { seat: 0 }, &mut rng);
    assert_eq!(refusal(one(ann), &[dora.clone(), same_seat]), KeyError::DuplicateActor { actor: named("gus") });
    let elsewhere = HandId { hand: "42".into(), ..hand() };
    let stranger = admit(&elsewhere, "gus", MemberRole::Shuffler, &SecretKey::<C>::generate(&mut rng), &mut rng);
    assert_eq!(refusal(&[ann.clone(), stranger], &[]), KeyError::WrongHand { actor: named("gus") });
}

#[test]
fn a_key_belongs_to_one_member_in_one_role() {
    let mut rng = rng("one key");
    let secret = SecretKey::<C>::generate(&mut rng);
    let ann = admit(&hand(), "ann", MemberRole::Shuffler, &secret, &mut rng);
    let ben = admit(&hand(), "ben", MemberRole::Shuffler, &secret, &mut rng);
    let seated = admit(&hand(), "ann", MemberRole::Player { seat: 0 }, &secret, &mut rng);
    assert_eq!(refusal(&[ann.clone(), ben], &[]), KeyError::DuplicateKey { actor: "ben".into() });
    assert_eq!(refusal(&[ann], &[seated]), KeyError::DuplicateKey { actor: "ann".into() });
}

#[test]
fn keys_that_cancel_each_other_are_refused() {
    let mut rng = rng("cancel");
    let secret = SecretKey::<C>::generate(&mut rng);
    let opposite = SecretKey::<C>::of(-*secret.scalar());
    let ann = admit(&hand(), "ann", MemberRole::Shuffler, &secret, &mut rng);
    let ben = admit(&hand(), "ben", MemberRole::Shuffler, &opposite, &mut rng);
    let dora = admit(&hand(), "dora", MemberRole::Player { seat: 4 }, &opposite, &mut rng);
    assert_eq!(refusal(&[ann.clone(), ben], &[]), KeyError::AggregateIsIdentity);
    assert_eq!(refusal(&[ann], &[dora]), KeyError::SeatIsIdentity { seat: 4 });
}

/// Is implemented for what can be printed, and loses to the inherent constant below.
trait NotPrinted {
    const PRINTED: bool = false;
}
impl<T> NotPrinted for T {}
struct Probe<T>(std::marker::PhantomData<T>);
impl<T: std::fmt::Debug> Probe<T> {
    const PRINTED: bool = true;
}

#[test]
fn secrets_cannot_be_printed() {
    let secrets = [
        Probe::<SecretKey<C>>::PRINTED,
        Probe::<MasterSecret>::PRINTED,
        Probe::<crate::Dealing<C>>::PRINTED,
        Probe::<crate::DealtShare<C>>::PRINTED,
        Probe::<crate::UnprovenShuffle<C>>::PRINTED,
    ];
    assert_eq!((Probe::<PublicKey<C>>::PRINTED, secrets), (true, [false; 5]), "a public key can, so the probe works");
}
