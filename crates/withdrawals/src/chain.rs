//! What the chain shows of a job's transactions.
//!
//! A transaction counts as mined if it is in a block that was verified whole and that the node has at that height now. That
//! the node does not know a transaction proves nothing, and an error is not "no".

use bankroll_chains_evm::{At, Found, Node, NodeError, Transaction, Value};
use bankroll_ledger::BlockRef;

use crate::{
    job::{Attempt, Job, Mined, Rules, Sight},
    payouts::Paying,
};

/// Looks for every transaction of the job that there are bytes of.
pub(crate) fn look(job: &Job, paying: &Paying, rules: &Rules, node: &Node, head: u64) -> Result<Sight, NodeError> {
    for attempt in &job.attempts {
        let Some((_, hash)) = attempt.signed else { continue };
        let Found::Included(block) = node.find(hash)? else { continue };
        let canonical = node.header(At::Number(block.header.number))?;
        let Some(transaction) = block.transaction(hash) else { continue };
        // A block that was just replaced: the next look will know.
        if canonical.is_none_or(|canonical| canonical.hash != block.header.hash) {
            continue;
        }
        let number = block.header.number;
        return Ok(Sight::Mined(Mined {
            attempt: attempt.number,
            hash,
            block: BlockRef { number, hash: format!("{:#x}", block.header.hash) },
            confirmations: head.checked_sub(number).map_or(0, |above| above.saturating_add(1)),
            succeeded: transaction.succeeded,
            is_as_ordered: is_as_ordered(job, attempt, paying, transaction),
            gas_used: transaction.gas_used,
            gas_price: transaction.gas_price,
        }));
    }
    let nonce = job.nonce.unwrap_or(u64::MAX);
    let wallet = paying.evm_address();
    let deep = match head.checked_sub(rules.confirmations) {
        Some(deep) => node.nonce(wallet, At::Number(deep))?,
        None => 0,
    };
    Ok(Sight::Nowhere { nonce_is_gone: deep > nonce, is_lowest: node.nonce(wallet, At::Latest)? == nonce })
}

fn is_as_ordered(job: &Job, attempt: &Attempt, paying: &Paying, transaction: &Transaction) -> bool {
    let (to, value) = if attempt.is_cancel {
        (paying.evm_address(), Value::default())
    } else {
        (job.to.0.into(), Value::from(job.amount))
    };
    transaction.to == Some(to) && transaction.value == value && Some(transaction.nonce) == job.nonce
}
