//! Random players: legal, and reckless enough to reach every corner.

use bankroll_poker::{Chips, Hand, LegalActions, PlayerAction};
use fastrand::Rng;

/// One of the legal actions.
pub fn choose(legal: &LegalActions, random: &mut Rng) -> PlayerAction {
    let passive = || if legal.check { PlayerAction::Check } else { PlayerAction::Call };
    match (random.u8(0..100), legal.raise) {
        (0..35, Some(range)) => {
            let (least, most) = (range.least.count(), range.most.count());
            let to = match random.u8(0..10) {
                0..5 => least,
                5..7 => most,
                7 => random.u64(least..=most),
                _ => random.u64(least..=most.min(least.saturating_mul(3))),
            };
            PlayerAction::RaiseTo(Chips::new(to))
        }
        (35..50, _) if legal.call.is_some() => PlayerAction::Fold,
        (35..38, _) if legal.fold => PlayerAction::Fold,
        _ => passive(),
    }
}

/// The board cards that the hand waits for.
pub fn next_board(hand: &Hand) -> std::ops::Range<usize> {
    match hand.board().len() {
        0 => 0..3,
        open => open..open + 1,
    }
}
