//! The deposits of a block. Pure.
//!
//! Only effects count: the value of a transaction that succeeded, in a block that was verified whole. Calldata does
//! not matter, a transaction that creates a contract pays no address, and a value of zero is not a deposit.
//! Transfers inside a transaction and tokens will be further kinds.

use bankroll_chains_evm::{Address, B256, Block, BlockHeader, Disagreement, Quantity};
use bankroll_ledger::Name;

use crate::{Attribution, DepositId, DepositKind, WatchList};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositRules {
    /// The chain, as assets name it: `eip155:1`.
    pub chain: Name,
    /// How many blocks, its own included, make a deposit final.
    pub confirmations: u64,
}

/// Value that a transaction moved to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoinTransfer {
    pub transaction: B256,
    /// Its position in the block.
    pub index: u64,
    pub kind: DepositKind,
    /// Which of the transaction's transfers of that kind.
    pub position: u32,
    pub from: Address,
    /// The address of ours that was paid.
    pub to: Address,
    /// In base units.
    pub value: Quantity,
}

/// A transfer to us, in the block where it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub id: DepositId,
    pub transfer: CoinTransfer,
    pub attribution: Attribution,
    pub header: BlockHeader,
    /// Confirmations until it is final.
    pub required: u64,
}

/// The deposits of a block. Senders are only recovered where the receiver is ours: recovery is expensive.
///
/// # Errors
/// If a transaction to us has no sender.
pub fn sightings(rules: &DepositRules, watch: &WatchList, block: &Block) -> Result<Vec<Sighting>, Disagreement> {
    let (mut sightings, header) = (Vec::new(), block.header);
    for transaction in &block.transactions {
        let Some((to, value)) = transaction.native_transfer() else { continue };
        if !watch.watches(header.number, to) {
            continue;
        }
        let (kind, position, from) = (DepositKind::Native, 0, transaction.sender()?);
        let Some(attribution) = watch.attribute(header.number, from, to) else { continue };
        let id = DepositId::new(&rules.chain, transaction.hash, kind, position);
        let index = transaction.index as u64;
        let transfer = CoinTransfer { transaction: transaction.hash, index, kind, position, from, to, value };
        sightings.push(Sighting { id, transfer, attribution, header, required: rules.confirmations.max(1) });
    }
    Ok(sightings)
}
