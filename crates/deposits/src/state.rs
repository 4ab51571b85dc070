//! The three state columns of a deposit, and the one status that a player sees.
//!
//! | column | moved by |
//! | --- | --- |
//! | [`ChainState`] | the scanner |
//! | [`ReviewState`] | policy and operators |
//! | [`LedgerState`] | the books, in the commit of the money |

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainState {
    /// In a block that is canonical as far as we have read.
    Included,
    /// Deep enough to be credited.
    Final,
    /// Its block is no longer canonical.
    Orphaned,
    /// Its block is no longer canonical, after it was final.
    OrphanedAfterFinal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewState {
    None,
    /// A provider has not answered yet.
    Screening,
    /// A provider had nothing against it.
    Cleared,
    /// Needs an operator before it is credited.
    Held,
    /// An operator has let it through.
    Released,
    /// An operator has refused it: it stays where no player has it.
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LedgerState {
    /// Not booked.
    None,
    /// Credited before it is final, from the house's own capital.
    PlayOnly,
    /// In the suspense account, until its player is known.
    Suspense,
    Credited,
    /// Sent back to where it came from.
    Returned,
    /// Credited once, and reversed.
    Reversed,
}

/// What a player sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepositStatus {
    /// In a block; so many confirmations of so many.
    Confirming {
        /// Blocks on it, its own included.
        have: u64,
        need: u64,
    },
    /// Held for an operator, or in suspense.
    OnHold,
    Credited,
    /// Sent back.
    Returned,
    /// The chain dropped it before it was credited.
    Orphaned,
    /// The chain dropped it after it was credited, and the books have reversed it.
    Reversed,
    /// An operator refused it.
    Rejected,
}

impl DepositStatus {
    /// The status of these states. A credit that is about to be reversed is still shown as credited.
    #[must_use]
    pub const fn of(chain: ChainState, review: ReviewState, ledger: LedgerState, have: u64, need: u64) -> Self {
        match (ledger, chain, review) {
            (LedgerState::Credited, ..) => Self::Credited,
            (LedgerState::Returned, ..) => Self::Returned,
            (LedgerState::Suspense, _, ReviewState::Refused) => Self::Rejected,
            (LedgerState::Suspense, ..) => Self::OnHold,
            (LedgerState::Reversed, ChainState::Orphaned | ChainState::OrphanedAfterFinal, _) => Self::Reversed,
            (_, ChainState::Orphaned | ChainState::OrphanedAfterFinal, _) => Self::Orphaned,
            (_, _, ReviewState::Refused) => Self::Rejected,
            (_, _, ReviewState::Held | ReviewState::Screening) => Self::OnHold,
            (_, ChainState::Included | ChainState::Final, _) => {
                Self::Confirming { have: if have < need { have } else { need }, need }
            }
        }
    }
}

impl fmt::Display for DepositStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confirming { have, need } => write!(f, "confirming {have}/{need}"),
            Self::OnHold => f.write_str("on_hold"),
            Self::Credited => f.write_str("credited"),
            Self::Returned => f.write_str("returned"),
            Self::Rejected => f.write_str("rejected"),
            Self::Orphaned => f.write_str("orphaned"),
            Self::Reversed => f.write_str("reversed"),
        }
    }
}

impl ChainState {
    /// Whether it is on the chain, as far as we have read.
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

/// Where a deposit is on its way into the books, as lists name it. The first line of its SQL that is true
/// decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DepositStage {
    /// In a block that is not deep enough yet.
    Seen,
    /// Deep enough; the books credit it next.
    Final,
    /// An operator must look at it before it is credited.
    Held,
    /// People refused it, or the books did.
    Refused,
    Credited,
    /// Booked, and belongs to no known player.
    Suspense,
    /// The chain dropped it before it was credited.
    Orphaned,
    /// The chain dropped it, and the books took it back.
    Reversed,
}

impl DepositStage {
    pub const ALL: [Self; 8] = [
        Self::Seen,
        Self::Final,
        Self::Held,
        Self::Refused,
        Self::Credited,
        Self::Suspense,
        Self::Orphaned,
        Self::Reversed,
    ];

    /// Whether the indexer or the books still have to do something with it.
    #[must_use]
    pub const fn is_on_its_way(self) -> bool {
        matches!(self, Self::Seen | Self::Final)
    }

    /// The stage of a row, as SQL: lists filter by it, and no second definition exists.
    pub(crate) const SQL: &'static str = "CASE WHEN ledger_state IN ('credited', 'suspense') THEN ledger_state
       WHEN chain_state IN ('orphaned', 'orphaned_after_final') AND ledger_state = 'reversed' THEN 'reversed'
       WHEN chain_state IN ('orphaned', 'orphaned_after_final') THEN 'orphaned'
       WHEN review_state IN ('held', 'refused') THEN review_state
       WHEN doubt IN ('amount_too_large', 'balance_unknown', 'one_provider')
         AND NOT (review_state = 'released' AND review_epoch = epoch) THEN 'held'
       WHEN ledger_error IS NOT NULL AND ledger_error_epoch = epoch THEN 'refused'
       WHEN chain_state = 'final' THEN 'final' ELSE 'seen' END";
}

/// The words in rows for the states of a column.
macro_rules! words {
    ($state:ident { $($variant:ident = $word:literal),* }) => {
        impl $state {
            /// The word in rows.
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
words!(ReviewState {
    None = "none",
    Screening = "screening",
    Cleared = "cleared",
    Held = "held",
    Released = "released",
    Refused = "refused"
});
words!(LedgerState {
    None = "none",
    PlayOnly = "play_only",
    Suspense = "suspense",
    Credited = "credited",
    Returned = "returned",
    Reversed = "reversed"
});
words!(DepositStage {
    Seen = "seen",
    Final = "final",
    Held = "held",
    Refused = "refused",
    Credited = "credited",
    Suspense = "suspense",
    Orphaned = "orphaned",
    Reversed = "reversed"
});
