//! What the books decided about an intent: the request that made it, as the journal has it.
//!
//! Rows can be edited by whoever gets at the database, and nothing in them would show it; the journal is hashed, and
//! computed again by every audit. So money is ordered and settled by a row only as long as it says what the journal says.
//!
//! It does not know approvals: those will be requests of their own.

use bankroll_ledger::{AccountName, Amount, Guard, HoldId, Record, Request, Row, Value, Verdict};
use bankroll_orders::IntentId;
use bankroll_store::{
    Reader, Rows, SearchQuery, StoreError, Subject,
    columns::{BadRow, amount_of, maybe, number_of, parsed, text, text_of},
};

use crate::{PayoutError, intent::row, job::Job};

/// An intent whose row says what the books decided.
pub(crate) struct Decided {
    /// Its row.
    pub row: Row,
    /// The hold of its money.
    pub hold: HoldId,
}

/// What the request that made an intent did.
struct Made {
    hold: HoldId,
    /// The columns that it wrote.
    set: Vec<(String, Value)>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undecided {
    /// There is no row.
    #[error("there is no such intent")]
    NoRow,
    /// The journal has no request that made it.
    #[error("the journal has no such intent")]
    NoRecord,
    /// The row and the journal say different things: a person must look.
    #[error("the row of the intent is not what the books have decided")]
    Edited,
}

/// The intent, as its row says and the journal confirms.
pub(crate) fn decided(reader: &Reader, intent: &IntentId) -> Result<Result<Decided, Undecided>, PayoutError> {
    let sql =
        "SELECT server, request_id, wallet, account, chain, asset, to_address, amount, gas_payer, fee_cap, status,
                 hold FROM withdrawal_requests WHERE id = $1";
    let Some(row) = reader.rows(sql, vec![text(intent.0.as_str())])?.pop() else { return Ok(Err(Undecided::NoRow)) };
    let noted = maybe(&row, "hold", number_of)?.map(HoldId);
    let Some(Made { hold, set }) = made(reader, intent, noted)? else { return Ok(Err(Undecided::NoRecord)) };
    let is_same = set.iter().all(|(column, value)| row.get(column) == Some(value));
    Ok(if is_same { Ok(Decided { row, hold }) } else { Err(Undecided::Edited) })
}

/// Whether a job pays what the books decided that it pays.
pub(crate) fn confirms(store: &Rows, job: &Job) -> Result<bool, PayoutError> {
    let Ok(Decided { row, .. }) = decided(store.reader(), &job.intent)? else { return Ok(false) };
    let is_same =
        (job.to, job.amount, job.fee_cap) == (parsed(&row, "to_address")?, amount_of(&row, "amount")?, fee_cap(&row)?);
    Ok(is_same && text_of(&row, "status")? == "approved")
}

/// Whether whoever is paid owes something: what the chain took back of his deposits and he had spent, or held, by then.
pub(crate) fn is_in_debt(store: &Rows, job: &Job) -> Result<bool, PayoutError> {
    let sql = "SELECT account FROM withdrawal_requests WHERE id = $1";
    let Some(row) = store.read(sql, vec![text(job.intent.0.as_str())])?.pop() else { return Ok(false) };
    let Some(debt) = parsed::<AccountName>(&row, "account")?.debt() else { return Ok(false) };
    Ok(store.reader().account_named(&debt)?.is_some_and(|debt| !debt.balance.is_zero()))
}

/// What the player has set aside for gas, if he pays for it.
pub(crate) fn fee_cap(row: &Row) -> Result<Option<Amount>, BadRow> {
    let cap = amount_of(row, "fee_cap")?;
    Ok((text_of(row, "gas_payer")? == "player").then_some(cap))
}

/// The intent's own request. Where the row notes the hold, it says where in the journal that is; if it does not, or says
/// something else, the journal is searched.
fn made(reader: &Reader, intent: &IntentId, noted: Option<HoldId>) -> Result<Option<Made>, StoreError> {
    if let Some(noted) = noted
        && let Some(bytes) = reader.record(noted.made_by())?
        && let Some(found) = Record::decode(&bytes).ok().and_then(|record| own(record, intent))
    {
        return Ok(Some(found));
    }
    let mut query = SearchQuery::of(Subject::Intent(intent.to_string()));
    loop {
        let page = reader.search(&query)?;
        let found = page.items.into_iter().find_map(|entry| own(entry.record, intent));
        query.after = page.next;
        if found.is_some() || query.after.is_none() {
            return Ok(found);
        }
    }
}

/// Anybody can say that his request is about an intent. The one that made it has its row.
fn own(record: Record, intent: &IntentId) -> Option<Made> {
    let Record::Decided { request: Request { facts, .. }, verdict: Verdict::Applied(effects) } = record else {
        return None;
    };
    let fact = facts.into_iter().find(|fact| fact.row == row(intent) && fact.guard == Guard::Absent)?;
    Some(Made { hold: effects.holds.first()?.hold.id, set: fact.set })
}
