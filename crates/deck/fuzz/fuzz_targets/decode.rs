//! Any bytes, any decoder, any curve: they are refused, or they are the one encoding of what was read.

#![no_main]

use bankroll_deck::{
    Blinding, Bn254, Curve, Deck, EqualityProof, Grumpkin, PolynomialCommitments, Possession, PublicKey, Secp256k1,
    Share, ShuffleMessage, ShuffleProof,
};
use libfuzzer_sys::fuzz_target;

/// Small, so that mutations reach every field.
const SIZE: usize = 4;

fuzz_target!(|bytes: &[u8]| {
    one_encoding::<Secp256k1>(bytes);
    one_encoding::<Bn254>(bytes);
    one_encoding::<Grumpkin>(bytes);
});

fn one_encoding<C: Curve>(bytes: &[u8]) {
    let written = [
        PublicKey::<C>::decode(bytes).map(|value| value.encode()),
        Possession::<C>::decode(bytes).map(|value| value.encode()),
        EqualityProof::<C>::decode(bytes).map(|value| value.encode()),
        Blinding::<C>::decode(bytes).map(|value| value.encode()),
        Share::<C>::decode(bytes).map(|value| value.encode()),
        PolynomialCommitments::<C>::decode(bytes, 3).map(|value| value.encode()),
        Deck::<C>::decode(bytes, SIZE).map(|value| value.encode()),
        ShuffleProof::<C>::decode(bytes, SIZE).map(|value| value.encode()),
        ShuffleMessage::<C>::decode(bytes, SIZE).map(|value| value.encode()),
    ];
    for again in written.into_iter().flatten() {
        assert_eq!(again, bytes);
    }
}
