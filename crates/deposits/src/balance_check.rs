//! Transfers that no header vouches for, compared with the balance of the address that they paid. Pure.
//!
//! | what was seen | compared | if it differs |
//! | --- | --- | --- |
//! | a transaction's own value | never: the receipts root vouches for it | |
//! | coins that contracts moved | the address's coins before and after the block | what arrived is kept in suspense |
//! | a token's log | the address's tokens before and after the block | what arrived is kept in suspense |
//!
//! One address and asset of a block is one comparison, because a balance cannot be divided among the transfers in it.
//! A node that cannot say a balance is no proof of anything: the transfers are held for a person. Neither is a log by
//! which tokens left us in a transaction that we did not sign: without it a contract that logs a payout beside each
//! transfer that it does not make would be believed both.

use std::collections::BTreeMap;

use bankroll_chains_evm::{
    Address, B256, Block, Disagreement, InternalTransfer, Quantity, Transaction, TransferLog, U256,
};
use bankroll_ledger::AssetId;

use crate::{
    DepositKind, DepositRules, WatchList,
    sighting::{Doubt, IncomingTransfer, Sighting},
};

/// What a node is asked: the balance of an address before and after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BalanceQuestion {
    pub address: Address,
    pub asset: AssetId,
    /// The token's contract; `None` for the coin.
    pub token: Option<Address>,
    pub before: B256,
    pub after: B256,
}

/// The balance before and after the block; `None` if the node cannot say.
pub type BalanceAnswer = Option<(U256, U256)>;

/// A transfer that was logged or traced, and that did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsentTransfer {
    pub transaction: B256,
    pub asset: AssetId,
    pub to: Address,
    pub claimed: Quantity,
}

/// The sightings of one block, and what must be asked before they count.
#[derive(Clone, Debug)]
pub struct BlockCheck<'a> {
    pub rules: &'a DepositRules,
    pub watch: &'a WatchList,
    pub block: &'a Block,
    pub internal: &'a [InternalTransfer],
    pub sightings: Vec<Sighting>,
}

/// What of a block's sightings counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedSightings {
    pub sightings: Vec<Sighting>,
    pub absent: Vec<AbsentTransfer>,
}

impl BlockCheck<'_> {
    /// The balances to ask for, one for each address and asset that the header does not vouch for.
    #[must_use]
    pub fn questions(&self) -> Vec<BalanceQuestion> {
        let header = self.block.header;
        let question = |sighting: &Sighting| {
            let IncomingTransfer { to: address, asset, kind, .. } = sighting.transfer;
            let token = match kind {
                DepositKind::Token => Some(self.contract(asset)?),
                DepositKind::Internal => None,
                DepositKind::Native | DepositKind::Balance => return None,
            };
            Some(BalanceQuestion { address, asset, token, before: header.parent, after: header.hash })
        };
        let mut questions: Vec<_> = self.sightings.iter().filter_map(question).collect();
        questions.sort_unstable();
        questions.dedup();
        questions
    }

    /// Decides which sightings stand.
    ///
    /// # Errors
    /// If a transaction of the block has no sender.
    pub fn decide(
        mut self,
        answers: &BTreeMap<BalanceQuestion, BalanceAnswer>,
    ) -> Result<CheckedSightings, Disagreement> {
        let mut checked = CheckedSightings::default();
        for (question, answer) in answers {
            let is_asked = |sighting: &Sighting| is_about(sighting, question);
            let Sums { came: claimed, left, has_unsigned, .. } = self.logged(question)?;
            // Sums that exceed 256 bits are equal to nothing.
            let as_claimed = |(before, after): (U256, U256), left: U256| {
                before.checked_add(claimed).is_some_and(|sum| Some(sum) == after.checked_add(left))
            };
            let (before, after) = match *answer {
                // Usually nothing else left the address. If it did, and the sums fit all the same, then more came than
                // was claimed, and what was claimed is credited.
                Some(answer) if as_claimed(answer, left) => continue,
                Some(answer) if !has_unsigned => answer,
                _ => {
                    for sighting in self.sightings.iter_mut().filter(|sighting| is_asked(sighting)) {
                        sighting.doubt = sighting.doubt.or(Some(Doubt::BalanceUnknown));
                    }
                    continue;
                }
            };
            let left = left.saturating_add(self.sent_by(question)?);
            if as_claimed((before, after), left) {
                continue;
            }
            // What arrived, whatever transfers say: the balance's growth and what left meanwhile. What the header
            // vouches for is not in doubt and is not counted again.
            let vouched = self.vouched(question);
            let arrived = after.saturating_add(left).saturating_sub(before).saturating_sub(vouched);
            let (doubtful, standing) = std::mem::take(&mut self.sightings).into_iter().partition(is_asked);
            self.sightings = standing;
            self.replace(question, doubtful, Quantity::new(arrived), &mut checked);
        }
        checked.sightings = self.sightings;
        Ok(checked)
    }

    /// One transfer keeps its identity with the amount that arrived; several become one change of the balance.
    fn replace(
        &mut self,
        question: &BalanceQuestion,
        doubtful: Vec<Sighting>,
        arrived: Quantity,
        checked: &mut CheckedSightings,
    ) {
        let index = doubtful.first().map_or(0, |sighting| sighting.transfer.index);
        if arrived.is_zero() {
            checked.absent.extend(doubtful.iter().map(|sighting| AbsentTransfer {
                transaction: sighting.transfer.transaction,
                asset: question.asset,
                to: question.address,
                claimed: sighting.transfer.value,
            }));
            return;
        }
        let doubt = Some(Doubt::BalanceMismatch);
        let transfer = match &doubtful[..] {
            [alone] => IncomingTransfer { value: arrived, ..alone.transfer },
            _ => {
                let before = self.sightings.iter().filter(|known| known.transfer.kind == DepositKind::Balance).count();
                IncomingTransfer {
                    transaction: self.block.header.hash,
                    index,
                    kind: DepositKind::Balance,
                    position: u32::try_from(before).unwrap_or(u32::MAX),
                    asset: question.asset,
                    from: Address::ZERO,
                    to: question.address,
                    value: arrived,
                }
            }
        };
        self.sightings.extend(Sighting::new(self.rules, self.watch, self.block.header, transfer, doubt));
    }

    /// What transfers of the block say that came to the address; and of its tokens, what left in transactions that it
    /// signed. Whatever else is said to have left it would explain away a transfer that did not arrive: a token can log
    /// it, a node can trace it.
    fn logged(&self, question: &BalanceQuestion) -> Result<Sums, Disagreement> {
        let address = question.address;
        let mut sums = Sums { address, came: U256::ZERO, left: U256::ZERO, has_unsigned: false };
        if question.token.is_none() {
            for inside in self.internal {
                sums.count_arrival(inside.to, inside.value.units());
                // Only an address with code sends coins inside a transaction.
                sums.has_unsigned |= inside.from == address;
            }
            sums.came = sums.came.saturating_add(self.vouched(question));
            return Ok(sums);
        }
        for transaction in &self.block.transactions {
            for log in transaction.transfer_logs() {
                let TransferLog::Standard(log) = log else { continue };
                if Some(log.contract) != question.token || log.value.is_zero() {
                    continue;
                }
                sums.count_arrival(log.to, log.value.units());
                if log.from == address && transaction.sender()? != address {
                    sums.has_unsigned = true;
                } else {
                    sums.count_departure(log.from, log.value.units());
                }
            }
        }
        Ok(sums)
    }

    /// What left with the address's own transactions, their fees among it. Every sender of the block has to be recovered
    /// for it, which costs more than all the rest: only where the sums do not fit without.
    fn sent_by(&self, question: &BalanceQuestion) -> Result<U256, Disagreement> {
        let mut left = U256::ZERO;
        if question.token.is_some() {
            return Ok(left);
        }
        for transaction in &self.block.transactions {
            if transaction.sender()? == question.address {
                let value = if transaction.succeeded { transaction.value.units() } else { U256::ZERO };
                left = left.saturating_add(value).saturating_add(transaction.fee().units());
            }
        }
        Ok(left)
    }

    fn vouched(&self, question: &BalanceQuestion) -> U256 {
        if question.token.is_some() {
            return U256::ZERO;
        }
        let native = self.block.transactions.iter().filter_map(Transaction::native_transfer);
        let ours = native.filter(|(to, _)| *to == question.address);
        ours.fold(U256::ZERO, |sum, (_, value)| sum.saturating_add(value.units()))
    }

    fn contract(&self, asset: AssetId) -> Option<Address> {
        self.watch.tokens.iter().find(|(_, listed)| **listed == asset).map(|(contract, _)| *contract)
    }
}

fn is_about(sighting: &Sighting, question: &BalanceQuestion) -> bool {
    let transfer = sighting.transfer;
    transfer.to == question.address
        && transfer.asset == question.asset
        && matches!(transfer.kind, DepositKind::Internal | DepositKind::Token)
}

/// What came to an address and what left it. No sum of a block exceeds 256 bits.
struct Sums {
    address: Address,
    came: U256,
    left: U256,
    /// Something is said to have left it that it did not sign.
    has_unsigned: bool,
}

impl Sums {
    fn count_arrival(&mut self, to: Address, value: U256) {
        if to == self.address {
            self.came = self.came.saturating_add(value);
        }
    }

    fn count_departure(&mut self, from: Address, value: U256) {
        if from == self.address {
            self.left = self.left.saturating_add(value);
        }
    }
}
