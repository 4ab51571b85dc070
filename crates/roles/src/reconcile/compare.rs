//! The comparison itself. Pure: what the rows and the books say, what the chain has, and what follows.
//!
//! What the wallet should hold follows from the **states**, never from what is missing in the books:
//!
//! | the row's chain state | in the books | the wallet should hold |
//! | --- | --- | --- |
//! | included, final | booked | it, and custody counts it |
//! | included, final | not booked | it, and custody does not count it yet: a deposit in flight |
//! | orphaned | booked | not it, and custody still counts it: a reversal in flight |
//! | orphaned | not booked, reversed | not it |
//!
//! A payment in a block that the indexer has not read is in flight whatever its row says. A payout's transaction is in
//! flight until its intent is settled.

use std::collections::{BTreeMap, HashMap};

use bankroll_chains_evm::U256;
use bankroll_deposits::{ChainState, LedgerState, Purpose};
use bankroll_orders::Address;

/// How many, and how much together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub wei: U256,
}

impl Sum {
    fn add(&mut self, wei: U256) {
        self.count += 1;
        self.wei = self.wei.saturating_add(wei);
    }
}

/// A deposit as its row says.
#[derive(Clone, Copy, Debug)]
pub struct DepositClaim {
    pub wei: U256,
    pub purpose: Purpose,
    pub chain: ChainState,
    pub ledger: LedgerState,
}

/// What rows and books say about the wallet; transactions by their hashes.
#[derive(Clone, Debug, Default)]
pub struct BooksSide {
    pub custody: U256,
    pub deposits: BTreeMap<String, DepositClaim>,
    /// Payouts that are settled as paid: to which address, and how much.
    pub paid: BTreeMap<String, (Address, U256)>,
    /// Every transaction that was ever signed for a payout, cancels among them: whether its intent is settled.
    pub signed: HashMap<String, bool>,
    /// The last block that the indexer has read.
    pub read_to: u64,
}

/// A transaction of the wallet, from a block that was verified whole.
#[derive(Clone, Debug)]
pub struct WalletTransaction {
    pub hash: String,
    pub block: u64,
    pub movement: Movement,
}

#[derive(Clone, Copy, Debug)]
pub enum Movement {
    Came { wei: U256 },
    Left { to: Option<Address>, wei: U256, fee: U256 },
}

/// The wallet on its chain, and the books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reconciliation {
    pub on_chain: U256,
    pub in_books: U256,
    /// In flight: deposits that the wallet should hold and custody does not count yet.
    pub uncredited: Sum,
    /// In flight: deposits that the wallet should not hold and custody still counts.
    pub unreversed: Sum,
    /// In flight: payouts on the chain, with their gas, that are not settled.
    pub unsettled: Sum,
    /// On the chain, and unknown to the books.
    pub foreign: Vec<String>,
    /// In the rows or the books, and not on the chain.
    pub missing: Vec<String>,
    /// On the chain, while its row says that it is not.
    pub contradicted: Vec<String>,
    /// All that came and all that was paid after the block that the caller named, and what gas cost.
    pub came: Sum,
    pub paid: Sum,
    pub fees: U256,
}

/// What a reconciliation comes to, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The wallet does not hold what the states say.
    Differ {
        wei: U256,
    },
    /// The sums agree, and so many transactions are on one side only or contradict their rows.
    Contradict {
        count: usize,
    },
    InFlight {
        deposits: u64,
        payouts: u64,
    },
    Agree,
}

impl Reconciliation {
    /// What the wallet holds, and what the states say that it should hold. Both sides have what the other side would
    /// subtract, so that no subtraction can hide a difference.
    fn sides(&self) -> (U256, U256) {
        let held = self.on_chain.saturating_add(self.unreversed.wei).saturating_add(self.unsettled.wei);
        (held, self.in_books.saturating_add(self.uncredited.wei))
    }

    /// What the wallet holds more than it should, with a minus where it holds less.
    pub fn difference(&self) -> String {
        let (held, expected) = self.sides();
        let sign = if held < expected { "-" } else { "" };
        format!("{sign}{}", held.abs_diff(expected))
    }

    /// What to say of it, given how many deposits and payouts the rows call open: a payout that is approved and not
    /// on the chain yet changes no sum.
    pub fn finding(&self, open_deposits: u64, open_payouts: u64) -> Finding {
        let (held, expected) = self.sides();
        let count = self.foreign.len() + self.missing.len() + self.contradicted.len();
        let deposits = open_deposits.max(self.uncredited.count + self.unreversed.count);
        let payouts = open_payouts.max(self.unsettled.count);
        match (held == expected, count, deposits + payouts) {
            (false, ..) => Finding::Differ { wei: held.abs_diff(expected) },
            (true, 1.., _) => Finding::Contradict { count },
            (true, 0, 1..) => Finding::InFlight { deposits, payouts },
            (true, 0, 0) => Finding::Agree,
        }
    }
}

impl Finding {
    /// The headline; `money` writes an amount of wei.
    pub fn headline(&self, money: impl Fn(U256) -> String) -> String {
        let counted = |count: u64, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            more => Some(format!("{more} {what}s")),
        };
        match *self {
            Self::Differ { wei } => format!("the wallet and the books differ by {}", money(wei)),
            Self::Contradict { count: 1 } => "the sums agree, but 1 transaction is found on one side only".into(),
            Self::Contradict { count } => {
                format!("the sums agree, but {count} transactions are found on one side only")
            }
            Self::InFlight { deposits, payouts } => {
                let both = [counted(deposits, "deposit"), counted(payouts, "payout")];
                let what: Vec<String> = both.into_iter().flatten().collect();
                let is = if deposits + payouts == 1 { "is" } else { "are" };
                format!("{} {is} still in flight", what.join(" and "))
            }
            Self::Agree => "the wallet and the books agree, and every transaction is known to both".into(),
        }
    }
}

impl DepositClaim {
    /// Transfers between our own wallets are in no account, and never will be.
    fn is_deposit(&self) -> bool {
        self.purpose != Purpose::Internal
    }
}

/// Compares. What happened after the block `since` is counted apart.
pub fn compare(on_chain: U256, mut books: BooksSide, transactions: &[WalletTransaction], since: u64) -> Reconciliation {
    let mut found = Reconciliation { on_chain, in_books: books.custody, ..Reconciliation::default() };
    for claim in books.deposits.values().filter(|claim| claim.is_deposit()) {
        match (claim.chain.is_canonical(), claim.ledger.is_booked()) {
            (true, false) => found.uncredited.add(claim.wei),
            (false, true) => found.unreversed.add(claim.wei),
            (true, true) | (false, false) => {}
        }
    }
    for transaction in transactions {
        let is_new = transaction.block > since;
        match transaction.movement {
            Movement::Came { wei } => {
                if is_new {
                    found.came.add(wei);
                }
                match_deposit(transaction, wei, &mut books, &mut found);
            }
            Movement::Left { to, wei, fee } => {
                if is_new {
                    found.fees = found.fees.saturating_add(fee);
                    if !wei.is_zero() {
                        found.paid.add(wei);
                    }
                }
                match_payout(&transaction.hash, (to, wei, fee), &mut books, &mut found);
            }
        }
    }
    let unpaid = books.paid.into_keys().map(|hash| format!("payout {hash}"));
    let gone = books.deposits.into_iter().filter(|(_, claim)| claim.is_deposit() && claim.chain.is_canonical());
    found.missing = unpaid.chain(gone.map(|(hash, _)| format!("deposit {hash}"))).collect();
    found
}

fn match_deposit(transaction: &WalletTransaction, wei: U256, books: &mut BooksSide, found: &mut Reconciliation) {
    let hash = &transaction.hash;
    let is_unread = transaction.block > books.read_to;
    match books.deposits.remove(hash) {
        Some(claim) if claim.wei != wei => found.foreign.push(format!("{wei} wei came with {hash}")),
        Some(claim) if claim.is_deposit() && claim.chain.is_canonical() => {}
        _ if is_unread => found.uncredited.add(wei),
        Some(claim) => found.contradicted.push(format!(
            "{wei} wei came with {hash}, which its deposit calls {}; in the books it is {}",
            claim.chain.as_str(),
            claim.ledger.as_str()
        )),
        None => found.foreign.push(format!("{wei} wei came with {hash}")),
    }
}

fn match_payout(
    hash: &str,
    (to, wei, fee): (Option<Address>, U256, U256),
    books: &mut BooksSide,
    found: &mut Reconciliation,
) {
    match (books.paid.remove(hash), books.signed.get(hash)) {
        (Some((payee, amount)), _) if Some(payee) == to && amount == wei => {}
        // A cancel, or a transaction that failed: the gas is booked when the intent is settled, whatever the outcome.
        (None, Some(true)) if wei.is_zero() => {}
        (None, Some(true)) => {
            found.contradicted.push(format!("{wei} wei left with {hash}, whose payout is settled without it"));
        }
        (None, Some(false)) => found.unsettled.add(wei.saturating_add(fee)),
        _ => found.foreign.push(format!("{wei} wei and {fee} for gas left with {hash}")),
    }
}
