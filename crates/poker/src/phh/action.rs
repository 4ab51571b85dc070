//! One line of a hand history.

use super::PhhError;
use crate::{Card, Chips};

/// One line of a hand history. Players are numbered from 0, the one left of the button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhhLine {
    /// `d dh p1 AsKd`: cards for a player; `None` is an unknown card.
    Hole {
        player: usize,
        /// Usually two.
        cards: Vec<Option<Card>>,
    },
    /// `d db 2c3d4h`: board cards.
    Board {
        /// One or more.
        cards: Vec<Card>,
    },
    /// `p1 f`
    Fold { player: usize },
    /// `p1 cc`: check or call.
    CheckOrCall { player: usize },
    /// `p1 cbr 300`: bet or raise to.
    RaiseTo { player: usize, to: Chips },
    /// `p1 sm AsKd`, or `p1 sm -` for cards that were given when dealt.
    Show {
        player: usize,
        /// What, if the line says so.
        cards: Option<[Card; 2]>,
    },
    /// `p1 sm`
    Muck { player: usize },
}

impl PhhLine {
    /// Reads a line; a comment alone is none.
    pub(super) fn read(line: &str) -> Result<Option<Self>, PhhError> {
        let unknown = || PhhError::Action { line: line.to_owned() };
        let card = |text: &str| text.parse::<Card>().map_err(|cause| PhhError::Card { line: line.to_owned(), cause });
        let known = |text: &str| pairs(text).iter().map(|pair| card(pair)).collect::<Result<Vec<_>, _>>();
        let player = |word: &str| {
            let number: usize = word.strip_prefix('p').and_then(|number| number.parse().ok()).ok_or_else(unknown)?;
            number.checked_sub(1).ok_or_else(unknown)
        };
        let said = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = said.split_whitespace().collect();
        Ok(Some(match words.as_slice() {
            [] => return Ok(None),
            ["d", "dh", who, cards] => {
                let or_unknown = |pair: &String| if pair == "??" { Ok(None) } else { card(pair).map(Some) };
                let cards = pairs(cards).iter().map(or_unknown).collect::<Result<_, _>>()?;
                Self::Hole { player: player(who)?, cards }
            }
            ["d", "db", cards] => Self::Board { cards: known(cards)? },
            [who, "f"] => Self::Fold { player: player(who)? },
            [who, "cc"] => Self::CheckOrCall { player: player(who)? },
            [who, "cbr", to] => {
                Self::RaiseTo { player: player(who)?, to: Chips::new(to.parse().map_err(|_| unknown())?) }
            }
            [who, "sm"] => Self::Muck { player: player(who)? },
            [who, "sm", "-"] => Self::Show { player: player(who)?, cards: None },
            [who, "sm", cards] => {
                let cards = <[Card; 2]>::try_from(known(cards)?).map_err(|_| unknown())?;
                Self::Show { player: player(who)?, cards: Some(cards) }
            }
            _ => return Err(unknown()),
        }))
    }

    /// The line as it is written.
    pub(super) fn text(&self) -> String {
        let number = |player: &usize| player.saturating_add(1);
        let cards = |cards: &[Card]| cards.iter().map(Card::to_string).collect::<String>();
        match self {
            Self::Hole { player, cards } => {
                let text = |card: &Option<Card>| card.map_or_else(|| "??".to_owned(), |card| card.to_string());
                format!("d dh p{} {}", number(player), cards.iter().map(text).collect::<String>())
            }
            Self::Board { cards: board } => format!("d db {}", cards(board)),
            Self::Fold { player } => format!("p{} f", number(player)),
            Self::CheckOrCall { player } => format!("p{} cc", number(player)),
            Self::RaiseTo { player, to } => format!("p{} cbr {to}", number(player)),
            Self::Show { player, cards: None } => format!("p{} sm -", number(player)),
            Self::Show { player, cards: Some(shown) } => format!("p{} sm {}", number(player), cards(shown)),
            Self::Muck { player } => format!("p{} sm", number(player)),
        }
    }
}

fn pairs(text: &str) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(2).map(|pair| pair.iter().collect()).collect()
}
