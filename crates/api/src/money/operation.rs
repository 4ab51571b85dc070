//! One operation of a game server: what it names, and the legs it becomes.

use bankroll_ledger::{AccountId, Amount, AssetId, HoldId, Leg, Name, Settler, Time};
use bankroll_registry::SpendSide;

use crate::{ApiError, ErrorCode, state::LockedNumbers};

/// What a game server can ask of the ledger. Accounts are names, as the caller wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Move { from: String, to: String, amount: Amount },
    Hold { account: String, amount: Amount, expires: Option<Time> },
    Post { hold: HoldId, to: String, amount: Amount },
    Release { hold: HoldId },
}

impl Operation {
    /// Into an account, from the world or from another account of the server.
    pub fn deposit(server: &Name, account: String, amount: Amount, counter: Option<String>) -> Result<Self, ApiError> {
        let from = counter.map_or_else(|| world_of(server, &account), Ok)?;
        Ok(Self::Move { from, to: account, amount })
    }

    /// Out of an account, into the world or another account of the server.
    pub fn withdraw(server: &Name, account: String, amount: Amount, counter: Option<String>) -> Result<Self, ApiError> {
        let to = counter.map_or_else(|| world_of(server, &account), Ok)?;
        Ok(Self::Move { from: account, to, amount })
    }

    /// From the game's budget into its world.
    pub fn pellets(server: &Name, asset: AssetId, amount: Amount) -> Self {
        Self::Move { from: format!("{server}/ecosystem/{asset}"), to: format!("{server}/world/{asset}"), amount }
    }

    /// From the world back into the game's budget.
    pub fn recycle(server: &Name, asset: AssetId, amount: Amount) -> Self {
        Self::Move { from: format!("{server}/world/{asset}"), to: format!("{server}/ecosystem/{asset}"), amount }
    }

    /// The names of its accounts.
    pub fn accounts(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self {
            Self::Move { from, to, .. } => (Some(from), Some(to)),
            Self::Hold { account, .. } => (Some(account), None),
            Self::Post { to, .. } => (Some(to), None),
            Self::Release { .. } => (None, None),
        };
        first.into_iter().chain(second).map(String::as_str)
    }

    /// The leg of the ledger; its accounts must have been learned ([`HeldBooks::learn`](crate::state::HeldBooks::learn)).
    pub fn leg(&self, server: &Name, numbers: &mut LockedNumbers<'_>) -> Result<Leg, ApiError> {
        let mut number = |name: &str| number(server, numbers, name);
        Ok(match self {
            Self::Move { from, to, amount } => Leg::Move { from: number(from)?, to: number(to)?, amount: *amount },
            Self::Hold { account, amount, expires } => {
                Leg::Hold { account: number(account)?, amount: *amount, expires: *expires, settler: Settler::Holder }
            }
            Self::Post { hold, to, amount } => Leg::Post { hold: *hold, to: number(to)?, amount: *amount },
            Self::Release { hold } => Leg::Release { hold: *hold },
        })
    }

    /// The player's account that it takes money from. A hold that is posted was checked when it was made.
    pub fn takes_from(&self) -> Option<&str> {
        let account = match self {
            Self::Move { from, .. } => from,
            Self::Hold { account, .. } => account,
            Self::Post { .. } | Self::Release { .. } => return None,
        };
        is_players(account).then_some(account)
    }

    /// What the spend limit of the server's key bounds: money out of players' accounts, and money into them.
    pub fn counts(&self) -> impl Iterator<Item = (SpendSide, AssetId, Amount)> {
        // What a post takes out of an account was counted when it was held.
        let (to, amount) = match self {
            Self::Move { to, amount, .. } | Self::Post { to, amount, .. } => (Some(to.as_str()), *amount),
            Self::Hold { amount, .. } => (None, *amount),
            Self::Release { .. } => (None, Amount::ZERO),
        };
        let taken = self.takes_from().map(|account| (SpendSide::Taken, account));
        let given = to.filter(|to| is_players(to)).map(|account| (SpendSide::Given, account));
        taken.into_iter().chain(given).filter_map(move |(side, account)| Some((side, asset_of(account)?, amount)))
    }
}

fn is_players(account: &str) -> bool {
    matches!(account.split('/').nth(1), Some("funds" | "play_only"))
}

/// The number of an account of this server. Another server's is not found, like one that does not exist.
fn number(server: &Name, numbers: &mut LockedNumbers<'_>, name: &str) -> Result<AccountId, ApiError> {
    let is_own = name.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('/'));
    if !is_own {
        return Err(ErrorCode::NotFound.into());
    }
    match numbers.number(name) {
        Some(id) => Ok(id),
        // A name that cannot be one is the caller's mistake, not a missing account.
        None => match name.parse::<bankroll_ledger::AccountName>() {
            Ok(_) => Err(ErrorCode::NotFound.into()),
            Err(error) => Err(error.into()),
        },
    }
}

fn world_of(server: &Name, account: &str) -> Result<String, ApiError> {
    let asset = asset_of(account).ok_or(ErrorCode::AccountNameInvalid)?;
    Ok(format!("{server}/world/{asset}"))
}

/// The asset in an account's name.
fn asset_of(account: &str) -> Option<AssetId> {
    account.split('/').nth(2)?.parse().ok().map(AssetId)
}
