//! Access: who may move money along which route, and whose keys are whose.
//!
//! A right is a route (role, kind -> kind), so that "may spend from funds" never means "to any account". Three things
//! must agree before a leg is allowed: the route table here, the policy stored with each account (written when the
//! account is opened, never wider than the table), and the reach of the principal (its own server, its own wallet).
//!
//! No caller can mint: only the deposits flow and settlement touch `custody`, and only the system opens house kinds.

use serde::{Deserialize, Serialize};

use crate::{AccountKind, AccountName, Name, Namespace, Scope, Side};

/// How the keys of a server's developer begin.
const DEVELOPER_KEYS: &str = "developer/";
/// How the keys of an operator begin; the name and a slash follow.
const ADMIN_KEYS: &str = "admin/";

/// The caller of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Principal {
    /// The deposits flow.
    Indexer,
    /// An operator who overrides the normal rules; needs a second operator's confirmation.
    Admin(Name),
    /// The owner of a server's fees.
    Developer(Name),
    GameServer(Name),
    /// A player, named by wallet.
    User(Name),
    /// The part that runs card tables.
    Tables,
    /// Bankroll itself: payouts, allocation, hot accounts, treasury moves.
    System,
}

/// A principal without its name, as policies store it. New roles go to the end: policies store their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Indexer,
    Admin,
    Developer,
    GameServer,
    User,
    Tables,
    System,
}

impl Role {
    pub const ALL: [Self; 7] =
        [Self::Indexer, Self::Admin, Self::Developer, Self::GameServer, Self::User, Self::Tables, Self::System];

    /// The route table: whether this role may ever move money from one kind to the other.
    #[must_use]
    pub fn may_route(self, from: AccountKind, to: AccountKind) -> bool {
        use AccountKind::{
            Clearing, Custody, Debt, Developer, Ecosystem, Funds, House, InTransit, NetworkFees, PlayOnly, Suspense,
            Table, Unallocated, World,
        };
        match self {
            Self::Indexer => match from {
                Custody => matches!(to, Funds | Unallocated | Developer | Ecosystem | Suspense | House),
                Suspense | Unallocated => matches!(to, Funds | Unallocated | Developer | Ecosystem),
                House => to == PlayOnly,
                PlayOnly => to == House,
                _ => false,
            },
            Self::GameServer => {
                matches!((from, to), (Funds | PlayOnly | Ecosystem, World) | (World, Funds | PlayOnly | Ecosystem))
            }
            Self::Tables => matches!((from, to), (Funds, Table) | (Table, Funds | Table | Developer)),
            Self::System => match from {
                Funds => matches!(to, Custody | House | Clearing),
                Unallocated => matches!(to, Custody | House | Clearing | Funds | Developer | Ecosystem),
                Developer | Suspense => matches!(to, Custody | House | Clearing),
                House => matches!(to, Custody | PlayOnly | Ecosystem),
                Clearing => matches!(to, Funds | Unallocated | PlayOnly | World | Ecosystem | Developer),
                World | Ecosystem => to == Clearing,
                PlayOnly => matches!(to, House | Clearing),
                Custody => to == InTransit,
                InTransit | NetworkFees => to == Custody,
                Table | Debt => false,
            },
            // An override corrects errors among what we owe. It can forgive a debt from the house's own capital. It
            // can touch neither a wallet nor chips on a table.
            Self::Admin => {
                let owed = |kind: AccountKind| kind.side() == Side::Credit && kind != Table;
                owed(from) && (owed(to) || (from == House && to == Debt))
            }
            Self::Developer | Self::User => false,
        }
    }

    /// Whether this role may ever hold money in accounts of this kind.
    #[must_use]
    pub fn may_hold(self, kind: AccountKind) -> bool {
        match self {
            Self::GameServer => matches!(kind, AccountKind::Funds | AccountKind::PlayOnly),
            Self::User => matches!(kind, AccountKind::Funds | AccountKind::Unallocated),
            Self::Developer => kind == AccountKind::Developer,
            Self::System => {
                matches!(
                    kind,
                    AccountKind::Funds
                        | AccountKind::Unallocated
                        | AccountKind::Developer
                        | AccountKind::Suspense
                        | AccountKind::House
                )
            }
            Self::Admin => kind.side() == Side::Credit && kind != AccountKind::Table,
            Self::Indexer | Self::Tables => false,
        }
    }

    /// Whether this role may open accounts of this kind.
    #[must_use]
    pub fn may_open(self, kind: AccountKind) -> bool {
        match self {
            Self::System => true,
            Self::Indexer => matches!(
                kind,
                AccountKind::Funds | AccountKind::Unallocated | AccountKind::PlayOnly | AccountKind::Debt
            ),
            Self::GameServer => matches!(kind, AccountKind::Funds | AccountKind::Unallocated),
            Self::Tables => kind == AccountKind::Table,
            Self::Admin | Self::Developer | Self::User => false,
        }
    }
}

impl Principal {
    #[must_use]
    pub const fn role(&self) -> Role {
        match self {
            Self::Indexer => Role::Indexer,
            Self::Admin(_) => Role::Admin,
            Self::Developer(_) => Role::Developer,
            Self::GameServer(_) => Role::GameServer,
            Self::User(_) => Role::User,
            Self::Tables => Role::Tables,
            Self::System => Role::System,
        }
    }

    /// Whether the account lies within this principal's reach at all.
    #[must_use]
    pub fn reaches(&self, account: &AccountName) -> bool {
        match self {
            Self::GameServer(server) | Self::Developer(server) => {
                matches!(&account.scope, Scope::Server(of) if of == server)
            }
            Self::User(wallet) => account.owner.as_ref() == Some(wallet),
            Self::Indexer | Self::Admin(_) | Self::Tables | Self::System => true,
        }
    }

    /// Whether this principal may use keys of this namespace and scope. A key is remembered for ever, so no principal
    /// may occupy a key of another.
    #[must_use]
    pub fn may_use_key(&self, namespace: Namespace, scope: &Scope, text: &str) -> bool {
        let own = |server: &Name| matches!(scope, Scope::Server(of) if of == server);
        match self {
            Self::GameServer(server) => {
                let is_foreign = text.starts_with(DEVELOPER_KEYS) || text.starts_with(ADMIN_KEYS);
                namespace == Namespace::Client && own(server) && !is_foreign
            }
            Self::Developer(server) => {
                namespace == Namespace::Client && own(server) && text.starts_with(DEVELOPER_KEYS)
            }
            Self::User(wallet) => {
                let mine = text.strip_prefix(wallet.as_str()).is_some_and(|rest| rest.starts_with('/'));
                namespace == Namespace::Player && mine && matches!(scope, Scope::Server(_))
            }
            Self::Admin(person) => {
                let mine = text.strip_prefix(ADMIN_KEYS).and_then(|rest| rest.strip_prefix(person.as_str()));
                let mine = mine.is_some_and(|rest| rest.starts_with('/'));
                matches!(namespace, Namespace::Client | Namespace::Registry) && mine
            }
            Self::Indexer => namespace == Namespace::Deposits,
            Self::Tables => namespace == Namespace::Tables,
            Self::System => !matches!(namespace, Namespace::Client | Namespace::Player),
        }
    }
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Roles(u8);

impl Roles {
    /// The roles for which `allowed` is true.
    #[must_use]
    pub fn those(allowed: impl Fn(Role) -> bool) -> Self {
        let bit = |role: Role| if allowed(role) { 1_u8 << (role as u8) } else { 0 };
        Self(Role::ALL.into_iter().fold(0, |set, role| set | bit(role)))
    }

    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        self.0 & (1 << (role as u8)) != 0
    }

    /// Whether every role of this set is in the other.
    #[must_use]
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The set as one byte, for the store.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Reads [`Roles::bits`] back.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// The roles that may use an account. Stored with the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountPolicy {
    /// May move money into it.
    pub deposit: Roles,
    /// May hold, post and release.
    pub withdraw: Roles,
    /// May move money out of it.
    pub transfer: Roles,
}

impl AccountPolicy {
    /// The widest policy an account of this kind can have: exactly what the route table allows.
    #[must_use]
    pub fn of(kind: AccountKind) -> Self {
        let routes_in = |role: Role| AccountKind::ALL.into_iter().any(|from| role.may_route(from, kind));
        let routes_out = |role: Role| AccountKind::ALL.into_iter().any(|to| role.may_route(kind, to));
        Self {
            deposit: Roles::those(routes_in),
            withdraw: Roles::those(|role| role.may_hold(kind)),
            transfer: Roles::those(routes_out),
        }
    }

    /// Whether this policy allows nothing that the other forbids.
    #[must_use]
    pub const fn is_within(&self, other: &Self) -> bool {
        self.deposit.is_within(other.deposit)
            && self.withdraw.is_within(other.withdraw)
            && self.transfer.is_within(other.transfer)
    }
}

/// A second operator's consent to an override.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    pub proposal: Name,
    /// The operator who confirmed it; never the one who acts.
    pub by: Name,
}
