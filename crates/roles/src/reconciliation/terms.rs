//! The comparison of one wallet and asset. Pure.
//!
//! The wallet should hold what its account says, and besides:
//!
//! | term | the wallet should hold | because |
//! | --- | --- | --- |
//! | `unbooked` | more | deposits were seen, and are not booked yet |
//! | `held` | more | deposits were seen that wait for a person, or that the books refuse |
//! | `moved_in`, `moved_out` | more, less | moves between our own wallets are in no account |
//! | `unreversed` | less | the chain dropped deposits that are still booked |
//! | `unsettled`, `unsettled_gas` | less | payouts are mined, and neither they nor their gas are booked |
//! | `settled_elsewhere` | more | payouts are booked by transactions that the indexer's branch does not have (yet) |
//! | `came_after`, `left_after` | less, more | the balance is that of an older block than the rows |
//!
//! What a transaction that no job made took away is no term: it is the difference.

use bankroll_chains_evm::U256;
use serde::{Deserialize, Serialize};

/// Every reason why a wallet does not hold exactly what its account says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceTerms {
    /// What the account says.
    pub in_books: U256,
    pub unbooked: U256,
    pub held: U256,
    pub moved_in: U256,
    pub moved_out: U256,
    pub unreversed: U256,
    pub unsettled: U256,
    pub unsettled_gas: U256,
    pub settled_elsewhere: U256,
    pub came_after: U256,
    pub left_after: U256,
}

/// What a wallet holds more, or less, than it should, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceDifference {
    None,
    Surplus(U256),
    Deficit(U256),
}

/// A wallet's balance of one asset at a block, and what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletBalance {
    pub on_chain: U256,
    pub terms: BalanceTerms,
}

impl BalanceTerms {
    /// What is added to the account, and what is taken off, each with words for a person.
    #[must_use]
    pub fn explained(&self) -> Vec<(&'static str, bool, U256)> {
        let all = [
            ("deposits not booked yet", true, self.unbooked),
            ("deposits that wait for a person", true, self.held),
            ("came from our other wallets", true, self.moved_in),
            ("payouts booked by other blocks", true, self.settled_elsewhere),
            ("left after that block", true, self.left_after),
            ("went to our other wallets", false, self.moved_out),
            ("bookings not taken back yet", false, self.unreversed),
            ("payouts not booked yet", false, self.unsettled),
            ("their gas", false, self.unsettled_gas),
            ("came after that block", false, self.came_after),
        ];
        all.into_iter().filter(|(.., amount)| !amount.is_zero()).collect()
    }

    fn sum(&self, is_added: bool) -> U256 {
        let of_side = self.explained().into_iter().filter(|(_, added, _)| *added == is_added);
        of_side.fold(U256::ZERO, |sum, (.., amount)| sum.saturating_add(amount))
    }
}

impl WalletBalance {
    /// Both sides have what the other side would subtract, so that no subtraction hides a difference.
    #[must_use]
    pub fn difference(&self) -> BalanceDifference {
        let holds = self.on_chain.saturating_add(self.terms.sum(false));
        let should = self.terms.in_books.saturating_add(self.terms.sum(true));
        match holds.cmp(&should) {
            std::cmp::Ordering::Equal => BalanceDifference::None,
            std::cmp::Ordering::Greater => BalanceDifference::Surplus(holds.abs_diff(should)),
            std::cmp::Ordering::Less => BalanceDifference::Deficit(holds.abs_diff(should)),
        }
    }
}

impl BalanceDifference {
    #[must_use]
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }

    /// With a minus for a deficit.
    #[must_use]
    pub fn signed(self) -> String {
        match self {
            Self::None => "0".into(),
            Self::Surplus(amount) => amount.to_string(),
            Self::Deficit(amount) => format!("-{amount}"),
        }
    }

    /// As [`Self::signed`] writes it.
    #[must_use]
    pub fn of_signed(text: &str) -> Option<Self> {
        let (is_deficit, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let amount: U256 = digits.parse().ok()?;
        Some(match (amount.is_zero(), is_deficit) {
            (true, _) => Self::None,
            (false, true) => Self::Deficit(amount),
            (false, false) => Self::Surplus(amount),
        })
    }
}
