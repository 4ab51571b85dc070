//! Checking proofs of shuffles: all equations of all of them in one multi-scalar multiplication.
//!
//! With the verifier's own `first partial = first factor` and `last partial = f times the whole product`, a proof is
//! good if five equations hold:
//!
//! 1. `f (y order + powers - z sum(H)) + masks = commit(factors)`
//! 2. `f crosses + products = commit(f partial[i+1] - partial[i] factor[i+1])`
//! 3. `f powers + hiding = commit(exponents)`
//! 4. and 5., for both halves of the cards: `randomness (G, key) + sum(exponents C') = hidden + f sum(x^i C)`
//!
//! Each equation of each proof gets its own weight of 128 bits from a hash of all proofs and statements; their weighted
//! sum must be zero. The output of one step is the input of the next, so its points are multiplied once for both.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;
use ark_ff::Zero;

use crate::{
    Context, ContextDigest, Curve, Deck, Parameters, PublicKey, ShuffleProof,
    combination::Combination,
    curve::{Point, Scalar},
    shuffle::prove::{absorb_commitments, opened},
    transcript::Transcript,
};

/// One shuffle of a chain: the new deck and its proof.
#[derive(Clone, Copy, Debug)]
pub struct ShuffleStep<'a, C: Curve> {
    /// Whose shuffle it is, and which.
    pub context: &'a Context,
    pub output: &'a Deck<C>,
    pub proof: &'a ShuffleProof<C>,
}

/// Why a chain of shuffles was refused. The first bad step is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShuffleError {
    /// A deck or proof for another number of cards.
    #[error("step {step} is not about {size} cards")]
    Size {
        /// Which step; the deck that the first one starts from counts to it.
        step: usize,
        size: usize,
    },
    /// A card of the new deck is open.
    #[error("step {step} leaves a card open")]
    Identity { step: usize },
    /// Made from another deck than the one that the step before left.
    #[error("step {step} starts from another deck")]
    WrongInput { step: usize },
    /// All shufflers have shuffled.
    #[error("there is no step {step}")]
    NoSuchStep { step: usize },
    /// The proof does not prove it.
    #[error("step {step} is not proven")]
    NotProven { step: usize },
}

impl ShuffleError {
    /// The same, if so many steps had come before.
    pub(super) const fn after(self, before: usize) -> Self {
        match self {
            Self::Size { step, size } => Self::Size { step: step.saturating_add(before), size },
            Self::Identity { step } => Self::Identity { step: step.saturating_add(before) },
            Self::WrongInput { step } => Self::WrongInput { step: step.saturating_add(before) },
            Self::NoSuchStep { step } => Self::NoSuchStep { step: step.saturating_add(before) },
            Self::NotProven { step } => Self::NotProven { step: step.saturating_add(before) },
        }
    }
}

/// Checks a chain of shuffles that starts from `input`: each step shuffles what the one before left.
///
/// # Errors
/// If any step is wrong or not proven; the first such is named.
pub fn verify_shuffles<C: Curve>(
    parameters: &Parameters<C>,
    key: &PublicKey<C>,
    input: &Deck<C>,
    steps: &[ShuffleStep<'_, C>],
) -> Result<(), ShuffleError> {
    C::verify_shuffles(parameters, key, input, steps)
}

pub(crate) fn verify<C: Curve>(
    parameters: &Parameters<C>,
    key: &PublicKey<C>,
    input: &Deck<C>,
    steps: &[ShuffleStep<'_, C>],
) -> Result<(), ShuffleError> {
    let inputs = || std::iter::once(input).chain(steps.iter().map(|step| step.output));
    let size = parameters.size();
    let misshapen = |step: &ShuffleStep<'_, C>| step.output.cards().len() != size || !step.proof.has_shape(size);
    let mut refused = Ok(());
    let mut shaped = 0;
    for (number, (step, input)) in steps.iter().zip(inputs()).enumerate() {
        if input.cards().len() != size || misshapen(step) {
            refused = Err(ShuffleError::Size { step: number, size });
        } else if step.output.has_identity() {
            refused = Err(ShuffleError::Identity { step: number });
        } else if step.proof.has_identity() {
            refused = Err(ShuffleError::NotProven { step: number });
        }
        if refused.is_err() {
            break;
        }
        shaped = number + 1;
    }
    // What has the wrong shape is only the first bad step if all before it are proven.
    let steps = steps.get(..shaped).unwrap_or_default();
    let all: Vec<_> = inputs().zip(steps.iter()).collect();
    if !hold_together(parameters, key, &all) {
        let alone = |pair: &(&Deck<C>, &ShuffleStep<'_, C>)| all.len() > 1 && hold_together(parameters, key, &[*pair]);
        return Err(ShuffleError::NotProven { step: all.iter().position(|pair| !alone(pair)).unwrap_or(0) });
    }
    refused
}

fn hold_together<C: Curve>(
    parameters: &Parameters<C>,
    key: &PublicKey<C>,
    steps: &[(&Deck<C>, &ShuffleStep<'_, C>)],
) -> bool {
    let mut sum = Combination::<C>::new();
    let mut bases = vec![Scalar::<C>::zero(); parameters.bases.len()];
    for ((input, step), (challenges, weights)) in steps.iter().zip(weigh(key, steps)) {
        challenges.add_proof(&mut sum, step.proof, weights);
        challenges.add_decks(&mut sum, key, input, step, weights);
        challenges.add_bases(&mut bases, step.proof, weights);
    }
    for (base, scalar) in parameters.bases.iter().zip(bases) {
        sum.add(base, scalar);
    }
    sum.is_zero()
}

/// The challenges of each step and the weights of its equations, which depend on all of all steps.
pub(crate) fn weigh<C: Curve>(
    key: &PublicKey<C>,
    steps: &[(&Deck<C>, &ShuffleStep<'_, C>)],
) -> Vec<(Challenges<C>, [Scalar<C>; 5])> {
    let mut batch = Transcript::bare(b"shuffle batch");
    let mut challenges = Vec::with_capacity(steps.len());
    for (input, step) in steps {
        let (drawn, digest) = Challenges::draw(key, input, step);
        batch.bytes(b"shuffle", &digest);
        challenges.push(drawn);
    }
    let labels: [&'static [u8]; 5] = [b"weight 1", b"weight 2", b"weight 3", b"weight 4", b"weight 5"];
    challenges.into_iter().map(|drawn| (drawn, labels.map(|label| batch.weight(label)))).collect()
}

/// The challenges that the prover answered.
pub(crate) struct Challenges<C: Curve> {
    x: Scalar<C>,
    y: Scalar<C>,
    z: Scalar<C>,
    f: Scalar<C>,
}

impl<C: Curve> Challenges<C> {
    /// The challenges of a step, and a digest of all there is in it.
    fn draw(key: &PublicKey<C>, input: &Deck<C>, step: &ShuffleStep<'_, C>) -> (Self, ContextDigest) {
        let proof = step.proof;
        let mut transcript = opened(step.context, key, [input, step.output]);
        transcript.point::<C>(b"order", &proof.order);
        let x = transcript.challenge(b"x");
        transcript.point::<C>(b"powers", &proof.powers);
        let (y, z) = (transcript.challenge(b"y"), transcript.challenge(b"z"));
        let parts = [proof.masks, proof.products, proof.crosses, proof.hiding];
        absorb_commitments::<C>(&mut transcript, &parts, &proof.hidden);
        let f = transcript.challenge(b"f");
        proof.absorb_responses(&mut transcript);
        (Self { x, y, z, f }, transcript.digest())
    }

    /// The commitments in all five equations.
    fn add_proof(&self, sum: &mut Combination<C>, proof: &ShuffleProof<C>, weights: [Scalar<C>; 5]) {
        let [one, two, three, four, five] = weights;
        let [hidden1, hidden2] = &proof.hidden;
        sum.add(&proof.order, one * self.f * self.y);
        sum.add(&proof.powers, (one + three) * self.f);
        sum.add(&proof.masks, one);
        sum.add(&proof.crosses, two * self.f);
        sum.add(&proof.products, two);
        sum.add(&proof.hiding, three);
        sum.add(hidden1, -four);
        sum.add(hidden2, -five);
    }

    /// The cards, the generator and the key in the last two equations.
    fn add_decks(
        &self,
        sum: &mut Combination<C>,
        key: &PublicKey<C>,
        input: &Deck<C>,
        step: &ShuffleStep<'_, C>,
        [.., four, five]: [Scalar<C>; 5],
    ) {
        sum.add(&Point::<C>::generator(), four * step.proof.randomness);
        sum.add(key.point(), five * step.proof.randomness);
        for (card, exponent) in step.output.cards().iter().zip(&step.proof.exponents) {
            sum.add(&card.c1, four * exponent);
            sum.add(&card.c2, five * exponent);
        }
        for (card, power) in input.cards().iter().zip(self.powers()) {
            sum.add(&card.c1, -(four * self.f * power));
            sum.add(&card.c2, -(five * self.f * power));
        }
    }

    /// The right sides of the first three equations: what the bases of the commitments are multiplied with.
    fn add_bases(&self, bases: &mut [Scalar<C>], proof: &ShuffleProof<C>, [one, two, three, ..]: [Scalar<C>; 5]) {
        let Some((blinding, bases)) = bases.split_first_mut() else { return };
        *blinding -= one * proof.factors_blinding + two * proof.partials_blinding + three * proof.exponents_blinding;
        let whole: Scalar<C> =
            (1_u8..).zip(self.powers()).take(bases.len()).map(|(i, power)| self.factor(i, power)).product();
        let first = proof.factors.first().copied();
        let partials = || first.into_iter().chain(proof.partials.iter().copied()).chain([self.f * whole]);
        let crossed = partials().zip(partials().skip(1)).zip(proof.factors.iter().skip(1));
        // One cross term less than there are cards.
        let crossed = crossed.map(|((own, next), factor)| self.f * next - own * factor).chain([Scalar::<C>::zero()]);
        for (((base, factor), crossed), exponent) in
            bases.iter_mut().zip(&proof.factors).zip(crossed).zip(&proof.exponents)
        {
            *base -= one * (self.f * self.z + factor) + two * crossed + three * exponent;
        }
    }

    /// `x`, `x^2` and so on.
    fn powers(&self) -> impl Iterator<Item = Scalar<C>> {
        std::iter::successors(Some(self.x), |power| Some(*power * self.x))
    }

    /// What the factor of card `i` is for any permutation.
    fn factor(&self, i: u8, power: Scalar<C>) -> Scalar<C> {
        self.y * Scalar::<C>::from(i) + power - self.z
    }
}
