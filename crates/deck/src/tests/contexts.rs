//! Contexts: a proof made for one place is refused in any other, field by field.

use ark_ec::AffineRepr;

use super::setup::{HandSetup, hand};
use crate::{
    Context, Equality, HandId, Point, ProofKind, Scalar, Secp256k1, ShuffleStep, transcript::Transcript,
    verify_shuffles,
};

type C = Secp256k1;

fn context() -> Context {
    Context { position: Some(3), seat: Some(1), deck: Some([9; 32]), ..hand().context("ann", ProofKind::Unblinding) }
}

/// Every field changed, dropped or exchanged, one at a time.
fn others(of: &Context) -> Vec<(&'static str, Context)> {
    let hand = |hand: HandId| Context { hand, ..of.clone() };
    let id = of.hand.clone();
    let shifted = HandId { deployment: "casinotable-7".into(), game: String::new(), ..id.clone() };
    let mut others = vec![
        ("version", Context { version: of.version + 1, ..of.clone() }),
        ("deployment", hand(HandId { deployment: "casino2".into(), ..id.clone() })),
        ("game", hand(HandId { game: "table-8".into(), ..id.clone() })),
        ("hand", hand(HandId { hand: "42".into(), ..id.clone() })),
        ("letters moved between fields", hand(shifted)),
        ("actor", Context { actor: "zoe".into(), ..of.clone() }),
        ("position", Context { position: of.position.map(|position| position + 1), ..of.clone() }),
        ("no position", Context { position: None, ..of.clone() }),
        ("seat", Context { seat: Some(of.seat.map_or(0, |seat| seat + 1)), ..of.clone() }),
        ("position and seat exchanged", Context { position: of.seat, seat: of.position, ..of.clone() }),
        ("final deck", Context { deck: Some([8; 32]), ..of.clone() }),
    ];
    if of.seat.is_some() {
        others.push(("no seat", Context { seat: None, ..of.clone() }));
        others.push(("no final deck", Context { deck: None, ..of.clone() }));
    }
    let kinds = [
        ProofKind::ShufflerKey,
        ProofKind::PlayerKey,
        ProofKind::Dealing,
        ProofKind::Shuffle,
        ProofKind::Blinding,
        ProofKind::Unblinding,
        ProofKind::Community,
        ProofKind::Showdown,
    ];
    others.extend(
        kinds.into_iter().filter(|kind| *kind != of.kind).map(|kind| (kind.name(), Context { kind, ..of.clone() })),
    );
    others
}

#[test]
fn an_equality_proof_counts_in_its_own_context_only() {
    let mut table = HandSetup::<C>::small("equality contexts");
    let base2 = *table.parameters.point(0).unwrap();
    let secret = &table.shufflers[0];
    let image2: Point<C> = (base2 * secret.scalar()).into();
    let statement = Equality::<C> { base1: Point::<C>::generator(), base2, image1: secret.public().0, image2 };
    let proof = statement.prove(&context(), secret.scalar(), &mut table.rng);
    assert!(statement.verify(&context(), &proof));
    for (field, other) in others(&context()) {
        assert!(!statement.verify(&other, &proof), "{field}");
    }
}

#[test]
fn a_possession_proof_counts_in_its_own_context_only() {
    let mut table = HandSetup::<C>::small("possession contexts");
    let secret = &table.shufflers[0];
    let proof = secret.prove_possession(&context(), &mut table.rng);
    assert!(proof.verify(&context(), secret.public()));
    for (field, other) in others(&context()) {
        assert!(!proof.verify(&other, secret.public()), "{field}");
    }
}

#[test]
fn a_shuffle_proof_counts_in_its_own_context_only() {
    let mut table = HandSetup::<C>::small("shuffle contexts");
    let messages = table.shuffles();
    let context = table.keys.shuffle_context(1).unwrap();
    let verify = |context: &Context| {
        let step = ShuffleStep { context, output: &messages[1].deck, proof: &messages[1].proof };
        verify_shuffles(&table.parameters, table.keys.aggregate(), &messages[0].deck, &[step])
    };
    assert_eq!(verify(&context), Ok(()));
    for (field, other) in others(&context) {
        assert!(verify(&other).is_err(), "{field}");
    }
}

#[test]
fn the_curve_the_argument_and_every_label_count() {
    let draw = |mut transcript: Transcript| transcript.challenge::<Scalar<C>>(b"challenge");
    let first = draw(Transcript::on("secp256k1", b"equality", &context()));
    assert_eq!(first, draw(Transcript::new::<C>(b"equality", &context())));
    assert_ne!(first, draw(Transcript::on("bn254", b"equality", &context())));
    assert_ne!(first, draw(Transcript::on("secp256k1", b"possession", &context())));
    let with = |label: &'static [u8], bytes: &[u8]| {
        let mut transcript = Transcript::new::<C>(b"equality", &context());
        transcript.bytes(label, bytes);
        draw(transcript)
    };
    assert_ne!(with(b"base 1", b"x"), with(b"base 2", b"x"));
    assert_ne!(with(b"base 1", b""), first, "an empty entry is an entry");
}
