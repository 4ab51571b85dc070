//! The fields of a PHH file, and what of them we understand.

use serde::{Deserialize, Serialize};
use toml::Value;

use super::{HandHistory, PhhError, PhhLine};
use crate::{Chips, Seat, SeatStack, Snapshot, TableRules};

/// The fields we read and write; other fields are ignored.
#[derive(Serialize, Deserialize)]
pub(super) struct PhhFile {
    variant: String,
    /// Short antes make side pots, as ours always do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ante_trimming_status: Option<bool>,
    antes: Vec<Value>,
    blinds_or_straddles: Vec<Value>,
    min_bet: Value,
    starting_stacks: Vec<Value>,
    actions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seats: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    players: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finishing_stacks: Option<Vec<Value>>,
}

impl PhhFile {
    /// What the file says, under house rules it cannot say.
    pub fn read(self, house: &TableRules) -> Result<HandHistory, PhhError> {
        if self.variant != "NT" {
            return Err(PhhError::Variant { variant: self.variant });
        }
        let stacks = chips("starting_stacks", &self.starting_stacks)?;
        let count = stacks.len();
        let rules = self.stakes(house, count)?;
        let seats: Vec<Seat> = match &self.seats {
            Some(seats) => seats.iter().copied().map(Seat).collect(),
            None => (1..=u8::MAX).take(count).map(Seat).collect(),
        };
        same_length("seats", count, seats.len())?;
        let mut seated: Vec<SeatStack> =
            seats.iter().zip(stacks).map(|(seat, stack)| SeatStack { seat: *seat, stack }).collect();
        seated.sort_by_key(|seated| seated.seat);
        let button = seats.last().copied().unwrap_or(Seat(0));
        let snapshot = Snapshot::new(rules, seated, button)?;
        if !snapshot.in_order().map(|seated| seated.seat).eq(seats) {
            return Err(PhhError::SeatOrder);
        }
        let names = self.players.unwrap_or_default();
        if !names.is_empty() {
            same_length("players", count, names.len())?;
        }
        let finishing = self.finishing_stacks.as_deref().map(|stacks| chips("finishing_stacks", stacks)).transpose()?;
        if let Some(stacks) = &finishing {
            same_length("finishing_stacks", count, stacks.len())?;
        }
        let lines = self.actions.iter().filter_map(|line| PhhLine::read(line).transpose()).collect::<Result<_, _>>()?;
        Ok(HandHistory { snapshot, lines, names, finishing })
    }

    /// House rules with the file's blinds and ante.
    fn stakes(&self, house: &TableRules, count: usize) -> Result<TableRules, PhhError> {
        let antes = chips("antes", &self.antes)?;
        same_length("antes", count, antes.len())?;
        let ante = antes.first().copied().unwrap_or(Chips::ZERO);
        if antes.iter().any(|other| *other != ante) {
            return Err(PhhError::UnequalAntes);
        }
        let blinds = chips("blinds_or_straddles", &self.blinds_or_straddles)?;
        same_length("blinds_or_straddles", count, blinds.len())?;
        let least = whole("min_bet", &self.min_bet)?;
        match blinds.as_slice() {
            [small, big, rest @ ..] if rest.iter().all(|blind| blind.is_zero()) && least == *big => {
                Ok(TableRules { small_blind: *small, big_blind: *big, ante, ..*house })
            }
            _ => Err(PhhError::Straddles),
        }
    }

    /// The file of a history.
    pub fn of(history: &HandHistory) -> Result<Self, PhhError> {
        let (snapshot, rules) = (&history.snapshot, history.snapshot.rules());
        let order: Vec<SeatStack> = snapshot.in_order().collect();
        let blind = |position: usize| match position {
            0 => rules.small_blind,
            1 => rules.big_blind,
            _ => Chips::ZERO,
        };
        let stacks = |stacks: &Vec<Chips>| values("finishing_stacks", stacks.iter().copied());
        Ok(Self {
            variant: "NT".to_owned(),
            ante_trimming_status: Some(true),
            antes: values("antes", order.iter().map(|_| rules.ante))?,
            blinds_or_straddles: values("blinds_or_straddles", (0..order.len()).map(blind))?,
            min_bet: value("min_bet", rules.big_blind)?,
            starting_stacks: values("starting_stacks", order.iter().map(|seated| seated.stack))?,
            actions: history.lines.iter().map(PhhLine::text).collect(),
            seats: Some(order.iter().map(|seated| seated.seat.0).collect()),
            players: (!history.names.is_empty()).then(|| history.names.clone()),
            finishing_stacks: history.finishing.as_ref().map(stacks).transpose()?,
        })
    }
}

fn whole(field: &'static str, value: &Value) -> Result<Chips, PhhError> {
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    number.map(Chips::new).ok_or(PhhError::NotWholeChips { field })
}

fn chips(field: &'static str, values: &[Value]) -> Result<Vec<Chips>, PhhError> {
    values.iter().map(|value| whole(field, value)).collect()
}

fn value(field: &'static str, chips: Chips) -> Result<Value, PhhError> {
    i64::try_from(chips.count()).map(Value::Integer).map_err(|_| PhhError::NotWholeChips { field })
}

fn values(field: &'static str, chips: impl Iterator<Item = Chips>) -> Result<Vec<Value>, PhhError> {
    chips.map(|chips| value(field, chips)).collect()
}

fn same_length(field: &'static str, players: usize, given: usize) -> Result<(), PhhError> {
    if players == given { Ok(()) } else { Err(PhhError::Length { field, players, given }) }
}
