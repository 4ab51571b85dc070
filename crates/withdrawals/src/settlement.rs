//! Settlement (role `books`): the outcome of a payout moves its money, in the commit that consumes the row that reports it.
//!
//! | outcome | the hold | gas |
//! | --- | --- | --- |
//! | paid | posted to the wallet's account | house: to `network_fees`; player: out of the hold, the rest is released |
//! | reverted | released | as above |
//! | cancelled | released | paid by the house, since it is the house's expense |
//! | never signed | released | none |

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, AssetId, BlockRef, ColumnValue, Fact, Guard, GuardFailure,
    HoldId, IdempotencyKey, Leg, Name, Namespace, Principal, References, Request, Scope,
};
use bankroll_orders::IntentId;
use bankroll_store::{
    InboxConsumer, InboxRow, Location, PAYOUT_EVENTS, Reader, RowMeaning, StoreError,
    columns::{BadRow, amount_of, number_of, parsed, text},
};
use serde_json::json;

use crate::{
    intent::{event, fee_cap, row_key},
    journal_check::{CheckedIntent, IntentMismatch, check_intent},
    outcome::{PAYOUT_ENDED, PayoutOutcome, PayoutReport},
    status::{IntentEvent, IntentStatus},
};

/// Everything that the request of a settlement is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettlementInput {
    pub intent: IntentId,
    /// The server of the player.
    pub server: Name,
    /// The player.
    pub wallet: Name,
    /// The hold of the intent's money.
    pub hold: HoldId,
    pub amount: Amount,
    /// The most that the player pays for gas; `None` if the house pays.
    pub fee_cap: Option<Amount>,
    /// The account of the wallet.
    pub custody: AccountId,
    /// The account of gas that the house pays.
    pub network_fees: AccountId,
    pub outcome: PayoutOutcome,
    /// The price of the gas that the wallet used.
    pub fee: Amount,
    /// The transaction, if there is one.
    pub tx_hash: Option<String>,
    /// The block of the transaction.
    pub block: Option<BlockRef>,
}

/// Consumes the reports of the payouts role: call its `round` again and again.
///
/// # Errors
/// If the books cannot be opened for reading.
pub fn consumer(location: &Location, rows_max: usize) -> Result<InboxConsumer, StoreError> {
    let reader = Reader::open(location)?;
    let consume = move |row: &InboxRow| consume(&reader, row);
    Ok(InboxConsumer::new(PAYOUT_EVENTS, &[PAYOUT_ENDED], location, rows_max, consume))
}

fn consume(reader: &Reader, row: &InboxRow) -> RowMeaning {
    let report = match serde_json::from_str::<PayoutReport>(&row.body) {
        Ok(report) => report,
        Err(error) => return RowMeaning::Refused(format!("the body does not report the outcome of a payout: {error}")),
    };
    match settlement_input(reader, row, report) {
        Ok(Ok(input)) => settlement_request(&input).map_or_else(
            || RowMeaning::Refused("the gas cost more than the player's fee cap".into()),
            |request| RowMeaning::Money(Box::new(request)),
        ),
        Ok(Err(refused)) => RowMeaning::Refused(refused.into()),
        Err(later) => RowMeaning::Later(later),
    }
}

/// The input of the settlement; or why it never can be settled; or why not now.
fn settlement_input(
    reader: &Reader,
    row: &InboxRow,
    report: PayoutReport,
) -> Result<Result<SettlementInput, &'static str>, String> {
    let later = |error: StoreError| error.to_string();
    let bad = |error: BadRow| error.to_string();
    let Ok(intent) = row.subject.parse().map(IntentId) else { return Ok(Err("there is no such intent")) };
    let CheckedIntent { row: found, hold } = match check_intent(reader, &intent).map_err(|error| error.to_string())? {
        Ok(checked) => checked,
        Err(IntentMismatch::NoRow) => return Ok(Err("there is no such intent")),
        // An operator may correct the row.
        Err(mismatch) => return Err(mismatch.to_string()),
    };
    let found = &found;
    let asset = AssetId(u32::try_from(number_of(found, "asset").map_err(bad)?).unwrap_or(u32::MAX));
    let number = |name: &AccountName| {
        let account = reader.account_named(name).map_err(later)?;
        account.map(|account| account.id).ok_or_else(|| format!("{name} is not open"))
    };
    let network_fees = AccountName { scope: Scope::House, kind: AccountKind::NetworkFees, asset, owner: None };
    let custody = report.custody.parse::<AccountName>().ok();
    let Some(custody) = custody.filter(|name| name.kind == AccountKind::Custody && name.asset == asset) else {
        return Ok(Err("it names no account of a wallet"));
    };
    Ok(Ok(SettlementInput {
        intent,
        server: parsed(found, "server").map_err(bad)?,
        wallet: parsed(found, "wallet").map_err(bad)?,
        hold,
        amount: amount_of(found, "amount").map_err(bad)?,
        fee_cap: fee_cap(found).map_err(bad)?,
        custody: number(&custody)?,
        network_fees: number(&network_fees)?,
        outcome: report.outcome,
        fee: report.fee,
        tx_hash: report.tx_hash,
        block: report.block,
    }))
}

/// The request that settles an intent; `None` if the gas cost more than the player's fee cap.
#[must_use]
pub fn settlement_request(input: &SettlementInput) -> Option<Request> {
    let SettlementInput { hold, custody, outcome, fee, .. } = *input;
    let paid = if outcome.is_paid() { input.amount } else { Amount::ZERO };
    let cap = input.fee_cap.filter(|_| outcome.is_players_gas());
    let posted = cap.map_or(Some(paid), |_| paid.checked_add(fee))?;
    let held = input.amount.checked_add(input.fee_cap.unwrap_or(Amount::ZERO))?;
    let rest = held.checked_sub(posted)?;
    let mut legs = Vec::new();
    if !posted.is_zero() {
        legs.push(Leg::Post { hold, to: custody, amount: posted });
    }
    if !rest.is_zero() {
        legs.push(Leg::Release { hold });
    }
    if cap.is_none() && !fee.is_zero() {
        legs.push(Leg::Move { from: input.network_fees, to: custody, amount: fee });
    }
    let columns = |columns: &[(&str, ColumnValue)]| {
        columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Vec<_>>()
    };
    let before = IntentStatus::Approved;
    let status = before.after(IntentEvent::Settle(outcome))?.as_str();
    let reason = outcome.reason();
    let fact = Fact {
        row: row_key(&input.intent),
        guard: Guard::Is(columns(&[("status", text(before.as_str()))])),
        otherwise: GuardFailure::Conflict,
        set: columns(&[
            ("status", text(status)),
            ("final_tx_hash", input.tx_hash.as_deref().map_or(ColumnValue::Null, text)),
            ("fee", ColumnValue::Amount(fee)),
            ("reason", reason.map_or(ColumnValue::Null, text)),
        ]),
    };
    let body = json!({
        "intent": input.intent, "server": input.server, "wallet": input.wallet, "amount": input.amount,
        "status": status, "tx_hash": input.tx_hash, "reason": reason,
    });
    let kind = if outcome.is_paid() { "withdrawal.completed" } else { "withdrawal.failed" };
    Some(Request {
        key: IdempotencyKey {
            namespace: Namespace::Payouts,
            scope: Scope::Server(input.server.clone()),
            text: format!("settle/{}", input.intent),
        },
        principal: Principal::System,
        confirmation: None,
        action: Action::Legs(legs),
        references: References {
            intent: Some(input.intent.to_string()),
            tx_hash: input.tx_hash.clone(),
            block: input.block.clone(),
            ..References::default()
        },
        facts: vec![fact],
        events: vec![event(kind, &input.intent, &body)],
    })
}
