//! The rows of jobs: reading them whole, and the statements that change them.
//!
//! Every statement on a job names the version that was read, and raises it: of two workers on one job, the second writes
//! nothing at all.

use std::collections::BTreeSet;

use bankroll_chains_evm::B256;
use bankroll_ledger::{Amount, BlockRef, ColumnValue, Name, Row, Time};
use bankroll_orders::{Address, Gas, IntentId, OrderId, Price};
use bankroll_store::{
    Migrations, Rows, Statement,
    columns::{BadRow, amount_of, any, int, maybe, number_of, one, parsed, text, text_of, time},
};

use crate::{
    CancelError, PayoutConfig, PayoutError,
    intent::fee_cap,
    job::{JobStage, PayoutAttempt, PayoutJob},
    status::IntentStatus,
    step_result::WaitReason,
};

/// The tables of this flow.
pub const WITHDRAWALS: Migrations = Migrations {
    owner: "withdrawals",
    steps: &[include_str!("../migrations/0001_withdrawals.sql")],
    postgres: &[include_str!("../migrations/0001_withdrawals_postgres.sql")],
};

/// The stages of a job that has ended, as SQL. A literal, because the partial index of live jobs needs one.
pub(crate) const ENDED: &str = "('final', 'reverted', 'dead')";

/// Requests that the job of an intent is stopped.
pub(crate) fn request_cancel(rows: &Rows, intent: &IntentId, now: Time) -> Result<(), CancelError> {
    let live = format!("withdrawal_request_id = $1 AND status NOT IN {ENDED}");
    let found = rows.read(&format!("SELECT id FROM withdrawal_queue WHERE {live}"), vec![text(intent.0.as_str())])?;
    if found.is_empty() {
        return Err(CancelError::NotFound);
    }
    let sql = format!(
        "UPDATE withdrawal_queue SET cancel_asked = 1, version = version + 1, scheduled_at = 0, updated_at = $2 WHERE {live}"
    );
    rows.write(vec![one(&sql, vec![text(intent.0.as_str()), time(now)])])?;
    Ok(())
}

const JOB: &str =
    "SELECT id, withdrawal_request_id, to_address, amount, gas_payer, fee_cap, status, nonce, cancel_asked,
    block_number, block_hash, retry_count, scheduled_at, version FROM withdrawal_queue";

/// Approved intents in the wallet's coin that have no job yet, except those of paused servers. An intent in another
/// asset of the chain waits: what is signed here moves the coin.
pub(crate) fn approved(
    rows: &Rows,
    config: &PayoutConfig,
    paused: &BTreeSet<Name>,
    most: usize,
) -> Result<Vec<Row>, PayoutError> {
    let approved = IntentStatus::Approved.as_str();
    let places: Vec<String> = (3_usize..).take(paused.len()).map(|place| format!("${place}")).collect();
    let unpaused = if places.is_empty() { String::new() } else { format!("AND server NOT IN ({})", places.join(", ")) };
    let sql = format!(
        "SELECT id, to_address, amount, gas_payer, fee_cap FROM withdrawal_requests
         WHERE status = '{approved}' AND chain = $1 AND asset = $2 {unpaused}
           AND NOT EXISTS (SELECT 1 FROM withdrawal_queue WHERE withdrawal_request_id = withdrawal_requests.id)
         ORDER BY id LIMIT {most}"
    );
    let of_wallet = [text(config.chain.as_str()), int(u64::from(config.custody.asset.0))];
    let values = of_wallet.into_iter().chain(paused.iter().map(|server| text(server.as_str())));
    Ok(rows.read(&sql, values.collect())?)
}

/// Makes the job of an intent. A second one of the same intent is refused by the table.
pub(crate) fn open(config: &PayoutConfig, intent: &Row, now: Time) -> Result<Statement, PayoutError> {
    let id = text_of(intent, "id")?;
    let amount = |column| amount_of(intent, column).map(ColumnValue::Amount);
    let values = vec![
        text(&format!("job-{id}")),
        text(id),
        text(config.chain.as_str()),
        text(&config.address.to_string()),
        text(text_of(intent, "to_address")?),
        amount("amount")?,
        text(text_of(intent, "gas_payer")?),
        amount("fee_cap")?,
        time(now),
    ];
    Ok(one(
        "INSERT INTO withdrawal_queue (id, withdrawal_request_id, chain, operation_wallet_address_id, to_address, amount,
           gas_payer, fee_cap, status, priority, cancel_asked, retry_count, scheduled_at, created_at, updated_at, version)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', 1, 0, 0, 0, $9, $9, 1)",
        values,
    ))
}

/// The jobs of a wallet that are live or still watched, in the order in which they are worked on.
pub(crate) fn live(rows: &Rows, config: &PayoutConfig, watched_from: u64) -> Result<Vec<PayoutJob>, PayoutError> {
    let of_wallet = "chain = $1 AND operation_wallet_address_id = $2";
    let values = || vec![text(config.chain.as_str()), text(&config.address.to_string())];
    let sql = format!("{JOB} WHERE {of_wallet} AND status NOT IN {ENDED} ORDER BY priority, created_at, id");
    let mut found = rows.read(&sql, values())?;
    let sql = format!("{JOB} WHERE {of_wallet} AND status IN {ENDED} AND block_number >= $3 ORDER BY block_number, id");
    found.extend(rows.read(&sql, values().into_iter().chain([int(watched_from)]).collect())?);
    found.iter().map(|row| job(rows, row)).collect()
}

/// Gas that the house has paid for ended jobs, and that is not in the books yet; `None` if it exceeds 128 bits.
pub(crate) fn unbooked_gas(rows: &Rows, config: &PayoutConfig) -> Result<Option<Amount>, PayoutError> {
    let approved = IntentStatus::Approved.as_str();
    let sql = format!(
        "SELECT gas_used, gas_price FROM withdrawal_queue
         JOIN withdrawal_requests ON withdrawal_requests.id = withdrawal_queue.withdrawal_request_id
         WHERE withdrawal_requests.status = '{approved}' AND withdrawal_queue.chain = $1
           AND withdrawal_queue.status IN {ENDED} AND gas_used IS NOT NULL
           AND (withdrawal_queue.gas_payer = 'house' OR withdrawal_queue.status = 'dead')"
    );
    let mut sum = Some(Amount::ZERO);
    for row in rows.read(&sql, vec![text(config.chain.as_str())])? {
        let fee = u128::from(number_of(&row, "gas_used")?).checked_mul(amount_of(&row, "gas_price")?.units());
        sum = sum.zip(fee).and_then(|(sum, fee)| sum.checked_add(Amount::new(fee)));
    }
    Ok(sum)
}

/// A job as it is stored now.
pub(crate) fn reload(rows: &Rows, id: &str) -> Result<Option<PayoutJob>, PayoutError> {
    rows.read(&format!("{JOB} WHERE id = $1"), vec![text(id)])?.first().map(|row| job(rows, row)).transpose()
}

fn job(rows: &Rows, row: &Row) -> Result<PayoutJob, PayoutError> {
    let (id, nonce) = (text_of(row, "id")?.to_owned(), maybe(row, "nonce", number_of)?);
    let sql = "SELECT number, meaning, manner, gas_limit, max_fee, priority_fee, raw, tx_hash, refused, created_at, last_sent_at
               FROM payout_attempts WHERE job = $1 ORDER BY number";
    // A job without a nonce has none.
    let attempts = if nonce.is_some() { rows.read(sql, vec![text(&id)])? } else { Vec::new() };
    let attempts = attempts.iter().map(attempt).collect::<Result<_, _>>()?;
    let block = maybe(row, "block_number", number_of)?.zip(maybe(row, "block_hash", text_of)?);
    Ok(PayoutJob {
        id,
        intent: IntentId(parsed(row, "withdrawal_request_id")?),
        to: parsed(row, "to_address")?,
        amount: amount_of(row, "amount")?,
        fee_cap: fee_cap(row)?,
        stage: JobStage::of_row(row)?,
        nonce,
        cancel_requested: number_of(row, "cancel_asked")? != 0,
        attempts,
        block: block.map(|(number, hash)| BlockRef { number, hash: hash.to_owned() }),
        retries: number_of(row, "retry_count")?,
        scheduled_at: Time(number_of(row, "scheduled_at")?),
        version: number_of(row, "version")?,
    })
}

fn attempt(row: &Row) -> Result<PayoutAttempt, BadRow> {
    let (max, priority) = (amount_of(row, "max_fee")?.units(), amount_of(row, "priority_fee")?.units());
    let price = match text_of(row, "manner")? {
        "dynamic" => Price::Dynamic { max, priority },
        "legacy" => Price::Legacy { price: max },
        _ => return Err(BadRow { column: "manner" }),
    };
    let raw = match row.get("raw") {
        Some(ColumnValue::Null) => None,
        Some(ColumnValue::Bytes(raw)) => Some(raw.clone()),
        _ => return Err(BadRow { column: "raw" }),
    };
    let is_cancel = match text_of(row, "meaning")? {
        "payout" => false,
        "cancel" => true,
        _ => return Err(BadRow { column: "meaning" }),
    };
    let hash: Option<B256> = maybe(row, "tx_hash", parsed)?;
    Ok(PayoutAttempt {
        number: number_of(row, "number")?,
        is_cancel,
        gas: Gas { limit: number_of(row, "gas_limit")?, price },
        signed: raw.zip(hash),
        is_refused: maybe(row, "refused", text_of)?.is_some(),
        created_at: Time(number_of(row, "created_at")?),
        last_sent_at: maybe(row, "last_sent_at", number_of)?.map(Time),
    })
}

/// Changes a job as it was read.
pub(crate) fn change(job: &PayoutJob, set: &[(&str, ColumnValue)], now: Time) -> Statement {
    let columns: Vec<String> =
        set.iter().zip(1_usize..).map(|((name, _), place)| format!("{name} = ${place}")).collect();
    let (at, id, version) = (set.len().saturating_add(1), set.len().saturating_add(2), set.len().saturating_add(3));
    let sql = format!(
        "UPDATE withdrawal_queue SET {}, updated_at = ${at}, version = version + 1 WHERE id = ${id} AND version = ${version}",
        columns.join(", ")
    );
    let values = set.iter().map(|(_, value)| value.clone());
    one(&sql, values.chain([time(now), text(&job.id), int(job.version)]).collect())
}

/// The id under which the signer knows an attempt.
pub(crate) fn order_id(job: &PayoutJob, number: u64) -> OrderId {
    OrderId(format!("{}-{number}", job.intent).parse().expect("a legal name"))
}

/// Writes an attempt down, before the signer is asked for it.
pub(crate) fn add_attempt(job: &PayoutJob, number: u64, is_cancel: bool, gas: Gas, now: Time) -> Statement {
    let (manner, priority) = match gas.price {
        Price::Dynamic { priority, .. } => ("dynamic", priority),
        Price::Legacy { price } => ("legacy", price),
    };
    one(
        "INSERT INTO payout_attempts (job, number, order_id, meaning, manner, gas_limit, max_fee, priority_fee, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        vec![
            text(&job.id),
            int(number),
            text(order_id(job, number).0.as_str()),
            text(if is_cancel { "cancel" } else { "payout" }),
            text(manner),
            int(gas.limit),
            ColumnValue::Amount(Amount::new(gas.price.max())),
            ColumnValue::Amount(Amount::new(priority)),
            time(now),
        ],
    )
}

/// Stores the bytes of an attempt. They are never replaced.
pub(crate) fn sign_attempt(job: &PayoutJob, number: u64, raw: Vec<u8>, hash: B256, now: Time) -> Statement {
    one(
        "UPDATE payout_attempts SET raw = $1, tx_hash = $2, signed_at = $3 WHERE job = $4 AND number = $5 AND raw IS NULL",
        vec![ColumnValue::Bytes(raw), text(&format!("{hash:#x}")), time(now), text(&job.id), int(number)],
    )
}

/// Stores the signer's refusal of an attempt while other attempts continue.
pub(crate) fn refuse_attempt(job: &PayoutJob, number: u64, reason: &str) -> Statement {
    one(
        "UPDATE payout_attempts SET refused = $1 WHERE job = $2 AND number = $3 AND raw IS NULL",
        vec![text(reason), text(&job.id), int(number)],
    )
}

/// Stores the time at which an attempt was sent.
pub(crate) fn sent_attempt(job: &PayoutJob, number: u64, now: Time) -> Statement {
    one(
        "UPDATE payout_attempts SET last_sent_at = $1 WHERE job = $2 AND number = $3",
        vec![time(now), text(&job.id), int(number)],
    )
}

/// Notes that what is final is not what was settled. It is written in every step, and changes the row once.
pub(crate) fn note_contradiction(job: &PayoutJob) -> Statement {
    let sql = "UPDATE withdrawal_queue SET error_message = $1 WHERE id = $2 AND error_message IS NULL";
    any(sql, vec![text(&WaitReason::Contradicted.to_string()), text(&job.id)])
}

/// The wallet's own row: the signer's head, and the reason for which it is stopped.
pub(crate) fn wallet(rows: &Rows, chain: &Name, address: Address) -> Result<Option<Row>, PayoutError> {
    let sql = "SELECT signer_head, stopped FROM operation_wallet_addresses WHERE chain = $1 AND address = $2";
    Ok(rows.read(sql, vec![text(chain.as_str()), text(&address.to_string())])?.pop())
}

/// Sets a column of the wallet's own row.
pub(crate) fn set_wallet(chain: &Name, address: Address, column: &str, value: &str) -> Statement {
    let sql = format!(
        "INSERT INTO operation_wallet_addresses (chain, address, {column}) VALUES ($1, $2, $3)
         ON CONFLICT (chain, address) DO UPDATE SET {column} = excluded.{column}"
    );
    one(&sql, vec![text(chain.as_str()), text(&address.to_string()), text(value)])
}
