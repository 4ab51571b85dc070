//! Reserving a nonce: only if the wallet can pay the payout and its gas in addition to everything it has promised.
//!
//! At most one job of a wallet is between its nonce and its bytes. So a nonce that is given back is always the highest,
//! and there is never a hole below transactions that are already signed.

use bankroll_chains_evm::{BlockTag, Call, Quantity, RpcError};
use bankroll_ledger::{AccountKind, AccountName, Amount, ColumnValue, Scope};
use bankroll_orders::{Gas, Price};
use bankroll_store::{
    Statement,
    columns::{int, maybe, number_of, one, text, text_of},
};

use crate::{
    PayoutError,
    context::StepContext,
    job::{JobStage, PayoutJob},
    journal_check::{confirms, is_frozen, is_in_debt, is_of_server},
    price, rows,
    step_result::WaitReason,
};

/// A nonce, and the statements that reserve it.
pub(crate) struct Reservation {
    pub nonce: u64,
    pub statements: Vec<Statement>,
}

/// A nonce for the job, or the reason for which there is none now.
pub(crate) fn reserve(
    job: &PayoutJob,
    jobs: &[PayoutJob],
    context: &StepContext<'_>,
) -> Result<Result<Reservation, WaitReason>, PayoutError> {
    let config = context.config;
    // The job itself has no nonce yet, and is not among them.
    let in_flight: Vec<&PayoutJob> = jobs.iter().filter(|other| other.stage.is_in_flight()).collect();
    if in_flight.len() >= config.rules.in_flight_max || in_flight.iter().any(|other| other.stage <= JobStage::Signing) {
        return Ok(Err(WaitReason::OthersFirst));
    }
    let wallet = rows::wallet(context.rows, &config.chain, config.address)?;
    if let Some(row) = &wallet
        && maybe(row, "stopped", text_of)?.is_some()
    {
        return Ok(Err(WaitReason::WalletStopped));
    }
    if is_of_server(context.rows, job, context.paused)? {
        return Ok(Err(WaitReason::ServerPaused));
    }
    if is_in_debt(context.rows, job)? {
        return Ok(Err(WaitReason::InDebt));
    }
    if is_frozen(context.rows, job, context.is_frozen)? {
        return Ok(Err(WaitReason::Frozen));
    }
    if let Err(reason) = order_gas(job, jobs, context)? {
        return Ok(Err(reason));
    }
    let (nonce, taking) = next_nonce(job, context)?;
    let used = context.node.nonce(config.address, BlockTag::Latest)?;
    if used > nonce {
        // The wallet was used outside of this system: nothing new is paid until an operator resumes it.
        context.write(vec![context.set_wallet("stopped", "foreign_nonce")])?;
        return Ok(Err(WaitReason::ForeignNonce { expected: nonce, found: used }));
    }
    let set =
        [("status", text(JobStage::Reserved.as_str())), ("nonce", int(nonce)), ("error_message", ColumnValue::Null)];
    Ok(Ok(Reservation { nonce, statements: vec![taking, context.change(job, &set)] }))
}

/// The gas of the first order at today's prices, if the job is what the books have decided, and if the wallet and the
/// payer of gas have enough for it.
pub(crate) fn order_gas(
    job: &PayoutJob,
    jobs: &[PayoutJob],
    context: &StepContext<'_>,
) -> Result<Result<Gas, WaitReason>, PayoutError> {
    if !confirms(context.rows, job)? {
        return Ok(Err(WaitReason::NotAsDecided));
    }
    let balance = context.node.balance(context.config.address, BlockTag::Latest)?;
    if balance < Quantity::from(job.amount) {
        return Ok(Err(WaitReason::WalletShort));
    }
    let gas = match estimate(job, context)? {
        Ok(gas) => gas,
        Err(reason) => return Ok(Err(reason)),
    };
    // The balance does not contain what is in a block any more.
    let waiting = others(job, jobs).filter(|other| other.stage != JobStage::Mined);
    let costs = waiting.map(|other| other.amount.checked_add(price::worst(other.attempts.iter().map(|of| of.gas))?));
    let own = gas.cost().and_then(|cost| cost.checked_add(job.amount));
    let promised = costs.chain([own]).try_fold(Amount::ZERO, |sum, cost| sum.checked_add(cost?));
    if promised.is_none_or(|promised| balance < Quantity::from(promised)) {
        return Ok(Err(WaitReason::WalletShort));
    }
    let is_paid_for = job.fee_cap.is_some() || house_affords(job, gas, jobs, context)?;
    Ok(if is_paid_for { Ok(gas) } else { Err(WaitReason::HouseShort) })
}

/// The gas of the payout at today's prices.
fn estimate(job: &PayoutJob, context: &StepContext<'_>) -> Result<Result<Gas, WaitReason>, PayoutError> {
    let StepContext { config, node, .. } = context;
    let call = Call { from: config.address, to: job.to, value: Quantity::from(job.amount), input: Vec::new().into() };
    let estimate = match node.estimate_gas(&call) {
        Ok(estimate) => estimate,
        // The node tried it: the payment would fail, or the wallet is short.
        Err(RpcError::Refused(_)) => return Ok(Err(WaitReason::WouldFail)),
        Err(error) => return Err(error.into()),
    };
    // A plain transfer always costs the same; a contract may need more by then.
    let limit = if estimate <= 21_000 { estimate } else { estimate.saturating_add(estimate.div_ceil(5)) };
    if limit > config.rules.gas_max {
        return Ok(Err(WaitReason::TooMuchGas));
    }
    let ceiling = price::ceiling(config.rules.ceiling, job.fee_cap, limit);
    let price = price::market(node.fees()?, ceiling);
    Ok(price.map(|price| Gas { limit, price }).ok_or(WaitReason::FeesAboveCeiling))
}

/// Whether the house has capital for this gas of a job, in addition to what it may have to pay for other jobs, and to what
/// is used and not booked yet.
pub(crate) fn house_affords(
    job: &PayoutJob,
    gas: Gas,
    jobs: &[PayoutJob],
    context: &StepContext<'_>,
) -> Result<bool, PayoutError> {
    // A cancellation is the house's expense, also where the player pays for the payout.
    let of_house = |other: &PayoutJob| {
        let attempts = other.attempts.iter().filter(|attempt| other.fee_cap.is_none() || attempt.is_cancel);
        price::worst(attempts.map(|attempt| attempt.gas))
    };
    // Read before the books: what is booked in between counts twice then, and is not forgotten.
    let unbooked = rows::unbooked_gas(context.rows, context.config)?;
    let costs = others(job, jobs).map(of_house).chain([gas.cost(), unbooked]);
    let needed = costs.into_iter().try_fold(Amount::ZERO, |sum, cost| sum.checked_add(cost?));
    let asset = context.config.custody.asset;
    let balance = |kind: AccountKind| -> Result<Amount, PayoutError> {
        let name = AccountName { scope: Scope::House, kind, asset, owner: None };
        let account = context.rows.reader().account_named(&name)?;
        Ok(account.map_or(Amount::ZERO, |account| account.balance))
    };
    let capital = balance(AccountKind::House)?.checked_sub(balance(AccountKind::NetworkFees)?).unwrap_or(Amount::ZERO);
    Ok(needed.is_some_and(|needed| needed <= capital))
}

/// The other jobs in flight.
fn others<'a>(job: &'a PayoutJob, jobs: &'a [PayoutJob]) -> impl Iterator<Item = &'a PayoutJob> {
    jobs.iter().filter(|other| other.id != job.id && other.stage.is_in_flight())
}

/// The lowest free nonce, or the next one; for a wallet that never paid, the nonce that the chain reports.
fn next_nonce(job: &PayoutJob, context: &StepContext<'_>) -> Result<(u64, Statement), PayoutError> {
    let [chain, address] = context.wallet_key();
    let sql = "SELECT min(CASE WHEN job IS NULL THEN nonce END) AS free, max(nonce) AS last FROM payout_nonces
               WHERE chain = $1 AND wallet = $2";
    let found = context.rows.read(sql, vec![chain.clone(), address.clone()])?;
    let column = |name| found.first().map_or(Ok(None), |row| maybe(row, name, number_of));
    if let Some(free) = column("free")? {
        let sql = "UPDATE payout_nonces SET job = $1 WHERE chain = $2 AND wallet = $3 AND nonce = $4 AND job IS NULL";
        return Ok((free, one(sql, vec![text(&job.id), chain, address, int(free)])));
    }
    let next = match column("last")? {
        Some(last) => last.saturating_add(1),
        None => context.node.nonce(context.config.address, BlockTag::Latest)?,
    };
    let sql = "INSERT INTO payout_nonces (job, chain, wallet, nonce) VALUES ($1, $2, $3, $4)";
    Ok((next, one(sql, vec![text(&job.id), chain, address, int(next)])))
}

/// The gas of a replacement of the job's transactions, if there is a price below the ceiling. A cancellation is the
/// house's expense, so that the player's cap does not apply to it.
pub(crate) fn replacement_gas(
    job: &PayoutJob,
    is_cancel: bool,
    context: &StepContext<'_>,
) -> Result<Option<Gas>, PayoutError> {
    let (Some(before), Some(last)) = (job.highest(), job.attempts.last()) else { return Ok(None) };
    let ceiling = price::ceiling(context.config.rules.ceiling, job.fee_cap.filter(|_| !is_cancel), last.gas.limit);
    let market: Option<Price> = price::market(context.node.fees()?, ceiling);
    Ok(price::replacement(before, market, ceiling).map(|price| Gas { limit: last.gas.limit, price }))
}
