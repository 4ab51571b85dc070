//! Equality proofs: what is refused alone, what is refused in a batch, and who is named.

use std::collections::HashSet;

use ark_ec::AffineRepr;
use ark_ff::{Field, UniformRand};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use super::{run::rng, setup::hand};
use crate::{
    Bn254, Context, Curve, Equality, EqualityClaim, EqualityProof, FalseClaim, Grumpkin, Point, ProofKind, Scalar,
    Secp256k1,
    equality::{batch::weigh, draw},
    verify_claims,
};

fn context() -> Context {
    hand().context("ann", ProofKind::Community)
}

/// A true statement and its witness.
fn statement<C: Curve>(rng: &mut ChaCha20Rng) -> (Equality<C>, Scalar<C>) {
    let (base1, base2) = (Point::<C>::generator(), Point::<C>::rand(rng));
    let witness = Scalar::<C>::rand(rng);
    (Equality { base1, base2, image1: (base1 * witness).into(), image2: (base2 * witness).into() }, witness)
}

fn claims<C: Curve>(count: usize, rng: &mut ChaCha20Rng) -> Vec<EqualityClaim<C>> {
    let claim = |_| {
        let (statement, witness) = statement::<C>(rng);
        let context = context();
        let proof = statement.prove(&context, &witness, rng);
        EqualityClaim { context, statement, proof }
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

/// Three claims about the same bases.
fn related(rng: &mut ChaCha20Rng) -> Vec<EqualityClaim<Secp256k1>> {
    let (honest, _) = statement::<Secp256k1>(rng);
    let claim = |_| {
        let witness = Scalar::<Secp256k1>::rand(rng);
        let [image1, image2] = [honest.base1, honest.base2].map(|base| (base * witness).into());
        let statement = Equality { image1, image2, ..honest };
        EqualityClaim { context: context(), statement, proof: statement.prove(&context(), &witness, rng) }
    };
    (0..3).map(claim).collect()
}

/// A forger that knows the weights beforehand finds errors in three responses that cancel in both sums. The weights of
/// the honest proofs are known; they must be useless once anything has changed.
#[test]
fn weights_of_a_batch_cannot_be_used_against_it() {
    let mut claims = related(&mut rng("weights"));
    assert_eq!(verify_claims(&claims), Ok(()));
    let [[a0, b0], [a1, b1], [a2, b2]] = weigh(&claims).into_iter().map(|(_, weights)| weights).collect::<Vec<_>>()[..]
    else {
        panic!()
    };
    let errors = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0];
    let sums = [[a0, a1, a2], [b0, b1, b2]]
        .map(|weights| -> Scalar<Secp256k1> { weights.iter().zip(errors).map(|(weight, error)| error * weight).sum() });
    assert_eq!(sums, [Scalar::<Secp256k1>::from(0_u8); 2], "with these weights they would pass");
    for (claim, error) in claims.iter_mut().zip(errors) {
        claim.proof.response += error;
    }
    assert_eq!(verify_claims(&claims), Err(FalseClaim { index: 0 }));
}

/// For each point of a statement: the proof is made first, with something else in its place, and the point is solved
/// for afterwards, so that both equations hold under the challenge of that proof. It must not be the challenge any
/// more.
fn solved_for<C: Curve>(which: usize, rng: &mut ChaCha20Rng) {
    let (mut solved, witness) = statement::<C>(rng);
    let nonce = Scalar::<C>::rand(rng);
    let (mut t1, mut t2): (Point<C>, Point<C>) = ((solved.base1 * nonce).into(), (solved.base2 * nonce).into());
    // The equation with the point that is solved for has any commitment; the other one an honest one.
    let commitment = if which % 2 == 1 { &mut t1 } else { &mut t2 };
    *commitment = Point::<C>::rand(rng);
    let challenge = draw::<C>(&mut solved.transcript(&context()), &t1, &t2);
    let response = nonce + challenge * witness;
    let [by_challenge, by_response] = [challenge, response].map(|scalar| scalar.inverse().unwrap());
    match which {
        1 => solved.image1 = ((solved.base1 * response - t1) * by_challenge).into(),
        2 => solved.image2 = ((solved.base2 * response - t2) * by_challenge).into(),
        3 => solved.base1 = ((solved.image1 * challenge + t1) * by_response).into(),
        _ => solved.base2 = ((solved.image2 * challenge + t2) * by_response).into(),
    }
    assert_eq!(solved.base1 * response, solved.image1 * challenge + t1, "the first equation holds");
    assert_eq!(solved.base2 * response, solved.image2 * challenge + t2, "the second equation holds");
    assert!(!solved.verify(&context(), &EqualityProof { t1, t2, response }), "point {which}");
}

#[test]
fn no_point_of_a_statement_can_be_chosen_after_the_challenge() {
    let mut rng = rng("solved for");
    for which in 1..=4 {
        solved_for::<Secp256k1>(which, &mut rng);
    }
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
