//! From an operation to its answer.

use std::sync::PoisonError;

use axum::response::Response;
use bankroll_ledger::{
    Action, Amount, AssetId, HoldId, IdempotencyKey, Leg, Name, Namespace, Record, References, Rejection, Request,
    Scope,
};

use super::{Operation, applied, applied_response};
use crate::{
    ApiError, ErrorCode,
    state::{Gate, HeldBooks},
};

/// The request of a game server under one of its keys.
pub(crate) fn request(server: &Name, key: &str, legs: Vec<Leg>) -> Request {
    Request {
        key: IdempotencyKey {
            namespace: Namespace::Client,
            scope: Scope::Server(server.clone()),
            text: format!("key/{key}"),
        },
        principal: bankroll_ledger::Principal::GameServer(server.clone()),
        confirmation: None,
        action: Action::Legs(legs),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    }
}

/// Applies one operation and answers with what it did.
pub(crate) async fn apply_one(
    gate: Gate,
    server: &Name,
    key: &str,
    operation: Operation,
) -> Result<Response, ApiError> {
    gate.books.learn(operation.accounts()).await?;
    let leg = operation.leg(server, &gate.books)?;
    let spent = spend(&gate, &operation)?;
    let (books, now) = (std::sync::Arc::clone(&gate.books), gate.now);
    let pending = books.ledger.submit(vec![request(server, key, vec![leg])]);
    let key_address = gate.opened_by();
    // In the queue: a pause that is answered from here on comes after this request.
    drop(gate);
    let give_back = || {
        if let (Some((asset, amount)), Some(key)) = (spent, key_address) {
            unspend(&books, key, asset, amount, now);
        }
    };
    let pending = pending.inspect_err(|_| give_back())?;
    let answers = pending.await?;
    let answer = answers.first().ok_or(ErrorCode::OutcomeUnknown)?;
    // It certainly moved nothing now.
    if answer.replayed || answer.effects().is_err() {
        give_back();
    }
    match answer.effects() {
        Ok(_) => applied_response(&applied(&books, answer).await?, answer.replayed),
        Err(rejection) => Err(settle_rejection(&books, server, &operation, rejection).await),
    }
}

/// Counts what an operation spends against the limit of the key that opened the session.
pub(crate) fn spend(gate: &Gate, operation: &Operation) -> Result<Option<(AssetId, Amount)>, ApiError> {
    let Some((asset, amount)) = operation.spends() else { return Ok(None) };
    let key = gate.opened_by().and_then(|address| gate.registry.server_key(address));
    let Some((key, limit)) = key.and_then(|key| Some((key, key.spend_limit?))) else { return Ok(None) };
    let mut limits = gate.books.spend.lock().unwrap_or_else(PoisonError::into_inner);
    limits.spend(key.address, asset, limit, amount, gate.now).map_err(|reached| {
        let wait = reached.retry_at.map_or(60, |at| at.0.saturating_sub(gate.now.0).div_ceil(1_000_000));
        ApiError::with(ErrorCode::SpendLimit, reached.to_string()).after(u32::try_from(wait).unwrap_or(60))
    })?;
    Ok(Some((asset, amount)))
}

/// Takes back what was counted for an operation that moved nothing.
pub(crate) fn unspend(
    books: &HeldBooks,
    key: bankroll_orders::Address,
    asset: AssetId,
    amount: Amount,
    counted_at: bankroll_ledger::Time,
) {
    let mut limits = books.spend.lock().unwrap_or_else(PoisonError::into_inner);
    limits.give_back(key, asset, amount, counted_at);
}

/// The error for a rejection. The ledger says "not allowed" for a hold of another server, too; to its caller that hold
/// does not exist.
pub(crate) async fn settle_rejection(
    books: &HeldBooks,
    server: &Name,
    operation: &Operation,
    rejection: Rejection,
) -> ApiError {
    let (Operation::Post { hold, .. } | Operation::Release { hold }) = operation else { return rejection.into() };
    if rejection != Rejection::NotAllowed && rejection != Rejection::HoldSettled && rejection != Rejection::HoldExpired
    {
        return rejection.into();
    }
    match hold_scope(books, *hold).await {
        Ok(Some(Scope::Server(of))) if of == *server => rejection.into(),
        Ok(_) => ErrorCode::NotFound.into(),
        Err(error) => error,
    }
}

/// The books that the account of a hold belongs to.
async fn hold_scope(books: &HeldBooks, hold: HoldId) -> Result<Option<Scope>, ApiError> {
    books
        .readers
        .read(move |reader| {
            let Some(record) = reader.record(hold.made_by())? else { return Ok(None) };
            let Ok(Record::Decided { verdict: bankroll_ledger::Verdict::Applied(effects), .. }) =
                Record::decode(&record)
            else {
                return Ok(None);
            };
            let made = effects.holds.iter().find(|change| change.hold.id == hold);
            let account = made.map(|change| reader.account(change.hold.account)).transpose()?.flatten();
            Ok::<_, bankroll_store::StoreError>(account.map(|account| account.name.scope))
        })
        .await
}
