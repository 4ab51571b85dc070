//! Confirmed proposals about money: the ledger carries each out once, under a key that the proposal makes.
//!
//! The confirmation is committed first. Whether the money has moved is a question to the journal, not a message: what
//! was interrupted in between is carried out when the books are acquired again, or when the proposal is next shown.

use bankroll_deposits::{
    CarriedOutReview, review,
    view::{self as deposit_view, DepositView},
};
use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Confirmation, IdempotencyKey, Leg, Namespace, Principal,
    Record, References, Rejection, Request, Scope, Seq, Verdict,
};
use bankroll_operators::{Operators, Proposal, ProposalContent, ProposalStatus, QUORUM_OF_ONE};
use bankroll_registry::{
    ChangeOrigin, ConfirmedProposal, Registry, change_request, proposal_executed, proposal_failed,
};
use bankroll_store::{Ledger, Reader, SubmitError, SubmitFailure};

use super::HeldBooks;
use crate::{ApiError, ErrorCode};

/// What came of a confirmed proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProposalOutcome {
    /// With its record, if it moved money.
    Executed(Option<Seq>),
    /// Rejected for ever.
    Failed(Rejection),
    /// Not yet: the books are busy, or wait for something.
    Pending,
}

/// A confirmed proposal about money; `None` for any other.
pub(crate) fn confirmed_money(proposal: &Proposal) -> Option<ConfirmedProposal> {
    let is_due = proposal.status == ProposalStatus::Confirmed && proposal.content.is_about_money();
    is_due.then(|| ConfirmedProposal {
        proposal: proposal.id,
        content: proposal.content.clone(),
        author: proposal.author.clone(),
        confirmed_by: proposal.confirmed_by.clone(),
    })
}

/// Carries a confirmed proposal out if that has not happened, and says what came of it.
pub(crate) async fn settle(books: &HeldBooks, confirmed: ConfirmedProposal) -> Result<ProposalOutcome, ApiError> {
    let ledger = books.ledger.clone();
    books.pages.read(move |reader| settle_now(&ledger, reader, &confirmed)).await
}

/// The same for all of them, when the books are acquired. What does not succeed now is tried again when it is shown.
pub(super) fn settle_all(ledger: &Ledger, reader: &Reader, registry: &Registry) {
    let operators: &Operators = registry.operators();
    for confirmed in operators.proposals().filter_map(confirmed_money) {
        let _ = settle_now(ledger, reader, &confirmed);
    }
}

/// What the journal says, without doing anything.
pub(crate) fn outcome(reader: &Reader, confirmed: &ConfirmedProposal) -> Result<ProposalOutcome, ApiError> {
    Ok(match reader.find_key(&money_key(confirmed))? {
        None => ProposalOutcome::Pending,
        Some(found) => match found.record {
            Record::Decided { verdict: Verdict::Applied(_), .. } => ProposalOutcome::Executed(Some(found.seq)),
            Record::Decided { verdict: Verdict::Rejected(rejection), .. } => ProposalOutcome::Failed(rejection),
            _ => return Err(ErrorCode::BooksDamaged.into()),
        },
    })
}

fn settle_now(ledger: &Ledger, reader: &Reader, confirmed: &ConfirmedProposal) -> Result<ProposalOutcome, ApiError> {
    let mut found = outcome(reader, confirmed)?;
    if found == ProposalOutcome::Pending {
        found = carry_out(ledger, reader, confirmed)?;
    }
    if matches!(found, ProposalOutcome::Failed(_)) {
        announce_failure(ledger, reader, confirmed)?;
    }
    Ok(found)
}

fn carry_out(ledger: &Ledger, reader: &Reader, confirmed: &ConfirmedProposal) -> Result<ProposalOutcome, ApiError> {
    let Some(request) = money_request(ledger, reader, confirmed)? else { return Ok(ProposalOutcome::Pending) };
    let mut answered = submit(ledger, request.clone())?;
    if answered == Some(Err(Rejection::DebtAccountNotFound)) {
        open_debts(ledger, reader, confirmed)?;
        answered = submit(ledger, request)?;
    }
    Ok(match answered {
        Some(Ok(seq)) => ProposalOutcome::Executed(seq),
        Some(Err(rejection)) if rejection.is_remembered() => ProposalOutcome::Failed(rejection),
        // Nothing is written: it may succeed later.
        Some(Err(_)) | None => ProposalOutcome::Pending,
    })
}

/// The ledger's verdict; `None` if the ledger has certainly not seen it. That it is unknown is an error of its own.
fn submit(ledger: &Ledger, request: Request) -> Result<Option<Result<Option<Seq>, Rejection>>, ApiError> {
    let waited = ledger.submit(vec![request]).map_err(SubmitError::from);
    match waited.and_then(|pending| pending.wait().map_err(SubmitError::from)) {
        Ok(answers) => {
            let answer = answers.into_iter().next().ok_or(ErrorCode::OutcomeUnknown)?;
            Ok(Some(answer.effects().map(|_| answer.seq)))
        }
        Err(SubmitError::Failed(SubmitFailure::Unknown)) => Err(ErrorCode::OutcomeUnknown.into()),
        Err(_) => Ok(None),
    }
}

/// The request of the ledger. It depends on the proposal alone, and where it is about a deposit on what was decided from:
/// its key makes it one request.
fn money_request(ledger: &Ledger, reader: &Reader, confirmed: &ConfirmedProposal) -> Result<Option<Request>, ApiError> {
    let (mut facts, mut events) = (Vec::new(), vec![proposal_executed(confirmed)]);
    let mut references = References::default();
    let action = match &confirmed.content {
        ProposalContent::Transfer { from, to, amount, .. } => {
            let (from, to) = (reader.account_named(from)?, reader.account_named(to)?);
            let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
            Action::Legs(vec![Leg::Move { from: from.id, to: to.id, amount: *amount }])
        }
        ProposalContent::Reverse { record, .. } => Action::Reverse(*record),
        content => {
            let Some(deposit) = deposit_of(reader, content)? else { return Ok(None) };
            let key = money_key(confirmed).text;
            let Some(CarriedOutReview { fact, event, moves }) = review::carry_out(&deposit, content, &key) else {
                return Ok(None);
            };
            references.deposit = Some(deposit.id.to_string());
            references.tx_hash = Some(deposit.tx_hash);
            facts.push(fact);
            events.push(event);
            Action::Legs(moves.map(|moves| leg(ledger, moves)).transpose()?.into_iter().collect())
        }
    };
    let name = |text: &str| text.parse().map_err(|_| ErrorCode::Internal);
    let by = confirmed.confirmed_by.clone().map_or_else(|| name(QUORUM_OF_ONE), Ok)?;
    Ok(Some(Request {
        key: money_key(confirmed),
        principal: Principal::Admin(confirmed.author.clone()),
        confirmation: Some(Confirmation { proposal: name(&confirmed.proposal.to_string())?, by }),
        action,
        references,
        facts,
        events,
    }))
}

/// The deposit that a content is about.
pub(crate) fn deposit_of(reader: &Reader, content: &ProposalContent) -> Result<Option<DepositView>, ApiError> {
    let Some((id, _)) = content.deposit() else { return Ok(None) };
    Ok(deposit_view::find(reader, id)?.into_iter().find(|found| found.id.as_str() == id))
}

/// The leg that moves this much, between accounts that are opened if they are not there. If the chain drops the deposit,
/// what was spent becomes a debt: its account must be there, too.
fn leg(ledger: &Ledger, (from, to, amount): (AccountName, AccountName, Amount)) -> Result<Leg, ApiError> {
    let names: Vec<AccountName> = [Some(from), Some(to.clone()), to.debt()].into_iter().flatten().collect();
    let mut numbers = Vec::<AccountId>::new();
    for opened in ledger.open_accounts(&Principal::System, names)? {
        numbers.push(opened?);
    }
    let [from, to, ..] = numbers.as_slice() else { return Err(ErrorCode::Internal.into()) };
    Ok(Leg::Move { from: *from, to: *to, amount })
}

fn money_key(confirmed: &ConfirmedProposal) -> IdempotencyKey {
    let text = format!("admin/{}/proposal/{}", confirmed.author, confirmed.proposal);
    IdempotencyKey { namespace: Namespace::Client, scope: Scope::House, text }
}

/// A reversal of money that was spent meanwhile makes its owner a debtor: the account of the debt must be there.
fn open_debts(ledger: &Ledger, reader: &Reader, confirmed: &ConfirmedProposal) -> Result<(), ApiError> {
    let ProposalContent::Reverse { record, .. } = &confirmed.content else { return Ok(()) };
    let Some(bytes) = reader.record(*record)? else { return Ok(()) };
    let Ok(Record::Decided { verdict: Verdict::Applied(effects), .. }) = Record::decode(&bytes) else { return Ok(()) };
    let mut names = Vec::new();
    for posting in &effects.postings {
        let account = reader.account(posting.to)?.ok_or(ErrorCode::BooksDamaged)?.name;
        let is_players = matches!(account.kind, AccountKind::Funds | AccountKind::Unallocated | AccountKind::PlayOnly);
        if is_players && account.owner.is_some() {
            names.push(AccountName { kind: AccountKind::Debt, ..account });
        }
    }
    for opened in ledger.open_accounts(&Principal::System, names)? {
        opened?;
    }
    Ok(())
}

/// The event of a failure, once: the rejected request itself announces nothing.
fn announce_failure(ledger: &Ledger, reader: &Reader, confirmed: &ConfirmedProposal) -> Result<(), ApiError> {
    let text = format!("proposal-failed/{}", confirmed.proposal);
    let key = IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text };
    let (None, Some(rejected)) = (reader.find_key(&key)?, reader.find_key(&money_key(confirmed))?) else {
        return Ok(());
    };
    let by = format!("operator:{}", confirmed.author).parse().map_err(|_| ErrorCode::Internal)?;
    // The time of the rejection, for all who try: it is one request.
    let origin = ChangeOrigin { principal: Principal::System, key, by, request_hash: [0; 32], now: rejected.at };
    let mut request = change_request(&origin, &[]).map_err(|_| ErrorCode::Internal)?;
    request.events.push(proposal_failed(confirmed));
    submit(ledger, request).map(drop)
}
