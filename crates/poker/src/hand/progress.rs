//! From one turn to the next, and from one street to the next.

use super::{Betting, Hand, Phase, Player, SeatStatus, Showdown, Street};
use crate::{AllIn, Chips, HandTime, Seat, uncalled};

impl Hand {
    /// Opens a betting round at this bet; it ends at once if no seat can bet.
    pub(super) fn begin_betting(&mut self, street: Street, bet: Chips, at: HandTime) {
        let first: usize = match street {
            // The seat after the big blind, which is second, or first if there are only two.
            Street::Preflop if self.players.len() == 2 => 1,
            Street::Preflop => 2,
            _ => 0,
        };
        let raise = self.snapshot.rules().big_blind;
        let deadline = at.after(self.snapshot.rules().clock.turn());
        let to_act = self.at(first.checked_rem(self.players.len()).unwrap_or(0)).seat;
        self.phase = Phase::Betting(Betting { street, to_act, bet, raise, aggressor: None, deadline });
        self.turn_from(first, at);
    }

    /// After the seat at this position acted.
    pub(super) fn go_on_after(&mut self, position: usize, at: HandTime) {
        if self.players.iter().filter(|player| player.is_live()).count() == 1 {
            self.return_uncalled();
            self.settle();
        } else {
            self.turn_from(position.saturating_add(1), at);
        }
    }

    /// Gives the turn to the first seat from this position on that must act, or ends the round.
    fn turn_from(&mut self, position: usize, at: HandTime) {
        let Phase::Betting(betting) = &self.phase else { return };
        let (street, bet, aggressor) = (betting.street, betting.bet, betting.aggressor);
        let from = position.checked_rem(self.players.len()).unwrap_or(0);
        let round = self.players.iter().skip(from).chain(self.players.iter().take(from));
        let next = round.filter(|player| self.must_act(player, bet)).map(|player| player.seat).next();
        let deadline = at.after(self.snapshot.rules().clock.turn());
        match (next, &mut self.phase) {
            (Some(seat), Phase::Betting(betting)) => (betting.to_act, betting.deadline) = (seat, deadline),
            _ => self.end_street(street, aggressor, at),
        }
    }

    fn end_street(&mut self, street: Street, aggressor: Option<Seat>, at: HandTime) {
        self.return_uncalled();
        for player in &mut self.players {
            (player.committed, player.faced) = (Chips::ZERO, None);
        }
        let opened_at_once = self.snapshot.rules().all_in == AllIn::BeforeRunOut;
        let any_all_in = self.players.iter().any(|player| player.is_live() && player.stack.is_zero());
        match street.next() {
            None => self.begin_showdown(aggressor, opened_at_once && any_all_in, None, at),
            then if opened_at_once && self.is_run_out() => self.begin_showdown(aggressor, true, then, at),
            Some(street) => self.await_board(street, at),
        }
    }

    /// Whether the rest of the board comes without betting.
    pub(crate) fn is_run_out(&self) -> bool {
        self.players.iter().filter(|player| player.can_bet()).count() <= 1
    }

    pub(super) fn await_board(&mut self, street: Street, at: HandTime) {
        let deadline = at.after(self.snapshot.rules().clock.cards());
        self.phase = Phase::Opening { street, deadline };
    }

    /// The last aggressor shows first, or else the first seat left of the button; the others follow clockwise.
    pub(super) fn begin_showdown(&mut self, first: Option<Seat>, must_show: bool, then: Option<Street>, at: HandTime) {
        let from = first.map_or(0, |seat| self.position(seat));
        let round = self.players.iter().skip(from).chain(self.players.iter().take(from));
        let to_show = round.filter(|player| player.status == SeatStatus::In).map(|player| player.seat).collect();
        let deadline = at.after(self.snapshot.rules().clock.showdown());
        self.phase = Phase::Showdown(Showdown { to_show, must_show, then, deadline });
    }

    fn return_uncalled(&mut self) {
        if let Some((seat, excess)) = uncalled(&self.stakes()) {
            let position = self.position(seat);
            let player = self.at_mut(position);
            player.stack = player.stack.plus(excess);
            player.total = player.total.minus(excess);
            // Antes lie outside the street, so they may be part of what comes back.
            player.committed = player.committed.above(excess);
            self.returned.push((seat, excess));
        }
    }

    pub(super) fn position(&self, seat: Seat) -> usize {
        self.players.iter().position(|player| player.seat == seat).expect("the seat was looked up before")
    }

    pub(super) fn at(&self, position: usize) -> &Player {
        self.players.get(position).expect("positions come from this hand")
    }

    pub(super) fn at_mut(&mut self, position: usize) -> &mut Player {
        self.players.get_mut(position).expect("positions come from this hand")
    }
}
