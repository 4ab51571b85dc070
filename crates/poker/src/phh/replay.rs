//! A history played again under our rules.
//!
//! Other programs differ from ours in four ways that change nothing, and the replay bridges them: they let the only
//! seat with chips left check where we skip it; they open all-in hands before or after the board, whatever our rules
//! say; they let a winner show who need not; and some end without a showdown, in which case the known hands are shown
//! and the others mucked.

use super::{HandHistory, PhhError, PhhLine};
use crate::{Card, Hand, HandEvent, HandTime, Phase, Player, PlayerAction, Seat};

/// A history played again.
#[derive(Clone, Debug)]
pub struct ReplayOutcome {
    pub hand: Hand,
    /// The events it came to.
    pub events: Vec<HandEvent>,
}

struct HistoryReplay {
    hand: Hand,
    events: Vec<HandEvent>,
    /// What is known of each player's cards.
    hole: Vec<Vec<Option<Card>>>,
    /// What each player will do at the showdown, once it is there.
    shows: Vec<Option<HandEvent>>,
    /// Which action is being played, from 1.
    place: usize,
}

impl HandHistory {
    /// Plays the history again, all of it at one time.
    ///
    /// # Errors
    /// The first action that the rules refuse, or finishing stacks that are not what it leads to.
    pub fn replay(&self, at: HandTime) -> Result<ReplayOutcome, PhhError> {
        let count = self.snapshot.seats().len();
        let hand = Hand::start(self.snapshot.clone(), at);
        let (hole, shows) = (vec![Vec::new(); count], vec![None; count]);
        let mut replay = HistoryReplay { hand, events: Vec::new(), hole, shows, place: 0 };
        for line in &self.lines {
            replay.place = replay.place.saturating_add(1);
            replay.play(line, at)?;
        }
        replay.place = replay.place.saturating_add(1);
        replay.deal(at)?;
        replay.show_down(true, at)?;
        let HistoryReplay { hand, events, .. } = replay;
        let over = matches!(hand.phase(), Phase::Settled(_));
        match &self.finishing {
            Some(stacks) if over && !hand.players().iter().map(|player| player.stack).eq(stacks.iter().copied()) => {
                Err(PhhError::FinishingStacks)
            }
            _ => Ok(ReplayOutcome { hand, events }),
        }
    }
}

impl HistoryReplay {
    fn play(&mut self, line: &PhhLine, at: HandTime) -> Result<(), PhhError> {
        if let PhhLine::Hole { player, cards } = line {
            let unknown = PhhError::Action { line: line.text() };
            self.hole.get_mut(*player).ok_or(unknown)?.extend(cards);
            return Ok(());
        }
        self.deal(at)?;
        match line {
            PhhLine::Hole { .. } => Ok(()),
            PhhLine::Board { cards } => self.board(cards, at),
            PhhLine::Fold { player } => self.act(*player, line, PlayerAction::Fold, at),
            PhhLine::RaiseTo { player, to } => self.act(*player, line, PlayerAction::RaiseTo(*to), at),
            PhhLine::CheckOrCall { player } => {
                let actor = self.player(*player, line)?;
                if self.hand.legal().is_none() && actor.can_bet() && self.is_run_out() {
                    return Ok(());
                }
                let checks = self.hand.legal().is_some_and(|legal| legal.check);
                self.act(*player, line, if checks { PlayerAction::Check } else { PlayerAction::Call }, at)
            }
            PhhLine::Show { player, cards } => {
                let seat = self.player(*player, line)?.seat;
                let cards =
                    cards.or_else(|| self.known(*player)).ok_or(PhhError::UnknownCards { place: self.place })?;
                self.at_showdown(*player, HandEvent::Shown { seat, cards }, at)
            }
            PhhLine::Muck { player } => {
                let seat = self.player(*player, line)?.seat;
                self.at_showdown(*player, HandEvent::Mucked { seat }, at)
            }
        }
    }

    /// The first line after the hole cards begins the betting.
    fn deal(&mut self, at: HandTime) -> Result<(), PhhError> {
        match self.hand.phase() {
            Phase::Dealing { .. } => self.apply(HandEvent::HoleCardsDealt, at),
            _ => Ok(()),
        }
    }

    fn act(&mut self, player: usize, line: &PhhLine, action: PlayerAction, at: HandTime) -> Result<(), PhhError> {
        let seat = self.player(player, line)?.seat;
        self.apply(HandEvent::Acted { seat, action }, at)
    }

    /// Cards of several streets may come at once when no seat can bet.
    fn board(&mut self, cards: &[Card], at: HandTime) -> Result<(), PhhError> {
        let mut left = cards;
        while !left.is_empty() {
            self.show_down(true, at)?;
            let wanted = match self.hand.phase() {
                Phase::Opening { street, .. } => street.cards(),
                _ => left.len(),
            };
            let (now, later) = left.split_at_checked(wanted).unwrap_or((left, &[]));
            self.apply(HandEvent::BoardOpened { cards: now.to_vec() }, at)?;
            left = later;
        }
        self.show_down(false, at)
    }

    fn at_showdown(&mut self, player: usize, event: HandEvent, at: HandTime) -> Result<(), PhhError> {
        if let (Phase::Opening { .. }, Some(later)) = (self.hand.phase(), self.shows.get_mut(player)) {
            *later = Some(event);
            return Ok(());
        }
        if self.hand.phase().is_over() {
            return Ok(());
        }
        self.apply(event, at)
    }

    /// Plays shows that the file lists early; at the end, or before the board goes on, also those that it leaves out.
    fn show_down(&mut self, all: bool, at: HandTime) -> Result<(), PhhError> {
        while let Phase::Showdown(showdown) = self.hand.phase() {
            let next = showdown.to_show.first().copied().and_then(|seat| Some((seat, self.number(seat)?)));
            let Some((seat, player)) = next else { return Ok(()) };
            let said = self.shows.get_mut(player).and_then(Option::take);
            let unsaid =
                || self.known(player).map_or(HandEvent::Mucked { seat }, |cards| HandEvent::Shown { seat, cards });
            match said.or_else(|| all.then(unsaid)) {
                Some(event) => self.apply(event, at)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn apply(&mut self, event: HandEvent, at: HandTime) -> Result<(), PhhError> {
        let refused = |refusal| PhhError::Refused { place: self.place, refusal };
        self.hand = self.hand.apply(&event, at).map_err(refused)?;
        self.events.push(event);
        Ok(())
    }

    fn is_run_out(&self) -> bool {
        self.hand.players().iter().filter(|player| player.can_bet()).count() <= 1
    }

    fn known(&self, player: usize) -> Option<[Card; 2]> {
        match self.hole.get(player)?.as_slice() {
            [Some(first), Some(second)] => Some([*first, *second]),
            _ => None,
        }
    }

    fn player(&self, player: usize, line: &PhhLine) -> Result<Player, PhhError> {
        self.hand.players().get(player).copied().ok_or_else(|| PhhError::Action { line: line.text() })
    }

    fn number(&self, seat: Seat) -> Option<usize> {
        self.hand.players().iter().position(|player| player.seat == seat)
    }
}
