//! Hands that stop: who is late, who is missing, and what becomes of the chips.

use bankroll_poker::{
    HandRefusal, HandTime, MissingParty, Phase, PhaseName, PlayerAction, Seat, VoidCause,
    log::{ActionEnvelope, Actor, LogMessage, MessageRejection, SubmitVerdict},
};

use super::test_table::{Secp, TestTable};

fn void(who: &[MissingParty]) -> LogMessage {
    LogMessage::Cancellation { cause: VoidCause::Missing { who: who.to_vec() } }
}

fn refusal(verdict: SubmitVerdict) -> MessageRejection {
    match verdict {
        SubmitVerdict::Refused(rejection) => rejection,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_shuffler_is_named_in_the_void() {
    let mut table = TestTable::<Secp>::small(41, &[1_000, 700], 2);
    table.work();
    table.act(PlayerAction::Call);
    table.act(PlayerAction::Check);
    // The first opens its part of the flop, the second is gone.
    for bytes in table.duties(0) {
        table.accepted(&bytes);
    }
    let gone = MissingParty::Shuffler(1);
    assert_eq!(table.log.table().awaited(), [gone]);
    // Not before the deadline, and no other actor may be blamed.
    let Some(deadline) = table.hand().deadline() else { panic!() };
    let early = refusal(table.issue(void(&[gone])));
    assert_eq!(early, MessageRejection::Rules(HandRefusal::TooEarly { deadline, at: table.now }));
    table.now = deadline;
    for who in [vec![MissingParty::Shuffler(0)], vec![MissingParty::Shuffler(0), gone], Vec::new()] {
        assert_eq!(refusal(table.issue(void(&who))), MessageRejection::WrongBlame { awaited: vec![gone] });
    }
    assert!(matches!(table.issue(void(&[gone])), SubmitVerdict::Accepted(_)));
    // The only message left is the settlement, with the stacks from before the hand.
    let bytes = table.next_of(Actor::Seat(Seat(1)), LogMessage::Muck).encode();
    assert!(matches!(table.refused(&bytes), MessageRejection::WrongPhase { phase: PhaseName::Void, .. }));
    let report = table.finish().verify(None).unwrap();
    assert_eq!(report.ended, PhaseName::Void);
    let stacks: Vec<(u8, u64)> = report.stacks.iter().map(|(seat, chips)| (seat.0, chips.count())).collect();
    assert_eq!((stacks, report.rake.count()), (vec![(1, 1_000), (3, 700)], 0));
    assert_eq!(*table.hand().phase(), Phase::Void(VoidCause::Missing { who: vec![gone] }));
    let bytes = table.next_of(Actor::Seat(Seat(1)), LogMessage::Muck).encode();
    assert_eq!(table.refused(&bytes), MessageRejection::Closed);
}

#[test]
fn an_actor_without_a_key_and_an_idle_shuffler_are_named() {
    let mut table = TestTable::<Secp>::small(42, &[1_000, 1_000], 2);
    let all = [
        MissingParty::Shuffler(0),
        MissingParty::Shuffler(1),
        MissingParty::Seat(Seat(1)),
        MissingParty::Seat(Seat(3)),
    ];
    assert_eq!(table.log.table().awaited(), all);
    for place in [0, 1, 2] {
        let bytes = table.duties(place).remove(0);
        table.accepted(&bytes);
    }
    assert_eq!(table.log.table().awaited(), [MissingParty::Seat(Seat(3))]);
    let bytes = table.duties(3).remove(0);
    table.accepted(&bytes);
    assert_eq!(table.log.table().awaited(), [MissingParty::Shuffler(0)]);
    table.now = table.hand().deadline().unwrap();
    assert!(matches!(table.issue(void(&[MissingParty::Shuffler(0)])), SubmitVerdict::Accepted(_)));
    table.finish().verify(None).unwrap();
}

#[test]
fn a_late_seat_is_checked_or_folded_by_the_clock() {
    let mut table = TestTable::<Secp>::small(43, &[1_000, 1_000], 1);
    table.work();
    let (seat, deadline) = (Seat(1), table.hand().deadline().unwrap());
    let time_out = |deadline| LogMessage::TimeOut { seat, deadline };
    let wrong = refusal(table.issue(time_out(HandTime(5))));
    assert_eq!(wrong, MessageRejection::WrongDeadline { deadline: Some(deadline) });
    let early = refusal(table.issue(time_out(deadline)));
    assert_eq!(early, MessageRejection::Rules(HandRefusal::TooEarly { deadline, at: table.now }));
    // The operator was away; the clock starts again.
    table.now.0 += 5_000;
    assert!(matches!(table.issue(LogMessage::ClockRestart), SubmitVerdict::Accepted(_)));
    let deadline = HandTime(deadline.0 + 5_000);
    assert_eq!(table.hand().deadline(), Some(deadline));
    table.now = deadline;
    assert!(matches!(table.issue(time_out(deadline)), SubmitVerdict::Accepted(_)));
    // The seat folds the small blind by the clock, and a decision made before the time-out does not count any more.
    let report = table.finish().verify(None).unwrap();
    let stacks: Vec<u64> = report.stacks.iter().map(|(_, chips)| chips.count()).collect();
    assert_eq!(stacks, [995, 1_005]);
}

#[test]
fn an_operator_that_ends_the_hand_gives_all_players_their_chips_back() {
    let mut table = TestTable::<Secp>::small(44, &[1_000, 1_000], 1);
    table.work();
    table.act(PlayerAction::Call);
    let cause = VoidCause::HostEnded;
    assert!(matches!(table.issue(LogMessage::Cancellation { cause }), SubmitVerdict::Accepted(_)));
    let bundle = table.finish();
    assert!(bundle.verify(None).unwrap().stacks.iter().all(|(_, chips)| chips.count() == 1_000));
    let last = ActionEnvelope::decode(&bundle.entries.last().unwrap().envelope.0).unwrap();
    assert_eq!(last.header.actor, Actor::Operator);
}
