//! Stories of the comparison, with every amount in sight.

use bankroll_chains_evm::U256;
use bankroll_deposits::{
    ChainState::{self, Final, Included, Orphaned, OrphanedAfterFinal},
    LedgerState::{self, Credited, Reversed, Suspense},
    Purpose,
};
use bankroll_orders::Address;

use super::compare::{BooksSide, DepositClaim, Finding, Movement, Reconciliation, Sum, WalletTransaction, compare};

/// The indexer has read up to here.
const READ_TO: u64 = 10;
const PAYEE: Address = Address([0xee; 20]);

fn wei(wei: u64) -> U256 {
    U256::from(wei)
}

fn sum(count: u64, amount: u64) -> Sum {
    Sum { count, wei: wei(amount) }
}

fn came(hash: &str, block: u64, amount: u64) -> WalletTransaction {
    WalletTransaction { hash: hash.into(), block, movement: Movement::Came { wei: wei(amount) } }
}

fn left(hash: &str, amount: u64, fee: u64) -> WalletTransaction {
    let movement = Movement::Left { to: Some(PAYEE), wei: wei(amount), fee: wei(fee) };
    WalletTransaction { hash: hash.into(), block: 5, movement }
}

fn books(custody: u64) -> BooksSide {
    BooksSide { custody: wei(custody), read_to: READ_TO, ..BooksSide::default() }
}

impl BooksSide {
    fn deposit(mut self, hash: &str, amount: u64, chain: ChainState, ledger: LedgerState) -> Self {
        let claim = DepositClaim { wei: wei(amount), purpose: Purpose::Player, chain, ledger };
        self.deposits.insert(hash.into(), claim);
        self
    }

    fn paid(mut self, hash: &str, amount: u64) -> Self {
        self.paid.insert(hash.into(), (PAYEE, wei(amount)));
        self.signed(hash, true)
    }

    fn signed(mut self, hash: &str, is_settled: bool) -> Self {
        self.signed.insert(hash.into(), is_settled);
        self
    }
}

/// What is said when the rows call nothing open.
fn finding(found: &Reconciliation) -> Finding {
    found.finding(0, 0)
}

#[test]
fn a_wallet_with_everything_booked_agrees() {
    let books = books(93).deposit("a", 60, Final, Credited).deposit("b", 40, Final, Suspense).paid("c", 5);
    let found = compare(wei(93), books, &[came("a", 1, 60), came("b", 2, 40), left("c", 5, 2)], 1);
    assert_eq!((found.difference().as_str(), finding(&found)), ("0", Finding::Agree), "{found:?}");
    // What happened after block 1 is counted apart.
    assert_eq!((found.came, found.paid, found.fees), (sum(1, 40), sum(1, 5), wei(2)));
}

/// The deposit's row was set to orphaned, and the books have taken the credit back; the payment is still on the chain.
#[test]
fn a_deposit_that_is_reversed_in_the_books_and_still_on_the_chain_is_a_difference() {
    for state in [Orphaned, OrphanedAfterFinal] {
        let books = books(60).deposit("a", 60, Final, Credited).deposit("b", 40, state, Reversed);
        let found = compare(wei(100), books, &[came("a", 1, 60), came("b", 2, 40)], 0);
        assert_eq!((found.difference().as_str(), finding(&found)), ("40", Finding::Differ { wei: wei(40) }));
        assert_eq!(found.uncredited, sum(0, 0), "nothing will credit it again");
        let word = state.as_str();
        let expected = format!("40 wei came with b, which its deposit calls {word}; in the books it is reversed");
        assert_eq!(found.contradicted, [expected]);
    }
}

/// The same before the books have taken it back: custody and wallet are equal, and the state says that they must
/// not be.
#[test]
fn a_deposit_that_is_orphaned_in_its_row_and_still_on_the_chain_is_a_difference_at_once() {
    let books = books(100).deposit("a", 60, Final, Credited).deposit("b", 40, Orphaned, Credited);
    let found = compare(wei(100), books, &[came("a", 1, 60), came("b", 2, 40)], 0);
    assert_eq!((found.difference().as_str(), finding(&found)), ("40", Finding::Differ { wei: wei(40) }));
    assert_eq!((found.unreversed, found.contradicted.len()), (sum(1, 40), 1));
}

#[test]
fn a_deposit_in_flight_is_no_difference_and_is_named() {
    for (chain, ledger) in [(Included, LedgerState::None), (Final, LedgerState::None), (Included, Reversed)] {
        let books = books(60).deposit("a", 60, Final, Credited).deposit("b", 40, chain, ledger);
        let found = compare(wei(100), books, &[came("a", 1, 60), came("b", 2, 40)], 0);
        assert_eq!(finding(&found), Finding::InFlight { deposits: 1, payouts: 0 }, "{chain:?} {ledger:?}");
        assert_eq!((found.difference().as_str(), found.uncredited), ("0", sum(1, 40)));
    }
}

#[test]
fn a_reversal_in_flight_is_no_difference_and_is_named() {
    let books = books(100).deposit("a", 60, Final, Credited).deposit("b", 40, OrphanedAfterFinal, Credited);
    let found = compare(wei(60), books, &[came("a", 1, 60)], 0);
    assert_eq!(finding(&found), Finding::InFlight { deposits: 1, payouts: 0 }, "{found:?}");
    assert_eq!((found.difference().as_str(), found.unreversed), ("0", sum(1, 40)));
}

#[test]
fn a_payment_in_an_unread_block_is_in_flight_and_in_a_read_block_unknown() {
    let unread = compare(wei(40), books(0), &[came("b", READ_TO + 1, 40)], 0);
    assert_eq!(finding(&unread), Finding::InFlight { deposits: 1, payouts: 0 });
    let read = compare(wei(40), books(0), &[came("b", READ_TO, 40)], 0);
    assert_eq!(
        (finding(&read), &read.foreign[..]),
        (Finding::Differ { wei: wei(40) }, &["40 wei came with b".into()][..])
    );
    // Orphaned, and included again where the indexer has not been: it will be credited again.
    for (ledger, custody) in [(Reversed, 0), (Credited, 40)] {
        let books = books(custody).deposit("b", 40, Orphaned, ledger);
        let again = compare(wei(40), books, &[came("b", READ_TO + 1, 40)], 0);
        assert_eq!((again.difference().as_str(), &again.contradicted[..]), ("0", &[][..]), "{ledger:?}");
        assert!(matches!(finding(&again), Finding::InFlight { payouts: 0, .. }));
    }
}

#[test]
fn a_deposit_that_the_chain_does_not_have_is_missing_booked_or_not() {
    for (ledger, custody) in [(Credited, 40), (LedgerState::None, 0)] {
        let found = compare(wei(0), books(custody).deposit("forged", 40, Final, ledger), &[], 0);
        assert_eq!((found.difference().as_str(), finding(&found)), ("-40", Finding::Differ { wei: wei(40) }));
        assert_eq!(found.missing, ["deposit forged"]);
    }
}

#[test]
fn a_deposit_of_another_amount_than_the_chain_has_is_a_difference() {
    let found = compare(wei(40), books(41).deposit("a", 41, Final, Credited), &[came("a", 1, 40)], 0);
    assert_eq!((found.difference().as_str(), finding(&found)), ("-1", Finding::Differ { wei: wei(1) }));
    assert_eq!(found.foreign, ["40 wei came with a"]);
}

#[test]
fn a_payout_in_flight_is_named_with_equal_numbers_and_with_different_ones() {
    let deposited = || books(100).deposit("a", 100, Final, Credited);
    // Approved, and not on the chain yet: wallet and books are equal.
    let approved = compare(wei(100), deposited(), &[came("a", 1, 100)], 0);
    let said = approved.finding(0, 1);
    assert_eq!((approved.difference().as_str(), said), ("0", Finding::InFlight { deposits: 0, payouts: 1 }));
    // Mined, and not settled: counted once.
    let mined = compare(wei(93), deposited().signed("c", false), &[came("a", 1, 100), left("c", 5, 2)], 0);
    assert_eq!((mined.difference().as_str(), mined.unsettled), ("0", sum(1, 7)));
    assert_eq!(mined.finding(0, 1), Finding::InFlight { deposits: 0, payouts: 1 });
}

#[test]
fn a_payout_that_was_refunded_in_the_books_and_paid_on_the_chain_is_a_difference() {
    let books = books(98).deposit("a", 100, Final, Credited).signed("c", true);
    let found = compare(wei(93), books, &[came("a", 1, 100), left("c", 5, 2)], 0);
    assert_eq!((found.difference().as_str(), finding(&found)), ("-5", Finding::Differ { wei: wei(5) }));
    assert_eq!(found.contradicted, ["5 wei left with c, whose payout is settled without it"]);
}

#[test]
fn a_cancel_or_a_failed_payout_that_is_settled_costs_its_gas_and_nothing_else() {
    let books = books(98).deposit("a", 100, Final, Credited).signed("c", true);
    let found = compare(wei(98), books, &[came("a", 1, 100), left("c", 0, 2)], 0);
    assert_eq!(finding(&found), Finding::Agree, "{found:?}");
}

#[test]
fn a_transaction_that_the_books_do_not_know_is_named_even_if_the_sums_agree() {
    let found = compare(wei(100), books(100), &[came("x", 1, 5), left("y", 4, 1)], 0);
    assert_eq!((found.difference().as_str(), finding(&found)), ("0", Finding::Contradict { count: 2 }));
    assert_eq!(found.foreign, ["5 wei came with x", "4 wei and 1 for gas left with y"]);
    let found = compare(wei(100), books(100).paid("z", 5), &[], 0);
    assert_eq!(
        (found.missing.as_slice(), finding(&found)),
        (&["payout z".to_owned()][..], Finding::Contradict { count: 1 })
    );
}

#[test]
fn one_wei_is_seen_with_everything_in_flight_at_once() {
    let check = |on_chain: u64, difference: &str| {
        let books = books(100).deposit("a", 5, Final, LedgerState::None).signed("c", false);
        let found = compare(wei(on_chain), books, &[came("a", 1, 5), left("c", 6, 1)], 0);
        assert_eq!(found.difference(), difference);
        assert_eq!(matches!(finding(&found), Finding::InFlight { .. }), difference == "0", "{found:?}");
    };
    check(98, "0");
    check(99, "1");
    check(97, "-1");
    check(0, "-98");
}

#[test]
fn the_headline_says_the_difference_or_what_is_in_flight() {
    let said = |finding: Finding| finding.headline(|wei| format!("{wei} wei"));
    assert_eq!(said(Finding::Differ { wei: wei(40) }), "the wallet and the books differ by 40 wei");
    let in_flight = |deposits, payouts| said(Finding::InFlight { deposits, payouts });
    assert_eq!(in_flight(0, 1), "1 payout is still in flight");
    assert_eq!(in_flight(2, 0), "2 deposits are still in flight");
    assert_eq!(in_flight(1, 1), "1 deposit and 1 payout are still in flight");
    assert_eq!(said(Finding::Contradict { count: 1 }), "the sums agree, but 1 transaction is found on one side only");
    assert_eq!(said(Finding::Agree), "the wallet and the books agree, and every transaction is known to both");
}
