//! Side pots, uncalled bets, odd chips.

use super::story::check;
use crate::{Chips, Pot, Seat, Stake, pots, uncalled};

fn stakes(stakes: &[(u8, u64, bool)]) -> Vec<Stake> {
    let stake = |(seat, total, folded): &(u8, u64, bool)| Stake {
        seat: Seat(*seat),
        total: Chips::new(*total),
        folded: *folded,
    };
    stakes.iter().map(stake).collect()
}

fn pot(amount: u64, seats: &[u8]) -> Pot {
    Pot { amount: Chips::new(amount), eligible: seats.iter().copied().map(Seat).collect() }
}

/// The prototype built side pots from the seats still in and lost what the others had put in.
#[test]
fn defect_1_9_h_chips_of_folded_seats_are_in_the_pots() {
    let stakes = stakes(&[(1, 50, false), (2, 80, true), (3, 100, false), (4, 100, false), (5, 30, true)]);
    let pots = pots(&stakes);
    assert_eq!(pots, [pot(230, &[1, 3, 4]), pot(130, &[3, 4])]);
    let put_in: u64 = stakes.iter().map(|stake| stake.total.count()).sum();
    assert_eq!(pots.iter().map(|pot| pot.amount.count()).sum::<u64>(), put_in);
    check(
        "button 4, blinds 5/10, 1: 500, 2: 500, 3: 50, 4: 500",
        "deal
         3 raise 50
         4 raise 200
         1 call
         2 fold
         board 2c3c4c
         1 raise 100
         4 fold
         pots 160 for 1 3, 300 for 1
         board 5d
         board 9h
         1 shows KcKd
         3 shows AcAd",
        "1: 600, 2: 490, 3: 160, 4: 300",
    );
}

#[test]
fn folded_seats_end_no_pot_and_what_they_put_above_joins_the_last() {
    assert_eq!(pots(&stakes(&[(1, 40, true), (2, 60, false), (3, 60, false)])), [pot(160, &[2, 3])]);
    assert_eq!(pots(&stakes(&[(1, 90, true), (2, 60, false), (3, 60, false)])), [pot(210, &[2, 3])]);
    assert_eq!(pots(&stakes(&[(1, 10, true), (2, 60, false)])), [pot(70, &[2])]);
    assert_eq!(pots(&stakes(&[(1, 10, true), (2, 60, true)])), []);
}

#[test]
fn the_uncalled_chips_are_the_largest_stake_above_the_second() {
    assert_eq!(uncalled(&stakes(&[(1, 40, true), (2, 60, false), (3, 25, false)])), Some((Seat(2), Chips::new(20))));
    assert_eq!(uncalled(&stakes(&[(1, 60, true), (2, 60, false)])), None);
    assert_eq!(uncalled(&[]), None);
}

#[test]
fn four_stacks_all_in_make_a_main_pot_and_two_side_pots_and_the_rest_comes_back() {
    let hand = check(
        "button 4, blinds 5/10, 1: 100, 2: 200, 3: 300, 4: 400",
        "deal
         3 raise 100
         4 raise 400
         1 call
         2 call
         3 call
         pots 400 for 1 2 3 4, 300 for 2 3 4, 200 for 3 4
         board 2c7d8h
         board Jh
         board 3s
         1 shows AsAc
         2 shows KsKc
         3 shows QsQc
         4 shows TsTc",
        "1: 400, 2: 300, 3: 200, 4: 100",
    );
    assert_eq!(hand.returned(), [(Seat(4), Chips::new(100))]);
}

/// Every seat plays the board. 83 chips among four: three left over, for the first three left of the button.
#[test]
fn odd_chips_go_one_by_one_from_the_left_of_the_button() {
    check(
        "button 2, blinds 5/10, ante 1, 1: 21, 2: 21, 3: 21, 4: 21, 5: 18",
        "deal
         5 raise 17
         1 raise 20
         2 call
         3 call
         4 fold
         pots 83 for 3 5 1 2, 9 for 3 1 2
         board AsKsQd
         board Jd
         board Tc
         3 shows 2c3d
         5 shows 2d3c
         1 shows 2h3h
         2 shows 4c4d",
        "1: 24, 2: 23, 3: 24, 4: 10, 5: 21",
    );
}

#[test]
fn each_pot_is_split_on_its_own() {
    check(
        "button 3, blinds 5/10, 1: 105, 2: 105, 3: 51",
        "deal
         3 raise 51
         1 raise 105
         2 call
         pots 153 for 1 2 3, 108 for 1 2
         board AsKsQd
         board Jd
         board 2c
         1 shows Tc3d
         2 shows Td3c
         3 shows 4c4d",
        "1: 131, 2: 130, 3: 0",
    );
}
