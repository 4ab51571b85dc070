//! Payouts as lists and reports show them: the intent, its job and the job's attempts in one value.

use bankroll_ledger::{Amount, AssetId, BlockRef, ColumnValue, HoldId, Name, Row, Time};
use bankroll_orders::{Address, IntentId};
use bankroll_store::{
    Reader,
    columns::{BadRow, amount_of, maybe, number_of, parsed, text, text_of},
};

use crate::{ViewError, WITHDRAWALS, intent::fee_cap, job::JobStage, status::IntentStatus};

/// How far a payout is, as lists name it. The first line of its SQL that is true decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayoutStage {
    AwaitingApproval,
    /// Approved, without a nonce.
    Waiting,
    /// It has a nonce, and the signer may have its order.
    Signing,
    /// A transaction is signed, and sent again until a block has it.
    Sent,
    /// In a block that is not deep enough yet.
    Mined,
    /// The outcome is proven; the books settle it next.
    Settling,
    /// Its nonce is used by an unknown transaction: needs an operator.
    Unknown,
    Paid,
    /// Not paid; the money was released.
    Failed,
}

impl PayoutStage {
    pub const ALL: [Self; 9] = [
        Self::AwaitingApproval,
        Self::Waiting,
        Self::Signing,
        Self::Sent,
        Self::Mined,
        Self::Settling,
        Self::Unknown,
        Self::Paid,
        Self::Failed,
    ];

    /// Whether nothing happens to it any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Paid | Self::Failed)
    }

    /// The stage of an intent and its job, as SQL: lists filter by it, and no second definition exists.
    const SQL: &'static str = "CASE WHEN r.status = 'completed' THEN 'paid'
       WHEN r.status IN ('failed', 'awaiting_approval') THEN r.status
       WHEN q.status IN ('reserved', 'signing') THEN 'signing'
       WHEN q.status IN ('signed', 'broadcast') THEN 'sent'
       WHEN q.status IN ('mined', 'unknown') THEN q.status
       WHEN q.status IN ('final', 'reverted', 'dead') THEN 'settling' ELSE 'waiting' END";

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingApproval => "awaiting_approval",
            Self::Waiting => "waiting",
            Self::Signing => "signing",
            Self::Sent => "sent",
            Self::Mined => "mined",
            Self::Settling => "settling",
            Self::Unknown => "unknown",
            Self::Paid => "paid",
            Self::Failed => "failed",
        }
    }
}

/// An intent and all that became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutView {
    pub intent: IntentId,
    pub stage: PayoutStage,
    pub status: IntentStatus,
    pub server: String,
    /// Whose name for the request `request_id` is.
    pub asker: String,
    pub request_id: String,
    /// The player.
    pub wallet: String,
    /// The account that has the money.
    pub account: String,
    pub chain: String,
    pub asset: AssetId,
    pub to: Address,
    pub amount: Amount,
    /// The most that the player pays for gas; `None` if the house pays.
    pub fee_cap: Option<Amount>,
    /// The hold of its money; its record made the intent.
    pub hold: Option<HoldId>,
    /// The transaction that decided it, once it is settled.
    pub final_tx_hash: Option<String>,
    /// What gas cost, once it is settled.
    pub fee: Option<Amount>,
    /// Why it failed.
    pub reason: Option<String>,
    /// The work on it, once it has begun.
    pub job: Option<PayoutJobView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutJobView {
    pub id: String,
    pub stage: JobStage,
    /// The wallet that pays.
    pub pays_from: String,
    pub nonce: Option<u64>,
    pub cancel_requested: bool,
    pub tx_hash: Option<String>,
    pub block: Option<BlockRef>,
    pub retries: u64,
    /// Why it waits, if it does.
    pub waits: Option<String>,
    /// Why nothing new is paid from the wallet at all.
    pub wallet_stopped: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// One transaction that the signer was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutAttemptView {
    pub number: u64,
    pub is_cancel: bool,
    pub tx_hash: Option<String>,
    pub gas_limit: u64,
    /// The most for one unit of gas.
    pub max_fee: Amount,
    pub priority_fee: Amount,
    /// Why the signer refused it.
    pub refused: Option<String>,
    pub created_at: Time,
    pub last_sent_at: Option<Time>,
}

/// Which payouts to list.
#[derive(Clone, Debug, Default)]
pub struct PayoutFilter {
    pub stage: Option<PayoutStage>,
    pub server: Option<Name>,
    /// Of one of these players; of any player if there are none.
    pub players: Vec<Name>,
    /// Continue after this intent.
    pub after: Option<String>,
}

/// Whether these books have the tables of withdrawals: books that never were a node's have none.
///
/// # Errors
/// If the books cannot be read.
pub fn has_tables(reader: &Reader) -> Result<bool, ViewError> {
    let sql = "SELECT count(*) AS count FROM migrations WHERE owner = $1";
    let rows = reader.rows(sql, vec![text(WITHDRAWALS.owner)])?;
    Ok(rows.first().map(|row| number_of(row, "count")).transpose()?.is_some_and(|count| count > 0))
}

/// Payouts of all chains, newest first.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn list_payouts(reader: &Reader, filter: &PayoutFilter, most: usize) -> Result<Vec<PayoutView>, ViewError> {
    let (mut conditions, mut values) = (vec!["1 = 1".to_owned()], Vec::new());
    if let Some(stage) = filter.stage {
        values.push(text(stage.as_str()));
        conditions.push(format!("{} = ${}", PayoutStage::SQL, values.len()));
    }
    if let Some(server) = &filter.server {
        values.push(text(server.as_str()));
        conditions.push(format!("r.server = ${}", values.len()));
    }
    if !filter.players.is_empty() {
        let first = values.len().saturating_add(1);
        values.extend(filter.players.iter().map(|player| text(player.as_str())));
        let places: Vec<String> = (first..=values.len()).map(|place| format!("${place}")).collect();
        conditions.push(format!("r.wallet IN ({})", places.join(", ")));
    }
    if let Some(after) = &filter.after {
        values.push(text(after));
        let place = format!("(SELECT {} FROM withdrawal_requests AS l WHERE l.id = ${})", newness("l"), values.len());
        conditions.push(format!("({0} < {place} OR ({0} = {place} AND r.id > ${1}))", newness("r"), values.len()));
    }
    payouts(reader, &conditions.join(" AND "), values, most)
}

/// The payouts with this intent id, request id or transaction, and those to this destination or of this player.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn find_payouts(reader: &Reader, what: &str, most: usize) -> Result<Vec<PayoutView>, ViewError> {
    let lower = what.to_lowercase();
    // Rows have destinations with their checksum.
    let to = lower.parse().map_or_else(|_| lower.clone(), |address: Address| address.to_string());
    let condition = "r.id = $1 OR r.request_id = $1 OR r.wallet = $1 OR r.final_tx_hash = $1 OR r.to_address = $2
      OR q.id IN (SELECT job FROM payout_attempts WHERE tx_hash = $1)";
    payouts(reader, condition, vec![text(&lower), text(&to)], most)
}

/// One payout by its id.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn payout_of(reader: &Reader, id: &IntentId) -> Result<Option<PayoutView>, ViewError> {
    Ok(payouts(reader, "r.id = $1", vec![text(id.0.as_str())], 1)?.pop())
}

/// The attempts of a job, oldest first.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn attempts_of(reader: &Reader, job: &PayoutJobView) -> Result<Vec<PayoutAttemptView>, ViewError> {
    let sql = "SELECT number, meaning, gas_limit, max_fee, priority_fee, tx_hash, refused, created_at, last_sent_at
      FROM payout_attempts WHERE job = $1 ORDER BY number LIMIT 1000";
    let attempt = |row: &Row| {
        Ok(PayoutAttemptView {
            number: number_of(row, "number")?,
            is_cancel: text_of(row, "meaning")? == "cancel",
            tx_hash: optional(row, "tx_hash")?,
            gas_limit: number_of(row, "gas_limit")?,
            max_fee: amount_of(row, "max_fee")?,
            priority_fee: amount_of(row, "priority_fee")?,
            refused: optional(row, "refused")?,
            created_at: Time(number_of(row, "created_at")?),
            last_sent_at: maybe(row, "last_sent_at", number_of)?.map(Time),
        })
    };
    reader.rows(sql, vec![text(&job.id)])?.iter().map(attempt).collect()
}

/// The order of intents in time: the number of a hold grows with the journal. A hold that is not noted yet is the newest.
fn newness(table: &str) -> String {
    format!("coalesce({table}.hold, 9223372036854775807)")
}

fn payouts(
    reader: &Reader,
    condition: &str,
    values: Vec<ColumnValue>,
    most: usize,
) -> Result<Vec<PayoutView>, ViewError> {
    let sql = format!(
        "SELECT r.id AS id, r.server AS server, r.asker AS asker, r.request_id AS request_id, r.wallet AS wallet,
           r.account AS account, r.chain AS chain, r.asset AS asset, r.to_address AS to_address, r.amount AS amount,
           r.gas_payer AS gas_payer, r.fee_cap AS fee_cap, r.status AS intent_status, r.final_tx_hash AS final_tx_hash,
           r.fee AS fee, r.reason AS reason, r.hold AS hold, {} AS stage, q.id AS job, q.status AS status,
           q.operation_wallet_address_id AS pays_from, q.nonce AS nonce, q.cancel_asked AS cancel_asked,
           q.tx_hash AS tx_hash, q.block_number AS block_number, q.block_hash AS block_hash,
           q.retry_count AS retry_count, q.error_message AS error_message, q.created_at AS created_at,
           q.updated_at AS updated_at, w.stopped AS stopped
         FROM withdrawal_requests AS r LEFT JOIN withdrawal_queue AS q ON q.withdrawal_request_id = r.id
           LEFT JOIN operation_wallet_addresses AS w ON w.chain = q.chain AND w.address = q.operation_wallet_address_id
         WHERE {condition} ORDER BY {} DESC, r.id LIMIT {most}",
        PayoutStage::SQL,
        newness("r"),
    );
    reader.rows(&sql, values)?.iter().map(|row| Ok(view_of(row)?)).collect()
}

fn view_of(row: &Row) -> Result<PayoutView, BadRow> {
    let owned = |column| text_of(row, column).map(str::to_owned);
    let (status, stage) = (text_of(row, "intent_status")?, text_of(row, "stage")?);
    let status = IntentStatus::ALL.into_iter().find(|known| known.as_str() == status);
    let stage = PayoutStage::ALL.into_iter().find(|known| known.as_str() == stage);
    Ok(PayoutView {
        intent: IntentId(parsed(row, "id")?),
        stage: stage.ok_or(BadRow { column: "stage" })?,
        status: status.ok_or(BadRow { column: "status" })?,
        server: owned("server")?,
        asker: owned("asker")?,
        request_id: owned("request_id")?,
        wallet: owned("wallet")?,
        account: owned("account")?,
        chain: owned("chain")?,
        asset: AssetId(u32::try_from(number_of(row, "asset")?).map_err(|_| BadRow { column: "asset" })?),
        to: parsed(row, "to_address")?,
        amount: amount_of(row, "amount")?,
        fee_cap: fee_cap(row)?,
        hold: maybe(row, "hold", number_of)?.map(HoldId),
        final_tx_hash: optional(row, "final_tx_hash")?,
        fee: maybe(row, "fee", amount_of)?,
        reason: optional(row, "reason")?,
        job: optional(row, "job")?.map(|id| job_of(row, id)).transpose()?,
    })
}

fn job_of(row: &Row, id: String) -> Result<PayoutJobView, BadRow> {
    let block = maybe(row, "block_number", number_of)?.zip(optional(row, "block_hash")?);
    let stage = JobStage::of_row(row)?;
    Ok(PayoutJobView {
        id,
        stage,
        pays_from: text_of(row, "pays_from")?.to_owned(),
        nonce: maybe(row, "nonce", number_of)?,
        cancel_requested: number_of(row, "cancel_asked")? != 0,
        tx_hash: optional(row, "tx_hash")?,
        block: block.map(|(number, hash)| BlockRef { number, hash }),
        retries: number_of(row, "retry_count")?,
        waits: optional(row, "error_message")?,
        wallet_stopped: optional(row, "stopped")?,
        created_at: Time(number_of(row, "created_at")?),
        updated_at: Time(number_of(row, "updated_at")?),
    })
}

fn optional(row: &Row, column: &'static str) -> Result<Option<String>, BadRow> {
    Ok(maybe(row, column, text_of)?.map(str::to_owned))
}
