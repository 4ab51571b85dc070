//! Cards, the first deck, and points with no known relation.

use std::collections::HashSet;

use ark_ec::AffineRepr;

use super::setup::HandSetup;
use crate::{
    Bn254, Curve, DECK_SIZE, Grumpkin, Parameters, Point, Secp256k1, SizeError,
    codec::put_point,
    hash_to_group::{PointPurpose, point},
};

fn hex<C: Curve>(point: &Point<C>) -> String {
    let mut bytes = Vec::new();
    put_point::<C>(&mut bytes, point);
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The expected bytes come from another implementation, in another language.
#[test]
fn the_points_are_the_same_on_every_machine() {
    let first = |purpose| hex::<Secp256k1>(&point::<Secp256k1>(purpose, 0));
    assert_eq!(first(PointPurpose::Card), "610c0d73fc3ae79651f79fe038684b35a2da03a136384bee844ad3909cdce7c180");
    assert_eq!(
        first(PointPurpose::CommitmentBase),
        "e1af5590b16c7ba9292340a73b12c1e2142561a1555316138aecdbd948e0ecac00"
    );
    assert_eq!(
        hex::<Bn254>(&point::<Bn254>(PointPurpose::Card, 51)),
        "f4713a7d3d6baf6ff61a34da1b49f034d11d74b60f5b7aa04e34342d35848003"
    );
    assert_eq!(
        hex::<Grumpkin>(&point::<Grumpkin>(PointPurpose::Card, 51)),
        "70d9c71c230e7c154baae303784adcf6c0cc92a567e0c1f941ae90d0142ba90b"
    );
}

fn all_points_differ<C: Curve>() {
    let parameters = Parameters::<C>::standard();
    let cards = (0..52).map(|card| *parameters.point(card).unwrap());
    let points: HashSet<Point<C>> =
        cards.chain(parameters.bases.iter().copied()).chain([Point::<C>::generator(), Point::<C>::zero()]).collect();
    assert_eq!(points.len(), 52 + 53 + 2, "{}", C::NAME);
}

#[test]
fn cards_bases_generator_and_identity_all_differ() {
    all_points_differ::<Secp256k1>();
    all_points_differ::<Bn254>();
    all_points_differ::<Grumpkin>();
}

#[test]
fn a_card_is_its_point_and_nothing_else_is_a_card() {
    let parameters = Parameters::<Secp256k1>::standard();
    for card in 0..52 {
        assert_eq!(parameters.card(parameters.point(card).unwrap()), Some(card));
    }
    assert_eq!(parameters.point(52), None);
    assert_eq!(parameters.card(&Point::<Secp256k1>::generator()), None);
    assert_eq!(parameters.card(&Point::<Secp256k1>::zero()), None);
    // No sum of two cards is a card: no party turns one into another by adding a known point.
    let sum = *parameters.point(3).unwrap() + *parameters.point(4).unwrap();
    assert_eq!(parameters.card(&sum.into()), None);
}

#[test]
fn the_first_deck_is_every_card_in_order_in_the_open() {
    let parameters = Parameters::<Secp256k1>::standard();
    let deck = parameters.first_deck();
    assert_eq!(deck.cards().len(), DECK_SIZE);
    for (card, number) in deck.cards().iter().zip(0..) {
        assert!(card.c1.is_zero());
        assert_eq!(parameters.card(&card.c2), Some(number));
    }
    assert_eq!(deck.hash(), Parameters::<Secp256k1>::standard().first_deck().hash());
}

#[test]
fn a_deck_has_2_to_52_cards() {
    for size in [0, 1, 53, 256, 308] {
        assert_eq!(Parameters::<Secp256k1>::with_size(size).err(), Some(SizeError { size }));
    }
    for size in [2, 52] {
        assert_eq!(Parameters::<Secp256k1>::with_size(size).unwrap().size(), size);
    }
}

#[test]
fn the_hash_of_a_deck_depends_on_the_order_and_each_card() {
    let mut table = HandSetup::<Secp256k1>::small("deck hash");
    let deck = table.final_deck();
    let mut swapped = deck.cards().to_vec();
    swapped.swap(0, 1);
    let mut other = deck.cards().to_vec();
    other[8].c2 = -other[8].c2;
    let hashes = [deck.clone(), crate::Deck::of(swapped), crate::Deck::of(other)].map(|deck| deck.hash());
    assert_eq!(HashSet::from(hashes).len(), 3);
}
