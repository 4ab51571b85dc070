//! What people decide about a deposit, and what the books then write. Pure, except for the comparison with the log.
//!
//! | decision | by | from | to |
//! | --- | --- | --- | --- |
//! | hold | one person, at once | not booked, nobody has decided | held |
//! | release | several | waits for a person, or was refused | released: the ordinary rules credit it |
//! | refuse | several | waits for a person, or is in suspense | refused |
//! | assign | several | in suspense, final, not refused | the player's unallocated money |
//!
//! A release lets one inclusion through. Each write is guarded by what was decided about: a credit, an unwind and
//! another decision change the same columns, so that only one of them wins.

use bankroll_ledger::{
    AccountKind, AccountName, Action, Amount, AssetId, Column, ColumnValue, Event, Fact, Guard, GuardFailure, Leg,
    Namespace, Request, Scope,
};
use bankroll_operators::ProposalContent;
use bankroll_store::{
    Reader, StoreError,
    columns::{int, text},
};
use serde_json::json;

use crate::{
    ChainState, DepositId, Doubt, LedgerState, ReviewState, credit::row, event_log::of_deposits, view::DepositView,
};

/// Why a decision about a deposit is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewRefusal {
    #[error("the books have it already: only what is not booked can be held")]
    Booked,
    #[error("people have decided about it already: it is {}", .0.as_str())]
    Decided(ReviewState),
    #[error("it waits for nobody: the books credit it by their rules; hold it first")]
    NotWaiting,
    #[error("the ledger cannot count so much: it can only be refused")]
    TooLarge,
    #[error("it is not in suspense")]
    NotInSuspense,
    #[error("people have refused it: release it first")]
    Refused,
    #[error("its block is not final on the chain now")]
    NotFinal,
    #[error("it is inclusion {0} now: the chain has replaced its block")]
    OtherInclusion(u64),
    #[error("its amount is another one")]
    OtherAmount,
}

/// What the ledger writes for a confirmed proposal about a deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedOutReview {
    pub fact: Fact,
    pub event: Event,
    /// From, to and how much; `None` where no money moves.
    pub moves: Option<(AccountName, AccountName, Amount)>,
}

/// The columns that a decision is made about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DecidedFrom {
    review: String,
    ledger: String,
}

/// Holds a deposit, under a key of the journal.
///
/// # Errors
/// If it is booked, or people have decided about it.
pub fn hold(deposit: &DepositView, key: &str) -> Result<(Fact, Event), ReviewRefusal> {
    if deposit.ledger_state.is_booked() {
        return Err(ReviewRefusal::Booked);
    }
    if !matches!(deposit.review_state, ReviewState::None | ReviewState::Cleared) {
        return Err(ReviewRefusal::Decided(deposit.review_state));
    }
    let guard = columns([
        ("ledger_state", text(deposit.ledger_state.as_str())),
        ("review_state", text(deposit.review_state.as_str())),
    ]);
    let set = columns([("review_state", text(ReviewState::Held.as_str())), ("review_by", text(key))]);
    let row = row(&deposit.id);
    let fact = Fact { row, guard: Guard::Is(guard), otherwise: GuardFailure::Conflict, set };
    Ok((fact, event("deposit.held", deposit.id.as_str(), &json!({ "deposit": deposit.id.as_str() }))))
}

/// Whether a proposal about a deposit could be carried out now. `Ok` for any other.
///
/// # Errors
/// Why not.
pub fn check(deposit: &DepositView, content: &ProposalContent) -> Result<(), ReviewRefusal> {
    let Some((_, inclusion)) = content.deposit() else { return Ok(()) };
    if deposit.epoch != inclusion {
        return Err(ReviewRefusal::OtherInclusion(deposit.epoch));
    }
    let (review, ledger) = (deposit.review_state, deposit.ledger_state);
    let is_refused = review == ReviewState::Refused;
    match content {
        ProposalContent::AssignDeposit { amount, .. } => {
            if ledger != LedgerState::Suspense {
                return Err(ReviewRefusal::NotInSuspense);
            }
            if is_refused {
                return Err(ReviewRefusal::Refused);
            }
            if deposit.chain_state != ChainState::Final || deposit.ledger_epoch != inclusion {
                return Err(ReviewRefusal::NotFinal);
            }
            if deposit.amount == amount.to_string() { Ok(()) } else { Err(ReviewRefusal::OtherAmount) }
        }
        ProposalContent::ReleaseDeposit { .. } => match () {
            () if deposit.amount.parse::<Amount>().is_err() => Err(ReviewRefusal::TooLarge),
            () if is_refused && ledger != LedgerState::Credited => Ok(()),
            () if ledger.is_booked() => Err(ReviewRefusal::Booked),
            () if is_waiting(deposit) => Ok(()),
            () => Err(ReviewRefusal::NotWaiting),
        },
        _ => match () {
            () if is_refused => Err(ReviewRefusal::Decided(review)),
            () if ledger == LedgerState::Suspense || (!ledger.is_booked() && is_waiting(deposit)) => Ok(()),
            () if ledger.is_booked() => Err(ReviewRefusal::Booked),
            () => Err(ReviewRefusal::NotWaiting),
        },
    }
}

/// Whether it is not credited before a person has decided.
fn is_waiting(deposit: &DepositView) -> bool {
    let doubt = deposit.doubt.as_deref().and_then(Doubt::from_row).filter(|doubt| doubt.is_held());
    let is_released = deposit.review_state == ReviewState::Released && deposit.review_epoch == deposit.epoch;
    deposit.review_state == ReviewState::Held || (doubt.is_some() && !is_released)
}

/// What a confirmed proposal writes, under its key. If the deposit has changed since it was proposed, the guard does not
/// hold, and the ledger rejects it for ever. `None` for a proposal about anything else.
#[must_use]
pub fn carry_out(deposit: &DepositView, content: &ProposalContent, key: &str) -> Option<CarriedOutReview> {
    let as_now = DecidedFrom {
        review: deposit.review_state.as_str().to_owned(),
        ledger: deposit.ledger_state.as_str().to_owned(),
    };
    // From a state that it is not in.
    let elsewhere = |review: ReviewState| DecidedFrom { review: review.as_str().to_owned(), ledger: "none".to_owned() };
    let from = match check(deposit, content) {
        Ok(()) => as_now,
        Err(_) if deposit.review_state == ReviewState::Held => elsewhere(ReviewState::None),
        Err(_) => elsewhere(ReviewState::Held),
    };
    let fact = fact(content, key, &from)?;
    let moves = match content {
        ProposalContent::AssignDeposit { amount, .. } => {
            let (from, to) = accounts(content, deposit.asset)?;
            Some((from, to, *amount))
        }
        _ => None,
    };
    let (id, inclusion) = content.deposit()?;
    let body = match content {
        ProposalContent::AssignDeposit { amount, server, player, .. } => json!({
            "deposit": id, "epoch": inclusion, "amount": amount, "server": server, "wallet": player,
            "asset": deposit.asset, "tx_hash": deposit.tx_hash, "from": deposit.from,
        }),
        _ => json!({ "deposit": id, "epoch": inclusion }),
    };
    let kind = match content {
        ProposalContent::AssignDeposit { .. } => "deposit.assigned",
        ProposalContent::ReleaseDeposit { .. } => "deposit.released",
        _ => "deposit.refused",
    };
    Some(CarriedOutReview { fact, event: event(kind, id, &body), moves })
}

/// Whether a request of the journal does what this content about a deposit says, and nothing else. The amount is
/// compared with the scanner's log.
///
/// # Errors
/// If the books cannot be read.
pub fn is_carried_out_by(reader: &Reader, content: &ProposalContent, request: &Request) -> Result<bool, StoreError> {
    let Some((id, inclusion)) = content.deposit() else { return Ok(false) };
    let ([written], Namespace::Client, Action::Legs(legs)) =
        (request.facts.as_slice(), request.key.namespace, &request.action)
    else {
        return Ok(false);
    };
    let Guard::Is(guard) = &written.guard else { return Ok(false) };
    let word = |column: &str| match guard.iter().find(|(name, _)| name == column) {
        Some((_, ColumnValue::Text(word))) => word.clone(),
        _ => String::new(),
    };
    let from = DecidedFrom { review: word("review_state"), ledger: word("ledger_state") };
    if !may_follow(content, &from) || fact(content, &request.key.text, &from).as_ref() != Some(written) {
        return Ok(false);
    }
    let ProposalContent::AssignDeposit { amount, .. } = content else { return Ok(legs.is_empty()) };
    let [Leg::Move { from: paid, to: received, amount: moved }] = legs.as_slice() else { return Ok(false) };
    let id = DepositId::from_row(id);
    let events = of_deposits(reader, std::slice::from_ref(&id))?.remove(&id);
    let Some(Ok(events)) = events else { return Ok(false) };
    let Some(event) = events.iter().find(|event| event.inclusion.epoch == inclusion) else { return Ok(false) };
    let Some((suspense, unallocated)) = accounts(content, event.inclusion.asset) else { return Ok(false) };
    let number = |name| reader.account_named(name).map(|found| found.map(|account| account.id));
    Ok(moved == amount
        && event.inclusion.value.amount().ok() == Some(*amount)
        && number(&suspense)? == Some(*paid)
        && number(&unallocated)? == Some(*received))
}

/// Whether this decision may ever be made about a deposit in this state.
fn may_follow(content: &ProposalContent, from: &DecidedFrom) -> bool {
    let is_unbooked = from.ledger == "none" || from.ledger == "reversed";
    match content {
        ProposalContent::ReleaseDeposit { .. } => {
            is_unbooked || (from.ledger == "suspense" && from.review == "refused")
        }
        ProposalContent::RefuseDeposit { .. } => from.review != "refused" && (is_unbooked || from.ledger == "suspense"),
        ProposalContent::AssignDeposit { .. } => from.review != "refused",
        _ => false,
    }
}

fn fact(content: &ProposalContent, key: &str, from: &DecidedFrom) -> Option<Fact> {
    let (id, inclusion) = content.deposit()?;
    let reviewed = |state: ReviewState| {
        columns([("review_state", text(state.as_str())), ("review_by", text(key)), ("review_epoch", int(inclusion))])
    };
    let mut guard = columns([("epoch", int(inclusion)), ("review_state", text(&from.review))]);
    let set = match content {
        ProposalContent::AssignDeposit { server, player, .. } => {
            guard.extend(columns([
                ("chain_state", text(ChainState::Final.as_str())),
                ("ledger_state", text(LedgerState::Suspense.as_str())),
                ("ledger_epoch", int(inclusion)),
            ]));
            columns([
                ("ledger_state", text(LedgerState::Credited.as_str())),
                ("credited_server", text(server.as_str())),
                ("credited_wallet", text(player.as_str())),
                ("assigned_by", text(key)),
            ])
        }
        ProposalContent::ReleaseDeposit { .. } | ProposalContent::RefuseDeposit { .. } => {
            guard.extend(columns([("ledger_state", text(&from.ledger))]));
            let is_release = matches!(content, ProposalContent::ReleaseDeposit { .. });
            reviewed(if is_release { ReviewState::Released } else { ReviewState::Refused })
        }
        _ => return None,
    };
    let row = row(&DepositId::from_row(id));
    Some(Fact { row, guard: Guard::Is(guard), otherwise: GuardFailure::Conflict, set })
}

/// Where assigned money comes from, and where it goes.
fn accounts(content: &ProposalContent, asset: AssetId) -> Option<(AccountName, AccountName)> {
    let ProposalContent::AssignDeposit { server, player, .. } = content else { return None };
    let suspense = AccountName { scope: Scope::House, kind: AccountKind::Suspense, asset, owner: None };
    let (scope, owner) = (Scope::Server(server.clone()), Some(player.clone()));
    Some((suspense, AccountName { scope, kind: AccountKind::Unallocated, asset, owner }))
}

fn columns<const N: usize>(columns: [(&str, ColumnValue); N]) -> Vec<Column> {
    columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn event(kind: &str, deposit: &str, body: &serde_json::Value) -> Event {
    Event { kind: kind.parse().expect("a legal name"), resource: deposit.to_owned(), body: body.to_string() }
}
