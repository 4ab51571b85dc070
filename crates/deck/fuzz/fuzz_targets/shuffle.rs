//! An honest shuffle message with bytes changed: whatever is changed, it is refused.
//!
//! The input is a list of changes, each two bytes of place and one of mask, so that most inputs still decode.

#![no_main]

use std::sync::LazyLock;

use bankroll_deck::{
    HandId, HandKeys, Member, MemberRole, Parameters, Secp256k1, SecretKey, ShuffleMessage, Shuffling,
};
use libfuzzer_sys::fuzz_target;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

const SIZE: usize = 4;

struct Table {
    parameters: Parameters<Secp256k1>,
    keys: HandKeys<Secp256k1>,
    honest: Vec<u8>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let hand = HandId { deployment: "fuzz".into(), game: "table".into(), hand: "1".into() };
    let secret = SecretKey::generate(&mut rng);
    let (key, proof) = secret.register(&hand, "ann", MemberRole::Shuffler, &mut rng);
    let ann = Member::admit(&hand, "ann", MemberRole::Shuffler, key, &proof).expect("ann is honest");
    let parameters = Parameters::with_size(SIZE).expect("four cards are a deck");
    let keys = HandKeys::new(&hand, &[ann], &[]).expect("one shuffler is enough");
    let message = Shuffling::new(&parameters, &keys).shuffle(&parameters, &mut rng).expect("it is ann's turn");
    Table { honest: message.encode(), parameters, keys }
});

fuzz_target!(|changes: &[u8]| {
    let Table { parameters, keys, honest } = &*TABLE;
    let mut bytes = honest.clone();
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[place] ^= change[2];
    }
    let accepted = ShuffleMessage::decode(&bytes, SIZE)
        .is_ok_and(|message| Shuffling::new(parameters, keys).accept(parameters, &message).is_ok());
    assert_eq!(accepted, bytes == *honest);
});
