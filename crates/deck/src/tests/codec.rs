//! Bytes: one encoding for each value, and everything else is refused with what is wrong and where.

use ark_ec::AffineRepr;
use ark_ff::{BigInteger, PrimeField};

use super::setup::{HandSetup, SMALL};
use crate::{
    Blinding, Bn254, Contribution, Curve, DealtShare, Deck, DeckDecodeError, EqualityProof, Grumpkin, HandId,
    PolynomialCommitments, Possession, ProofKind, PublicKey, Scalar, Secp256k1, Share, ShuffleMessage, ShuffleProof,
    point_bytes, scalar_bytes,
};

fn everything_reads_back<C: Curve>(proof_bytes: usize, deck_bytes: usize) {
    let mut table = HandSetup::<C>::new("reads back", 52);
    let message = table.shuffles().remove(0);
    assert_eq!(message.proof.encode().len(), proof_bytes, "{}", C::NAME);
    assert_eq!(message.deck.encode().len(), deck_bytes, "{}", C::NAME);
    assert_eq!(ShuffleMessage::decode(&message.encode(), 52).unwrap(), message);
    assert_eq!(ShuffleProof::decode(&message.proof.encode(), 52).unwrap(), message.proof);
    assert_eq!(Deck::decode(&message.deck.encode(), 52).unwrap(), message.deck);

    let mut table = HandSetup::<C>::small("reads back");
    let deal = table.deal();
    let [Contribution::Blinding { blinding, .. }, ..] = table.blindings(&deal, 0)[..] else { panic!() };
    assert_eq!(Blinding::decode(&blinding.encode()).unwrap(), blinding);
    assert_eq!(EqualityProof::decode(&blinding.proof.encode()).unwrap(), blinding.proof);
    let [Contribution::Community { share, .. }, ..] = table.reveals(&deal, 7)[..] else { panic!() };
    assert_eq!(Share::decode(&share.encode()).unwrap(), share);
    let hand = HandId { deployment: String::new(), game: String::new(), hand: String::new() };
    let proof = table.players[0].prove_possession(&hand.context("dora", ProofKind::PlayerKey), &mut table.rng);
    assert_eq!(Possession::decode(&proof.encode()).unwrap(), proof);
    let key = *table.players[0].public();
    assert_eq!(PublicKey::decode(&key.encode()).unwrap(), key);
    let dealing = crate::Dealing::new(table.players.remove(0), 2, &mut table.rng);
    assert_eq!(PolynomialCommitments::decode(&dealing.commitments().encode(), 2).unwrap(), dealing.commitments());
    let share = dealing.share_for(1).encode();
    assert_eq!(DealtShare::<C>::decode(&share).unwrap().encode(), share);
}

#[test]
fn what_is_written_reads_back_on_every_curve() {
    everything_reads_back::<Secp256k1>(8 * 33 + 158 * 32, 104 * 33);
    everything_reads_back::<Bn254>(8 * 32 + 158 * 32, 104 * 32);
    everything_reads_back::<Grumpkin>(8 * 32 + 158 * 32, 104 * 32);
}

#[test]
fn lengths_are_exact() {
    let mut table = HandSetup::<Secp256k1>::small("lengths");
    let message = table.shuffles().remove(0);
    let bytes = message.encode();
    let expected = bytes.len();
    for found in [0, 1, expected - 1] {
        let cut = ShuffleMessage::<Secp256k1>::decode(&bytes[..found], SMALL);
        assert_eq!(cut, Err(DeckDecodeError::Length { expected, found }));
    }
    let longer = [bytes, vec![0]].concat();
    let trailing = ShuffleMessage::<Secp256k1>::decode(&longer, SMALL);
    assert_eq!(trailing, Err(DeckDecodeError::Length { expected, found: expected + 1 }));
    // A proof about fewer cards is not a proof about these.
    let smaller = HandSetup::<Secp256k1>::new("lengths", SMALL - 1).shuffles().remove(0).proof.encode();
    let expected = ShuffleProof::<Secp256k1>::encoded_bytes(SMALL);
    let refused = ShuffleProof::<Secp256k1>::decode(&smaller, SMALL);
    assert_eq!(refused, Err(DeckDecodeError::Length { expected, found: expected - 3 * 32 }));
}

/// Reads a key, which is one point.
fn point<C: Curve>(bytes: &[u8]) -> Result<(), DeckDecodeError> {
    PublicKey::<C>::decode(bytes).map(drop)
}

fn generator<C: Curve>() -> Vec<u8> {
    PublicKey::<C>(C::Affine::generator()).encode()
}

fn bad_points<C: Curve>(field: &[u8; 32]) {
    let good = generator::<C>();
    let (last, size) = (good.len() - 1, point_bytes::<C>());
    assert_eq!(point::<C>(&good), Ok(()), "{}", C::NAME);

    // The identity in its own encoding, and in ones that a careless decoder takes for it.
    let mut identity = vec![0; size];
    identity[last] = 1 << 6;
    assert_eq!(point::<C>(&identity), Err(DeckDecodeError::Identity { offset: 0 }));
    identity[0] = 1;
    assert_eq!(point::<C>(&identity), Err(DeckDecodeError::Identity { offset: 0 }));
    identity[last] = 3 << 6;
    assert_eq!(point::<C>(&identity), Err(DeckDecodeError::NotAPoint { offset: 0 }));

    // A coordinate beyond the field: the generator's own, once around.
    let mut beyond = good.clone();
    let mut carry = 0;
    for (byte, addend) in beyond.iter_mut().zip(field) {
        let sum = u16::from(*byte) + u16::from(*addend) + carry;
        (*byte, carry) = ((sum & 255) as u8, sum >> 8);
    }
    if let Some(top) = beyond.get_mut(32) {
        *top |= carry as u8;
    }
    assert!(point::<C>(&beyond).is_err(), "{}", C::NAME);

    // A coordinate that no point has.
    let no_point = (0..=255).find_map(|first| {
        let mut bytes = vec![0; size];
        bytes[0] = first;
        (C::lift(&std::array::from_fn(|place| if place == 0 { first } else { 0 }), false).is_none()).then_some(bytes)
    });
    assert_eq!(point::<C>(&no_point.unwrap()), Err(DeckDecodeError::NotAPoint { offset: 0 }), "{}", C::NAME);
}

#[test]
fn what_is_no_point_in_its_one_encoding_is_refused() {
    let bytes = |modulus: Vec<u8>| <[u8; 32]>::try_from(modulus).unwrap();
    bad_points::<Secp256k1>(&bytes(ark_secp256k1::Fq::MODULUS.to_bytes_le()));
    bad_points::<Bn254>(&bytes(ark_bn254::Fq::MODULUS.to_bytes_le()));
    bad_points::<Grumpkin>(&bytes(ark_grumpkin::Fq::MODULUS.to_bytes_le()));
}

#[test]
fn extra_bits_next_to_the_sign_are_a_second_encoding() {
    for bit in 0..6 {
        let mut bytes = generator::<Secp256k1>();
        bytes[32] |= 1 << bit;
        assert_eq!(point::<Secp256k1>(&bytes), Err(DeckDecodeError::NotCanonical { offset: 0 }), "bit {bit}");
    }
}

fn scalar_range<C: Curve>() {
    let read = |bytes: &[u8]| DealtShare::<C>::decode(bytes).map(drop);
    let order = Scalar::<C>::MODULUS.to_bytes_le();
    assert_eq!(order.len(), scalar_bytes::<C>());
    let mut below = order.clone();
    below[0] -= 1;
    assert_eq!(read(&below), Ok(()), "{}", C::NAME);
    assert_eq!(read(&order), Err(DeckDecodeError::ScalarRange { offset: 0 }), "{}", C::NAME);
    assert_eq!(read(&[255; 32]), Err(DeckDecodeError::ScalarRange { offset: 0 }), "{}", C::NAME);
}

#[test]
fn scalars_are_below_the_order() {
    scalar_range::<Secp256k1>();
    scalar_range::<Bn254>();
    scalar_range::<Grumpkin>();
}

#[test]
fn a_decode_error_names_its_offset() {
    let mut table = HandSetup::<Secp256k1>::small("place of the error");
    let proof = table.shuffles().remove(0).proof;
    let mut bytes = proof.encode();
    bytes[33 * 3..33 * 4].fill(0);
    bytes[33 * 4 - 1] = 1 << 6;
    assert_eq!(ShuffleProof::<Secp256k1>::decode(&bytes, SMALL), Err(DeckDecodeError::Identity { offset: 99 }));
    let mut bytes = proof.encode();
    bytes[33 * 8 + 32 * 5..33 * 8 + 32 * 6].fill(255);
    assert_eq!(ShuffleProof::<Secp256k1>::decode(&bytes, SMALL), Err(DeckDecodeError::ScalarRange { offset: 424 }));
}
