//! Random snapshots with difficult stacks: stacks of one chip, of less than a blind, all equal, a chip apart, huge.

use bankroll_poker::{AllIn, BlindPosting, Card, Chips, Rake, Seat, SeatStack, ShortBigBlind, Snapshot, TableRules};
use fastrand::Rng;

/// A snapshot and the deck that belongs to it, in the order of the card plan.
#[derive(Debug)]
pub struct TestDeal {
    pub snapshot: Snapshot,
    deck: Vec<Card>,
}

impl TestDeal {
    /// A deal under random rules.
    pub fn random(random: &mut Rng) -> Self {
        let mut rules = stakes(random);
        rules.posting = *random.choice(&[BlindPosting::AnteFirst, BlindPosting::BlindFirst]).unwrap();
        rules.short_big_blind = *random.choice(&[ShortBigBlind::WholeBlind, ShortBigBlind::AsPosted]).unwrap();
        rules.all_in = *random.choice(&[AllIn::AtShowdown, AllIn::BeforeRunOut]).unwrap();
        rules.open_fold = random.bool();
        rules.burns = random.bool();
        let cap = *random.choice(&[None, Some(Chips::ZERO), Some(Chips::new(3)), Some(Chips::MAX)]).unwrap();
        rules.rake =
            Rake { bps: *random.choice(&[0, 1, 250, 500, 10_000]).unwrap(), cap, no_flop_no_drop: random.bool() };
        Self::under(rules, random.usize(2..=10), random)
    }

    /// The rules that PokerKit has, as a tournament or a cash game.
    pub fn of_pokerkit(random: &mut Rng) -> Self {
        let mut rules = stakes(random);
        rules.short_big_blind = ShortBigBlind::AsPosted;
        rules.open_fold = random.bool();
        rules.all_in = if rules.open_fold { AllIn::AtShowdown } else { AllIn::BeforeRunOut };
        let count = random.usize(2..=10);
        // PokerKit knows the big blind by what was posted: heads-up it must be larger, and a small one must be there.
        rules.small_blind = rules.small_blind.max(Chips::new(1));
        if count == 2 && rules.small_blind == rules.big_blind {
            rules.big_blind = Chips::new(rules.big_blind.count() * 2);
        }
        Self::under(rules, count, random)
    }

    fn under(rules: TableRules, count: usize, random: &mut Rng) -> Self {
        let stacks = stacks(count, rules.big_blind.count(), random);
        let mut numbers: Vec<u8> = (0..12).collect();
        random.shuffle(&mut numbers);
        numbers.truncate(count);
        numbers.sort_unstable();
        let button = Seat(*random.choice(&numbers).unwrap());
        let seated = |(seat, stack): (&u8, u64)| SeatStack { seat: Seat(*seat), stack: Chips::new(stack) };
        let snapshot = Snapshot::new(rules, numbers.iter().zip(stacks).map(seated).collect(), button).unwrap();
        let mut deck: Vec<Card> = Card::all().collect();
        random.shuffle(&mut deck);
        Self { snapshot, deck }
    }

    pub fn hole(&self, seat: Seat) -> [Card; 2] {
        self.snapshot.plan().hole(seat).unwrap().map(|place| self.deck[usize::from(place)])
    }

    /// The board cards from one number to another.
    pub fn board(&self, cards: std::ops::Range<usize>) -> Vec<Card> {
        self.snapshot.plan().board()[cards].iter().map(|place| self.deck[usize::from(*place)]).collect()
    }
}

fn stakes(random: &mut Rng) -> TableRules {
    let (small, big) = *random.choice(&[(1, 2), (5, 10), (50, 100), (1, 1), (3, 7), (0, 4), (10, 10)]).unwrap();
    let ante = *random.choice(&[0, 0, 0, 1, big / 2, big, big + 5]).unwrap();
    TableRules { ante: Chips::new(ante), ..TableRules::cash(Chips::new(small), Chips::new(big)) }
}

fn stacks(count: usize, big: u64, random: &mut Rng) -> Vec<u64> {
    let style = random.u8(0..8);
    let step = random.u64(1..=big);
    let one = |place: u64, random: &mut Rng| match style {
        0 => big * 100,
        1 => big * 3 + place * step,
        2 => random.u64(1..=big * 3),
        3 => random.u64(1..=big * 12),
        4 => [1, big / 2 + 1, big, big + 1, big * 2, 1_000_000_000_000_000][random.usize(0..6)],
        5 => random.u64(1..=2_000_000_000),
        6 => 1 + place % 2,
        _ => random.u64(big..=big * 200),
    };
    let mut stacks: Vec<u64> = (0..count as u64).map(|place| one(place, random)).collect();
    random.shuffle(&mut stacks);
    stacks
}
