//! What is refused, as what, and that it leaves no trace but evidence.

use bankroll_poker::{
    Chips, HandRefusal, HandTime, PhaseName, PlayerAction, Seat, Street,
    log::{
        ActionEnvelope, Actor, Bytes, EVIDENCE_MAX, EnvelopeError, EnvelopeHeader, GameCommunityShareMessage,
        GamePlayerMessage, Message, MessageKind, MessageRejection, MessageSigner, RejectionClass, Signature,
        SubmitVerdict,
    },
};

use super::room::{Room, Secp};

const BUTTON: Actor = Actor::Seat(Seat(1));
const OTHER: Actor = Actor::Seat(Seat(3));

fn dealt() -> Room {
    let mut room = Room::small(1, &[1_000, 1_000], 2);
    room.work();
    room
}

fn call() -> Message {
    Message::Player(GamePlayerMessage { street: Street::Preflop, action: PlayerAction::Call })
}

#[test]
fn nonce_conflict_returns_409() {
    let mut room = dealt();
    let call = room.party(BUTTON).decide(PlayerAction::Call);
    let fold = room.party(BUTTON).decide(PlayerAction::Fold);
    let receipt = room.taken(&call);
    // The same bytes again: the same receipt, and nothing happens twice.
    let events = room.log.entries().len();
    assert_eq!(room.send(&call), SubmitVerdict::Repeated(receipt));
    assert_eq!(room.log.entries().len(), events);
    // Other bytes under the used number: a conflict, and kept.
    let conflict = room.refused(&fold);
    assert_eq!(conflict, MessageRejection::NonceConflict { actor: BUTTON, expected: 3, found: 2 });
    assert_eq!(conflict.class(), RejectionClass::Conflict);
    let evidence = &room.log.evidence()[0];
    assert_eq!((evidence.actor, &evidence.bytes, &evidence.rejection), (BUTTON, &fold, &conflict));
    // A number that is not yet due is a conflict too, and so is another history of one's own.
    let mut ahead = room.next_of(OTHER, Message::Muck).header;
    ahead.nonce += 1;
    let bytes = ActionEnvelope::sign(ahead.clone(), Message::Muck, room.signer(OTHER)).encode();
    assert_eq!(room.refused(&bytes), MessageRejection::NonceConflict { actor: OTHER, expected: 2, found: 3 });
    ahead.nonce -= 1;
    ahead.previous.0[0] ^= 1;
    let bytes = ActionEnvelope::sign(ahead, Message::Muck, room.signer(OTHER)).encode();
    assert_eq!(room.refused(&bytes), MessageRejection::WrongPrevious { actor: OTHER });
}

#[test]
fn invalid_signature_rejected() {
    let mut room = dealt();
    let sound = room.next_of(BUTTON, call());
    let refused = MessageRejection::BadSignature { actor: BUTTON };
    // By somebody else, by another player of the hand, and with nothing in it.
    for signer in [MessageSigner::generate(&mut room.rng), room.signer(OTHER).clone(), room.operator.clone()] {
        let forged = ActionEnvelope::sign(sound.header.clone(), sound.message.clone(), &signer);
        assert_eq!(room.refused(&forged.encode()), refused);
    }
    let empty = ActionEnvelope { signature: Signature::default(), ..sound.clone() };
    assert_eq!(room.refused(&empty.encode()), refused);
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
        let rejection = room.refused(&changed.encode());
        assert!(matches!(rejection, MessageRejection::BadSignature { .. }), "{rejection}");
    }
    // Nobody can be blamed for what nobody signed.
    assert!(room.log.evidence().is_empty());
    room.taken(&sound.encode());
}

#[test]
fn the_other_value_of_s_is_refused() {
    let mut room = dealt();
    let mut envelope = room.next_of(BUTTON, call());
    let low = k256::ecdsa::Signature::from_slice(&envelope.signature.0.0).unwrap();
    let (r, s) = low.split_scalars();
    let high = k256::ecdsa::Signature::from_scalars(r, -s).unwrap();
    envelope.signature.0.0 = high.to_bytes().into();
    assert_eq!(room.refused(&envelope.encode()), MessageRejection::BadSignature { actor: BUTTON });
}

#[test]
fn a_second_encoding_is_refused() {
    let mut room = dealt();
    let sound = room.next_of(BUTTON, call()).encode();
    let malformed =
        |rejection: &MessageRejection| matches!(rejection, MessageRejection::Malformed(EnvelopeError::Bytes(_)));
    let longer = [sound.as_slice(), &[0]].concat();
    assert!(malformed(&room.refused(&longer)));
    // The length of the first string, six, in two bytes instead of one.
    let padded = [&[0x86, 0x00], &sound[1..]].concat();
    assert_eq!(sound[0], 6);
    assert!(malformed(&room.refused(&padded)));
    let kind = ActionEnvelope::sign(
        EnvelopeHeader { kind: MessageKind::Muck, ..room.next_of(BUTTON, call()).header },
        call(),
        room.signer(BUTTON),
    );
    let (header, message) = (MessageKind::Muck, MessageKind::Player);
    assert_eq!(room.refused(&kind.encode()), MessageRejection::Malformed(EnvelopeError::Kind { header, message }));
    let long = vec![0; 70_000];
    assert_eq!(room.refused(&long), MessageRejection::Malformed(EnvelopeError::TooLong { bytes: 70_000 }));
    assert_eq!(MessageRejection::Malformed(EnvelopeError::Seen).class(), RejectionClass::Malformed);
}

#[test]
fn out_of_turn_rejected() {
    let mut room = dealt();
    // Heads-up the button begins.
    let early = room.party(OTHER).decide(PlayerAction::Check);
    let rejection = room.refused(&early);
    assert_eq!(rejection, MessageRejection::Rules(HandRefusal::NotYourTurn { seat: Seat(3), to_act: Seat(1) }));
    assert_eq!(rejection.class(), RejectionClass::OutOfTurn);
    assert_eq!(room.log.evidence().len(), 1);
    // A message for another phase.
    let muck = room.next_of(BUTTON, Message::Muck).encode();
    assert_eq!(room.refused(&muck), MessageRejection::Rules(HandRefusal::WrongPhase { phase: PhaseName::Betting }));
    let late =
        room.next_of(BUTTON, Message::Player(GamePlayerMessage { street: Street::Flop, action: PlayerAction::Call }));
    let wrong = MessageRejection::WrongStreet { said: Street::Flop, street: Street::Preflop };
    assert_eq!(room.refused(&late.encode()), wrong);
    // What only others may say.
    let start = room.log.table().config().clone();
    for message in [Message::ClockRestart, Message::HandStart(Box::new(start))] {
        let kind = message.kind();
        let bytes = room.next_of(BUTTON, message).encode();
        assert_eq!(room.refused(&bytes), MessageRejection::NotAllowed { actor: BUTTON, kind });
    }
    let bytes = room.next_of(Actor::Shuffler(0), call()).encode();
    let kind = MessageKind::Player;
    assert_eq!(room.refused(&bytes), MessageRejection::NotAllowed { actor: Actor::Shuffler(0), kind });
    let verdict = room.say(Message::Settlement { stacks: Vec::new(), rake: Chips::ZERO });
    let (kind, phase) = (MessageKind::Settlement, PhaseName::Betting);
    assert_eq!(verdict, SubmitVerdict::Refused(MessageRejection::WrongPhase { kind, phase }));
}

#[test]
fn shufflers_shuffle_in_their_order_and_once() {
    let mut room = Room::<Secp>::small(2, &[1_000, 1_000], 2);
    room.register();
    let first = room.duties(0).remove(0);
    let ActionEnvelope { message, .. } = ActionEnvelope::decode(&first).unwrap();
    let second = room.next_of(Actor::Shuffler(1), message.clone()).encode();
    assert_eq!(room.refused(&second), MessageRejection::NotYourTurn { actor: Actor::Shuffler(1) });
    room.taken(&first);
    let again = room.next_of(Actor::Shuffler(0), message.clone()).encode();
    assert_eq!(room.refused(&again), MessageRejection::NotYourTurn { actor: Actor::Shuffler(0) });
    // His neighbour's shuffle is no shuffle of his.
    let copied = room.next_of(Actor::Shuffler(1), message).encode();
    assert!(matches!(room.refused(&copied), MessageRejection::Shuffle(_)));
}

#[test]
fn a_call_is_not_put_behind_a_raise_that_came_later() {
    let mut room = Room::<Secp>::small(4, &[1_000, 1_000, 1_000], 1);
    room.work();
    room.act(PlayerAction::Call);
    // Seat 3 decides on what it has seen; the operator holds it back until seat 3 would face something else.
    let stale = room.party(OTHER).decide(PlayerAction::Call);
    let header = ActionEnvelope::decode(&stale).unwrap().header;
    room.act(PlayerAction::RaiseTo(Chips::new(200)));
    room.act(PlayerAction::RaiseTo(Chips::new(400)));
    room.act(PlayerAction::Call);
    let said = room.log.table().said(OTHER);
    let header = EnvelopeHeader { nonce: said.nonce + 1, previous: said.last, ..header };
    let bytes = ActionEnvelope::sign(header, call(), room.signer(OTHER)).encode();
    assert_eq!(room.refused(&bytes), MessageRejection::StaleDecision);
    assert_eq!(MessageRejection::StaleDecision.class(), RejectionClass::Conflict);
}

#[test]
fn no_message_is_taken_in_another_hand_game_seat_or_position() {
    let room = dealt();
    // The same table, the same keys, the next hand: everything that was said in the first is strange to it.
    let mut next = Room::<Secp>::new(1, "hand 42", &[1_000, 1_000], 2, 9);
    for entry in &room.log.entries()[1..] {
        assert_eq!(
            next.log.submit(&next.parameters, &entry.envelope.0, HandTime(1_000)),
            SubmitVerdict::Refused(MessageRejection::WrongHand)
        );
    }
    // The payload of one seat's or position's message under another's header.
    let entries: Vec<_> =
        room.log.entries().iter().map(|entry| ActionEnvelope::decode(&entry.envelope.0).unwrap()).collect();
    let of = |kind, actor| {
        entries.iter().find(|envelope| envelope.header.kind == kind && envelope.header.actor == actor).unwrap()
    };
    let mut fresh = Room::<Secp>::small(1, &[1_000, 1_000], 2);
    let key = of(MessageKind::KeyRegistration, BUTTON).message.clone();
    let copied = fresh.next_of(OTHER, key).encode();
    assert!(matches!(fresh.refused(&copied), MessageRejection::Key(_)));
    fresh.shuffle();
    let mut blindings = fresh.duties(0);
    let Message::Blinding(mut moved) = ActionEnvelope::decode(&blindings.remove(0)).unwrap().message else { panic!() };
    let copied = fresh.next_of(Actor::Shuffler(1), Message::Blinding(moved.clone())).encode();
    assert!(matches!(fresh.refused(&copied), MessageRejection::Card(_)), "another shuffler's");
    moved.card_in_deck_position = 1;
    let copied = fresh.next_of(Actor::Shuffler(0), Message::Blinding(moved)).encode();
    assert!(matches!(fresh.refused(&copied), MessageRejection::Card(_)), "another position's");
}

#[test]
fn the_board_opens_only_when_its_betting_is_over_and_hole_cards_never_do() {
    let mut room = dealt();
    let plan = room.log.table().config().snapshot.plan().clone();
    let [flop, _, _, turn, _] = plan.board();
    // A shuffler who would give cards away before their time is refused before his share is even read.
    let community = |position: u8| {
        let share = Bytes(vec![0; 131]);
        Message::Community(GameCommunityShareMessage { card_in_deck_position: position, share })
    };
    let shuffler = Actor::Shuffler(0);
    let early = room.next_of(shuffler, community(flop)).encode();
    let (kind, phase) = (MessageKind::Community, PhaseName::Betting);
    assert_eq!(room.refused(&early), MessageRejection::WrongPhase { kind, phase });
    room.act(PlayerAction::Call);
    room.act(PlayerAction::Check);
    // Now the flop is opened: not the turn, and no hole card.
    for position in [turn, plan.hole(Seat(3)).unwrap()[0]] {
        let bytes = room.next_of(shuffler, community(position)).encode();
        assert_eq!(room.refused(&bytes), MessageRejection::NotOpenedNow { position });
    }
    assert_eq!(room.hand().board(), []);
}

#[test]
fn apply_failure_rolls_back() {
    let mut room = dealt();
    // Two decisions verified against the same state, as two threads would; only one can be the next event.
    let [call, fold] = [PlayerAction::Call, PlayerAction::Fold].map(|action| room.party(BUTTON).decide(action));
    let [call, fold] = [call, fold].map(|bytes| room.log.table().verify(&room.parameters, &bytes).unwrap());
    let before = room.log.table().clone();
    // A draft that is never committed has not happened.
    let draft = room.log.draft(&room.parameters, &fold, room.now).unwrap();
    assert_eq!(draft.entry().receipt.link.seq, room.log.entries().len() as u64);
    drop(draft);
    assert_eq!(room.log.table(), &before);
    let draft = room.log.draft(&room.parameters, &call, room.now).unwrap();
    room.log.commit(draft);
    let late = room.log.draft(&room.parameters, &fold, room.now).unwrap_err();
    assert_eq!(late, MessageRejection::NonceConflict { actor: BUTTON, expected: 3, found: 2 });
    let back = room.log.table().clone();
    let check = room.log.table().said(OTHER);
    let header = EnvelopeHeader {
        seen: room.log.table().last_bet(),
        ..EnvelopeHeader::next(back.config(), OTHER, check.nonce + 1, check.last, MessageKind::Player)
    };
    let message = Message::Player(GamePlayerMessage { street: Street::Preflop, action: PlayerAction::Check });
    let bytes = ActionEnvelope::sign(header, message, room.signer(OTHER)).encode();
    let verified = room.log.table().verify(&room.parameters, &bytes).unwrap();
    let past = room.log.draft(&room.parameters, &verified, HandTime(1)).unwrap_err();
    assert_eq!(past, MessageRejection::TimeWentBack { at: HandTime(1), last: HandTime(1_000) });
    assert_eq!(room.log.table(), &back);
}

#[test]
fn evidence_is_bounded() {
    let mut room = dealt();
    for _ in 0..EVIDENCE_MAX + 5 {
        let bytes = room.next_of(OTHER, Message::Muck).encode();
        room.refused(&bytes);
    }
    assert_eq!(room.log.evidence().len(), EVIDENCE_MAX);
}
