//! Many equality proofs in one multiplication.
//!
//! Each of the two equations of each proof gets its own weight of 128 bits, drawn from a hash of all the proofs. The
//! prover fixes the proofs before the weights are known, so errors in several equations do not cancel, and the verdict
//! is the same on every machine. If the batch fails, the proofs are checked one by one to name the first false
//! one.

use crate::{
    Context, Curve, Equality, EqualityProof, combination::Combination, curve::Scalar, equality::draw,
    transcript::Transcript,
};

/// A statement, what it is about, and its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualityClaim<C: Curve> {
    /// What it is about.
    pub context: Context,
    pub statement: Equality<C>,
    /// Why it should be believed.
    pub proof: EqualityProof<C>,
}

/// A claim that its proof does not prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("claim {index} is not proven")]
pub struct FalseClaim {
    /// Which of the claims; the first, if there are several.
    pub index: usize,
}

/// Checks all claims at once.
///
/// # Errors
/// If any is not proven; the first such is named.
pub fn verify_claims<C: Curve>(claims: &[EqualityClaim<C>]) -> Result<(), FalseClaim> {
    C::verify_claims(claims)
}

pub(crate) fn verify<C: Curve>(claims: &[EqualityClaim<C>]) -> Result<(), FalseClaim> {
    // Cheap, and first: the equations say nothing about statements that contain the identity.
    if let Some(index) = claims.iter().position(|claim| claim.statement.has_identity(&claim.proof)) {
        let earlier = claims.get(..index).unwrap_or_default();
        return verify(earlier).and(Err(FalseClaim { index }));
    }
    if hold_together(claims) {
        return Ok(());
    }
    // Single proofs are refused with the same certainty as batches; a batch of one was already judged.
    let alone = |claim: &EqualityClaim<C>| claims.len() > 1 && hold_together(std::slice::from_ref(claim));
    Err(FalseClaim { index: claims.iter().position(|claim| !alone(claim)).unwrap_or(0) })
}

fn hold_together<C: Curve>(claims: &[EqualityClaim<C>]) -> bool {
    let mut sum = Combination::<C>::new();
    for (EqualityClaim { statement, proof, .. }, (challenge, [weight1, weight2])) in claims.iter().zip(weigh(claims)) {
        let equations = [
            (statement.base1, statement.image1, proof.t1, weight1),
            (statement.base2, statement.image2, proof.t2, weight2),
        ];
        // response * base - challenge * image - commitment = 0, twice.
        for (base, image, commitment, weight) in equations {
            sum.add(&base, weight * proof.response);
            sum.add(&image, -(weight * challenge));
            sum.add(&commitment, -weight);
        }
    }
    sum.is_zero()
}

/// The challenge of each claim and the weights of its equations, which depend on all of all claims.
pub(crate) fn weigh<C: Curve>(claims: &[EqualityClaim<C>]) -> Vec<(Scalar<C>, [Scalar<C>; 2])> {
    let mut batch = Transcript::bare(b"equality batch");
    let challenges: Vec<Scalar<C>> = claims.iter().map(|claim| absorb(&mut batch, claim)).collect();
    let weighted = |challenge| (challenge, [batch.weight(b"weight 1"), batch.weight(b"weight 2")]);
    challenges.into_iter().map(weighted).collect()
}

/// The claim's own challenge; all of the claim goes into the batch's transcript.
fn absorb<C: Curve>(batch: &mut Transcript, claim: &EqualityClaim<C>) -> Scalar<C> {
    let mut transcript = claim.statement.transcript(&claim.context);
    let challenge = draw::<C>(&mut transcript, &claim.proof.t1, &claim.proof.t2);
    transcript.scalars::<C>(b"response", &[claim.proof.response]);
    batch.bytes(b"claim", &transcript.digest());
    challenge
}
