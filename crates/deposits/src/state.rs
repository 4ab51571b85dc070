//! The columns that say where a deposit stands, and what a player is told of them.
//!
//! | column | moved by |
//! | --- | --- |
//! | [`ChainState`] | the scanner |
//! | [`ReviewState`] | policy and people |
//! | [`LedgerState`] | the books, in the commit of the money |

use std::fmt;

/// Where the chain has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainState {
    /// In a block that is canonical for us.
    Included,
    /// So deep that we act on it.
    Final,
    /// Its block is no longer canonical.
    Orphaned,
    /// The same, after it was final.
    OrphanedAfterFinal,
}

/// Whether somebody has something against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewState {
    /// Nobody.
    None,
    /// A person must look at it first.
    Held,
}

/// Where the books have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LedgerState {
    /// Nowhere.
    None,
    /// In suspense, until somebody knows whose it is.
    Suspense,
    /// With those it is for.
    Credited,
    /// Taken back.
    Reversed,
}

/// What a player is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In a block; so many confirmations of so many.
    Confirming {
        /// Blocks on it, its own included.
        have: u64,
        /// How many it takes.
        need: u64,
    },
    /// Somebody looks at it, or looks for whose it is.
    OnHold,
    /// It is his.
    Credited,
    /// The chain took it back before it was credited.
    Orphaned,
    /// The chain took it back afterwards, and so did the books.
    Reversed,
}

impl Status {
    /// What the columns of a deposit come to. A credit that is about to be taken back is still told as one.
    #[must_use]
    pub const fn of(chain: ChainState, review: ReviewState, ledger: LedgerState, have: u64, need: u64) -> Self {
        match (ledger, chain, review) {
            (LedgerState::Credited, ..) => Self::Credited,
            (LedgerState::Suspense, ..) => Self::OnHold,
            (LedgerState::Reversed, ChainState::Orphaned | ChainState::OrphanedAfterFinal, _) => Self::Reversed,
            (LedgerState::None, ChainState::Orphaned | ChainState::OrphanedAfterFinal, _) => Self::Orphaned,
            (_, _, ReviewState::Held) => Self::OnHold,
            (_, ChainState::Included | ChainState::Final, ReviewState::None) => {
                Self::Confirming { have: if have < need { have } else { need }, need }
            }
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confirming { have, need } => write!(f, "confirming {have}/{need}"),
            Self::OnHold => f.write_str("on_hold"),
            Self::Credited => f.write_str("credited"),
            Self::Orphaned => f.write_str("orphaned"),
            Self::Reversed => f.write_str("reversed"),
        }
    }
}

impl ChainState {
    /// Whether the chain has it, as far as it was read.
    #[must_use]
    pub const fn is_canonical(self) -> bool {
        matches!(self, Self::Included | Self::Final)
    }
}

impl LedgerState {
    /// Whether custody contains it.
    #[must_use]
    pub const fn is_booked(self) -> bool {
        matches!(self, Self::Credited | Self::Suspense)
    }
}

/// The words that rows have for the states of a column.
macro_rules! words {
    ($state:ident { $($variant:ident = $word:literal),* }) => {
        impl $state {
            /// The word that rows have for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub(crate) fn from_row(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words!(ChainState { Included = "included", Final = "final", Orphaned = "orphaned", OrphanedAfterFinal = "orphaned_after_final" });
words!(ReviewState { None = "none", Held = "held" });
words!(LedgerState { None = "none", Suspense = "suspense", Credited = "credited", Reversed = "reversed" });
