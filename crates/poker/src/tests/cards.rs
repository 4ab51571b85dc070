//! Cards, chips, sets and the card plan.

use super::story::snapshot;
use crate::{Card, CardError, CardSet, Chips, Seat};

#[test]
fn a_card_is_a_rank_and_a_suit_and_has_its_place() {
    let index = |text: &str| text.parse::<Card>().map(Card::index);
    assert_eq!(
        (index("2c"), index("Ac"), index("2d"), index("Th"), index("As")),
        (Ok(0), Ok(12), Ok(13), Ok(34), Ok(51))
    );
    for card in Card::all() {
        assert_eq!(card.to_string().parse(), Ok(card));
        assert_eq!(card.suit().index() * 13 + card.rank().index(), card.index());
    }
    assert_eq!(Card::all().count(), 52);
}

#[test]
fn anything_else_is_no_card() {
    for text in ["", "A", "1s", "as", "AS", "10s", "A♠", "Asx"] {
        assert_eq!(text.parse::<Card>(), Err(CardError::Malformed { text: text.to_owned() }));
    }
    assert_eq!(Card::from_index(52), Err(CardError::IndexTooLarge { index: 52 }));
    assert_eq!(Card::parse_many("AsK"), Err(CardError::Malformed { text: "K".to_owned() }));
}

#[test]
fn a_set_knows_what_came_twice() {
    let cards = Card::parse_many("AsKd2cAs").unwrap();
    assert_eq!(CardSet::of_distinct(cards.iter().copied()), Err(cards[0]));
    let set: CardSet = cards.into_iter().collect();
    assert_eq!((set.len(), format!("{set:?}")), (3, "{2c, Kd, As}".to_owned()));
}

#[test]
fn chips_do_not_overflow() {
    let one = Chips::new(1);
    assert_eq!(Chips::MAX.checked_add(one), None);
    assert_eq!(Chips::ZERO.checked_sub(one), None);
    assert_eq!(Chips::MAX.basis_points(10_000), Chips::MAX);
    assert_eq!(Chips::new(101).basis_points(250), Chips::new(2));
    assert_eq!(Chips::new(8).divided_among(3), (Chips::new(2), Chips::new(2)));
    assert_eq!(Chips::new(8).divided_among(0), (Chips::ZERO, Chips::new(8)));
}

#[test]
fn two_rounds_from_left_of_the_button_then_the_board() {
    let snapshot = snapshot("button 4, 1: 9, 4: 9, 7: 9");
    let plan = snapshot.plan();
    assert_eq!(plan.holes(), [(Seat(7), [0, 3]), (Seat(1), [1, 4]), (Seat(4), [2, 5])]);
    assert_eq!((plan.board(), plan.burns(), plan.places()), ([6, 7, 8, 9, 10], &[][..], 11));
    assert_eq!((plan.hole(Seat(1)), plan.hole(Seat(2))), (Some([1, 4]), None));
}

#[test]
fn burned_places_come_before_flop_turn_and_river() {
    let nine = "button 9, burns, 1: 9, 2: 9, 3: 9, 4: 9, 5: 9, 6: 9, 7: 9, 8: 9, 9: 9";
    let snapshot = snapshot(nine);
    let plan = snapshot.plan();
    assert_eq!((plan.board(), plan.burns(), plan.places()), ([19, 20, 21, 23, 25], &[18, 22, 24][..], 26));
}

#[test]
fn heads_up_the_button_gets_the_second_card() {
    assert_eq!(snapshot("button 1, 1: 9, 2: 9").plan().holes(), [(Seat(2), [0, 2]), (Seat(1), [1, 3])]);
}
