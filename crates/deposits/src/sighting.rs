//! The deposits of a block. Pure.
//!
//! Only effects count, in a block that was verified whole: the value of a transaction that succeeded, what contracts
//! moved while it ran, and the transfers that listed tokens logged. Calldata does not matter, a transaction that creates
//! a contract pays no address, and a value of zero is not a deposit.
//!
//! The header vouches for values and logs. It does not vouch for what contracts moved, and a token may log what it did
//! not move: these are compared with balances before they count, see [`crate::balance_check`].

use bankroll_chains_evm::{
    Address, B256, Block, BlockHeader, Disagreement, InternalTransfer, Quantity, TokenTransfer, TransferLog,
};
use bankroll_ledger::{AssetId, Name};

use crate::{Attribution, DepositId, DepositKind, ProviderAgreement, WatchList};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositRules {
    /// The chain, as assets name it: `eip155:1`.
    pub chain: Name,
    /// The chain's own coin.
    pub coin: AssetId,
    /// How many blocks, its own included, make a deposit final.
    pub confirmations: u64,
    /// From which value on several providers must agree; `None` if one is believed, as on a simulated chain.
    pub agreement: Option<ProviderAgreement>,
}

/// Money that came to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingTransfer {
    /// For [`DepositKind::Balance`] the block's hash.
    pub transaction: B256,
    /// Its position in the block.
    pub index: u64,
    pub kind: DepositKind,
    /// Which of the transaction's transfers of that kind.
    pub position: u32,
    pub asset: AssetId,
    pub from: Address,
    /// The address of ours that was paid.
    pub to: Address,
    /// In base units.
    pub value: Quantity,
}

/// Why a transfer that was seen is not a player's money yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// The ledger cannot count it: held whole.
    TooLarge,
    /// The address received another amount than its transfers say: what arrived is kept in suspense.
    BalanceMismatch,
    /// The node cannot say what the address had, or tokens left it that it did not send: held until a person has looked.
    BalanceUnknown,
    /// Too much for one provider's word, and the chain has too few: held until a person confirms it.
    OneProvider,
}

impl Doubt {
    const ALL: [Self; 4] = [Self::TooLarge, Self::BalanceMismatch, Self::BalanceUnknown, Self::OneProvider];

    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "amount_too_large",
            Self::BalanceMismatch => "balance_mismatch",
            Self::BalanceUnknown => "balance_unknown",
            Self::OneProvider => "one_provider",
        }
    }

    /// Whether a person must look before anything is booked.
    #[must_use]
    pub const fn is_held(self) -> bool {
        !matches!(self, Self::BalanceMismatch)
    }

    pub(crate) fn from_row(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// A transfer to us, in the block where it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub id: DepositId,
    pub transfer: IncomingTransfer,
    pub attribution: Attribution,
    pub header: BlockHeader,
    /// Confirmations until it is final.
    pub required: u64,
    /// Whether several providers must have its block before it is final.
    pub needs_agreement: bool,
    pub doubt: Option<Doubt>,
}

/// A log of a listed token that is no transfer as ERC-20 has them: nothing is credited by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddTransferLog {
    pub token: Address,
    pub transaction: B256,
}

/// A block and what contracts moved in it.
#[derive(Clone, Copy, Debug)]
pub struct BlockSearch<'a> {
    pub rules: &'a DepositRules,
    pub watch: &'a WatchList,
    pub block: &'a Block,
    pub internal: &'a [InternalTransfer],
}

impl BlockSearch<'_> {
    /// The deposits of a block, transaction by transaction. Senders are only recovered where the receiver is ours:
    /// recovery is expensive.
    ///
    /// # Errors
    /// If a transaction to us has no sender.
    pub fn sightings(&self) -> Result<Vec<Sighting>, Disagreement> {
        let (mut found, mut rest, coin) = (Vec::new(), self.internal, self.rules.coin);
        for transaction in &self.block.transactions {
            let (hash, index) = (transaction.hash, transaction.index as u64);
            let place = |kind, position, asset| (hash, index, kind, position, asset);
            if let Some((to, value)) = transaction.native_transfer().filter(|(to, _)| self.watches(*to)) {
                let from = transaction.sender()?;
                found.extend(self.sighting(place(DepositKind::Native, 0, coin), from, to, value));
            }
            // In order, so that each list is read once.
            let count = rest.iter().take_while(|inside| inside.transaction == hash).count();
            let (inside, later) = rest.split_at(count);
            rest = later;
            for inside in inside {
                let place = place(DepositKind::Internal, inside.ordinal, coin);
                found.extend(self.sighting(place, inside.from, inside.to, inside.value));
            }
            for (asset, log) in transaction.transfer_logs().filter_map(|log| self.listed(log)) {
                let TransferLog::Standard(TokenTransfer { ordinal, from, to, value, .. }) = log else { continue };
                let Ok(position) = u32::try_from(ordinal) else { continue };
                found.extend(self.sighting(place(DepositKind::Token, position, asset), from, to, value));
            }
        }
        Ok(found)
    }

    /// Logs of listed tokens that cannot be read as transfers.
    #[must_use]
    pub fn odd_logs(&self) -> Vec<OddTransferLog> {
        let logs = self.block.transactions.iter().flat_map(|transaction| {
            transaction.transfer_logs().filter_map(|log| match log {
                TransferLog::Odd { contract, .. } if self.watch.tokens.contains_key(&contract) => {
                    Some(OddTransferLog { token: contract, transaction: transaction.hash })
                }
                _ => None,
            })
        });
        logs.collect()
    }

    fn watches(&self, to: Address) -> bool {
        self.watch.watches(self.block.header.number, to)
    }

    fn listed(&self, log: TransferLog) -> Option<(AssetId, TransferLog)> {
        let (TransferLog::Standard(TokenTransfer { contract, .. }) | TransferLog::Odd { contract, .. }) = log;
        Some((*self.watch.tokens.get(&contract)?, log))
    }

    fn sighting(
        &self,
        (transaction, index, kind, position, asset): (B256, u64, DepositKind, u32, AssetId),
        from: Address,
        to: Address,
        value: Quantity,
    ) -> Option<Sighting> {
        let transfer = IncomingTransfer { transaction, index, kind, position, asset, from, to, value };
        Sighting::new(self.rules, self.watch, self.block.header, transfer, None)
    }
}

impl Sighting {
    /// `None` if it is nothing, or not to us.
    pub(crate) fn new(
        rules: &DepositRules,
        watch: &WatchList,
        header: BlockHeader,
        transfer: IncomingTransfer,
        doubt: Option<Doubt>,
    ) -> Option<Self> {
        if transfer.value.is_zero() {
            return None;
        }
        let attribution = watch.attribute(header.number, transfer.from, transfer.to, transfer.asset)?;
        let rule = rules.agreement.as_ref().filter(|rule| rule.is_large(transfer.asset, transfer.value));
        let is_lonely = rule.is_some_and(|rule| !rule.can_be_reached());
        let doubt = match () {
            () if transfer.value.amount().is_err() => Some(Doubt::TooLarge),
            () if is_lonely => doubt.or(Some(Doubt::OneProvider)),
            () => doubt,
        };
        let needs_agreement = rule.is_some() && !is_lonely;
        let id = DepositId::new(&rules.chain, transfer.transaction, transfer.kind, transfer.position);
        let required = rules.confirmations.max(1);
        Some(Self { id, transfer, attribution, header, required, needs_agreement, doubt })
    }
}
