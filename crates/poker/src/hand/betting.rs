//! One betting decision.

use super::legal::owed;
use super::{Hand, HandRefusal, Phase, Player, PlayerAction, SeatStatus};
use crate::{Chips, HandTime, Seat};

impl Hand {
    pub(super) fn acted(&mut self, seat: Seat, action: PlayerAction, at: HandTime) -> Result<(), HandRefusal> {
        let Phase::Betting(betting) = &self.phase else { return Err(self.wrong_phase()) };
        self.in_turn(seat, betting.to_act)?;
        let position = self.position(seat);
        let mut player = *self.at(position);
        let mut betting = betting.clone();
        let owed = owed(&player, &betting);
        match action {
            PlayerAction::Fold if owed.is_zero() && !self.snapshot.rules().open_fold => {
                return Err(HandRefusal::NothingToFoldTo);
            }
            PlayerAction::Fold => player.status = SeatStatus::Folded,
            PlayerAction::Check if !owed.is_zero() => return Err(HandRefusal::CannotCheck { owed }),
            PlayerAction::Check => {}
            PlayerAction::Call if owed.is_zero() => return Err(HandRefusal::NothingToCall),
            PlayerAction::Call => player.commit(owed.min(player.stack)),
            PlayerAction::RaiseTo(to) => {
                let range = self.raise_range(&player, &betting)?;
                if to < range.least {
                    return Err(HandRefusal::RaiseTooSmall { to, least: range.least });
                }
                if to > range.most {
                    return Err(HandRefusal::RaiseTooLarge { to, most: range.most });
                }
                player.commit(to.minus(player.committed));
                // An all-in below a full raise lifts the bet, but not what the next raise must be.
                betting.raise = betting.raise.max(to.minus(betting.bet));
                betting.bet = to;
                betting.aggressor = Some(seat);
            }
        }
        player.faced = Some(betting.bet);
        *self.at_mut(position) = player;
        self.phase = Phase::Betting(betting);
        self.go_on_after(position, at);
        Ok(())
    }

    /// Whether the betting round cannot end without this seat.
    ///
    /// If all others who are in are all-in, the only question is whether it calls what they really have before them;
    /// a check would decide nothing then, nor would what it lacks to a blind that was not posted whole.
    pub(super) fn must_act(&self, player: &Player, bet: Chips) -> bool {
        let others = || self.players.iter().filter(|other| other.seat != player.seat && other.is_live());
        if !player.can_bet() {
            return false;
        }
        if others().any(Player::can_bet) {
            return player.faced.is_none() || player.committed < bet;
        }
        others().any(|other| other.committed > player.committed)
    }
}
