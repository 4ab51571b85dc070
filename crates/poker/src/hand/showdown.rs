//! Showing and mucking.
//!
//! Showing early harms no seat, so any seat may; mucking waits for its turn. An unproven hand cannot win a pot for
//! which another hand was shown; but the last seat left in a pot wins it without showing, and so does the last one to
//! muck if no eligible seat showed.

use super::{Hand, HandRefusal, Phase, SeatStatus};
use crate::{Card, HandTime, Seat};

impl Hand {
    pub(super) fn shown(&mut self, seat: Seat, cards: [Card; 2], at: HandTime) -> Result<(), HandRefusal> {
        let Phase::Showdown(showdown) = &self.phase else { return Err(self.wrong_phase()) };
        if self.player(seat).is_none() {
            return Err(HandRefusal::NotInHand { seat });
        }
        if !showdown.to_show.contains(&seat) {
            return Err(HandRefusal::NothingToShow { seat });
        }
        self.with_open_cards(&cards)?;
        self.leave_showdown(seat, SeatStatus::Shown(cards), at);
        Ok(())
    }

    pub(super) fn mucked(&mut self, seat: Seat, at: HandTime) -> Result<(), HandRefusal> {
        let Phase::Showdown(showdown) = &self.phase else { return Err(self.wrong_phase()) };
        let Some(to_show) = showdown.to_show.first().copied() else { return Err(self.wrong_phase()) };
        self.in_turn(seat, to_show)?;
        if showdown.must_show {
            return Err(HandRefusal::MustShow { seat });
        }
        self.give_up(seat, at);
        Ok(())
    }

    pub(super) fn give_up(&mut self, seat: Seat, at: HandTime) {
        let before = self.players.iter().filter(|player| matches!(player.status, SeatStatus::Mucked { .. })).count();
        let after = u8::try_from(before).expect("there are at most ten seats");
        self.leave_showdown(seat, SeatStatus::Mucked { after }, at);
    }

    fn leave_showdown(&mut self, seat: Seat, status: SeatStatus, at: HandTime) {
        let position = self.position(seat);
        self.at_mut(position).status = status;
        let contending = self.players.iter().filter(|player| player.is_contending()).count();
        let deadline = at.after(self.snapshot.rules().clock.showdown());
        let Phase::Showdown(showdown) = &mut self.phase else { return };
        // The clock of the seat whose turn it is continues when another shows early.
        if showdown.to_show.first() == Some(&seat) {
            showdown.deadline = deadline;
        }
        showdown.to_show.retain(|waiting| *waiting != seat);
        let (all_done, then) = (showdown.to_show.is_empty(), showdown.then);
        match then {
            _ if contending == 1 => self.settle(),
            None if all_done => self.settle(),
            Some(street) if all_done => self.await_board(street, at),
            _ => {}
        }
    }
}
