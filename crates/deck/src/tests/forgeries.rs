//! Attacks that worked elsewhere, carried out: each story shows that the attack is a real one, and that it is refused.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field, PrimeField, UniformRand};

use super::setup::{HandSetup, SMALL, hand};
use crate::{
    Ciphertext, Context, Contribution, Deal, DealRefusal, DeckDecodeError, Equality, EqualityProof, Point, ProofKind,
    Scalar, Secp256k1, Share, ShuffleMessage, ShuffleProof, ShuffleStep, Shuffling,
    shuffle::{Witness, prove, shuffle},
    transcript::Transcript,
    verify_shuffles,
};

type C = Secp256k1;

/// Defect a of the source: a "proof" that consists of the decks and the randomness lets any reader see the order. The
/// reader is carried out on the real randomness, then on every number that is in the message.
#[test]
fn a_message_does_not_give_the_order_away() {
    let mut table = HandSetup::<C>::small("order given away");
    let (first, key) = (table.parameters.first_deck(), *table.keys.aggregate());
    let witness = Witness::<C>::random(SMALL, &mut table.rng);
    let deck = shuffle(&key, &first, &witness);
    let read = |rho: &Scalar<C>, card: &Ciphertext<C>| {
        table.parameters.card(&(C::from(card.c2) - *key.point() * rho).into_affine())
    };
    let order: Vec<_> = witness.randomness.iter().zip(deck.cards()).filter_map(|(rho, card)| read(rho, card)).collect();
    assert_eq!(order, witness.order.places(), "the randomness gives the order away");

    let context = table.keys.shuffle_context(0).unwrap();
    let proof = prove(&table.parameters, &context, &key, [&first, &deck], &witness, &mut table.rng);
    let bytes = ShuffleMessage { input: first.hash(), deck: deck.clone(), proof }.encode();
    let (points, scalars) = bytes.split_at(32 + SMALL * 2 * 33 + 8 * 33);
    assert_eq!((points.len(), scalars.len()), (890, (3 * SMALL + 2) * 32), "there is nothing else in it");
    for scalar in scalars.chunks(32) {
        let number = Scalar::<C>::from_le_bytes_mod_order(scalar);
        assert!(deck.cards().iter().all(|card| read(&number, card).is_none()));
    }
}

/// Defect b: a verifier of stubs takes anything. This one takes neither nothing nor noise.
#[test]
fn a_proof_of_noise_is_refused() {
    let mut table = HandSetup::<C>::small("noise");
    let mut message = table.shuffles().remove(0);
    let rng = &mut table.rng;
    let noise = |count: usize, rng: &mut _| (0..count).map(|_| Scalar::<C>::rand(rng)).collect::<Vec<_>>();
    message.proof = ShuffleProof {
        order: Point::<C>::rand(rng),
        powers: Point::<C>::rand(rng),
        masks: Point::<C>::rand(rng),
        products: Point::<C>::rand(rng),
        crosses: Point::<C>::rand(rng),
        hiding: Point::<C>::rand(rng),
        hidden: [Point::<C>::rand(rng), Point::<C>::rand(rng)],
        factors: noise(SMALL, rng),
        factors_blinding: Scalar::<C>::rand(rng),
        partials: noise(SMALL - 2, rng),
        partials_blinding: Scalar::<C>::rand(rng),
        exponents: noise(SMALL, rng),
        exponents_blinding: Scalar::<C>::rand(rng),
        randomness: Scalar::<C>::rand(rng),
    };
    let verdict = Shuffling::new(&table.parameters, &table.keys).accept(&table.parameters, &message);
    assert_eq!(verdict, Err(crate::ShuffleError::NotProven { step: 0 }));
    let nothing = vec![0; ShuffleProof::<C>::encoded_bytes(SMALL)];
    assert!(matches!(ShuffleProof::<C>::decode(&nothing, SMALL), Err(DeckDecodeError::NotAPoint { offset: 0 })));
}

/// Defect c: an unblinding share without a proof. A shuffler that adds the difference of two cards to its share turns
/// one card into the other; the attack is carried out on the derived state, then refused by the deal.
#[test]
fn a_share_plus_something_would_turn_a_card_into_another_and_is_refused() {
    let mut table = HandSetup::<C>::small("share plus kG");
    let mut deal = table.deal();
    let blindings = table.blindings(&deal, 0);
    table.accept(&mut deal, &blindings);
    let mut honest = deal.clone();
    let unblindings = table.unblindings(&deal, 0);
    table.accept(&mut honest, &unblindings);
    let truth = honest.own_card(&table.parameters, 0, &table.players[0], 0).unwrap();
    let wish = (truth + 1) % SMALL as u8;
    let difference = *table.parameters.point(truth).unwrap() - *table.parameters.point(wish).unwrap();

    let Contribution::Unblinding { shuffler, position, share } = unblindings[2] else { panic!() };
    let forged = Share { point: (difference + share.point).into_affine(), ..share };
    // Without the proofs the attack works: E moves by the difference, and the wished card comes out.
    let layers: C = unblindings[..2].iter().map(unblinding_point).chain([forged.point]).sum();
    let blinded = *deal.blinded(0).unwrap();
    let opened = C::from(blinded.b) - layers - blinded.d * table.players[0].scalar();
    assert_eq!(table.parameters.card(&opened.into_affine()), Some(wish));
    // With them it does not.
    table.accept(&mut deal, &unblindings[..2]);
    let forged = Contribution::Unblinding { shuffler, position, share: forged };
    assert_eq!(deal.accept(&table.parameters, &forged), Err(DealRefusal::NotProven { position: 0 }));
    // Nor with a proof of the forger's own: no secret makes the statement true.
    let context = context(&deal, "cleo", ProofKind::Unblinding);
    let point = (difference + share.point).into_affine();
    let statement = Equality {
        base1: Point::<C>::generator(),
        base2: blinded.a,
        image1: table.shufflers[2].public().0,
        image2: point,
    };
    let proof = statement.prove(&context, table.shufflers[2].scalar(), &mut table.rng);
    let forged = Contribution::Unblinding { shuffler, position, share: Share { point, proof } };
    assert_eq!(deal.accept(&table.parameters, &forged), Err(DealRefusal::NotProven { position: 0 }));
    table.accept(&mut deal, &unblindings[2..]);
    assert_eq!(deal.own_card(&table.parameters, 0, &table.players[0], 0), Ok(truth));
}

/// The same share plus `k G`, at a showdown and on the board.
#[test]
fn no_other_share_can_be_moved_by_a_known_multiple() {
    let mut table = HandSetup::<C>::small("plus kG");
    let mut deal = table.deal();
    table.deal_to_seat(&mut deal, 0);
    let shift = Point::<C>::generator() * Scalar::<C>::from(5_u8);
    let show = deal.show(0, &table.players[0], 0, &mut table.rng).unwrap();
    let Contribution::Showdown { seat, position, share } = show else { panic!() };
    let share = Share { point: (shift + share.point).into(), ..share };
    let refused = deal.accept(&table.parameters, &Contribution::Showdown { seat, position, share });
    assert_eq!(refused, Err(DealRefusal::NotProven { position: 0 }));
    let Contribution::Community { shuffler, position, share } = table.reveals(&deal, 7)[0] else { panic!() };
    let share = Share { point: (shift + share.point).into(), ..share };
    let refused = deal.accept(&table.parameters, &Contribution::Community { shuffler, position, share });
    assert_eq!(refused, Err(DealRefusal::NotProven { position: 7 }));
}

/// Defect d: a challenge over the commitments alone. The forger draws commitments and challenge first and solves for a
/// statement that is false. A verifier with that weak challenge takes it; this crate's does not.
#[test]
fn the_weak_fiat_shamir_forgery_is_refused() {
    let mut table = HandSetup::<C>::small("weak challenge");
    let deal = table.deal();
    let context = context(&deal, "ann", ProofKind::Blinding);
    let weak = |t1: &Point<C>, t2: &Point<C>| -> Scalar<C> {
        let mut transcript = Transcript::bare(b"weak");
        transcript.point::<C>(b"t1", t1);
        transcript.point::<C>(b"t2", t2);
        transcript.challenge(b"challenge")
    };
    // The forger mixes another seat's card into the blinding: a = alpha c1' + beta G, whose logarithm is unknown.
    let other_card: Ciphertext<C> = table.final_deck().cards()[1];
    let (generator, key) = (Point::<C>::generator(), *table.keys.blinding_key(0).unwrap());
    let rng = &mut table.rng;
    let (alpha, beta, z) = (Scalar::<C>::rand(rng), Scalar::<C>::rand(rng), Scalar::<C>::rand(rng));
    let t1 = (other_card.c1 * alpha + generator * beta).into_affine();
    let t2 = Point::<C>::rand(rng);
    let challenge = weak(&t1, &t2);
    let inverse = challenge.inverse().unwrap();
    let a = ((generator * z - t1) * inverse).into_affine();
    let b = ((key * z - t2) * inverse).into_affine();
    let proof = EqualityProof::<C> { t1, t2, response: z };
    // The weak verifier's equations hold, for a statement that is false: b has nothing to do with a.
    assert_eq!(generator * z, a * challenge + t1);
    assert_eq!(key * z, b * challenge + t2);
    let statement = Equality { base1: generator, base2: key, image1: a, image2: b };
    assert!(!statement.verify(&context, &proof));
    let blinding = crate::Blinding { a, b, proof };
    let mut deal = deal;
    let forged = Contribution::Blinding { shuffler: 0, position: 0, blinding };
    assert_eq!(deal.accept(&table.parameters, &forged), Err(DealRefusal::NotProven { position: 0 }));
}

/// The same idea against the shuffle: the statement goes in before anything of the prover's, so that a proof made for
/// one output does not fit an output that was solved for afterwards.
#[test]
fn a_proof_does_not_fit_a_deck_that_was_chosen_after_it() {
    let mut table = HandSetup::<C>::small("chosen afterwards");
    let message = table.shuffles().remove(0);
    // Moves two cards so that the sum over all exponents stays as it was: equations 4 and 5 still hold.
    let [v0, v1, ..] = message.proof.exponents[..] else { panic!() };
    let shift = Point::<C>::rand(&mut table.rng);
    let mut cards = message.deck.cards().to_vec();
    cards[0].c2 = (cards[0].c2 + shift * v1).into();
    cards[1].c2 = (C::from(cards[1].c2) - shift * v0).into();
    let moved = crate::Deck::of(cards);
    let sum = |deck: &crate::Deck<C>| -> C {
        deck.cards().iter().zip(&message.proof.exponents).map(|(card, exponent)| card.c2 * exponent).sum()
    };
    assert_eq!(sum(&moved), sum(&message.deck));
    let context = table.keys.shuffle_context(0).unwrap();
    let step = ShuffleStep { context: &context, output: &moved, proof: &message.proof };
    let verdict = verify_shuffles(&table.parameters, table.keys.aggregate(), &table.parameters.first_deck(), &[step]);
    assert_eq!(verdict, Err(crate::ShuffleError::NotProven { step: 0 }));
    let moved = ShuffleMessage { deck: moved, ..message };
    let verdict = Shuffling::new(&table.parameters, &table.keys).accept(&table.parameters, &moved);
    assert_eq!(verdict, Err(crate::ShuffleError::NotProven { step: 0 }));
}

fn unblinding_point(contribution: &Contribution<C>) -> Point<C> {
    let Contribution::Unblinding { share, .. } = contribution else { panic!() };
    share.point
}

/// The context of a contribution to position 0, which belongs to seat 0.
fn context(deal: &Deal<C>, actor: &str, kind: ProofKind) -> Context {
    Context { position: Some(0), seat: Some(0), deck: Some(*deal.deck()), ..hand().context(actor, kind) }
}
