//! Equality proofs: what is refused alone, what is refused in a batch, and who is named.

use std::collections::HashSet;

use ark_ec::AffineRepr;
use ark_ff::UniformRand;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use super::{run::rng, table::hand};
use crate::{
    Bn254, Claim, Context, Curve, Equality, EqualityProof, FalseClaim, Grumpkin, Kind, Point, Scalar, Secp256k1,
    verify_claims,
};

fn context() -> Context {
    hand().context("ann", Kind::Community)
}

/// A true statement and its witness.
fn statement<C: Curve>(rng: &mut ChaCha20Rng) -> (Equality<C>, Scalar<C>) {
    let (base1, base2) = (Point::<C>::generator(), Point::<C>::rand(rng));
    let witness = Scalar::<C>::rand(rng);
    (Equality { base1, base2, image1: (base1 * witness).into(), image2: (base2 * witness).into() }, witness)
}

fn claims<C: Curve>(count: usize, rng: &mut ChaCha20Rng) -> Vec<Claim<C>> {
    let claim = |_| {
        let (statement, witness) = statement::<C>(rng);
        let context = context();
        let proof = statement.prove(&context, &witness, rng);
        Claim { context, statement, proof }
    };
    (0..count).map(claim).collect()
}

fn touched<C: Curve>() {
    let mut rng = rng("touched equality");
    let (statement, witness) = statement::<C>(&mut rng);
    let proof = statement.prove(&context(), &witness, &mut rng);
    assert!(statement.verify(&context(), &proof), "{}", C::NAME);
    let negated = |point: Point<C>| -> Point<C> { -point };
    let bad_proofs = [
        EqualityProof { response: proof.response + Scalar::<C>::from(1_u8), ..proof },
        EqualityProof { response: -proof.response, ..proof },
        EqualityProof { t1: negated(proof.t1), ..proof },
        EqualityProof { t2: negated(proof.t2), ..proof },
        EqualityProof { t1: proof.t2, t2: proof.t1, ..proof },
        EqualityProof { t1: Point::<C>::zero(), ..proof },
        EqualityProof { t2: Point::<C>::zero(), ..proof },
    ];
    for (number, bad) in bad_proofs.iter().enumerate() {
        assert!(!statement.verify(&context(), bad), "{} {number}", C::NAME);
    }
    let bad_statements = [
        Equality { image1: negated(statement.image1), ..statement },
        Equality { image2: negated(statement.image2), ..statement },
        Equality { image2: (statement.image2 + statement.base2).into(), ..statement },
        Equality { base2: (statement.base2 + statement.base1).into(), ..statement },
        Equality { base1: statement.base2, base2: statement.base1, image1: statement.image2, image2: statement.image1 },
        Equality { image1: Point::<C>::zero(), ..statement },
        Equality { image2: Point::<C>::zero(), ..statement },
    ];
    for (number, bad) in bad_statements.iter().enumerate() {
        assert!(!bad.verify(&context(), &proof), "{} {number}", C::NAME);
    }
}

#[test]
fn a_touched_proof_or_statement_is_refused_on_every_curve() {
    touched::<Secp256k1>();
    touched::<Bn254>();
    touched::<Grumpkin>();
}

/// With witness zero, everything is the identity, and the equations hold.
#[test]
fn nothing_is_proven_about_the_identity() {
    let mut rng = rng("identity");
    let zero = Point::<Secp256k1>::zero();
    let (honest, _) = statement::<Secp256k1>(&mut rng);
    let none = Scalar::<Secp256k1>::from(0_u8);
    let nothing = Equality { image1: zero, image2: zero, ..honest };
    let proof = nothing.prove(&context(), &none, &mut rng);
    assert!(!nothing.verify(&context(), &proof));
    let no_bases = Equality::<Secp256k1> { base1: zero, base2: zero, image1: zero, image2: zero };
    assert!(!no_bases.verify(&context(), &no_bases.prove(&context(), &none, &mut rng)));
}

#[test]
fn a_false_statement_gets_no_proof_from_the_honest_prover_either() {
    let mut rng = rng("false statement");
    let (honest, witness) = statement::<Secp256k1>(&mut rng);
    let wrong = Equality { image2: (honest.image2 + honest.base1).into(), ..honest };
    assert!(!wrong.verify(&context(), &wrong.prove(&context(), &witness, &mut rng)));
}

fn named<C: Curve>() {
    let mut rng = rng("named");
    let good = claims::<C>(12, &mut rng);
    assert_eq!(verify_claims(&good), Ok(()));
    assert_eq!(verify_claims::<C>(&[]), Ok(()));
    for index in 0..good.len() {
        let mut bad = good.clone();
        bad[index].proof.response += Scalar::<C>::from(1_u8);
        assert_eq!(verify_claims(&bad), Err(FalseClaim { index }), "{}", C::NAME);
    }
    let mut several = good.clone();
    several[9].statement.image1 = Point::<C>::zero();
    assert_eq!(verify_claims(&several), Err(FalseClaim { index: 9 }));
    several[4].context.actor = "ben".into();
    several[7].proof.t1 = -several[7].proof.t1;
    assert_eq!(verify_claims(&several), Err(FalseClaim { index: 4 }), "the first of three");
}

#[test]
fn one_bad_proof_among_many_is_named_on_every_curve() {
    named::<Secp256k1>();
    named::<Bn254>();
    named::<Grumpkin>();
}

/// Errors that cancel if all proofs count the same: the batch must not weigh them so.
#[test]
fn errors_that_cancel_each_other_do_not_pass_a_batch() {
    let mut rng = rng("cancelling errors");
    let mut pair = claims::<Secp256k1>(2, &mut rng);
    // The same bases for both, so that one response too many and one too few would sum up to nothing.
    let (second, witness) = (pair[0].statement, Scalar::<Secp256k1>::rand(&mut rng));
    let images = [second.base1, second.base2].map(|base| Point::<Secp256k1>::from(base * witness));
    pair[1].statement = Equality { image1: images[0], image2: images[1], ..second };
    pair[1].proof = pair[1].statement.prove(&pair[1].context, &witness, &mut rng);
    assert_eq!(verify_claims(&pair), Ok(()));
    pair[0].proof.response += Scalar::<Secp256k1>::from(1_u8);
    pair[1].proof.response -= Scalar::<Secp256k1>::from(1_u8);
    assert_eq!(verify_claims(&pair), Err(FalseClaim { index: 0 }));
}

#[test]
fn two_proofs_never_share_a_commitment() {
    let mut rng = rng("shared commitments");
    let (statement, witness) = statement::<Secp256k1>(&mut rng);
    let prove = |context: &Context, seed| statement.prove(context, &witness, &mut ChaCha20Rng::seed_from_u64(seed)).t1;
    let other = Context { position: Some(1), ..context() };
    let commitments = HashSet::from([prove(&context(), 1), prove(&context(), 2), prove(&other, 1), prove(&other, 2)]);
    assert_eq!(commitments.len(), 4, "not even with a generator that repeats itself");
}
