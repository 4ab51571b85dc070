//! Accounts: where an amount of one asset is, and whose it is.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{AccountId, AccountPolicy, Amount, AssetId, Name, NameError, Principal, Scope};

/// The purpose of an account. The kind fixes its side, its owner and its routes. New kinds go to the end: the journal
/// stores their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountKind {
    /// A player's money: may be staked, may be paid out.
    Funds,
    /// A player's money that is not a stake yet: may be paid out, may not be staked.
    Unallocated,
    /// Credited to a player before finality: may be staked, may not be paid out.
    PlayOnly,
    /// Stakes in play inside a server's game.
    World,
    /// A server's budget for what its game gives out.
    Ecosystem,
    /// Fees the developer earned.
    Developer,
    /// Chips of one seat at one card table.
    Table,
    /// The control total of a server's hot accounts.
    Clearing,
    /// Unmatched, held or refused deposits.
    Suspense,
    /// The operator's own capital.
    House,
    /// What one of our wallets must hold on chain.
    Custody,
    /// In transit between two of our wallets.
    InTransit,
    /// Network fees paid and not charged to a player.
    NetworkFees,
    /// Owed to us after a credit was spent and its deposit orphaned.
    Debt,
}

/// The side of the books on which an account counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What we owe: money that comes in adds to it.
    Credit,
    /// What we own: money that moves from it to another account adds to it, as a deposit adds to a wallet.
    Debit,
}

/// The owners that accounts of a kind can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerKind {
    Player,
    /// The server itself; no owner is named.
    Server,
    /// The operator; no owner is named, no server.
    House,
    /// A named wallet of the house or of a server.
    Wallet,
    /// A player, or the server itself for what `developer` or `ecosystem` owe.
    Debtor,
}

impl AccountKind {
    pub const ALL: [Self; 14] = [
        Self::Funds,
        Self::Unallocated,
        Self::PlayOnly,
        Self::World,
        Self::Ecosystem,
        Self::Developer,
        Self::Table,
        Self::Clearing,
        Self::Suspense,
        Self::House,
        Self::Custody,
        Self::InTransit,
        Self::NetworkFees,
        Self::Debt,
    ];

    #[must_use]
    pub const fn side(self) -> Side {
        match self {
            Self::Custody | Self::InTransit | Self::NetworkFees | Self::Debt => Side::Debit,
            _ => Side::Credit,
        }
    }

    /// Whether a credit from the other kind to this one first repays what the owner owes. Early credit is the house's
    /// money and cannot repay anything. The game's budget repays only from deposits, as when an orphaned one is
    /// included again: what the game recycles belongs to the game.
    #[must_use]
    pub const fn repays_debt(self, from: Self) -> bool {
        match self {
            Self::Funds | Self::Unallocated | Self::Developer => true,
            Self::Ecosystem => matches!(from, Self::Custody),
            _ => false,
        }
    }

    /// Whether accounts of this kind are a player's own money.
    #[must_use]
    pub const fn is_players(self) -> bool {
        matches!(self, Self::Funds | Self::Unallocated | Self::PlayOnly)
    }

    /// Whether what cannot be taken back from such an account becomes its owner's debt.
    #[must_use]
    pub const fn may_owe(self) -> bool {
        matches!(self, Self::Funds | Self::Unallocated | Self::World | Self::Ecosystem | Self::Developer)
    }

    /// The name as it is written in account names and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Funds => "funds",
            Self::Unallocated => "unallocated",
            Self::PlayOnly => "play_only",
            Self::World => "world",
            Self::Ecosystem => "ecosystem",
            Self::Developer => "developer",
            Self::Table => "table",
            Self::Clearing => "clearing",
            Self::Suspense => "suspense",
            Self::House => "house",
            Self::Custody => "custody",
            Self::InTransit => "in_transit",
            Self::NetworkFees => "network_fees",
            Self::Debt => "debt",
        }
    }

    const fn owned_by(self) -> OwnerKind {
        match self {
            Self::Funds | Self::Unallocated | Self::PlayOnly | Self::Table => OwnerKind::Player,
            Self::World | Self::Ecosystem | Self::Developer | Self::Clearing => OwnerKind::Server,
            Self::Suspense | Self::House | Self::InTransit | Self::NetworkFees => OwnerKind::House,
            Self::Custody => OwnerKind::Wallet,
            Self::Debt => OwnerKind::Debtor,
        }
    }
}

impl fmt::Display for AccountKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AccountKind {
    type Err = AccountNameError;

    fn from_str(text: &str) -> Result<Self, AccountNameError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(AccountNameError::UnknownKind)
    }
}

/// What identifies an account: whose books, which asset, what for, whose.
///
/// Written `server/kind/asset` or `server/kind/asset/owner`: `arena-1/funds/1/0xab12`, `@house/suspense/1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountName {
    pub scope: Scope,
    pub kind: AccountKind,
    pub asset: AssetId,
    /// The player, seat or wallet; `None` where server or house is the owner.
    pub owner: Option<Name>,
}

/// Why a text is not an account's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountNameError {
    #[error("an account is written server/kind/asset or server/kind/asset/owner")]
    Shape,
    #[error("there is no account kind of that name")]
    UnknownKind,
    #[error("the third part of an account's name is the asset's number")]
    AssetNumber,
    #[error(transparent)]
    Name(#[from] NameError),
    /// The kind does not fit this server and owner.
    #[error("the kind does not fit this server and owner: check both parts")]
    Owner,
}

impl AccountName {
    /// Whether scope and owner fit the kind.
    #[must_use]
    pub fn is_well_owned(&self) -> bool {
        let (house, owner) = (self.scope == Scope::House, self.owner.is_some());
        match self.kind.owned_by() {
            OwnerKind::Player => !house && owner,
            OwnerKind::Server => !house && !owner,
            OwnerKind::House => house && !owner,
            OwnerKind::Wallet => owner,
            OwnerKind::Debtor => !house,
        }
    }

    /// The account that keeps the same owner's debt; `None` for kinds that owe nothing.
    #[must_use]
    pub fn debt(&self) -> Option<Self> {
        self.kind.may_owe().then(|| Self { kind: AccountKind::Debt, ..self.clone() })
    }

    /// For a debt account: the accounts whose debt it keeps.
    #[must_use]
    pub fn debtors(&self) -> Vec<Self> {
        let owing = AccountKind::ALL.into_iter().filter(|kind| self.kind == AccountKind::Debt && kind.may_owe());
        owing.map(|kind| Self { kind, ..self.clone() }).filter(Self::is_well_owned).collect()
    }

    /// Whether this principal may open this account with this policy.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check_open(&self, by: &Principal, policy: &AccountPolicy) -> Result<(), OpenRejection> {
        if !self.is_well_owned() {
            return Err(OpenRejection::Owner);
        }
        if !by.role().may_open(self.kind) || !by.reaches(self) {
            return Err(OpenRejection::NotAllowed);
        }
        if !policy.is_within(&AccountPolicy::of(self.kind)) {
            return Err(OpenRejection::PolicyTooWide);
        }
        Ok(())
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.scope, self.kind, self.asset)?;
        self.owner.as_ref().map_or(Ok(()), |owner| write!(f, "/{owner}"))
    }
}

impl FromStr for AccountName {
    type Err = AccountNameError;

    fn from_str(text: &str) -> Result<Self, AccountNameError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (scope, kind, asset, owner) = match parts[..] {
            [scope, kind, asset] => (scope, kind, asset, None),
            [scope, kind, asset, owner] => (scope, kind, asset, Some(owner)),
            _ => return Err(AccountNameError::Shape),
        };
        let number: u32 = asset.parse().map_err(|_| AccountNameError::AssetNumber)?;
        // The parser accepts `+1` and `01`; one account must have one name.
        if number.to_string() != asset {
            return Err(AccountNameError::AssetNumber);
        }
        let name = Self {
            scope: scope.parse()?,
            kind: kind.parse()?,
            asset: AssetId(number),
            owner: owner.map(str::parse).transpose()?,
        };
        if name.is_well_owned() { Ok(name) } else { Err(AccountNameError::Owner) }
    }
}

/// Why an account was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum OpenRejection {
    /// Scope and owner do not fit the kind.
    #[error("the kind does not fit this server and owner: check both parts")]
    Owner,
    #[error("the principal may not open such an account")]
    NotAllowed,
    /// The policy allows what the route table does not.
    #[error("the policy is wider than accounts of this kind can have")]
    PolicyTooWide,
    #[error("there is no such asset")]
    AssetNotFound,
}

/// An account in memory: its identity and its current balances.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    pub id: AccountId,
    pub name: AccountName,
    pub policy: AccountPolicy,
    /// The account that keeps its owner's debt, once it is open.
    pub debt: Option<AccountId>,
    /// Includes held amounts. Never below zero, on either side of the books.
    pub balance: Amount,
    /// The part of the balance that is held. Never above the balance.
    pub held: Amount,
}

impl Account {
    /// A new account, empty.
    #[must_use]
    pub fn open(id: AccountId, name: AccountName, policy: AccountPolicy) -> Self {
        Self { id, name, policy, debt: None, balance: Amount::ZERO, held: Amount::ZERO }
    }

    /// What may be spent now.
    #[must_use]
    pub fn available(&self) -> Amount {
        self.balance.checked_sub(self.held).unwrap_or(Amount::ZERO)
    }
}
