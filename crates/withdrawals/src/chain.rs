//! The status of a job's transactions on the chain.
//!
//! A transaction counts as mined if it is in a block that was verified whole and that the RPC node has at that height now.
//! That the node does not know a transaction proves nothing, and an error is not "no".

use bankroll_chains_evm::{BlockTag, FindOutcome, Quantity, RpcError, Transaction};
use bankroll_ledger::BlockRef;

use crate::{
    PayoutConfig,
    context::StepContext,
    job::{ChainStatus, MinedTransaction, PayoutAttempt, PayoutJob},
};

/// Looks for every transaction of the job that has bytes.
pub(crate) fn chain_status(job: &PayoutJob, context: &StepContext<'_>) -> Result<ChainStatus, RpcError> {
    let StepContext { config, node, head, .. } = context;
    for attempt in &job.attempts {
        let Some((_, hash)) = attempt.signed else { continue };
        let FindOutcome::Included(block) = node.find(hash)? else { continue };
        let canonical = node.header(BlockTag::Number(block.header.number))?;
        let Some(transaction) = block.transaction(hash) else { continue };
        // A block that was just replaced: the next step will see it.
        if canonical.is_none_or(|canonical| canonical.hash != block.header.hash) {
            continue;
        }
        return Ok(ChainStatus::Mined(MinedTransaction {
            attempt: attempt.number,
            hash,
            block: BlockRef { number: block.header.number, hash: format!("{:#x}", block.header.hash) },
            confirmations: block.header.confirmations(*head),
            succeeded: transaction.succeeded,
            is_as_ordered: is_as_ordered(job, attempt, config, transaction),
            gas_used: transaction.gas_used,
            gas_price: transaction.gas_price,
        }));
    }
    let nonce = job.nonce.unwrap_or(u64::MAX);
    let wallet = config.address;
    let deep = match head.checked_sub(config.rules.confirmations) {
        Some(deep) => node.nonce(wallet, BlockTag::Number(deep))?,
        None => 0,
    };
    Ok(ChainStatus::Absent { nonce_is_gone: deep > nonce, is_lowest: node.nonce(wallet, BlockTag::Latest)? == nonce })
}

fn is_as_ordered(job: &PayoutJob, attempt: &PayoutAttempt, config: &PayoutConfig, transaction: &Transaction) -> bool {
    let (to, value) =
        if attempt.is_cancel { (config.address, Quantity::default()) } else { (job.to, Quantity::from(job.amount)) };
    transaction.to == Some(to) && transaction.value == value && Some(transaction.nonce) == job.nonce
}
