//! A hand as PHH writes it, and how it follows from ours.

use super::file::PhhFile;
use super::{PhhError, PhhLine};
use crate::{Card, Chips, Hand, HandEvent, HandTime, Phase, PlayerAction, Seat, SeatStatus, Snapshot, TableRules};

/// A hand as PHH writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandHistory {
    pub snapshot: Snapshot,
    pub lines: Vec<PhhLine>,
    /// The players from left of the button, or none.
    pub names: Vec<String>,
    /// The stacks at the end from left of the button, if the hand came to its end.
    pub finishing: Option<Vec<Chips>>,
}

impl HandHistory {
    /// Reads a file, under the house rules that it cannot say; blinds and ante are the file's.
    ///
    /// # Errors
    /// What the file lacks, or says that is not played here. Whether its actions are legal is seen at the replay.
    pub fn read(text: &str, house: &TableRules) -> Result<Self, PhhError> {
        let file: PhhFile =
            toml::from_str(text).map_err(|error| PhhError::Malformed { why: error.message().to_owned() })?;
        file.read(house)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// If a stack is beyond what TOML can hold.
    pub fn to_text(&self) -> Result<String, PhhError> {
        toml::to_string(&PhhFile::of(self)?).map_err(|error| PhhError::Malformed { why: error.to_string() })
    }

    /// The history of a hand. Hole cards that were shown are known; others come from `known`, or stay unknown.
    ///
    /// # Errors
    /// If the rules refuse an event, or the hand is void.
    pub fn of(
        snapshot: &Snapshot,
        began: HandTime,
        events: &[(HandEvent, HandTime)],
        known: impl Fn(Seat) -> Option<[Card; 2]>,
    ) -> Result<Self, PhhError> {
        let mut hand = Hand::start(snapshot.clone(), began);
        let (mut lines, mut run_out) = (Vec::new(), None);
        for ((event, at), place) in events.iter().zip(1..) {
            if matches!(event, HandEvent::BoardOpened { .. }) && hand.is_run_out() {
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
            let is_board = |line: &PhhLine| matches!(line, PhhLine::Board { .. });
            let (board, shows): (Vec<PhhLine>, Vec<PhhLine>) = lines.split_off(place).into_iter().partition(is_board);
            lines.extend(shows.into_iter().chain(board));
        }
        let hole = |(player, shown): (usize, &crate::Player)| {
            let cards = match shown.status {
                SeatStatus::Shown(cards) => Some(cards),
                _ => known(shown.seat),
            };
            PhhLine::Hole { player, cards: cards.map_or(vec![None; 2], |cards| cards.map(Some).to_vec()) }
        };
        let dealt: Vec<PhhLine> = hand.players().iter().enumerate().map(hole).collect();
        lines.splice(0..0, dealt);
        let over = matches!(hand.phase(), Phase::Settled(_));
        let finishing = over.then(|| hand.players().iter().map(|player| player.stack).collect());
        Ok(Self { snapshot: snapshot.clone(), lines, names: Vec::new(), finishing })
    }
}

/// What an event is called, seen from the hand before it. Only what players and dealer do has a name.
fn line(hand: &Hand, event: &HandEvent) -> Option<PhhLine> {
    let number = |seat: Seat| hand.players().iter().position(|player| player.seat == seat);
    let acted = |player, action| match action {
        PlayerAction::Fold => PhhLine::Fold { player },
        PlayerAction::Check | PlayerAction::Call => PhhLine::CheckOrCall { player },
        PlayerAction::RaiseTo(to) => PhhLine::RaiseTo { player, to },
    };
    match event {
        HandEvent::HoleCardsDealt | HandEvent::ClockRestarted | HandEvent::Voided { .. } => None,
        HandEvent::Acted { seat, action } => number(*seat).map(|player| acted(player, *action)),
        HandEvent::TimedOut { seat } => number(*seat).map(|player| match hand.legal() {
            Some(legal) if legal.check => PhhLine::CheckOrCall { player },
            Some(_) => PhhLine::Fold { player },
            None => PhhLine::Muck { player },
        }),
        HandEvent::BoardOpened { cards } => Some(PhhLine::Board { cards: cards.clone() }),
        HandEvent::Shown { seat, cards } => number(*seat).map(|player| PhhLine::Show { player, cards: Some(*cards) }),
        HandEvent::Mucked { seat } => number(*seat).map(|player| PhhLine::Muck { player }),
    }
}
