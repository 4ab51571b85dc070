//! What is refused, as what, and that it leaves no trace but evidence.

use bankroll_poker::{
    Chips, HandRefusal, HandTime, PhaseName, PlayerAction, Seat, Street,
    log::{
        ActionEnvelope, Actor, Bytes, EVIDENCE_MAX, EnvelopeError, EnvelopeHeader, GameCommunityShareMessage,
        GamePlayerMessage, LogMessage, MessageKind, MessageRejection, MessageSigner, RejectionClass, Signature,
        SubmitVerdict,
    },
};

use super::test_table::{Secp, TestTable};

const BUTTON: Actor = Actor::Seat(Seat(1));
const OTHER: Actor = Actor::Seat(Seat(3));

fn dealt() -> TestTable {
    let mut table = TestTable::small(1, &[1_000, 1_000], 2);
    table.work();
    table
}

fn call() -> LogMessage {
    LogMessage::Player(GamePlayerMessage { street: Street::Preflop, action: PlayerAction::Call })
}

#[test]
fn nonce_conflict_returns_409() {
    let mut table = dealt();
    let call = table.party(BUTTON).decide(PlayerAction::Call);
    let fold = table.party(BUTTON).decide(PlayerAction::Fold);
    let receipt = table.accepted(&call);
    // The same bytes again: the same receipt, and nothing happens twice.
    let events = table.log.entries().len();
    assert_eq!(table.send(&call), SubmitVerdict::Repeated(receipt));
    assert_eq!(table.log.entries().len(), events);
    // Other bytes under the used number: a conflict, and kept.
    let conflict = table.refused(&fold);
    assert_eq!(conflict, MessageRejection::NonceConflict { actor: BUTTON, expected: 3, found: 2 });
    assert_eq!(conflict.class(), RejectionClass::Conflict);
    let evidence = &table.log.evidence()[0];
    assert_eq!((evidence.actor, &evidence.bytes, &evidence.rejection), (BUTTON, &fold, &conflict));
    // A number that is not yet due is a conflict too, and so is another history of one's own.
    let mut ahead = table.next_of(OTHER, LogMessage::Muck).header;
    ahead.nonce += 1;
    let bytes = ActionEnvelope::sign(ahead.clone(), LogMessage::Muck, table.signer(OTHER)).encode();
    assert_eq!(table.refused(&bytes), MessageRejection::NonceConflict { actor: OTHER, expected: 2, found: 3 });
    ahead.nonce -= 1;
    ahead.previous.0[0] ^= 1;
    let bytes = ActionEnvelope::sign(ahead, LogMessage::Muck, table.signer(OTHER)).encode();
    assert_eq!(table.refused(&bytes), MessageRejection::WrongPrevious { actor: OTHER });
}

#[test]
fn invalid_signature_rejected() {
    let mut table = dealt();
    let sound = table.next_of(BUTTON, call());
    let refused = MessageRejection::BadSignature { actor: BUTTON };
    // By an outsider, by another player of the hand, and an empty signature.
    for signer in [MessageSigner::generate(&mut table.rng), table.signer(OTHER).clone(), table.operator.clone()] {
        let forged = ActionEnvelope::sign(sound.header.clone(), sound.message.clone(), &signer);
        assert_eq!(table.refused(&forged.encode()), refused);
    }
    let empty = ActionEnvelope { signature: Signature::default(), ..sound.clone() };
    assert_eq!(table.refused(&empty.encode()), refused);
    assert_eq!(refused.class(), RejectionClass::Identity);
    // Every field of the header is under the signature.
    let change: [fn(&mut EnvelopeHeader); 4] = [
        |header| header.nonce += 1,
        |header| header.actor = OTHER,
        |header| header.previous.0[0] ^= 1,
        |header| header.seen = Some(header.previous),
    ];
    for change in change {
        let mut changed = sound.clone();
        change(&mut changed.header);
        let rejection = table.refused(&changed.encode());
        assert!(matches!(rejection, MessageRejection::BadSignature { .. }), "{rejection}");
    }
    // No actor is blamed for what it did not sign.
    assert!(table.log.evidence().is_empty());
    table.accepted(&sound.encode());
}

#[test]
fn the_other_value_of_s_is_refused() {
    let mut table = dealt();
    let mut envelope = table.next_of(BUTTON, call());
    let low = k256::ecdsa::Signature::from_slice(&envelope.signature.0.0).unwrap();
    let (r, s) = low.split_scalars();
    let high = k256::ecdsa::Signature::from_scalars(r, -s).unwrap();
    envelope.signature.0.0 = high.to_bytes().into();
    assert_eq!(table.refused(&envelope.encode()), MessageRejection::BadSignature { actor: BUTTON });
}

#[test]
fn a_second_encoding_is_refused() {
    let mut table = dealt();
    let sound = table.next_of(BUTTON, call()).encode();
    let malformed =
        |rejection: &MessageRejection| matches!(rejection, MessageRejection::Malformed(EnvelopeError::Bytes(_)));
    let longer = [sound.as_slice(), &[0]].concat();
    assert!(malformed(&table.refused(&longer)));
    // The length of the first string, six, in two bytes instead of one.
    let padded = [&[0x86, 0x00], &sound[1..]].concat();
    assert_eq!(sound[0], 6);
    assert!(malformed(&table.refused(&padded)));
    let kind = ActionEnvelope::sign(
        EnvelopeHeader { kind: MessageKind::Muck, ..table.next_of(BUTTON, call()).header },
        call(),
        table.signer(BUTTON),
    );
    let (header, message) = (MessageKind::Muck, MessageKind::Player);
    assert_eq!(table.refused(&kind.encode()), MessageRejection::Malformed(EnvelopeError::Kind { header, message }));
    let long = vec![0; 70_000];
    assert_eq!(table.refused(&long), MessageRejection::Malformed(EnvelopeError::TooLong { bytes: 70_000 }));
    assert_eq!(MessageRejection::Malformed(EnvelopeError::Seen).class(), RejectionClass::Malformed);
}

#[test]
fn out_of_turn_rejected() {
    let mut table = dealt();
    // Heads-up the button begins.
    let early = table.party(OTHER).decide(PlayerAction::Check);
    let rejection = table.refused(&early);
    assert_eq!(rejection, MessageRejection::Rules(HandRefusal::NotYourTurn { seat: Seat(3), to_act: Seat(1) }));
    assert_eq!(rejection.class(), RejectionClass::OutOfTurn);
    assert_eq!(table.log.evidence().len(), 1);
    // A message for another phase.
    let muck = table.next_of(BUTTON, LogMessage::Muck).encode();
    assert_eq!(table.refused(&muck), MessageRejection::Rules(HandRefusal::WrongPhase { phase: PhaseName::Betting }));
    let late = table
        .next_of(BUTTON, LogMessage::Player(GamePlayerMessage { street: Street::Flop, action: PlayerAction::Call }));
    let wrong = MessageRejection::WrongStreet { named: Street::Flop, street: Street::Preflop };
    assert_eq!(table.refused(&late.encode()), wrong);
    // Messages that only other actors may send.
    let start = table.log.table().config().clone();
    for message in [LogMessage::ClockRestart, LogMessage::HandStart(Box::new(start))] {
        let kind = message.kind();
        let bytes = table.next_of(BUTTON, message).encode();
        assert_eq!(table.refused(&bytes), MessageRejection::NotAllowed { actor: BUTTON, kind });
    }
    let bytes = table.next_of(Actor::Shuffler(0), call()).encode();
    let kind = MessageKind::Player;
    assert_eq!(table.refused(&bytes), MessageRejection::NotAllowed { actor: Actor::Shuffler(0), kind });
    let verdict = table.issue(LogMessage::Settlement { stacks: Vec::new(), rake: Chips::ZERO });
    let (kind, phase) = (MessageKind::Settlement, PhaseName::Betting);
    assert_eq!(verdict, SubmitVerdict::Refused(MessageRejection::WrongPhase { kind, phase }));
}

#[test]
fn shufflers_shuffle_in_their_order_and_once() {
    let mut table = TestTable::<Secp>::small(2, &[1_000, 1_000], 2);
    table.register();
    let first = table.duties(0).remove(0);
    let ActionEnvelope { message, .. } = ActionEnvelope::decode(&first).unwrap();
    let second = table.next_of(Actor::Shuffler(1), message.clone()).encode();
    assert_eq!(table.refused(&second), MessageRejection::NotYourTurn { actor: Actor::Shuffler(1) });
    table.accepted(&first);
    let again = table.next_of(Actor::Shuffler(0), message.clone()).encode();
    assert_eq!(table.refused(&again), MessageRejection::NotYourTurn { actor: Actor::Shuffler(0) });
    // Another shuffler's shuffle is refused.
    let copied = table.next_of(Actor::Shuffler(1), message).encode();
    assert!(matches!(table.refused(&copied), MessageRejection::Shuffle(_)));
}

#[test]
fn a_call_is_not_put_behind_a_raise_that_came_later() {
    let mut table = TestTable::<Secp>::small(4, &[1_000, 1_000, 1_000], 1);
    table.work();
    table.act(PlayerAction::Call);
    // Seat 3 decides on what it has seen; the operator holds it back until seat 3 would face something else.
    let stale = table.party(OTHER).decide(PlayerAction::Call);
    let header = ActionEnvelope::decode(&stale).unwrap().header;
    table.act(PlayerAction::RaiseTo(Chips::new(200)));
    table.act(PlayerAction::RaiseTo(Chips::new(400)));
    table.act(PlayerAction::Call);
    let progress = table.log.table().progress(OTHER);
    let header = EnvelopeHeader { nonce: progress.nonce + 1, previous: progress.last, ..header };
    let bytes = ActionEnvelope::sign(header, call(), table.signer(OTHER)).encode();
    assert_eq!(table.refused(&bytes), MessageRejection::StaleDecision);
    assert_eq!(MessageRejection::StaleDecision.class(), RejectionClass::Conflict);
}

#[test]
fn no_message_is_taken_in_another_hand_game_seat_or_position() {
    let table = dealt();
    // The same table, the same keys, the next hand: every message of the first hand is refused.
    let mut next = TestTable::<Secp>::new(1, "hand 42", &[1_000, 1_000], 2, 9);
    for entry in &table.log.entries()[1..] {
        assert_eq!(
            next.log.submit(&next.parameters, &entry.envelope.0, HandTime(1_000)),
            SubmitVerdict::Refused(MessageRejection::WrongHand)
        );
    }
    // The payload of one seat's or position's message under another's header.
    let entries: Vec<_> =
        table.log.entries().iter().map(|entry| ActionEnvelope::decode(&entry.envelope.0).unwrap()).collect();
    let of = |kind, actor| {
        entries.iter().find(|envelope| envelope.header.kind == kind && envelope.header.actor == actor).unwrap()
    };
    let mut fresh = TestTable::<Secp>::small(1, &[1_000, 1_000], 2);
    let key = of(MessageKind::KeyRegistration, BUTTON).message.clone();
    let copied = fresh.next_of(OTHER, key).encode();
    assert!(matches!(fresh.refused(&copied), MessageRejection::Key(_)));
    fresh.shuffle();
    let mut blindings = fresh.duties(0);
    let LogMessage::Blinding(mut moved) = ActionEnvelope::decode(&blindings.remove(0)).unwrap().message else {
        panic!()
    };
    let copied = fresh.next_of(Actor::Shuffler(1), LogMessage::Blinding(moved.clone())).encode();
    assert!(matches!(fresh.refused(&copied), MessageRejection::Card(_)), "another shuffler's");
    moved.card_in_deck_position = 1;
    let copied = fresh.next_of(Actor::Shuffler(0), LogMessage::Blinding(moved)).encode();
    assert!(matches!(fresh.refused(&copied), MessageRejection::Card(_)), "another position's");
}

#[test]
fn the_board_opens_only_when_its_betting_is_over_and_hole_cards_never_do() {
    let mut table = dealt();
    let plan = table.log.table().config().snapshot.plan().clone();
    let [flop, _, _, turn, _] = plan.board();
    // A share that would open a card too early is refused before it is decoded.
    let community = |position: u8| {
        let share = Bytes(vec![0; 131]);
        LogMessage::Community(GameCommunityShareMessage { card_in_deck_position: position, share })
    };
    let shuffler = Actor::Shuffler(0);
    let early = table.next_of(shuffler, community(flop)).encode();
    let (kind, phase) = (MessageKind::Community, PhaseName::Betting);
    assert_eq!(table.refused(&early), MessageRejection::WrongPhase { kind, phase });
    table.act(PlayerAction::Call);
    table.act(PlayerAction::Check);
    // Now the flop is opened: not the turn, and no hole card.
    for position in [turn, plan.hole(Seat(3)).unwrap()[0]] {
        let bytes = table.next_of(shuffler, community(position)).encode();
        assert_eq!(table.refused(&bytes), MessageRejection::NotOpenedNow { position });
    }
    assert_eq!(table.hand().board(), []);
}

#[test]
fn apply_failure_rolls_back() {
    let mut table = dealt();
    // Two decisions verified against the same state, as two threads would; only one can be the next event.
    let [call, fold] = [PlayerAction::Call, PlayerAction::Fold].map(|action| table.party(BUTTON).decide(action));
    let [call, fold] = [call, fold].map(|bytes| table.log.table().verify(&table.parameters, &bytes).unwrap());
    let before = table.log.table().clone();
    // A draft that is never committed has not happened.
    let draft = table.log.draft(&table.parameters, &fold, table.now).unwrap();
    assert_eq!(draft.entry().receipt.link.seq, table.log.entries().len() as u64);
    drop(draft);
    assert_eq!(table.log.table(), &before);
    let draft = table.log.draft(&table.parameters, &call, table.now).unwrap();
    table.log.commit(draft);
    let late = table.log.draft(&table.parameters, &fold, table.now).unwrap_err();
    assert_eq!(late, MessageRejection::NonceConflict { actor: BUTTON, expected: 3, found: 2 });
    let back = table.log.table().clone();
    let check = table.log.table().progress(OTHER);
    let header = EnvelopeHeader {
        seen: table.log.table().last_bet(),
        ..EnvelopeHeader::next(back.config(), OTHER, check.nonce + 1, check.last, MessageKind::Player)
    };
    let message = LogMessage::Player(GamePlayerMessage { street: Street::Preflop, action: PlayerAction::Check });
    let bytes = ActionEnvelope::sign(header, message, table.signer(OTHER)).encode();
    let verified = table.log.table().verify(&table.parameters, &bytes).unwrap();
    let past = table.log.draft(&table.parameters, &verified, HandTime(1)).unwrap_err();
    assert_eq!(past, MessageRejection::TimeWentBack { at: HandTime(1), last: HandTime(1_000) });
    assert_eq!(table.log.table(), &back);
}

#[test]
fn evidence_is_bounded() {
    let mut table = dealt();
    for _ in 0..EVIDENCE_MAX + 5 {
        let bytes = table.next_of(OTHER, LogMessage::Muck).encode();
        table.refused(&bytes);
    }
    assert_eq!(table.log.evidence().len(), EVIDENCE_MAX);
}
