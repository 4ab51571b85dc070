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
    let in_flight = jobs.iter().filter(|other| (Stage::Reserved..=Stage::Unknown).contains(&other.stage));
    let in_flight: Vec<&Job> = in_flight.collect();
    if in_flight.len() >= paying.rules.in_flight_max || in_flight.iter().any(|other| other.stage <= Stage::Signing) {
        return Ok(Err(Why::OthersFirst));
    }
    let wallet = rows::wallet(store, &paying.chain, paying.address)?;
    if let Some(row) = &wallet
        && maybe(row, "stopped", text_of)?.is_some()
    {
        return Ok(Err(Why::WalletStopped));
    }
    let balance = node.balance(paying.evm_address(), At::Latest)?;
    if balance < Quantity::from(job.amount) {
        return Ok(Err(Why::WalletShort));
    }
    let gas = match gas(job, paying, node)? {
        Ok(gas) => gas,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = afford(job, gas, &in_flight, balance, paying, store)? {
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

/// What the payout may cost, as things are now.
pub(crate) fn gas(job: &Job, paying: &Paying, node: &Node) -> Result<Result<Gas, Why>, PayoutError> {
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

/// Whether the wallet, and whoever pays for gas, has enough beside what is on its way.
fn afford(
    job: &Job,
    gas: Gas,
    in_flight: &[&Job],
    balance: Quantity,
    paying: &Paying,
    store: &Rows,
) -> Result<Result<(), Why>, PayoutError> {
    let cost = |of: &Job| price::worst(of.attempts.iter().map(|attempt| attempt.gas));
    let (mut promised, mut of_house) = (Amount::ZERO, Amount::ZERO);
    let mut add = |amount: Amount, fee: Amount, house_pays: bool| {
        promised = promised.checked_add(amount)?.checked_add(fee)?;
        of_house = if house_pays { of_house.checked_add(fee)? } else { of_house };
        Some(())
    };
    let mut all = in_flight.iter().filter(|other| other.stage != Stage::Mined).map(|other| (other, cost(other)));
    let fits = all
        .all(|(other, cost)| cost.and_then(|cost| add(other.amount, cost, other.fee_cap.is_none())).is_some())
        && gas.cost().and_then(|cost| add(job.amount, cost, job.fee_cap.is_none())).is_some();
    if !fits || balance < Quantity::from(promised) {
        return Ok(Err(Why::WalletShort));
    }
    if job.fee_cap.is_some() {
        return Ok(Ok(()));
    }
    let asset = paying.custody.asset;
    let standing = |kind: Kind| -> Result<Amount, PayoutError> {
        let account = store.reader().account_named(&AccountName { scope: Scope::House, kind, asset, owner: None })?;
        Ok(account.map_or(Amount::ZERO, |account| account.balance))
    };
    let capital = standing(Kind::House)?.checked_sub(standing(Kind::NetworkFees)?).unwrap_or(Amount::ZERO);
    Ok(if capital < of_house { Err(Why::HouseShort) } else { Ok(()) })
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
