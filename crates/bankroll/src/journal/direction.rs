//! What a posting does to the two balances that it touches. Pure.
//!
//! A posting debits one account and credits another. On the credit side (what we owe) a credit raises a balance; on the
//! debit side (what we own) a debit does. So a deposit debits custody and credits the player, and both balances rise:
//! money came in. Read as "from custody to the player" it would look as if custody had paid.

use bankroll_ledger::{AccountId, AccountKind, Side};

/// The direction of money, as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoneyDirection {
    /// Money came in: both balances rise.
    In,
    /// Money went out: both balances fall.
    Out,
    /// Money moved inside: one balance falls, the other rises.
    Move,
}

/// A posting as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadablePosting {
    pub direction: MoneyDirection,
    /// Of a move the account that falls; otherwise what we owe: the player's side.
    pub first: AccountId,
    /// Of a move the account that rises; otherwise what we own: the wallet's side.
    pub second: AccountId,
}

impl ReadablePosting {
    pub const fn new(debit: (AccountId, AccountKind), credit: (AccountId, AccountKind)) -> Self {
        let (direction, first, second) = match (debit.1.side(), credit.1.side()) {
            (Side::Debit, Side::Credit) => (MoneyDirection::In, credit.0, debit.0),
            (Side::Credit, Side::Debit) => (MoneyDirection::Out, debit.0, credit.0),
            (Side::Credit, Side::Credit) => (MoneyDirection::Move, debit.0, credit.0),
            // A debit raises what we own, so the money goes the other way.
            (Side::Debit, Side::Debit) => (MoneyDirection::Move, credit.0, debit.0),
        };
        Self { direction, first, second }
    }
}

impl MoneyDirection {
    pub const fn word(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::Move => "move",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(debit: AccountKind, credit: AccountKind, direction: MoneyDirection, first: u64, second: u64) {
        let read = ReadablePosting::new((AccountId(1), debit), (AccountId(2), credit));
        let expected = ReadablePosting { direction, first: AccountId(first), second: AccountId(second) };
        assert_eq!(read, expected, "{debit:?} to {credit:?}");
    }

    #[test]
    fn money_comes_in_goes_out_or_moves() {
        check(AccountKind::Custody, AccountKind::Funds, MoneyDirection::In, 2, 1);
        check(AccountKind::Funds, AccountKind::Custody, MoneyDirection::Out, 1, 2);
        check(AccountKind::Funds, AccountKind::World, MoneyDirection::Move, 1, 2);
        // Gas: custody falls, the expense rises.
        check(AccountKind::NetworkFees, AccountKind::Custody, MoneyDirection::Move, 2, 1);
    }
}
