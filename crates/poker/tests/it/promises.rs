//! What holds for every hand, tried on random ones under any rules, with players that come late and hosts that give up.

use bankroll_poker::{
    Chips, Hand, HandEvent, HandRefusal, HandTime, LegalActions, MissingParty, Phase, PlayerAction, Seat, Snapshot,
    VoidCause, codec,
};
use fastrand::Rng;

use crate::{deal::TestDeal, player, run};

const HANDS: u64 = 20_000;

#[test]
fn no_hand_makes_or_loses_a_chip_is_stuck_or_replays_to_something_else() {
    let (mut events, mut voids) = (0, 0);
    for seed in run::rounds(HANDS) {
        let mut random = Rng::with_seed(seed);
        let deal = TestDeal::random(&mut random);
        let hand = play(&deal, &mut random, seed, &mut events);
        voids += u64::from(matches!(hand.phase(), Phase::Void(_)));
    }
    run::print_line(&format!("promises: {events} events, {voids} void hands"));
}

fn play(deal: &TestDeal, random: &mut Rng, seed: u64, count: &mut u64) -> Hand {
    let chips = deal.snapshot.chips();
    let mut now = HandTime(1_000);
    let mut log: Vec<(HandEvent, HandTime)> = Vec::new();
    let mut hand = Hand::start(deal.snapshot.clone(), now);
    while !hand.phase().is_over() {
        assert_eq!(accounted(&hand), chips, "chips, seed {seed}");
        if let Some(legal) = hand.legal() {
            try_illegal(&hand, &legal, now, seed);
        }
        let (event, at) = next(deal, &hand, now, random);
        now = at;
        hand = hand.apply(&event, now).unwrap_or_else(|refusal| panic!("{event:?}: {refusal}, seed {seed}"));
        log.push((event, now));
        assert!(log.len() < 2_000, "the hand does not end, seed {seed}");
    }
    assert_eq!(accounted(&hand), chips, "chips at the end, seed {seed}");
    if let Phase::Void(_) = hand.phase() {
        let before = deal.snapshot.in_order().map(|seated| seated.stack);
        assert!(hand.players().iter().map(|player| player.stack).eq(before), "a void hand, seed {seed}");
    }
    let again =
        Hand::replay(stored(&deal.snapshot), HandTime(1_000), log.iter().map(|(event, at)| (event, *at))).unwrap();
    assert_eq!((again.to_bytes(), again.hash()), (hand.to_bytes(), hand.hash()), "replay, seed {seed}");
    assert_eq!(
        hand.apply(&HandEvent::ClockRestarted, now),
        Err(HandRefusal::HandIsOver { phase: hand.phase().name() })
    );
    *count += log.len() as u64;
    hand
}

/// The snapshot, encoded and decoded.
fn stored(snapshot: &Snapshot) -> Snapshot {
    codec::decode(&codec::encode(snapshot)).unwrap()
}

fn accounted(hand: &Hand) -> Chips {
    let rake = match hand.phase() {
        Phase::Settled(settlement) => settlement.rake,
        _ => Chips::ZERO,
    };
    let held = hand.players().iter().map(|player| player.stack);
    Chips::checked_sum(held.chain([hand.in_the_middle(), rake])).unwrap()
}

/// There is always a legal action, both ends of the range are legal, and one chip outside is not.
fn try_illegal(hand: &Hand, legal: &LegalActions, now: HandTime, seed: u64) {
    let act = |seat, action| hand.apply(&HandEvent::Acted { seat, action }, now);
    let raise_to = |count| act(legal.seat, PlayerAction::RaiseTo(Chips::new(count)));
    assert!(legal.check != legal.call.is_some(), "either nothing is owed or it can be called, seed {seed}");
    assert_eq!(act(legal.seat, PlayerAction::Check).is_ok(), legal.check, "seed {seed}");
    assert_eq!(act(legal.seat, PlayerAction::Call).is_ok(), legal.call.is_some(), "seed {seed}");
    assert_eq!(act(legal.seat, PlayerAction::Fold).is_ok(), legal.fold, "seed {seed}");
    match legal.raise {
        Some(range) => {
            let (least, most) = (range.least.count(), range.most.count());
            assert!(raise_to(least).is_ok() && raise_to(most).is_ok(), "seed {seed}");
            assert!(raise_to(least - 1).is_err() && raise_to(most + 1).is_err(), "seed {seed}");
        }
        None => {
            let reach = hand.player(legal.seat).unwrap().reach().count();
            assert!(raise_to(reach).is_err(), "an all-in that is not in the legal set, seed {seed}");
        }
    }
    let other = hand.players().iter().find(|player| player.seat != legal.seat).unwrap().seat;
    assert_eq!(act(other, PlayerAction::Check), Err(HandRefusal::NotYourTurn { seat: other, to_act: legal.seat }));
    assert_eq!(act(Seat(99), PlayerAction::Check), Err(HandRefusal::NotInHand { seat: Seat(99) }));
}

fn next(deal: &TestDeal, hand: &Hand, now: HandTime, random: &mut Rng) -> (HandEvent, HandTime) {
    let soon = HandTime(now.0 + random.u64(0..100));
    let late = hand.deadline().unwrap();
    match random.u16(0..1_000) {
        0 => return (HandEvent::Voided { cause: VoidCause::HostEnded }, soon),
        1..5 => return (HandEvent::ClockRestarted, soon),
        5..60 if hand.to_act().is_some() => return (HandEvent::TimedOut { seat: hand.to_act().unwrap() }, late),
        60..62 if hand.to_act().is_none() => {
            return (HandEvent::Voided { cause: VoidCause::Missing { who: vec![MissingParty::Shuffler(1)] } }, late);
        }
        _ => {}
    }
    let event = match hand.phase() {
        Phase::Dealing { .. } => HandEvent::HoleCardsDealt,
        Phase::Betting(_) => {
            let legal = hand.legal().unwrap();
            HandEvent::Acted { seat: legal.seat, action: player::choose(&legal, random) }
        }
        Phase::Opening { .. } => HandEvent::BoardOpened { cards: deal.board(player::next_board(hand)) },
        Phase::Showdown(showdown) => {
            let first = showdown.to_show[0];
            let any_seat = *random.choice(&showdown.to_show).unwrap();
            if random.u8(0..3) == 0 && !showdown.must_show {
                HandEvent::Mucked { seat: first }
            } else {
                HandEvent::Shown { seat: any_seat, cards: deal.hole(any_seat) }
            }
        }
        Phase::Settled(_) | Phase::Void(_) => unreachable!(),
    };
    (event, soon)
}
