//! How a hand begins and is called off: posting, the deal, the clock, the void.

use super::{Hand, HandRefusal, Phase, Player, PlayerAction, SeatStatus, Street, VoidCause};
use crate::{BlindPosting, Chips, HandTime, ShortBigBlind, Snapshot};

impl Hand {
    /// The hand with antes and blinds posted, waiting for its cards.
    #[must_use]
    pub fn start(snapshot: Snapshot, at: HandTime) -> Self {
        let player = |seated: crate::SeatStack| Player {
            seat: seated.seat,
            stack: seated.stack,
            committed: Chips::ZERO,
            total: Chips::ZERO,
            faced: None,
            status: SeatStatus::In,
        };
        let mut players: Vec<Player> = snapshot.in_order().map(player).collect();
        let rules = snapshot.rules();
        // Heads-up the button, which is last, posts the small blind.
        let (small, big) = if players.len() == 2 { (1, 0) } else { (0, 1) };
        for (position, player) in players.iter_mut().enumerate() {
            let blind = match position {
                position if position == small => rules.small_blind,
                position if position == big => rules.big_blind,
                _ => Chips::ZERO,
            };
            match rules.posting {
                BlindPosting::AnteFirst => {
                    player.ante(rules.ante);
                    player.commit(blind.min(player.stack));
                }
                BlindPosting::BlindFirst => {
                    player.commit(blind.min(player.stack));
                    player.ante(rules.ante);
                }
            }
        }
        let deadline = at.after(rules.clock.cards());
        let phase = Phase::Dealing { deadline };
        Self { snapshot, players, board: Vec::new(), phase, returned: Vec::new(), events: 0 }
    }

    pub(super) fn hole_cards_dealt(&mut self, at: HandTime) -> Result<(), HandRefusal> {
        let Phase::Dealing { .. } = self.phase else { return Err(self.wrong_phase()) };
        let rules = self.snapshot.rules();
        let bet = match rules.short_big_blind {
            ShortBigBlind::WholeBlind => rules.big_blind,
            ShortBigBlind::AsPosted => self.players.iter().map(|player| player.committed).max().unwrap_or(Chips::ZERO),
        };
        self.begin_betting(Street::Preflop, bet, at);
        Ok(())
    }

    /// The awaited seat or shufflers get their full time again.
    pub(super) fn clock_restarted(&mut self, at: HandTime) -> Result<(), HandRefusal> {
        let clock = self.snapshot.rules().clock;
        match &mut self.phase {
            Phase::Dealing { deadline } | Phase::Opening { deadline, .. } => *deadline = at.after(clock.cards()),
            Phase::Betting(betting) => betting.deadline = at.after(clock.turn()),
            Phase::Showdown(showdown) => showdown.deadline = at.after(clock.showdown()),
            Phase::Settled(_) | Phase::Void(_) => return Err(self.wrong_phase()),
        }
        Ok(())
    }

    /// Every seat has the stack of the snapshot again. Shufflers can be missing only while cards are awaited.
    pub(super) fn voided(&mut self, cause: &VoidCause, at: HandTime) -> Result<(), HandRefusal> {
        if let VoidCause::Missing { who } = cause {
            let (Phase::Dealing { deadline } | Phase::Opening { deadline, .. }) = self.phase else {
                return Err(self.wrong_phase());
            };
            if who.is_empty() {
                return Err(HandRefusal::NobodyNamed);
            }
            not_before(deadline, at)?;
        }
        for (player, seated) in self.players.iter_mut().zip(self.snapshot.in_order()) {
            (player.stack, player.committed, player.total) = (seated.stack, Chips::ZERO, Chips::ZERO);
        }
        self.returned.clear();
        self.phase = Phase::Void(cause.clone());
        Ok(())
    }

    /// The seat is late: at the showdown it mucks, otherwise it checks if that is free and else folds.
    pub(super) fn timed_out(&mut self, seat: crate::Seat, at: HandTime) -> Result<(), HandRefusal> {
        let (Some(to_act), Some(deadline)) = (self.to_act(), self.deadline()) else { return Err(self.wrong_phase()) };
        self.in_turn(seat, to_act)?;
        not_before(deadline, at)?;
        let Some(legal) = self.legal() else {
            self.give_up(seat, at);
            return Ok(());
        };
        self.acted(seat, if legal.check { PlayerAction::Check } else { PlayerAction::Fold }, at)
    }

    pub(super) fn in_turn(&self, seat: crate::Seat, to_act: crate::Seat) -> Result<(), HandRefusal> {
        if self.player(seat).is_none() {
            return Err(HandRefusal::NotInHand { seat });
        }
        if seat == to_act { Ok(()) } else { Err(HandRefusal::NotYourTurn { seat, to_act }) }
    }

    pub(super) fn wrong_phase(&self) -> HandRefusal {
        HandRefusal::WrongPhase { phase: self.phase.name() }
    }
}

fn not_before(deadline: HandTime, at: HandTime) -> Result<(), HandRefusal> {
    if at < deadline { Err(HandRefusal::TooEarly { deadline, at }) } else { Ok(()) }
}
