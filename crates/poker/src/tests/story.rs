//! Hands in plain text.
//!
//! The first line is the table: `button 3, blinds 5/10, 1: 100, 2: 100, 3: 100`, then house rules by name. Each line
//! after it is an event, `deal`, `3 raise 30`, `board AsKdQh`, `1 shows 2c2d`, `2 mucks`, `2 late`, or a claim about
//! the state: `pots`, `legal`, `middle`. An event that must be refused ends with `refused:` and the words of the
//! refusal.

use crate::{
    AllIn, BlindPosting, Card, Chips, Hand, HandEvent, HandRefusal, HandTime, LegalActions, MissingParty, Phase,
    PlayerAction, Seat, SeatStack, ShortBigBlind, Snapshot, TableRules, VoidCause,
};

/// Plays the story and compares how it ends: the stacks by seat, then the phase or the rake.
pub fn check(table: &str, story: &str, end: &str) -> Hand {
    let mut hand = Hand::start(snapshot(table), HandTime(0));
    let mut now = HandTime(0);
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["pots", ..] => assert_eq!(pots(&hand), line, "{line}"),
            ["legal", ..] => assert_eq!(legal(&hand.legal().unwrap()), line, "{line}"),
            ["middle", chips] => assert_eq!(hand.in_the_middle().to_string(), *chips, "{line}"),
            ["phase", ..] => assert_eq!(format!("phase {:?}", hand.phase().name()), line, "{line}"),
            _ => hand = event_line(&hand, line, &mut now),
        }
    }
    assert_eq!(ending(&hand), end);
    hand
}

pub fn snapshot(table: &str) -> Snapshot {
    let mut rules = TableRules::cash(Chips::new(5), Chips::new(10));
    let (mut seats, mut button) = (Vec::new(), Seat(0));
    for part in table.split(',').map(str::trim) {
        match part.split([' ', ':', '/']).filter(|word| !word.is_empty()).collect::<Vec<_>>().as_slice() {
            ["button", seat] => button = Seat(seat.parse().unwrap()),
            ["blinds", small, big] => (rules.small_blind, rules.big_blind) = (chips(small), chips(big)),
            ["ante", ante] => rules.ante = chips(ante),
            ["blind", "first"] => rules.posting = BlindPosting::BlindFirst,
            ["as", "posted"] => rules.short_big_blind = ShortBigBlind::AsPosted,
            ["open", "fold"] => rules.open_fold = true,
            ["open", "before", "run-out"] => rules.all_in = AllIn::BeforeRunOut,
            ["burns"] => rules.burns = true,
            ["rake", bps] => rules.rake.bps = bps.parse().unwrap(),
            ["cap", cap] => rules.rake.cap = Some(chips(cap)),
            ["no-flop-no-drop"] => rules.rake.no_flop_no_drop = true,
            [seat, stack] => seats.push(SeatStack { seat: Seat(seat.parse().unwrap()), stack: chips(stack) }),
            _ => panic!("cannot read {part:?}"),
        }
    }
    Snapshot::new(rules, seats, button).unwrap()
}

fn event_line(hand: &Hand, line: &str, now: &mut HandTime) -> Hand {
    let (said, refusal) = match line.split_once("refused: ") {
        Some((said, refusal)) => (said.trim(), Some(refusal)),
        None => (line, None),
    };
    let outcome: Result<Hand, HandRefusal> = hand.apply(&event(hand, said, now), *now);
    match (outcome, refusal) {
        (Ok(next), None) => next,
        (Err(found), Some(expected)) => {
            assert_eq!(found.to_string(), expected, "{line}");
            hand.clone()
        }
        (Ok(_), Some(expected)) => panic!("{line}: applied, not refused with {expected:?}"),
        (Err(found), None) => panic!("{line}: {found}"),
    }
}

fn event(hand: &Hand, said: &str, now: &mut HandTime) -> HandEvent {
    let seat = |word: &str| Seat(word.parse().unwrap());
    let acted = |word, action| HandEvent::Acted { seat: seat(word), action };
    let mut at = |time| *now = time;
    match said.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["deal"] => HandEvent::HoleCardsDealt,
        ["board", cards] => HandEvent::BoardOpened { cards: Card::parse_many(cards).unwrap() },
        ["clock", "restarts", "at", time] => {
            at(HandTime(time.parse().unwrap()));
            HandEvent::ClockRestarted
        }
        ["void", "by", "host"] => HandEvent::Voided { cause: VoidCause::HostEnded },
        ["void", "without", who @ ..] => {
            at(hand.deadline().unwrap());
            let who = who.iter().map(|shuffler| MissingParty::Shuffler(shuffler.parse().unwrap())).collect();
            HandEvent::Voided { cause: VoidCause::Missing { who } }
        }
        [who, "fold"] => acted(who, PlayerAction::Fold),
        [who, "check"] => acted(who, PlayerAction::Check),
        [who, "call"] => acted(who, PlayerAction::Call),
        [who, "raise", to] => acted(who, PlayerAction::RaiseTo(chips(to))),
        [who, "shows", cards] => {
            HandEvent::Shown { seat: seat(who), cards: Card::parse_many(cards).unwrap().try_into().unwrap() }
        }
        [who, "mucks"] => HandEvent::Mucked { seat: seat(who) },
        [who, "late"] => {
            at(hand.deadline().unwrap());
            HandEvent::TimedOut { seat: seat(who) }
        }
        [who, "late", "at", time] => {
            at(HandTime(time.parse().unwrap()));
            HandEvent::TimedOut { seat: seat(who) }
        }
        _ => panic!("cannot read {said:?}"),
    }
}

fn chips(text: &str) -> Chips {
    Chips::new(text.parse().unwrap())
}

fn pots(hand: &Hand) -> String {
    let pot = |pot: &crate::Pot| {
        let seats: Vec<String> = pot.eligible.iter().map(|seat| seat.0.to_string()).collect();
        format!("{} for {}", pot.amount, seats.join(" "))
    };
    format!("pots {}", hand.pots().iter().map(pot).collect::<Vec<_>>().join(", "))
}

pub fn legal(legal: &LegalActions) -> String {
    let fold = legal.fold.then(|| "fold".to_owned());
    let check = legal.check.then(|| "check".to_owned());
    let call = legal.call.map(|call| format!("call {call}"));
    let raise = legal.raise.map(|range| format!("raise {}-{}", range.least, range.most));
    let all: Vec<String> = [fold, check, call, raise].into_iter().flatten().collect();
    format!("legal {}: {}", legal.seat.0, all.join(", "))
}

/// The stacks by seat, and where the hand stands if it is not settled.
fn ending(hand: &Hand) -> String {
    let stack = |seated: &SeatStack| format!("{}: {}", seated.seat.0, hand.player(seated.seat).unwrap().stack);
    let stacks: Vec<String> = hand.snapshot().seats().iter().map(stack).collect();
    let more = match hand.phase() {
        Phase::Settled(settlement) if settlement.rake.is_zero() => String::new(),
        Phase::Settled(settlement) => format!(", rake {}", settlement.rake),
        Phase::Betting(betting) => format!(", {} to act", betting.to_act),
        phase => format!(", {:?}", phase.name()),
    };
    stacks.join(", ") + &more
}
