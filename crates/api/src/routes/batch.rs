//! Many operations in one call, since games act in ticks. Each has its own key and its own result.

use std::{collections::HashSet, sync::Arc};

use axum::{extract::State, response::Response};
use bankroll_ledger::{Answer, HoldId, IdempotencyKey, Name, Request};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use utoipa::ToSchema;

use super::transfers::server_asset;
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, amount, hold_id, time},
    money::{
        AppliedBody, Operation, Spent, admit, applied, applied_by, applied_response, frozen_holds, request,
        settle_rejection,
    },
    state::{Gate, HeldBooks},
};

/// The most operations of one batch.
const OPERATIONS_MAX: usize = 8_000;
/// How many operations of one batch that a limit or a pause refuses are looked up, each with a search of the journal. The
/// others are refused, which is retriable.
const RETRIES_MAX: usize = 100;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchBody {
    /// 1 to 8,000, decided in this order, each as a whole or not at all.
    #[schema(min_items = 1, max_items = 8_000)]
    #[serde(deserialize_with = "read_operations")]
    pub operations: Vec<OperationBody>,
}

/// One operation. Its type says which other fields it has.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationBody {
    /// Its idempotency key.
    pub key: String,
    #[serde(rename = "type")]
    pub kind: OperationKind,
    #[serde(default)]
    pub account: Option<String>,
    #[serde(default)]
    pub counter: Option<String>,
    #[serde(default)]
    pub from: Option<String>,
    #[serde(default)]
    pub to: Option<String>,
    #[serde(default)]
    pub amount: Option<String>,
    #[serde(default)]
    pub hold: Option<String>,
    #[serde(default)]
    pub expires: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// `account`, `amount`, maybe `counter`.
    Deposit,
    /// `account`, `amount`, maybe `counter`.
    Withdraw,
    /// `from`, `to`, `amount`.
    Transfer,
    /// `account`, `amount`, maybe `expires`.
    Hold,
    /// `hold`, `to`, `amount`.
    Post,
    /// `hold`.
    Release,
    /// `amount`.
    Pellets,
    /// `amount`.
    Recycle,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct BatchAnswer {
    /// One for each operation, in the same order.
    pub results: Vec<OperationResult>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OperationResult {
    pub key: String,
    /// What it did; missing if it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedBody>,
    /// Whether this is the stored answer to an earlier request.
    pub replayed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<OperationError>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OperationError {
    pub code: &'static str,
    pub detail: String,
    pub retriable: bool,
}

/// Many operations in one call
///
/// Each has its own key and its own result; one that is refused does not stop the others.
#[utoipa::path(post, path = "/v1/servers/{server}/batch", tag = "money", params(("server" = String, Path)),
    request_body = BatchBody, responses((status = 200, body = BatchAnswer)), security(("session" = [])))]
pub async fn batch(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.game_server(&server)?;
    let BatchBody { operations } = call.body()?;
    if !(1..=OPERATIONS_MAX).contains(&operations.len()) {
        let given = if operations.is_empty() { "none" } else { "more" };
        let detail = format!("a batch has 1 to {OPERATIONS_MAX} operations; this one has {given}");
        return Err(ApiError::with(ErrorCode::BodyInvalid, detail));
    }
    let asset = server_asset(&gate, &server)?;
    let parsed = operations.into_iter().map(|one| one.parse(&server, asset)).collect::<Vec<_>>();
    let known = parsed.iter().filter_map(|(_, operation)| operation.as_ref().ok());
    gate.books.learn(known.flat_map(Operation::accounts)).await?;
    let results = submit(gate, &server, parsed).await?;
    applied_response(&BatchAnswer { results }, false)
}

type ParsedOperation = (String, Result<Operation, ApiError>);
type BuiltOperation = (String, Result<(Operation, Request, Result<Spent, ApiError>), ApiError>);

/// The request of each operation, and whether limits and pauses admit it.
fn build(gate: &Gate, server: &Name, parsed: Vec<ParsedOperation>, frozen: &HashSet<HoldId>) -> Vec<BuiltOperation> {
    let mut numbers = gate.books.accounts.locked();
    let mut ready = |key: &str, operation: Operation| {
        let request = request(server, key, vec![operation.leg(server, &mut numbers)?]);
        let spent = admit(gate, server, &operation, frozen);
        Ok((operation, request, spent))
    };
    parsed
        .into_iter()
        .map(|(key, operation)| {
            let built = operation.and_then(|operation| ready(&key, operation));
            (key, built)
        })
        .collect()
}

/// All sound operations in one call to the ledger. A refused one has its place in the results only.
async fn submit(gate: Gate, server: &Name, parsed: Vec<ParsedOperation>) -> Result<Vec<OperationResult>, ApiError> {
    let frozen = frozen_holds(&gate, parsed.iter().filter_map(|(_, operation)| operation.as_ref().ok())).await?;
    let built = build(&gate, server, parsed, &frozen);
    // Retries of what was applied get their answers, whatever has changed since.
    let refused_keys = built.iter().filter_map(|(_, ready)| match ready {
        Ok((_, request, Err(_))) => Some(request.key.clone()),
        _ => None,
    });
    let refused_keys: Vec<IdempotencyKey> = refused_keys.take(RETRIES_MAX).collect();
    let decided = if refused_keys.is_empty() { Ok(refused_keys) } else { gate.books.decided_keys(refused_keys).await };
    let decided = decided.inspect_err(|error| {
        let admitted = built.iter().filter_map(|(_, ready)| ready.as_ref().ok()?.2.as_ref().ok());
        admitted.for_each(|spent| spent.failed(&gate.books, error));
    })?;
    let mut requests: Vec<Request> = Vec::with_capacity(built.len());
    let mut sent = Vec::with_capacity(built.len());
    for (key, ready) in built {
        let ready = ready.and_then(|(operation, request, spent)| {
            let spent = if decided.contains(&request.key) { spent.unwrap_or_default() } else { spent? };
            requests.push(request);
            Ok((operation, spent))
        });
        sent.push((key, ready));
    }
    let books = Arc::clone(&gate.books);
    let pending = if requests.is_empty() { None } else { Some(books.ledger.submit(requests)) };
    drop(gate);
    let answers = match pending {
        Some(Ok(pending)) => pending.await.map_err(ApiError::from),
        Some(Err(refusal)) => Err(refusal.into()),
        None => Ok(Vec::new()),
    };
    let answers = answers.inspect_err(|error| {
        let admitted = sent.iter().filter_map(|(_, ready)| ready.as_ref().ok());
        admitted.for_each(|(_, spent)| spent.failed(&books, error));
    })?;
    let known: Vec<_> = {
        let numbers = books.accounts.locked();
        answers.iter().map(|answer| applied_by(&numbers, answer).ok().flatten()).collect()
    };
    let (mut answers, mut results) = (answers.into_iter().zip(known), Vec::with_capacity(sent.len()));
    for (key, ready) in sent {
        let result = match ready {
            Ok((operation, spent)) => {
                let (answer, known) = answers.next().ok_or(ErrorCode::OutcomeUnknown)?;
                spent.settle(&books, &answer);
                match known {
                    Some(applied) => {
                        OperationResult { key, applied: Some(applied), replayed: answer.replayed, error: None }
                    }
                    None => result_of(&books, server, key, &operation, &answer).await,
                }
            }
            Err(error) => refused(key, &error, false),
        };
        results.push(result);
    }
    Ok(results)
}

/// A read that fails after the commit leaves one result unknown, and the others as they are.
async fn result_of(
    books: &HeldBooks,
    server: &Name,
    key: String,
    operation: &Operation,
    answer: &Answer,
) -> OperationResult {
    let applied = match answer.effects() {
        Ok(_) => applied(books, answer).await,
        Err(rejection) => Err(settle_rejection(books, server, operation, rejection).await),
    };
    match applied {
        Ok(applied) => OperationResult { key, applied: Some(applied), replayed: answer.replayed, error: None },
        Err(error) => refused(key, &error, answer.replayed),
    }
}

fn refused(key: String, error: &ApiError, replayed: bool) -> OperationResult {
    let (code, retriable) = (error.code.as_str(), error.code.is_retriable());
    let error = OperationError { code, detail: error.detail.to_string(), retriable };
    OperationResult { key, applied: None, replayed, error: Some(error) }
}

/// At most one more than a batch may have: what follows takes no memory, since operations are larger than their text.
fn read_operations<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<OperationBody>, D::Error> {
    struct Operations;

    impl<'de> Visitor<'de> for Operations {
        type Value = Vec<OperationBody>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("operations")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
            let mut operations = Vec::new();
            while operations.len() <= OPERATIONS_MAX {
                match from.next_element()? {
                    Some(operation) => operations.push(operation),
                    None => return Ok(operations),
                }
            }
            while from.next_element::<IgnoredAny>()?.is_some() {}
            Ok(operations)
        }
    }

    from.deserialize_seq(Operations)
}

impl OperationBody {
    fn parse(self, server: &Name, asset: bankroll_ledger::AssetId) -> ParsedOperation {
        let Self { key, kind, account, counter, from, to, amount: units, hold, expires } = self;
        let is_key = (1..=200).contains(&key.len()) && key.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
        let wrong = || {
            let fields = "the operation has other fields than its type takes: see the documentation of the batch";
            ApiError::with(ErrorCode::BodyInvalid, fields)
        };
        let units = units.map(|units| amount(&units)).transpose();
        let parse = || {
            if !is_key {
                return Err(ErrorCode::IdempotencyKeyInvalid.into());
            }
            let units = units?;
            match (kind, account, counter, from, to, units, hold, expires) {
                (OperationKind::Deposit, Some(account), counter, None, None, Some(amount), None, None) => {
                    Operation::deposit(server, account, amount, counter)
                }
                (OperationKind::Withdraw, Some(account), counter, None, None, Some(amount), None, None) => {
                    Operation::withdraw(server, account, amount, counter)
                }
                (OperationKind::Transfer, None, None, Some(from), Some(to), Some(amount), None, None) => {
                    Ok(Operation::Move { from, to, amount })
                }
                (OperationKind::Hold, Some(account), None, None, None, Some(amount), None, expires) => {
                    let expires = expires.map(|text| time(&text, ErrorCode::BodyInvalid)).transpose()?;
                    Ok(Operation::Hold { account, amount, expires })
                }
                (OperationKind::Post, None, None, None, Some(to), Some(amount), Some(hold), None) => {
                    Ok(Operation::Post { hold: hold_id(&hold)?, to, amount })
                }
                (OperationKind::Release, None, None, None, None, None, Some(hold), None) => {
                    Ok(Operation::Release { hold: hold_id(&hold)? })
                }
                (OperationKind::Pellets, None, None, None, None, Some(amount), None, None) => {
                    Ok(Operation::pellets(server, asset, amount))
                }
                (OperationKind::Recycle, None, None, None, None, Some(amount), None, None) => {
                    Ok(Operation::recycle(server, asset, amount))
                }
                _ => Err(wrong()),
            }
        };
        let operation = parse();
        (key, operation)
    }
}
