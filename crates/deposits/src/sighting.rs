//! What of a block came to us. Pure.
//!
//! Only effects count: the value of a transaction that succeeded, in a block that was verified whole. Calldata does not
//! matter, a transaction that makes a contract pays nobody, and nothing is no deposit. Transfers inside a transaction and
//! tokens will be further kinds.

use bankroll_chains_evm::{Address, B256, Block, Disagreement, Header, Value};
use bankroll_ledger::Name;

use crate::{Attribution, DepositId, Kind, WatchList};

/// What counts on a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The chain, as assets name it: `eip155:1`.
    pub chain: Name,
    /// How many blocks, its own included, make a deposit final.
    pub confirmations: u64,
}

/// Value that a transaction moved to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The transaction.
    pub transaction: B256,
    /// Its place in the block.
    pub index: u64,
    /// How the value came.
    pub kind: Kind,
    /// Which of the transaction's transfers of that kind.
    pub position: u32,
    /// Who paid.
    pub from: Address,
    /// Which of our addresses was paid.
    pub to: Address,
    /// How much, in base units.
    pub value: Value,
}

/// A transfer to us, in the block where it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The deposit.
    pub id: DepositId,
    /// What moved.
    pub transfer: Transfer,
    /// Whose it is.
    pub attribution: Attribution,
    /// In this block.
    pub header: Header,
    /// How many confirmations it takes.
    pub required: u64,
}

/// The deposits of a block. Senders are only computed where the receiver is ours, since that is the dear part.
///
/// # Errors
/// If a transaction to us has no sender.
pub fn sightings(rules: &Rules, watch: &WatchList, block: &Block) -> Result<Vec<Sighting>, Disagreement> {
    let (mut sightings, header) = (Vec::new(), block.header);
    for transaction in &block.transactions {
        let Some((to, value)) = transaction.native_transfer() else { continue };
        if !watch.watches(header.number, to) {
            continue;
        }
        let (kind, position, from) = (Kind::Native, 0, transaction.sender()?);
        let Some(attribution) = watch.attribute(header.number, from, to) else { continue };
        let id = DepositId::new(&rules.chain, transaction.hash, kind, position);
        let index = transaction.index as u64;
        let transfer = Transfer { transaction: transaction.hash, index, kind, position, from, to, value };
        sightings.push(Sighting { id, transfer, attribution, header, required: rules.confirmations.max(1) });
    }
    Ok(sightings)
}
