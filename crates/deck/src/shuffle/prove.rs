//! Making the proof of a shuffle.
//!
//! It commits to the order as numbers from 1, then to the powers `x^order[i]`, shows by a product over all cards that
//! the two go together as only a permutation can, and shows that the powers, taken over the new deck, give what `x^i`
//! gives over the old one.
//!
//! All masks come from the transcript, the witness and fresh randomness together, and are wiped when done.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;
use ark_ff::{Field, Zero};
use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroizing;

use crate::{
    Ciphertext, Context, Curve, Deck, Parameters, PublicKey, ShuffleProof,
    curve::{Point, Scalar},
    shuffle::Witness,
    transcript::{Nonces, Transcript},
};

type Secrets<C> = Zeroizing<Vec<Scalar<C>>>;

/// The transcript of the statement: that `output` is a shuffle of `input` under this key.
pub(super) fn opened<C: Curve>(context: &Context, key: &PublicKey<C>, [input, output]: [&Deck<C>; 2]) -> Transcript {
    let mut transcript = Transcript::new::<C>(b"shuffle", context);
    transcript.bytes(b"size", &(input.cards().len() as u64).to_le_bytes());
    transcript.point::<C>(b"key", key.point());
    transcript.bytes(b"input", &input.encode());
    transcript.bytes(b"output", &output.encode());
    transcript
}

/// Proves a shuffle with its witness. If the witness does not fit, no verifier accepts the proof.
pub(crate) fn prove<C: Curve>(
    parameters: &Parameters<C>,
    context: &Context,
    key: &PublicKey<C>,
    [input, output]: [&Deck<C>; 2],
    witness: &Witness<C>,
    rng: &mut (impl CryptoRng + RngCore),
) -> ShuffleProof<C> {
    let mut transcript = opened(context, key, [input, output]);
    let mut nonces = transcript.nonces::<C>(&witness.scalars(), rng);
    let places = || witness.order.places().iter().map(|place| u64::from(*place).saturating_add(1));

    let order = Committed::new(parameters, places().map(Scalar::<C>::from), &mut nonces);
    transcript.point::<C>(b"order", &order.point);
    let x: Scalar<C> = transcript.challenge(b"x");
    let powers = Committed::new(parameters, places().map(|place| x.pow([place])), &mut nonces);
    transcript.point::<C>(b"powers", &powers.point);
    let (y, z): (Scalar<C>, Scalar<C>) = (transcript.challenge(b"y"), transcript.challenge(b"z"));

    let pairs = order.values.iter().zip(powers.values.iter());
    let factors: Secrets<C> = Zeroizing::new(pairs.map(|(place, power)| y * place + power - z).collect());
    let product = Product::new(parameters, &factors, &mut nonces);
    let hiding = Committed::new(parameters, nonces.scalars(factors.len()).iter().copied(), &mut nonces);
    let hidden_randomness: Zeroizing<Scalar<C>> = Zeroizing::new(nonces.scalar());
    let masked = |half: fn(&Ciphertext<C>) -> Point<C>, base: &Point<C>| {
        let points: Vec<Point<C>> = output.cards().iter().map(half).collect();
        (C::msm_unchecked(&points, &hiding.values) + *base * *hidden_randomness).into_affine()
    };
    let hidden = [masked(|card| card.c1, &Point::<C>::generator()), masked(|card| card.c2, key.point())];
    let [masks, products, crosses] = [&product.masks, &product.products, &product.crosses].map(|part| part.point);
    absorb_commitments::<C>(&mut transcript, &[masks, products, crosses, hiding.point], &hidden);
    let f: Scalar<C> = transcript.challenge(b"f");

    let spent: Scalar<C> = powers.values.iter().zip(witness.randomness.iter()).map(|(power, rho)| *power * rho).sum();
    let inner = factors.len().saturating_sub(2);
    ShuffleProof {
        order: order.point,
        powers: powers.point,
        masks,
        products,
        crosses,
        hiding: hiding.point,
        hidden,
        factors: respond::<C>(f, &factors, &product.masks.values),
        factors_blinding: f * (y * *order.blinding + *powers.blinding) + *product.masks.blinding,
        partials: respond::<C>(f, &product.partials, &product.partial_masks).into_iter().skip(1).take(inner).collect(),
        partials_blinding: f * *product.crosses.blinding + *product.products.blinding,
        exponents: respond::<C>(f, &powers.values, &hiding.values),
        exponents_blinding: f * *powers.blinding + *hiding.blinding,
        randomness: *hidden_randomness - f * spent,
    }
}

pub(super) fn absorb_commitments<C: Curve>(transcript: &mut Transcript, parts: &[Point<C>; 4], hidden: &[Point<C>; 2]) {
    let labels: [&'static [u8]; 6] = [b"masks", b"products", b"crosses", b"hiding", b"hidden 1", b"hidden 2"];
    for (label, point) in labels.into_iter().zip(parts.iter().chain(hidden)) {
        transcript.point::<C>(label, point);
    }
}

fn respond<C: Curve>(challenge: Scalar<C>, secrets: &[Scalar<C>], masks: &[Scalar<C>]) -> Vec<Scalar<C>> {
    secrets.iter().zip(masks).map(|(secret, mask)| challenge * secret + mask).collect()
}

/// Values, what hides them, and the commitment to both.
struct Committed<C: Curve> {
    values: Secrets<C>,
    blinding: Zeroizing<Scalar<C>>,
    point: Point<C>,
}

impl<C: Curve> Committed<C> {
    fn new(parameters: &Parameters<C>, values: impl Iterator<Item = Scalar<C>>, nonces: &mut Nonces) -> Self {
        let (values, blinding): (Secrets<C>, _) = (Zeroizing::new(values.collect()), Zeroizing::new(nonces.scalar()));
        let scalars: Secrets<C> = Zeroizing::new(std::iter::once(*blinding).chain(values.iter().copied()).collect());
        // The base of the blinding is the first one; fewer values than bases use the first of them.
        let bases = parameters.bases.get(..scalars.len()).unwrap_or_default();
        let point = C::msm_unchecked(bases, &scalars).into_affine();
        Self { values, blinding, point }
    }
}

/// The prover's part of the product argument about some factors.
struct Product<C: Curve> {
    /// The product of the first factor, of the first two, and so on.
    partials: Secrets<C>,
    partial_masks: Secrets<C>,
    masks: Committed<C>,
    products: Committed<C>,
    crosses: Committed<C>,
}

impl<C: Curve> Product<C> {
    fn new(parameters: &Parameters<C>, factors: &[Scalar<C>], nonces: &mut Nonces) -> Self {
        // With its whole length from the start: a vector that grows leaves its old copies behind.
        let mut partials: Secrets<C> = Zeroizing::new(Vec::with_capacity(factors.len()));
        for factor in factors {
            let product = partials.last().map_or(*factor, |product| *product * factor);
            partials.push(product);
        }
        let masks = Committed::new(parameters, nonces.scalars(factors.len()).iter().copied(), nonces);
        // The first partial product is the first factor, and has its mask; the last is known to all, and has none.
        let mut partial_masks: Secrets<C> = nonces.scalars(factors.len());
        if let (Some(first), Some(mask)) = (partial_masks.first_mut(), masks.values.first()) {
            *first = *mask;
        }
        if let Some(last) = partial_masks.last_mut() {
            *last = Scalar::<C>::zero();
        }
        // For each card and the next one: its partial product p and mask e, and the next one's factor d and masks w, e.
        let own = partials.iter().zip(partial_masks.iter());
        let next = factors.iter().zip(masks.values.iter()).zip(partial_masks.iter()).skip(1);
        let pairs = || own.clone().zip(next.clone());
        let products = pairs().map(|((_, e), ((_, w_next), _))| -*e * w_next);
        let crosses = pairs().map(|((p, e), ((d_next, w_next), e_next))| *e_next - *d_next * e - *p * w_next);
        let products = Committed::new(parameters, products, nonces);
        let crosses = Committed::new(parameters, crosses, nonces);
        Self { partials, partial_masks, masks, products, crosses }
    }
}
