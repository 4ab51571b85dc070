//! A hand as PHH tells it, and how it comes from ours.

use super::file::File;
use super::{Line, PhhError};
use crate::{Action, Card, Chips, Event, Hand, Phase, Rules, Seat, Snapshot, Standing, Time};

/// A hand as PHH tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// What it began with.
    pub snapshot: Snapshot,
    /// What happened.
    pub lines: Vec<Line>,
    /// The players from left of the button, or nobody.
    pub names: Vec<String>,
    /// The stacks at the end from left of the button, if the hand came to its end.
    pub finishing: Option<Vec<Chips>>,
}

impl History {
    /// Reads a file, under the house rules that it cannot say; blinds and ante are the file's.
    ///
    /// # Errors
    /// What the file lacks, or says that is not played here. Whether its actions are legal is seen at the replay.
    pub fn read(text: &str, house: &Rules) -> Result<Self, PhhError> {
        let file: File =
            toml::from_str(text).map_err(|error| PhhError::Malformed { why: error.message().to_owned() })?;
        file.read(house)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// If a stack is beyond what TOML can hold.
    pub fn to_text(&self) -> Result<String, PhhError> {
        toml::to_string(&File::of(self)?).map_err(|error| PhhError::Malformed { why: error.to_string() })
    }

    /// The history of a hand. Hole cards that were shown are known; others are told by `known`, or left open.
    ///
    /// # Errors
    /// If the rules refuse an event, or the hand is void.
    pub fn of(
        snapshot: &Snapshot,
        began: Time,
        events: &[(Event, Time)],
        known: impl Fn(Seat) -> Option<[Card; 2]>,
    ) -> Result<Self, PhhError> {
        let mut hand = Hand::start(snapshot.clone(), began);
        let (mut lines, mut run_out) = (Vec::new(), None);
        for ((event, at), place) in events.iter().zip(1..) {
            if matches!(event, Event::BoardOpened { .. }) && hand.nobody_can_bet() {
                run_out.get_or_insert(lines.len());
            }
            lines.extend(line(&hand, event));
            hand = hand.apply(event, *at).map_err(|refusal| PhhError::Refused { place, refusal })?;
        }
        if let Phase::Void(_) = hand.phase() {
            return Err(PhhError::Void);
        }
        if let Some(place) = run_out {
            // Other programs open all-in hands before the board is run out, and read a file so.
            let is_board = |line: &Line| matches!(line, Line::Board { .. });
            let (board, shows): (Vec<Line>, Vec<Line>) = lines.split_off(place).into_iter().partition(is_board);
            lines.extend(shows.into_iter().chain(board));
        }
        let hole = |(player, shown): (usize, &crate::Player)| {
            let cards = match shown.standing {
                Standing::Shown(cards) => Some(cards),
                _ => known(shown.seat),
            };
            Line::Hole { player, cards: cards.map_or(vec![None; 2], |cards| cards.map(Some).to_vec()) }
        };
        let dealt: Vec<Line> = hand.players().iter().enumerate().map(hole).collect();
        lines.splice(0..0, dealt);
        let over = matches!(hand.phase(), Phase::Settled(_));
        let finishing = over.then(|| hand.players().iter().map(|player| player.stack).collect());
        Ok(Self { snapshot: snapshot.clone(), lines, names: Vec::new(), finishing })
    }
}

/// What an event is called, seen from the hand before it. Only what players and dealer do has a name.
fn line(hand: &Hand, event: &Event) -> Option<Line> {
    let number = |seat: Seat| hand.players().iter().position(|player| player.seat == seat);
    let acted = |player, action| match action {
        Action::Fold => Line::Fold { player },
        Action::Check | Action::Call => Line::CheckOrCall { player },
        Action::RaiseTo(to) => Line::RaiseTo { player, to },
    };
    match event {
        Event::HoleCardsDealt | Event::ClockRestarted | Event::Voided { .. } => None,
        Event::Acted { seat, action } => number(*seat).map(|player| acted(player, *action)),
        Event::TimedOut { seat } => number(*seat).map(|player| match hand.legal() {
            Some(legal) if legal.check => Line::CheckOrCall { player },
            Some(_) => Line::Fold { player },
            None => Line::Muck { player },
        }),
        Event::BoardOpened { cards } => Some(Line::Board { cards: cards.clone() }),
        Event::Shown { seat, cards } => number(*seat).map(|player| Line::Show { player, cards: Some(*cards) }),
        Event::Mucked { seat } => number(*seat).map(|player| Line::Muck { player }),
    }
}
