//! Mutations: bytes that were touched are refused, or are not read at all, and no bytes make a decoder panic.
//!
//! Decoding comes first and is cheap; what is still a proof after that goes to the verifier, small decks first.

use rand_chacha::{ChaCha20Rng, rand_core::RngCore};

use super::{
    run::{rng, rounds},
    setup::{HandSetup, SMALL},
};
use crate::{
    Blinding, Bn254, Contribution, Curve, Deck, EqualityProof, Grumpkin, PolynomialCommitments, Possession, PublicKey,
    SealedShare, Secp256k1, Share, ShuffleMessage, ShuffleProof, ShuffleStep, Shuffling, verify_shuffles,
};

type C = Secp256k1;

/// Each byte of a proof about a small deck, with one bit or all bits flipped.
#[test]
fn every_byte_of_a_proof_flipped_in_turn_is_refused() {
    let mut table = HandSetup::<C>::new("every byte", 4);
    let message = table.shuffles().remove(0);
    let (context, first) = (table.keys.shuffle_context(0).unwrap(), table.parameters.first_deck());
    let bytes = message.proof.encode();
    assert_eq!(bytes.len(), 8 * 33 + 14 * 32);
    let (mut unread, mut refused) = (0, 0);
    for place in 0..bytes.len() {
        for mask in [1, 0x80, 0xff] {
            let mut touched = bytes.clone();
            touched[place] ^= mask;
            let Ok(proof) = ShuffleProof::<C>::decode(&touched, 4) else {
                unread += 1;
                continue;
            };
            let step = ShuffleStep { context: &context, output: &message.deck, proof: &proof };
            let verdict = verify_shuffles(&table.parameters, table.keys.aggregate(), &first, &[step]);
            assert!(verdict.is_err(), "byte {place}, mask {mask:#x}");
            refused += 1;
        }
    }
    println!("{unread} not read, {refused} refused");
    assert!(unread > 300 && refused > 1_300, "both lines of defence are at work: {unread} and {refused}");
}

/// The same for a proof about all 52 cards, one bit of each byte; by two threads, because each verification takes a
/// while.
#[test]
fn every_byte_of_a_full_proof_flipped_in_turn_is_refused() {
    let mut table = HandSetup::<C>::new("every byte of 52", 52);
    let message = table.shuffles().remove(0);
    let (context, first) = (table.keys.shuffle_context(0).unwrap(), table.parameters.first_deck());
    let bytes = message.proof.encode();
    assert_eq!(bytes.len(), 8 * 33 + 158 * 32);
    let bits: Vec<u8> = bytes.iter().map(|_| 1 << (table.rng.next_u32() % 8)).collect();
    let half = |from: usize| {
        let (mut unread, mut refused) = (0, 0);
        for place in (from..bytes.len()).step_by(2) {
            let mut touched = bytes.clone();
            touched[place] ^= bits[place];
            let Ok(proof) = ShuffleProof::<C>::decode(&touched, 52) else {
                unread += 1;
                continue;
            };
            let step = ShuffleStep { context: &context, output: &message.deck, proof: &proof };
            let verdict = verify_shuffles(&table.parameters, table.keys.aggregate(), &first, &[step]);
            assert!(verdict.is_err(), "byte {place}, bit {:#x}", bits[place]);
            refused += 1;
        }
        (unread, refused)
    };
    let (even, odd) = std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        (half(0), odd.join().unwrap())
    });
    let (unread, refused) = (even.0 + odd.0, even.1 + odd.1);
    println!("{unread} not read, {refused} refused");
    assert_eq!(unread + refused, 5_320);
}

/// Each byte of a whole message about 52 cards, in one place of every few, another one for each seed.
#[test]
fn bytes_of_a_full_message_flipped_are_refused() {
    let mut table = HandSetup::<C>::new("full message", 52);
    let first = Shuffling::new(&table.parameters, &table.keys).shuffle(&table.parameters, &mut table.rng).unwrap();
    let bytes = first.encode();
    for round in rounds(400) {
        let place = table.rng.next_u32() as usize % bytes.len();
        let mut touched = bytes.clone();
        touched[place] ^= 1 << (table.rng.next_u32() % 8);
        let Ok(message) = ShuffleMessage::<C>::decode(&touched, 52) else { continue };
        let verdict = Shuffling::new(&table.parameters, &table.keys).accept(&table.parameters, &message);
        assert!(verdict.is_err(), "round {round}, byte {place}");
    }
}

#[test]
fn every_byte_of_a_contribution_flipped_in_turn_is_refused() {
    let mut table = HandSetup::<C>::small("contribution bytes");
    let mut deal = table.deal();
    let Contribution::Blinding { blinding, .. } = table.blindings(&deal, 0)[0] else { panic!() };
    let Contribution::Community { share, .. } = table.reveals(&deal, 7)[0] else { panic!() };
    let mut refused = |contribution: Option<Contribution<C>>| {
        contribution.is_none_or(|contribution| deal.accept(&table.parameters, &contribution).is_err())
    };
    let (blinding, share) = (blinding.encode(), share.encode());
    for (place, mask) in (0..blinding.len()).flat_map(|place| [1, 0x80].map(|mask| (place, mask))) {
        let mut touched = blinding.clone();
        touched[place] ^= mask;
        let touched = Blinding::decode(&touched).ok();
        let touched = touched.map(|blinding| Contribution::Blinding { shuffler: 0, position: 0, blinding });
        assert!(refused(touched), "blinding, byte {place}");
    }
    for (place, mask) in (0..share.len()).flat_map(|place| [1, 0x80].map(|mask| (place, mask))) {
        let mut touched = share.clone();
        touched[place] ^= mask;
        let touched = Share::decode(&touched).ok();
        let touched = touched.map(|share| Contribution::Community { shuffler: 0, position: 7, share });
        assert!(refused(touched), "share, byte {place}");
    }
}

/// Some bytes flipped, inserted, cut off, repeated, or drawn anew.
fn mutate(bytes: &mut Vec<u8>, rng: &mut ChaCha20Rng) {
    for _ in 0..1 + rng.next_u32() % 4 {
        let place = rng.next_u32() as usize % bytes.len().max(1);
        match (rng.next_u32() % 8, bytes.get_mut(place)) {
            (0, _) => bytes.truncate(place),
            (1, _) => bytes.insert(place.min(bytes.len()), rng.next_u32() as u8),
            (2, Some(byte)) => *byte = 0,
            (3, Some(byte)) => *byte = 0xff,
            (4, _) => bytes.extend_from_within(place..),
            (5, _) => rng.fill_bytes(&mut bytes[place..]),
            (_, Some(byte)) => *byte ^= 1 << (rng.next_u32() % 8),
            (_, None) => bytes.push(0),
        }
    }
}

/// What any decoder says of bytes: they are refused, or they are the one encoding of what was read.
fn one_encoding<C: Curve>(bytes: &[u8], size: usize) {
    let written = [
        PublicKey::<C>::decode(bytes).map(|value| value.encode()),
        Possession::<C>::decode(bytes).map(|value| value.encode()),
        EqualityProof::<C>::decode(bytes).map(|value| value.encode()),
        Blinding::<C>::decode(bytes).map(|value| value.encode()),
        Share::<C>::decode(bytes).map(|value| value.encode()),
        PolynomialCommitments::<C>::decode(bytes, 3).map(|value| value.encode()),
        SealedShare::<C>::decode(bytes).map(|value| value.encode()),
        Deck::<C>::decode(bytes, size).map(|value| value.encode()),
        ShuffleProof::<C>::decode(bytes, size).map(|value| value.encode()),
        ShuffleMessage::<C>::decode(bytes, size).map(|value| value.encode()),
    ];
    for again in written.into_iter().flatten() {
        assert_eq!(again, bytes);
    }
}

fn decoders<C: Curve>(story: &str, usual: u64) {
    let mut table = HandSetup::<C>::small(story);
    let message = table.shuffles().remove(0);
    let deal = table.deal();
    let Contribution::Blinding { blinding, .. } = table.blindings(&deal, 0)[0] else { panic!() };
    let Contribution::Community { share, .. } = table.reveals(&deal, 7)[0] else { panic!() };
    let values = [
        message.encode(),
        message.proof.encode(),
        message.deck.encode(),
        blinding.encode(),
        blinding.proof.encode(),
        share.encode(),
        table.players[0].public().encode(),
    ];
    let mut rng = rng(story);
    for _ in rounds(usual) {
        let mut bytes = values[rng.next_u32() as usize % values.len()].clone();
        mutate(&mut bytes, &mut rng);
        one_encoding::<C>(&bytes, SMALL);
    }
}

#[test]
fn decoders_take_one_encoding_or_none() {
    decoders::<Secp256k1>("decoders", 20_000);
}

#[test]
fn decoders_take_one_encoding_or_none_on_the_other_curves() {
    decoders::<Bn254>("decoders bn254", 10_000);
    decoders::<Grumpkin>("decoders grumpkin", 10_000);
}
