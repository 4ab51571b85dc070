//! Hands in PHH.

use super::story::snapshot;
use crate::phh::{HandHistory, PhhError};
use crate::{
    AllIn, Card, Chips, HandEvent, HandTime, MissingParty, Phase, PlayerAction, Seat, ShortBigBlind, TableRules,
    VoidCause,
};

/// A hand as other programs write it: seat numbers left out, all-in hands opened before the board.
const FILE: &str = "variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [5, 10, 0]
min_bet = 10
starting_stacks = [100, 200, 300]
actions = [
  'd dh p1 AsAc', 'd dh p2 ????', 'd dh p3 KsKc', # a comment of TOML
  'p3 cbr 300 # and one of the action', 'p1 cc', 'p2 f',
  'p3 sm KsKc', 'p1 sm -',
  'd db 2c7d8hJh3s',
]
finishing_stacks = [210, 190, 200]
author = 'somebody'
";

fn house() -> TableRules {
    TableRules::cash(Chips::new(1), Chips::new(2))
}

fn stacks(history: &HandHistory) -> Vec<u64> {
    history.replay(HandTime(0)).unwrap().hand.players().iter().map(|player| player.stack.count()).collect()
}

#[test]
fn a_file_of_another_program_replays_whenever_our_rules_open_hands() {
    let history = HandHistory::read(FILE, &house()).unwrap();
    assert_eq!((history.snapshot.button(), history.snapshot.rules().big_blind), (Seat(3), Chips::new(10)));
    assert_eq!(stacks(&history), [210, 190, 200]);
    let tournament = TableRules { all_in: AllIn::BeforeRunOut, short_big_blind: ShortBigBlind::AsPosted, ..house() };
    assert_eq!(stacks(&HandHistory::read(FILE, &tournament).unwrap()), [210, 190, 200]);
}

#[test]
fn a_file_without_a_showdown_shows_what_it_knows() {
    let history = HandHistory::read(&FILE.replace("'p3 sm KsKc', 'p1 sm -',", ""), &house()).unwrap();
    assert_eq!(stacks(&history), [210, 190, 200]);
}

#[test]
fn finishing_stacks_that_do_not_follow_are_refused() {
    let history = HandHistory::read(&FILE.replace("[210, 190, 200]", "[200, 190, 210]"), &house()).unwrap();
    assert_eq!(history.replay(HandTime(0)).unwrap_err(), PhhError::FinishingStacks);
}

fn refused(from: &str, to: &str, expected: &str) {
    let outcome = HandHistory::read(&FILE.replace(from, to), &house()).and_then(|history| history.replay(HandTime(0)));
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}

#[test]
fn what_is_not_played_here_is_refused_by_name() {
    refused("'NT'", "'PO'", "variant \"PO\" is not no-limit hold'em (NT)");
    refused("[0, 0, 0]", "[0, 10, 0]", "antes that differ are not played here");
    refused(
        "[5, 10, 0]",
        "[5, 10, 20]",
        "only a small and a big blind are played here, and the least bet is the big blind",
    );
    refused(
        "min_bet = 10",
        "min_bet = 20",
        "only a small and a big blind are played here, and the least bet is the big blind",
    );
    refused("[100, 200, 300]", "[100.5, 200, 300]", "starting_stacks must be whole numbers from 0 to 2^63 - 1");
    refused("[100, 200, 300]", "[100, 200, -1]", "starting_stacks must be whole numbers from 0 to 2^63 - 1");
    refused("[100, 200, 300]", "[100, 200, 0]", "seat 3 has no chips");
    refused("[0, 0, 0]", "[0, 0]", "antes has 2 entries for 3 players");
    refused("'p1 cc'", "'p1 sd AsAc'", "cannot read the action \"p1 sd AsAc\"");
    refused("'p1 cc'", "'p0 cc'", "cannot read the action \"p0 cc\"");
    refused("'p1 cc'", "'p4 cc'", "cannot read the action \"p4 cc\"");
    refused(
        "8hJh3s",
        "8hJh3x",
        "in the action \"d db 2c7d8hJh3x\": a card is a rank of 23456789TJQKA and a suit of cdhs, not \"3x\"",
    );
    refused("'p1 cc'", "'p2 cc'", "action 5 is against the rules: it is the turn of seat 1, not of seat 2");
    refused("'p3 sm KsKc', 'p1 sm -'", "'p3 sm -', 'p2 sm -'", "action 8 shows cards that are not known");
    refused("variant = 'NT'\n", "", "not a PHH file: missing field `variant`");
}

#[test]
fn a_hand_of_ours_is_written_with_what_is_known() {
    let snapshot = snapshot("button 7, blinds 5/10, 2: 100, 5: 200, 7: 300");
    let cards = |text: &str| Card::parse_many(text).unwrap();
    let pair = |text: &str| <[Card; 2]>::try_from(cards(text)).unwrap();
    let acted = |seat, action| HandEvent::Acted { seat: Seat(seat), action };
    let events: Vec<(HandEvent, HandTime)> = [
        HandEvent::HoleCardsDealt,
        acted(7, PlayerAction::RaiseTo(Chips::new(300))),
        acted(2, PlayerAction::Call),
        HandEvent::TimedOut { seat: Seat(5) },
        HandEvent::BoardOpened { cards: cards("2c7d8h") },
        HandEvent::BoardOpened { cards: cards("Jh") },
        HandEvent::BoardOpened { cards: cards("3s") },
        HandEvent::Shown { seat: Seat(2), cards: pair("AsAc") },
        HandEvent::Mucked { seat: Seat(7) },
    ]
    .into_iter()
    .zip([0, 0, 0, 40_000, 0, 0, 0, 0, 0].map(HandTime))
    .collect();
    let history = HandHistory::of(&snapshot, HandTime(0), &events, |_| None).unwrap();
    let text = history.to_text().unwrap();
    assert_eq!(
        text,
        "variant = \"NT\"
ante_trimming_status = true
antes = [0, 0, 0]
blinds_or_straddles = [5, 10, 0]
min_bet = 10
starting_stacks = [100, 200, 300]
actions = [\"d dh p1 AsAc\", \"d dh p2 ????\", \"d dh p3 ????\", \"p3 cbr 300\", \"p1 cc\", \"p2 f\", \"p1 sm AsAc\", \
         \"p3 sm\", \"d db 2c7d8h\", \"d db Jh\", \"d db 3s\"]
seats = [2, 5, 7]
finishing_stacks = [210, 190, 200]
"
    );
    let again = HandHistory::read(&text, &house()).unwrap();
    assert_eq!((&again.lines, &again.finishing), (&history.lines, &history.finishing));
    assert!(matches!(again.replay(HandTime(0)).unwrap().hand.phase(), Phase::Settled(_)));
}

#[test]
fn a_void_hand_has_no_history() {
    let who = vec![MissingParty::Shuffler(2)];
    let void = (HandEvent::Voided { cause: VoidCause::Missing { who } }, HandTime(30_000));
    assert_eq!(HandHistory::of(&snapshot("button 1, 1: 9, 2: 9"), HandTime(0), &[void], |_| None), Err(PhhError::Void));
}
