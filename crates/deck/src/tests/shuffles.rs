//! Shuffles: what a shuffler may do, and everything else.

use ark_ec::AffineRepr;
use ark_ff::{UniformRand, Zero};

use super::{
    run::rng,
    setup::{HandSetup, SMALL},
};
use crate::{
    Bn254, Ciphertext, Context, Curve, Deck, Grumpkin, Parameters, Point, PublicKey, Scalar, Secp256k1, ShuffleError,
    ShuffleMessage, ShuffleProof, ShuffleStep, Shuffling,
    shuffle::{Permutation, Witness, prove, shuffle, verify::weigh},
    verify_shuffles,
};

type C = Secp256k1;

fn plays_through<C: Curve>(size: usize) {
    let mut table = HandSetup::<C>::new("plays through", size);
    let messages = table.shuffles();
    let mut shuffling = Shuffling::new(&table.parameters, &table.keys);
    assert_eq!(shuffling.next(), Some(0));
    shuffling.accept_all(&table.parameters, &messages).unwrap();
    assert_eq!(shuffling.next(), None);
    let deck = shuffling.finished().unwrap();
    assert_eq!(deck, messages[2].deck);
    // All secrets together read the deck: every card is there once.
    let secret: Scalar<C> = table.shufflers.iter().map(|secret| *secret.scalar()).sum();
    let read = |card: &Ciphertext<C>| table.parameters.card(&(C::from(card.c2) - card.c1 * secret).into()).unwrap();
    let mut cards: Vec<u8> = deck.cards().iter().map(read).collect();
    cards.sort_unstable();
    assert_eq!(cards, (0..size as u8).collect::<Vec<_>>(), "{}", C::NAME);
}

#[test]
fn a_shuffled_deck_has_every_card_once_on_every_curve() {
    plays_through::<Secp256k1>(52);
    plays_through::<Bn254>(52);
    plays_through::<Grumpkin>(52);
    for size in [2, 3, 4, 5] {
        plays_through::<Secp256k1>(size);
    }
}

/// A step made with a witness that the test chooses, whether it is a shuffle or not.
struct Forged {
    table: HandSetup<C>,
    input: Deck<C>,
    witness: Witness<C>,
}

impl Forged {
    fn new(story: &str) -> Self {
        let mut table = HandSetup::<C>::small(story);
        let input = table.shuffles().remove(0).deck;
        let witness = Witness::random(SMALL, &mut table.rng);
        Self { table, input, witness }
    }

    fn output(&self) -> Deck<C> {
        shuffle(self.table.keys.aggregate(), &self.input, &self.witness)
    }

    /// The verdict on this output, with a proof by a prover who follows the protocol with that witness.
    fn verdict(&mut self, output: &Deck<C>) -> Result<(), ShuffleError> {
        let context = self.table.keys.shuffle_context(1).unwrap();
        let (parameters, key) = (&self.table.parameters, self.table.keys.aggregate());
        let proof = prove(parameters, &context, key, [&self.input, output], &self.witness, &mut self.table.rng);
        let step = ShuffleStep { context: &context, output, proof: &proof };
        verify_shuffles(parameters, key, &self.input, &[step])
    }
}

const NOT_PROVEN: Result<(), ShuffleError> = Err(ShuffleError::NotProven { step: 0 });

#[test]
fn an_honest_step_passes_and_so_does_the_identity_permutation() {
    let mut forged = Forged::new("identity permutation");
    let output = forged.output();
    assert_eq!(forged.verdict(&output), Ok(()));
    forged.witness.order = Permutation::of((0..SMALL as u8).collect());
    let output = forged.output();
    assert_eq!(forged.verdict(&output), Ok(()), "it is a permutation like any other");
}

#[test]
fn a_card_twice_instead_of_another_is_refused() {
    let mut forged = Forged::new("card twice");
    forged.witness.order = Permutation::of(vec![0, 1, 2, 3, 4, 5, 6, 7, 7]);
    let output = forged.output();
    assert_eq!(forged.verdict(&output), NOT_PROVEN, "the order is no permutation");
    forged.witness.order = Permutation::of((0..SMALL as u8).collect());
    assert_eq!(forged.verdict(&output), NOT_PROVEN, "the order is one, but not of this output");
}

#[test]
fn a_card_that_the_shuffler_made_up_is_refused() {
    let mut forged = Forged::new("own card");
    let honest = forged.output();
    let rho = Scalar::<C>::rand(&mut forged.table.rng);
    let ace = *forged.table.parameters.point(0).unwrap();
    let mut cards = honest.cards().to_vec();
    let key = *forged.table.keys.aggregate().point();
    cards[4] = Ciphertext { c1: (Point::<C>::generator() * rho).into(), c2: (key * rho + ace).into() };
    assert_eq!(forged.verdict(&Deck::of(cards)), NOT_PROVEN);
}

#[test]
fn swapped_scaled_or_half_encrypted_cards_are_refused() {
    let mut forged = Forged::new("half encrypted");
    let honest = forged.output();
    let with = |change: &dyn Fn(&mut Vec<Ciphertext<C>>)| {
        let mut cards = honest.cards().to_vec();
        change(&mut cards);
        Deck::of(cards)
    };
    let two = Scalar::<C>::from(2_u8);
    let bad = [
        with(&|cards| cards.swap(0, 1)),
        with(&|cards| cards[3] = Ciphertext { c1: cards[3].c1, c2: cards[5].c2 }),
        with(&|cards| cards[3] = Ciphertext { c1: (cards[3].c1 * two).into(), c2: (cards[3].c2 * two).into() }),
        with(&|cards| cards[3].c1 = (cards[3].c1 + Point::<C>::generator()).into()),
        with(&|cards| cards[3].c2 = (cards[3].c2 + Point::<C>::generator()).into()),
        with(&|cards| cards[3].c1 = -cards[3].c1),
    ];
    for (number, output) in bad.iter().enumerate() {
        assert_eq!(forged.verdict(output), NOT_PROVEN, "{number}");
    }
    // Only the first halves encrypted anew: the cards would be other cards.
    let honest = honest.cards().iter();
    let places = forged.witness.order.places().iter().map(|place| forged.input.cards()[usize::from(*place)].c2);
    let halves = Deck::of(honest.zip(places).map(|(new, c2)| Ciphertext { c1: new.c1, c2 }).collect());
    assert_eq!(forged.verdict(&halves), NOT_PROVEN);
}

#[test]
fn a_card_laid_open_is_refused() {
    let mut forged = Forged::new("laid open");
    let mut cards = forged.output().cards().to_vec();
    cards[2].c1 = Point::<C>::zero();
    assert_eq!(forged.verdict(&Deck::of(cards)), Err(ShuffleError::Identity { step: 0 }));
    // Not even by a shuffle that is one: a shuffler who gives no randomness to an open card.
    let mut table = HandSetup::<C>::small("laid open");
    let mut witness = Witness::<C>::random(SMALL, &mut table.rng);
    witness.randomness[3] = Scalar::<C>::zero();
    let (first, key) = (table.parameters.first_deck(), *table.keys.aggregate());
    let deck = shuffle(&key, &first, &witness);
    let context = table.keys.shuffle_context(0).unwrap();
    let proof = prove(&table.parameters, &context, &key, [&first, &deck], &witness, &mut table.rng);
    let message = ShuffleMessage { input: first.hash(), deck, proof };
    let refused = Shuffling::new(&table.parameters, &table.keys).accept(&table.parameters, &message);
    assert_eq!(refused, Err(ShuffleError::Identity { step: 0 }));
}

/// Defect g: the first shuffler may not bring its own deck.
#[test]
fn the_first_shuffler_cannot_choose_the_first_deck() {
    let mut table = HandSetup::<C>::small("fifty-two aces");
    let ace = table.parameters.first_deck().cards()[0];
    let aces = Deck::of(vec![ace; SMALL]);
    let witness = Witness::<C>::random(SMALL, &mut table.rng);
    let key = *table.keys.aggregate();
    let deck = shuffle(&key, &aces, &witness);
    let context = table.keys.shuffle_context(0).unwrap();
    let proof = prove(&table.parameters, &context, &key, [&aces, &deck], &witness, &mut table.rng);
    // It is a perfect shuffle of nine aces.
    let step = ShuffleStep { context: &context, output: &deck, proof: &proof };
    assert_eq!(verify_shuffles(&table.parameters, &key, &aces, &[step]), Ok(()));
    let mut shuffling = Shuffling::new(&table.parameters, &table.keys);
    let honest_about_it = ShuffleMessage { input: aces.hash(), deck: deck.clone(), proof: proof.clone() };
    assert_eq!(shuffling.accept(&table.parameters, &honest_about_it), Err(ShuffleError::WrongInput { step: 0 }));
    let lying = ShuffleMessage { input: table.parameters.first_deck().hash(), deck, proof };
    assert_eq!(shuffling.accept(&table.parameters, &lying), Err(ShuffleError::NotProven { step: 0 }));
    assert_eq!(*shuffling.deck(), table.parameters.first_deck(), "nothing has changed");
}

#[test]
fn order_doubled_steps_and_other_steps_decks_are_refused() {
    let mut table = HandSetup::<C>::small("order of steps");
    let messages = table.shuffles();
    let [first, second, third] = &messages[..] else { panic!() };
    let parameters = &table.parameters;
    let mut shuffling = Shuffling::new(parameters, &table.keys);
    assert_eq!(
        shuffling.accept(parameters, second),
        Err(ShuffleError::WrongInput { step: 0 }),
        "not this shuffler's turn"
    );
    shuffling.accept(parameters, first).unwrap();
    assert_eq!(shuffling.accept(parameters, first), Err(ShuffleError::WrongInput { step: 1 }), "twice");
    assert_eq!(shuffling.accept(parameters, third), Err(ShuffleError::WrongInput { step: 1 }), "one left out");
    let renamed = ShuffleMessage { input: second.input, ..first.clone() };
    assert_eq!(shuffling.accept(parameters, &renamed), Err(ShuffleError::NotProven { step: 1 }), "another's shuffle");
    shuffling.accept_all(parameters, &[second.clone(), third.clone()]).unwrap();
    assert_eq!(shuffling.accept(parameters, third), Err(ShuffleError::NoSuchStep { step: 3 }));
}

#[test]
fn another_key_or_another_size_is_refused() {
    let mut table = HandSetup::<C>::small("another key");
    let messages = table.shuffles();
    let context = table.keys.shuffle_context(0).unwrap();
    let step = ShuffleStep { context: &context, output: &messages[0].deck, proof: &messages[0].proof };
    let first = table.parameters.first_deck();
    let verdict = |parameters: &Parameters<C>, key: &PublicKey<C>| verify_shuffles(parameters, key, &first, &[step]);
    assert_eq!(verdict(&table.parameters, table.keys.aggregate()), Ok(()));
    assert_eq!(verdict(&table.parameters, table.players[0].public()), NOT_PROVEN);
    let larger = Parameters::with_size(SMALL + 1).unwrap();
    let refused = Err(ShuffleError::Size { step: 0, size: SMALL + 1 });
    assert_eq!(verdict(&larger, table.keys.aggregate()), refused);
    let mut shorter = messages[0].proof.clone();
    shorter.partials.pop();
    let step = ShuffleStep { proof: &shorter, ..step };
    let verdict = verify_shuffles(&table.parameters, table.keys.aggregate(), &first, &[step]);
    assert_eq!(verdict, Err(ShuffleError::Size { step: 0, size: SMALL }));
}

#[test]
fn bases_that_the_prover_chose_are_refused() {
    let mut forged = Forged::new("own bases");
    let output = forged.output();
    let context = forged.table.keys.shuffle_context(1).unwrap();
    let key = *forged.table.keys.aggregate();
    // The prover knows all of them as multiples of the generator, and could open a commitment to any value.
    let mut own = forged.table.parameters.clone();
    for (place, base) in own.bases.iter_mut().enumerate() {
        *base = (Point::<C>::generator() * Scalar::<C>::from(place as u64 + 2)).into();
    }
    let proof = prove(&own, &context, &key, [&forged.input, &output], &forged.witness, &mut forged.table.rng);
    let step = ShuffleStep { context: &context, output: &output, proof: &proof };
    assert_eq!(verify_shuffles(&own, &key, &forged.input, &[step]), Ok(()));
    assert_eq!(verify_shuffles(&forged.table.parameters, &key, &forged.input, &[step]), NOT_PROVEN);
}

type Field<T> = fn(&mut ShuffleProof<C>) -> &mut T;

/// Every scalar by one and every point by its sign, on the proof itself.
#[test]
fn every_value_of_a_proof_counts() {
    let mut table = HandSetup::<C>::small("every value");
    let message = table.shuffles().remove(0);
    let (context, first) = (table.keys.shuffle_context(0).unwrap(), table.parameters.first_deck());
    let refused = |proof: ShuffleProof<C>| {
        let step = ShuffleStep { context: &context, output: &message.deck, proof: &proof };
        assert_eq!(verify_shuffles(&table.parameters, table.keys.aggregate(), &first, &[step]), NOT_PROVEN);
    };
    let one = Scalar::<C>::from(1_u8);
    let scalars: Vec<Field<Scalar<C>>> = vec![
        |proof| &mut proof.factors_blinding,
        |proof| &mut proof.partials_blinding,
        |proof| &mut proof.exponents_blinding,
        |proof| &mut proof.randomness,
    ];
    for scalar in scalars {
        let mut proof = message.proof.clone();
        *scalar(&mut proof) += one;
        refused(proof);
    }
    let vectors: Vec<Field<Vec<Scalar<C>>>> =
        vec![|proof| &mut proof.factors, |proof| &mut proof.partials, |proof| &mut proof.exponents];
    for vector in vectors {
        for place in 0..vector(&mut message.proof.clone()).len() {
            let mut proof = message.proof.clone();
            vector(&mut proof)[place] += one;
            refused(proof);
        }
    }
    let points: Vec<Field<Point<C>>> = vec![
        |proof| &mut proof.order,
        |proof| &mut proof.powers,
        |proof| &mut proof.masks,
        |proof| &mut proof.products,
        |proof| &mut proof.crosses,
        |proof| &mut proof.hiding,
        |proof| &mut proof.hidden[0],
        |proof| &mut proof.hidden[1],
    ];
    for point in points {
        let mut proof = message.proof.clone();
        *point(&mut proof) = -*point(&mut proof);
        refused(proof);
    }
}

#[test]
fn the_culprit_of_a_batch_is_named_and_nothing_is_taken() {
    let mut table = HandSetup::<C>::small("culprit");
    let messages = table.shuffles();
    for bad in 0..3 {
        let mut touched = messages.clone();
        touched[bad].proof.randomness += Scalar::<C>::from(1_u8);
        let mut shuffling = Shuffling::new(&table.parameters, &table.keys);
        let verdict = shuffling.accept_all(&table.parameters, &touched);
        assert_eq!(verdict, Err(ShuffleError::NotProven { step: bad }));
        assert_eq!(shuffling.next(), Some(0));
    }
    // Two bad ones: the first is named, whatever is wrong with the second.
    let mut touched = messages.clone();
    touched[0].proof.randomness += Scalar::<C>::from(1_u8);
    touched[2].input = [0; 32];
    let mut shuffling = Shuffling::new(&table.parameters, &table.keys);
    assert_eq!(shuffling.accept_all(&table.parameters, &touched), Err(ShuffleError::NotProven { step: 0 }));
    // In the middle of a hand, steps count from its beginning.
    shuffling.accept(&table.parameters, &messages[0]).unwrap();
    touched[0] = messages[0].clone();
    touched[1].proof.randomness += Scalar::<C>::from(1_u8);
    assert_eq!(shuffling.accept_all(&table.parameters, &touched[1..]), Err(ShuffleError::NotProven { step: 1 }));
}

/// The operator checks proofs on other threads than its worker, which then only takes them.
#[test]
fn a_shuffle_checked_elsewhere_is_taken_once_in_its_own_place() {
    let mut table = HandSetup::<C>::small("checked elsewhere");
    let messages = table.shuffles();
    let mut shuffling = Shuffling::new(&table.parameters, &table.keys);
    let first = shuffling.clone().check(&table.parameters, &messages[0]).unwrap();
    let mut touched = messages[0].clone();
    touched.proof.randomness += Scalar::<C>::from(1_u8);
    assert_eq!(shuffling.check(&table.parameters, &touched).err(), Some(ShuffleError::NotProven { step: 0 }));
    let other_hand = HandSetup::<C>::small("another table");
    let mut elsewhere = Shuffling::new(&other_hand.parameters, &other_hand.keys);
    assert_eq!(elsewhere.take(first.clone()), Err(ShuffleError::NotProven { step: 0 }), "the same first deck");
    shuffling.take(first.clone()).unwrap();
    assert_eq!((shuffling.next(), shuffling.deck()), (Some(1), &messages[0].deck));
    assert_eq!(shuffling.take(first), Err(ShuffleError::WrongInput { step: 1 }));
    shuffling.accept(&table.parameters, &messages[1]).unwrap();
}

#[test]
fn errors_of_two_steps_do_not_cancel() {
    let mut table = HandSetup::<C>::small("cancelling steps");
    let mut messages = table.shuffles();
    messages[0].proof.factors_blinding += Scalar::<C>::from(1_u8);
    messages[1].proof.factors_blinding -= Scalar::<C>::from(1_u8);
    let verdict = Shuffling::new(&table.parameters, &table.keys).accept_all(&table.parameters, &messages);
    assert_eq!(verdict, Err(ShuffleError::NotProven { step: 0 }));
}

/// The same with errors made to measure, from the weights that the honest proofs had.
#[test]
fn weights_of_a_batch_cannot_be_used_against_it() {
    let mut table = HandSetup::<C>::small("weights");
    let mut messages = table.shuffles();
    let contexts: Vec<_> = (0..3).map(|step| table.keys.shuffle_context(step).unwrap()).collect();
    let first = table.parameters.first_deck();
    let steps: Vec<_> = contexts.iter().zip(&messages).map(|(context, message)| step(context, message)).collect();
    let inputs = [&first, &messages[0].deck, &messages[1].deck];
    let pairs: Vec<_> = inputs.into_iter().zip(&steps).collect();
    let weights: Vec<_> = weigh(table.keys.aggregate(), &pairs).into_iter().map(|(_, weights)| weights).collect();
    // Equation 1 of the first two steps, on the base of the blinding: the errors cancel under these weights.
    let errors = [weights[1][0], -weights[0][0]];
    assert!((weights[0][0] * errors[0] + weights[1][0] * errors[1]).is_zero());
    messages[0].proof.factors_blinding += errors[0];
    messages[1].proof.factors_blinding += errors[1];
    let verdict = Shuffling::new(&table.parameters, &table.keys).accept_all(&table.parameters, &messages);
    assert_eq!(verdict, Err(ShuffleError::NotProven { step: 0 }));
}

fn step<'a>(context: &'a Context, message: &'a ShuffleMessage<C>) -> ShuffleStep<'a, C> {
    ShuffleStep { context, output: &message.deck, proof: &message.proof }
}

/// All 24 orders of four cards, about equally often: a remainder of a division would favour some by a sixth.
#[test]
fn every_order_is_as_likely_as_any_other() {
    let mut rng = rng("uniform");
    let mut counts = std::collections::HashMap::<Vec<u8>, u32>::new();
    for _ in 0..24_000 {
        *counts.entry(Permutation::random(4, &mut rng).places().to_vec()).or_default() += 1;
    }
    assert_eq!(counts.len(), 24);
    // Seven standard deviations of a count whose mean is a thousand.
    for (order, count) in counts {
        assert!((783..=1217).contains(&count), "{order:?}: {count}");
    }
}
