//! A community share with bytes changed, sent to any position by any shuffler: only the honest one, at its own place,
//! is taken.

#![no_main]

use std::sync::LazyLock;

use bankroll_deck::{
    Contribution, Deal, Destination, HandId, HandKeys, Member, MemberRole, Parameters, Secp256k1, SecretKey,
    SeenBlindings, Share, Shuffling,
};
use libfuzzer_sys::fuzz_target;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

struct Table {
    parameters: Parameters<Secp256k1>,
    deal: Deal<Secp256k1>,
    honest: Vec<u8>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let hand = HandId { deployment: "fuzz".into(), game: "table".into(), hand: "2".into() };
    let secrets = [SecretKey::generate(&mut rng), SecretKey::generate(&mut rng)];
    let mut members = Vec::new();
    for (secret, actor) in secrets.iter().zip(["ann", "ben"]) {
        let (key, proof) = secret.register(&hand, actor, MemberRole::Shuffler, &mut rng);
        members.push(Member::admit(&hand, actor, MemberRole::Shuffler, key, &proof).expect("both are honest"));
    }
    let parameters = Parameters::with_size(4).expect("four cards are a deck");
    let keys = HandKeys::new(&hand, &members, &[]).expect("two shufflers are enough");
    let mut shuffling = Shuffling::new(&parameters, &keys);
    while let Some(message) = shuffling.shuffle(&parameters, &mut rng) {
        shuffling.accept(&parameters, &message).expect("both are honest");
    }
    let deck = shuffling.finished().expect("both have shuffled");
    let deal = Deal::new(&keys, &deck, &[Destination::Board; 4], SeenBlindings::default()).expect("a plan for four");
    let share = match deal.reveal(0, &secrets[0], 2, &mut rng).expect("the card goes on the board") {
        Contribution::Community { share, .. } => share,
        other => unreachable!("a reveal makes a community share, not {other:?}"),
    };
    Table { parameters, deal, honest: share.encode() }
});

fuzz_target!(|input: &[u8]| {
    let [shuffler, position, changes @ ..] = input else { return };
    let Table { parameters, deal, honest } = &*TABLE;
    let mut bytes = honest.clone();
    for change in changes.chunks_exact(2) {
        let place = usize::from(change[0]) % bytes.len();
        bytes[place] ^= change[1];
    }
    let Ok(share) = Share::decode(&bytes) else { return };
    let contribution = Contribution::Community { shuffler: *shuffler, position: *position, share };
    let accepted = deal.clone().accept(parameters, &contribution).is_ok();
    assert_eq!(accepted, bytes == *honest && (*shuffler, *position) == (0, 2));
});
