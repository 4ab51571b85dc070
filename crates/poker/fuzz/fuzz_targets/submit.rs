//! A sound message with bytes changed, sent to a log that waits for it: only the message itself is taken.

#![no_main]

use std::sync::LazyLock;

use bankroll_deck::{MasterSecret, Parameters, Secp256k1, SeenBlindings};
use bankroll_poker::{
    Chips, HandTime, Seat, SeatStack, Snapshot, TableRules,
    log::{Actor, HandConfig, HandLog, MessageSigner, Participant, Party, SubmitVerdict, VERSION},
};
use libfuzzer_sys::fuzz_target;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

struct Waiting {
    parameters: Parameters<Secp256k1>,
    log: HandLog<Secp256k1>,
    honest: Vec<u8>,
}

static WAITING: LazyLock<Waiting> = LazyLock::new(|| {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let [operator, shuffler, one, two] = std::array::from_fn(|_| MessageSigner::generate(&mut rng));
    let named = |name: &str, signer: &MessageSigner| Participant { name: name.into(), key: signer.key() };
    let seats = [1, 2].map(|seat| SeatStack { seat: Seat(seat), stack: Chips::new(100) });
    let snapshot = Snapshot::new(TableRules::cash(Chips::new(1), Chips::new(2)), seats.to_vec(), Seat(1));
    let config = HandConfig {
        version: VERSION,
        deployment: "fuzz".into(),
        game: "table".into(),
        hand: "1".into(),
        curve: "secp256k1".into(),
        cards: 9,
        snapshot: snapshot.expect("two seats are a hand"),
        operator: operator.key(),
        players: vec![named("one", &one), named("two", &two)],
        shufflers: vec![named("shuffler", &shuffler)],
    };
    let log = HandLog::start(&config, operator, HandTime(0), SeenBlindings::default()).expect("the configuration is sound");
    let start = &log.entries()[0];
    let master = MasterSecret::generate(&mut rng);
    let joined = Party::join(Actor::Shuffler(0), shuffler, &master, &start.envelope.0, &start.receipt);
    let parameters = Parameters::with_size(9).expect("nine cards are a deck");
    let honest = joined.expect("the hand has this shuffler").duties(&parameters, &mut rng).remove(0);
    Waiting { parameters, log, honest }
});

fuzz_target!(|changes: Vec<(u16, u8)>| {
    let Waiting { parameters, log, honest } = &*WAITING;
    let mut bytes = honest.clone();
    let length = bytes.len();
    changes.iter().for_each(|(place, mask)| bytes[usize::from(*place) % length] ^= mask);
    let verdict = log.clone().submit(parameters, &bytes, HandTime(1));
    assert_eq!(matches!(verdict, SubmitVerdict::Accepted(_)), bytes == *honest);
});
