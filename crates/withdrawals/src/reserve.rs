//! Getting a nonce: only if the wallet can pay the payout and its gas beside everything it has promised already.
//!
//! At most one job of a wallet is between its nonce and its bytes. So a nonce that is given back is always the highest, and
//! there is never a hole below transactions that are already signed.

use bankroll_chains_evm::{At, Call, Node, NodeError, Value as Quantity};
use bankroll_ledger::{AccountName, Amount, Kind, Scope, Time, Value};
use bankroll_orders::{Gas, Price};
use bankroll_store::{
    Rows, Statement,
    columns::{int, maybe, number_of, one, text, text_of},
};

use crate::{
    PayoutError,
    decided::{confirms, is_in_debt},
    job::{Job, Stage},
    payouts::{Paying, Why},
    price,
    rows::{self, change},
};

/// What a nonce is got with.
pub(crate) struct Reserved {
    pub nonce: u64,
    pub statements: Vec<Statement>,
}

/// A nonce for the job, or why there is none now.
pub(crate) fn reserve(
    job: &Job,
    jobs: &[Job],
    paying: &Paying,
    node: &Node,
    store: &Rows,
    now: Time,
) -> Result<Result<Reserved, Why>, PayoutError> {
    // The job itself has no nonce yet, and is not among them.
    let in_flight: Vec<&Job> = jobs.iter().filter(|other| is_in_flight(other)).collect();
    if in_flight.len() >= paying.rules.in_flight_max || in_flight.iter().any(|other| other.stage <= Stage::Signing) {
        return Ok(Err(Why::OthersFirst));
    }
    let wallet = rows::wallet(store, &paying.chain, paying.address)?;
    if let Some(row) = &wallet
        && maybe(row, "stopped", text_of)?.is_some()
    {
        return Ok(Err(Why::WalletStopped));
    }
    if is_in_debt(store, job)? {
        return Ok(Err(Why::InDebt));
    }
    if let Err(why) = order(job, jobs, paying, node, store)? {
        return Ok(Err(why));
    }
    let (nonce, taking) = nonce(job, paying, node, store)?;
    let used = node.nonce(paying.evm_address(), At::Latest)?;
    if used > nonce {
        // Somebody else pays from this wallet: nothing new until a person has looked.
        store.write(vec![rows::set_wallet(&paying.chain, paying.address, "stopped", "foreign_nonce")])?;
        return Ok(Err(Why::ForeignNonce { expected: nonce, found: used }));
    }
    let set = [("status", text(Stage::Reserved.as_str())), ("nonce", int(nonce)), ("error_message", Value::Null)];
    Ok(Ok(Reserved { nonce, statements: vec![taking, change(job, &set, now)] }))
}

/// What the payout may cost, as things are now, if it is what the books have decided, and if the wallet and whoever pays for
/// gas have enough for it.
pub(crate) fn order(
    job: &Job,
    jobs: &[Job],
    paying: &Paying,
    node: &Node,
    store: &Rows,
) -> Result<Result<Gas, Why>, PayoutError> {
    if !confirms(store, job)? {
        return Ok(Err(Why::NotAsDecided));
    }
    let balance = node.balance(paying.evm_address(), At::Latest)?;
    if balance < Quantity::from(job.amount) {
        return Ok(Err(Why::WalletShort));
    }
    let gas = match gas(job, paying, node)? {
        Ok(gas) => gas,
        Err(why) => return Ok(Err(why)),
    };
    // What is in a block is not in the balance any more.
    let waiting = others(job, jobs).filter(|other| other.stage != Stage::Mined);
    let costs = waiting.map(|other| other.amount.checked_add(price::worst(other.attempts.iter().map(|of| of.gas))?));
    let own = gas.cost().and_then(|cost| cost.checked_add(job.amount));
    let promised = costs.chain([own]).try_fold(Amount::ZERO, |sum, cost| sum.checked_add(cost?));
    if promised.is_none_or(|promised| balance < Quantity::from(promised)) {
        return Ok(Err(Why::WalletShort));
    }
    let is_paid_for = job.fee_cap.is_some() || house_affords(job, gas, jobs, paying, store)?;
    Ok(if is_paid_for { Ok(gas) } else { Err(Why::HouseShort) })
}

/// What the payout may cost, as things are now.
fn gas(job: &Job, paying: &Paying, node: &Node) -> Result<Result<Gas, Why>, PayoutError> {
    let call = Call {
        from: paying.evm_address(),
        to: job.to.0.into(),
        value: Quantity::from(job.amount),
        input: Vec::new().into(),
    };
    let estimate = match node.estimate_gas(&call) {
        Ok(estimate) => estimate,
        // The node tried it out: it would not go through, or the wallet is short.
        Err(NodeError::Refused(_)) => return Ok(Err(Why::WouldFail)),
        Err(error) => return Err(error.into()),
    };
    // A plain transfer costs the same always; what a contract does may cost more by then.
    let limit = if estimate <= 21_000 { estimate } else { estimate.saturating_add(estimate.div_ceil(5)) };
    if limit > paying.rules.gas_max {
        return Ok(Err(Why::TooMuchGas));
    }
    let ceiling = price::ceiling(paying.rules.ceiling, job.fee_cap, limit);
    let price = price::market(node.fees()?, ceiling);
    Ok(price.map(|price| Gas { limit, price }).ok_or(Why::FeesAboveCeiling))
}

/// Whether the house has capital for this gas of a job, beside what it may have to pay for others, and what is burnt and
/// not booked yet.
pub(crate) fn house_affords(
    job: &Job,
    gas: Gas,
    jobs: &[Job],
    paying: &Paying,
    store: &Rows,
) -> Result<bool, PayoutError> {
    // A cancel is the house's expense, whoever pays for the payout.
    let of_house = |other: &Job| {
        let attempts = other.attempts.iter().filter(|attempt| other.fee_cap.is_none() || attempt.is_cancel);
        price::worst(attempts.map(|attempt| attempt.gas))
    };
    // Before the books are looked at: what they book in between is counted twice then, and not forgotten.
    let unbooked = rows::unbooked_gas(store, paying)?;
    let costs = others(job, jobs).map(of_house).chain([gas.cost(), unbooked]);
    let needed = costs.into_iter().try_fold(Amount::ZERO, |sum, cost| sum.checked_add(cost?));
    let asset = paying.custody.asset;
    let standing = |kind: Kind| -> Result<Amount, PayoutError> {
        let account = store.reader().account_named(&AccountName { scope: Scope::House, kind, asset, owner: None })?;
        Ok(account.map_or(Amount::ZERO, |account| account.balance))
    };
    let capital = standing(Kind::House)?.checked_sub(standing(Kind::NetworkFees)?).unwrap_or(Amount::ZERO);
    Ok(needed.is_some_and(|needed| needed <= capital))
}

/// The other jobs that have a nonce and no end.
fn others<'a>(job: &'a Job, jobs: &'a [Job]) -> impl Iterator<Item = &'a Job> {
    jobs.iter().filter(|other| other.id != job.id && is_in_flight(other))
}

fn is_in_flight(job: &Job) -> bool {
    (Stage::Reserved..=Stage::Unknown).contains(&job.stage)
}

/// The lowest free nonce, or the next one; for a wallet that never paid, what the chain says.
fn nonce(job: &Job, paying: &Paying, node: &Node, store: &Rows) -> Result<(u64, Statement), PayoutError> {
    let (chain, address) = (text(paying.chain.as_str()), text(&paying.address_text()));
    let sql = "SELECT min(CASE WHEN job IS NULL THEN nonce END) AS free, max(nonce) AS last FROM payout_nonces
               WHERE chain = $1 AND wallet = $2";
    let found = store.read(sql, vec![chain.clone(), address.clone()])?;
    let column = |name| found.first().map_or(Ok(None), |row| maybe(row, name, number_of));
    if let Some(free) = column("free")? {
        let sql = "UPDATE payout_nonces SET job = $1 WHERE chain = $2 AND wallet = $3 AND nonce = $4 AND job IS NULL";
        return Ok((free, one(sql, vec![text(&job.id), chain, address, int(free)])));
    }
    let next = match column("last")? {
        Some(last) => last.saturating_add(1),
        None => node.nonce(paying.evm_address(), At::Latest)?,
    };
    let sql = "INSERT INTO payout_nonces (job, chain, wallet, nonce) VALUES ($1, $2, $3, $4)";
    Ok((next, one(sql, vec![text(&job.id), chain, address, int(next)])))
}

/// The price of a replacement of the job's transactions, if there is one below the ceiling. A cancel is the house's wish,
/// and its expense.
pub(crate) fn replacement(
    job: &Job,
    is_cancel: bool,
    paying: &Paying,
    node: &Node,
) -> Result<Option<Gas>, PayoutError> {
    let (Some(before), Some(last)) = (job.highest(), job.attempts.last()) else { return Ok(None) };
    let ceiling = price::ceiling(paying.rules.ceiling, job.fee_cap.filter(|_| !is_cancel), last.gas.limit);
    let market: Option<Price> = price::market(node.fees()?, ceiling);
    Ok(price::replacement(before, market, ceiling).map(|price| Gas { limit: last.gas.limit, price }))
}
