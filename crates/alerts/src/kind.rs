//! Every kind of alert: how serious it is, how long its condition must last, how it ends, and the next step.

use std::{fmt, str::FromStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertSeverity {
    /// A person should know.
    Info,
    /// A person should look today.
    Warning,
    /// Money is at risk, or nothing goes on: a person must look now.
    Critical,
}

impl AlertSeverity {
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl FromStr for AlertSeverity {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|severity| severity.as_str() == text);
        found.ok_or("a severity is info, warning or critical")
    }
}

/// How an alert ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertEnding {
    /// When its condition ends. If a person closes it before, it opens again.
    ByItself,
    /// When a person closes it: its condition is something that happened. The same one opens no second alert.
    ByPerson,
}

/// A minute, in microseconds.
const MINUTE: u64 = 60_000_000;

/// One line for each kind: its name, severity, ending, how long its condition must last before it opens and be over
/// before it closes (minutes), and what to do first.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $severity:ident, $ending:ident, $opens:literal, $closes:literal, $step:literal;)*) => {
        /// What an alert is about. `docs/runbooks/` has a page for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AlertKind {
            $($(#[$doc])* $kind,)*
        }

        impl AlertKind {
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name),* }
            }

            #[must_use]
            pub const fn severity(self) -> AlertSeverity {
                match self { $(Self::$kind => AlertSeverity::$severity),* }
            }

            #[must_use]
            pub const fn ending(self) -> AlertEnding {
                match self { $(Self::$kind => AlertEnding::$ending),* }
            }

            /// How long its condition must last before the alert opens, in microseconds.
            #[must_use]
            pub const fn opens_after(self) -> u64 {
                match self { $(Self::$kind => $opens * MINUTE),* }
            }

            /// How long its condition must be over before the alert closes, in microseconds.
            #[must_use]
            pub const fn closes_after(self) -> u64 {
                match self { $(Self::$kind => $closes * MINUTE),* }
            }

            /// What a person does first.
            #[must_use]
            pub const fn next_step(self) -> &'static str {
                match self { $(Self::$kind => $step),* }
            }

            /// Its page, in the repository.
            #[must_use]
            pub const fn runbook(self) -> &'static str {
                match self { $(Self::$kind => concat!("docs/runbooks/", $name, ".md")),* }
            }
        }
    };
}

kinds! {
    /// A pass over the books found that they are not sound. The writer stopped.
    BooksUnsound = "books_unsound", Critical, ByPerson, 0, 0, "bankroll audit --full";
    /// A pass over the books found a damaged index, which was rebuilt.
    IndexDamaged = "index_damaged", Warning, ByPerson, 0, 0, "check the disk of the books";
    /// The books were not re-read completely for a week.
    ScrubOverdue = "scrub_overdue", Warning, ByItself, 0, 0, "bankroll doctor";
    /// Nothing new is paid from a wallet.
    WalletStopped = "wallet_stopped", Critical, ByItself, 0, 0, "find out who used the wallet's key";
    /// A wallet of ours sent a transaction that no payout made.
    ForeignTransaction = "foreign_transaction", Critical, ByPerson, 0, 0, "find out who used the wallet's key";
    /// A wallet holds less than the books say. Nothing new is paid on its chain while this is open.
    WalletDeficit = "wallet_deficit", Critical, ByItself, 0, 0, "bankroll reconcile --chain CHAIN";
    /// A wallet holds more than the books say.
    WalletSurplus = "wallet_surplus", Warning, ByItself, 0, 0, "bankroll reconcile --chain CHAIN";
    /// Payouts wait because the wallet, or the house, has too little.
    WalletShort = "wallet_short", Warning, ByItself, 1, 1, "pay coins into the wallet";
    /// The nonce of a payout was used by a transaction that is none of ours.
    PayoutUnknown = "payout_unknown", Critical, ByItself, 0, 0, "bankroll explain PAYOUT";
    /// What is final on the chain is not what was settled.
    PayoutContradicted = "payout_contradicted", Critical, ByPerson, 0, 0, "bankroll explain PAYOUT";
    /// Payouts that should have been sent long ago.
    PayoutsLate = "payouts_late", Warning, ByItself, 0, 1, "bankroll doctor";
    /// Approved payouts that no payouts process has begun.
    PayoutsNotBegun = "payouts_not_begun", Warning, ByItself, 10, 1, "check that a node with the role payouts runs";
    /// Payouts that a person must approve.
    PayoutsAwaitApproval = "payouts_await_approval", Info, ByItself, 0, 0, "bankroll withdrawals list --state awaiting_approval";
    /// The books refused the outcome of a payout.
    PayoutOutcomeRefused = "payout_outcome_refused", Critical, ByItself, 0, 0, "bankroll explain PAYOUT";
    /// Deposits that belong to no known player.
    DepositsSuspended = "deposits_suspended", Warning, ByItself, 0, 0, "bankroll deposits list --state suspense";
    /// Deposits that a person must look at before they are credited.
    DepositsHeld = "deposits_held", Warning, ByItself, 0, 0, "bankroll deposits list --state held";
    /// The books refused to credit deposits.
    DepositsRefused = "deposits_refused", Critical, ByItself, 0, 0, "bankroll deposits list --state refused";
    /// The chain dropped deposits after they were final.
    DepositsOrphaned = "deposits_orphaned", Critical, ByPerson, 0, 0, "bankroll deposits list --state reversed";
    /// The indexer has read no block for a long time.
    IndexerStalled = "indexer_stalled", Warning, ByItself, 0, 0, "bankroll doctor";
    /// The chain differs from the one in the books, deeper than is followed.
    ReorganisationTooDeep = "reorganisation_too_deep", Critical, ByItself, 0, 0, "check chain.rpc and chain.genesis";
    /// The certificate of a node expires soon.
    CertificateExpires = "certificate_expires", Warning, ByItself, 0, 0, "bankroll nodes renew NODE";
    /// The certificate of a node has expired, or cannot be used.
    CertificateExpired = "certificate_expired", Critical, ByItself, 0, 0, "bankroll nodes renew NODE";
    /// The disk of the books is nearly full.
    DiskLow = "disk_low", Critical, ByItself, 0, 1, "free some space";
    /// The machine's clock was set while the node runs.
    ClockDiffers = "clock_differs", Warning, ByItself, 1, 1, "check the machine's clock, and restart the node";
    /// A webhook endpoint was disabled, because its deliveries failed.
    WebhookDisabled = "webhook_disabled", Warning, ByItself, 0, 0, "repair the endpoint, then enable it again";
}

impl AlertKind {
    /// Whether an alert of this kind closes when its condition ends.
    #[must_use]
    pub const fn closes_by_itself(self) -> bool {
        matches!(self.ending(), AlertEnding::ByItself)
    }
}

impl FromStr for AlertKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|kind| kind.as_str() == text);
        found.copied().ok_or("no alert has this kind; docs/runbooks has a page for each kind")
    }
}

impl fmt::Display for AlertKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
