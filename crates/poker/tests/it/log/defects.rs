//! Defects of another operator, each tried here. The letters are those of the notes; a to d and h are about the deck
//! and the pots, and have their stories there.

use bankroll_deck::{HandId, MasterSecret, MemberRole, Secp256k1};
use bankroll_poker::{
    PlayerAction, Seat, Street,
    log::{
        ActionEnvelope, Actor, Bytes, GameShuffleMessage, KeyRegistrationMessage, LogMessage, MessageRejection,
        Signature, SubmitVerdict,
    },
};

use super::test_table::{Secp, TestTable, checked_down};

/// The signature covered the payload alone, so that it could be moved to other hands, actors and numbers.
#[test]
fn defect_e_a_signature_covers_more_than_the_payload() {
    let (table, bundle) = checked_down(21);
    let signed = ActionEnvelope::decode(&bundle.entries[1].envelope.0).unwrap();
    let key = table.log.table().config().key(signed.header.actor).unwrap();
    assert!(signed.is_signed_by(key));
    let moved = |change: fn(&mut ActionEnvelope)| {
        let mut moved = signed.clone();
        change(&mut moved);
        !moved.is_signed_by(key)
    };
    assert!(moved(|envelope| envelope.header.deployment = "another".into()));
    assert!(moved(|envelope| envelope.header.game = "another".into()));
    assert!(moved(|envelope| envelope.header.hand = "another".into()));
    assert!(moved(|envelope| envelope.header.actor = Actor::Shuffler(9)));
    assert!(moved(|envelope| envelope.header.nonce = 2));
    assert!(moved(|envelope| envelope.header.previous.0[31] ^= 1));
    assert!(moved(|envelope| envelope.header.seen = Some(envelope.header.previous)));
    assert!(moved(|envelope| envelope.message = LogMessage::Muck));
}

/// A signature that was the message itself was taken for one.
#[test]
fn defect_f_a_signature_is_not_the_message() {
    let mut table = TestTable::<Secp>::small(22, &[1_000, 1_000], 1);
    table.work();
    let mut envelope = table.next_of(Actor::Seat(Seat(1)), LogMessage::Muck);
    let bytes = envelope.encode();
    let mut copy = Signature::default();
    copy.0.0.copy_from_slice(&bytes[..64]);
    envelope.signature = copy;
    assert_eq!(table.refused(&envelope.encode()), MessageRejection::BadSignature { actor: Actor::Seat(Seat(1)) });
}

/// Keys came without proof, the identity was a key, and the first shuffler could choose the first deck.
#[test]
fn defect_g_keys_are_possessed_and_the_first_deck_is_fixed() {
    let mut table = TestTable::<Secp>::small(23, &[1_000, 1_000], 1);
    let shuffler = Actor::Shuffler(0);
    let duty = table.duties(0).remove(0);
    let LogMessage::KeyRegistration(honest) = ActionEnvelope::decode(&duty).unwrap().message else { panic!() };
    let register = |key: &[u8], possession: &[u8]| {
        let (key, possession) = (Bytes(key.to_vec()), Bytes(possession.to_vec()));
        LogMessage::KeyRegistration(KeyRegistrationMessage { key, possession })
    };
    // A key without proof of possession: here another party's key of another hand.
    let hand = HandId { deployment: "casino".into(), game: "table 7".into(), hand: "hand 40".into() };
    let secret = MasterSecret::from_bytes([7; 32]).key::<Secp256k1>(&hand, MemberRole::Shuffler);
    let (key, possession) = secret.register(&hand, "shuffler 0", MemberRole::Shuffler, &mut table.rng);
    for possession in [honest.possession.0.clone(), possession.encode()] {
        let bytes = table.next_of(shuffler, register(&key.encode(), &possession)).encode();
        assert!(matches!(table.refused(&bytes), MessageRejection::Key(_)));
    }
    let mut identity = vec![0; 33];
    identity[32] = 0x40;
    let bytes = table.next_of(shuffler, register(&identity, &honest.possession.0)).encode();
    assert!(matches!(table.refused(&bytes), MessageRejection::Part(_)));
    // A shuffle of another first deck than the one that each party computes.
    table.register();
    let shuffle = table.duties(0).remove(0);
    let LogMessage::Shuffle(GameShuffleMessage { mut shuffle }) = ActionEnvelope::decode(&shuffle).unwrap().message
    else {
        panic!()
    };
    shuffle.0[0] ^= 1;
    let bytes = table.next_of(shuffler, LogMessage::Shuffle(GameShuffleMessage { shuffle })).encode();
    assert!(matches!(table.refused(&bytes), MessageRejection::Shuffle(_)));
}

/// There was no message that opens the board, so no hand could go on after its first betting round.
#[test]
fn defect_i_the_board_opens_street_by_street() {
    let mut table = TestTable::<Secp>::small(24, &[1_000, 1_000], 2);
    table.work();
    let mut streets = vec![(table.hand().street(), table.hand().board().len())];
    while let Some(legal) = table.hand().legal() {
        table.act(if legal.check { PlayerAction::Check } else { PlayerAction::Call });
        table.work();
        streets.push((table.hand().street(), table.hand().board().len()));
    }
    streets.dedup();
    assert_eq!(streets, [(Street::Preflop, 0), (Street::Flop, 3), (Street::Turn, 4), (Street::River, 5)]);
}

/// The verifier counted a message before the worker had stored it, and a failure in between lost the number.
#[test]
fn defect_j_a_number_is_used_up_only_by_what_is_in_the_log() {
    let mut table = TestTable::<Secp>::small(25, &[1_000, 1_000], 1);
    table.work();
    let button = Actor::Seat(Seat(1));
    let fold = table.party(button).decide(PlayerAction::Fold);
    // Verified and drafted, but the store failed.
    let verified = table.log.table().verify(&table.parameters, &fold).unwrap();
    drop(table.log.draft(&table.parameters, &verified, table.now).unwrap());
    assert_eq!(table.log.table().progress(button).nonce, 1);
    // The player decides otherwise, under the same number.
    let call = table.party(button).decide(PlayerAction::Call);
    table.accepted(&call);
    // The state has moved since the fold was verified, and the worker sees it.
    let late = table.log.draft(&table.parameters, &verified, table.now).unwrap_err();
    assert_eq!(late, MessageRejection::NonceConflict { actor: button, expected: 3, found: 2 });
    assert!(matches!(table.send(&fold), SubmitVerdict::Refused(MessageRejection::NonceConflict { .. })));
}
