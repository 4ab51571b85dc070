//! One operation of a game server: what it names, and the legs it becomes.

use bankroll_ledger::{AccountId, Amount, AssetId, HoldId, Leg, Name, Settler, Time};

use crate::{ApiError, ErrorCode, state::HeldBooks};

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

    /// The leg of the ledger; its accounts must have been learned ([`HeldBooks::learn`]).
    pub fn leg(&self, server: &Name, books: &HeldBooks) -> Result<Leg, ApiError> {
        let number = |name: &str| number(server, books, name);
        Ok(match self {
            Self::Move { from, to, amount } => Leg::Move { from: number(from)?, to: number(to)?, amount: *amount },
            Self::Hold { account, amount, expires } => {
                Leg::Hold { account: number(account)?, amount: *amount, expires: *expires, settler: Settler::Holder }
            }
            Self::Post { hold, to, amount } => Leg::Post { hold: *hold, to: number(to)?, amount: *amount },
            Self::Release { hold } => Leg::Release { hold: *hold },
        })
    }

    /// What it takes out of a player's reach, which the spend limit of the server's key bounds: the asset and the
    /// amount.
    pub fn spends(&self) -> Option<(AssetId, Amount)> {
        let (account, amount) = match self {
            Self::Move { from, amount, .. } => (from, amount),
            Self::Hold { account, amount, .. } => (account, amount),
            // Counted when it was held.
            Self::Post { .. } | Self::Release { .. } => return None,
        };
        let is_players = matches!(account.split('/').nth(1), Some("funds" | "play_only"));
        is_players.then(|| Some((asset_of(account)?, *amount))).flatten()
    }
}

/// The number of an account of this server. Another server's is not found, like one that does not exist.
fn number(server: &Name, books: &HeldBooks, name: &str) -> Result<AccountId, ApiError> {
    let is_own = name.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('/'));
    if !is_own {
        return Err(ErrorCode::NotFound.into());
    }
    match books.accounts.number(name) {
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
