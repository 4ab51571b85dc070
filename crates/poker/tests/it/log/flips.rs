//! Bytes that were touched: every byte of a file, and decoders against bounded mutation.

use bankroll_poker::log::{ActionEnvelope, Bundle, EventReceipt};
use fastrand::Rng;

use super::test_table::checked_down;
use crate::run;

/// One bit of every byte, another one for each seed. What still decodes is a bundle, and none of them is sound.
#[test]
fn every_byte_of_a_bundle_flipped_in_turn_is_refused() {
    let (table, bundle) = checked_down(71);
    let (bytes, key) = (bundle.encode(), table.operator.key());
    Bundle::decode(&bytes).unwrap().verify(Some(&key)).unwrap();
    let mut random = Rng::with_seed(run::seed());
    let (mut unread, mut refused) = (0, 0);
    for place in 0..bytes.len() {
        let mut touched = bytes.clone();
        touched[place] ^= 1 << random.u8(0..8);
        match Bundle::decode(&touched) {
            Err(_) => unread += 1,
            Ok(bundle) => {
                assert!(bundle.verify(Some(&key)).is_err(), "byte {place}");
                refused += 1;
            }
        }
    }
    run::print_line(&format!("flips: {} bytes, {unread} not read, {refused} refused", bytes.len()));
    assert!(unread > 100 && refused > 10_000, "both lines of defence are at work: {unread} and {refused}");
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(1..4) {
        let place = random.usize(0..bytes.len().max(1));
        match (random.u8(0..7), bytes.get_mut(place)) {
            (0, _) => bytes.truncate(place),
            (1, _) => bytes.insert(place.min(bytes.len()), random.u8(..)),
            (2, Some(byte)) => *byte = 0xff,
            (3, Some(byte)) => *byte = byte.wrapping_add(1),
            (4, _) => bytes.extend_from_within(place..),
            (_, Some(byte)) => *byte ^= 1 << random.u8(0..8),
            (_, None) => bytes.push(0),
        }
    }
}

/// What any decoder says of bytes: they are refused, or they are the one encoding of what was read.
#[test]
fn decoders_take_one_encoding_or_none() {
    let (_, bundle) = checked_down(72);
    let mut values: Vec<Vec<u8>> = bundle.entries.iter().map(|entry| entry.envelope.0.clone()).collect();
    values.extend(bundle.receipts().iter().map(EventReceipt::encode));
    values.push(bundle.encode());
    let mut read = 0;
    for seed in run::rounds(20_000) {
        let mut random = Rng::with_seed(seed);
        let mut bytes = values[random.usize(0..values.len())].clone();
        mutate(&mut bytes, &mut random);
        let written = [
            ActionEnvelope::decode(&bytes).ok().map(|value| value.encode()),
            EventReceipt::decode(&bytes).ok().map(|value| value.encode()),
            Bundle::decode(&bytes).ok().map(|value| value.encode()),
        ];
        for again in written.into_iter().flatten() {
            assert_eq!(again, bytes, "seed {seed}");
            read += 1;
        }
    }
    assert!(read > 0, "something was still readable");
}
