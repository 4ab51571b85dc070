//! From an operation to its answer.

use axum::response::Response;
use bankroll_ledger::{Action, HoldId, IdempotencyKey, Leg, Name, Namespace, References, Rejection, Request, Scope};
use serde::de::DeserializeOwned;

use super::{
    Operation, Spent, admit, applied, applied_response,
    holds::{frozen_holds, hold_account},
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::ApiCall,
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

/// A game server's call of one operation, which `operation` makes of its body.
pub(crate) async fn operate<B: DeserializeOwned>(
    funds: &Funds,
    server: &str,
    call: &ApiCall,
    operation: impl FnOnce(&Gate, &Name, B) -> Result<Operation, ApiError>,
) -> Result<Response, ApiError> {
    let gate = funds.enter(call).await?;
    let (server, key) = (gate.game_server(server)?, call.key()?);
    let operation = operation(&gate, &server, call.body()?)?;
    apply_one(gate, &server, key, operation).await
}

/// Applies one operation and answers with what it did.
async fn apply_one(gate: Gate, server: &Name, key: &str, operation: Operation) -> Result<Response, ApiError> {
    gate.books.learn(operation.accounts()).await?;
    let leg = operation.leg(server, &mut gate.books.accounts.locked())?;
    let request = request(server, key, vec![leg]);
    let frozen = frozen_holds(&gate, [&operation]).await?;
    let spent = match admit(&gate, server, &operation, &frozen) {
        Ok(spent) => spent,
        // A retry of what was applied gets its answer, whatever has changed since.
        Err(refusal) if gate.books.decided_keys(vec![request.key.clone()]).await?.is_empty() => return Err(refusal),
        Err(_) => Spent::default(),
    };
    let books = std::sync::Arc::clone(&gate.books);
    let pending = books.ledger.submit(vec![request]);
    // In the queue: a pause that is answered from here on comes after this request.
    drop(gate);
    let answers = spent.answers(&books, pending).await?;
    let answer = answers.first().ok_or(ErrorCode::OutcomeUnknown)?;
    spent.settle(&books, answer);
    match answer.effects() {
        Ok(_) => applied_response(&applied(&books, answer).await?, answer.replayed),
        Err(rejection) => Err(settle_rejection(&books, server, &operation, rejection).await),
    }
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
        Err(error) => error.after_commit(),
    }
}

/// The books that the account of a hold belongs to.
async fn hold_scope(books: &HeldBooks, hold: HoldId) -> Result<Option<Scope>, ApiError> {
    let account = books.readers.read(move |reader| hold_account(reader, hold)).await?;
    Ok(account.map(|account| account.scope))
}
