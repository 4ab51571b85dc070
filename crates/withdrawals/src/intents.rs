//! The front door of withdrawals: the Funds API and the demo make and stop intents here, where the ledger is.
//!
//! | caller | uses |
//! | --- | --- |
//! | one that waits for each | [`Intents::create`] |
//! | one with many at once | [`Intents::request`], then [`Intents::submit`] |
//! | an operator or a player who stops a payout | [`Intents::cancel`] |
//!
//! Approval and rejection come here, too, when they exist; [`status`](crate::status) has their transitions.

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, ColumnValue, Effects, Name, Principal, Rejection, Request, Scope, Time,
};
use bankroll_orders::IntentId;
use bankroll_store::{
    Answer, Ledger, PendingAnswer, Rows, Statement, SubmitFailure, SubmitRefusal,
    columns::{any, int, text},
};

use crate::{
    CancelError, IntentError, InvalidWithdrawal,
    asker::Asker,
    exit::{KeptExit, kept_exit_request},
    intent::{INTENTS_TABLE, Intent, WithdrawalRequest, intent_request},
    rows,
    status::ApprovalPolicy,
};

/// Intents under one approval policy.
#[derive(Clone, Copy, Debug)]
pub struct Intents {
    policy: ApprovalPolicy,
}

impl Intents {
    #[must_use]
    pub const fn new(policy: ApprovalPolicy) -> Self {
        Self { policy }
    }

    /// The id of an asker's request. The same request has the same id, and no caller can choose it.
    #[must_use]
    pub fn id(server: &Name, asker: &Asker, request_id: &Name) -> IntentId {
        asker.intent_id(server, request_id)
    }

    /// Makes the intent and its hold, and waits until both are durable. The same request again returns the same intent.
    ///
    /// # Errors
    /// See [`IntentError`].
    pub fn create(&self, withdrawal: &WithdrawalRequest, ledger: &Ledger, rows: &Rows) -> Result<Intent, IntentError> {
        let asset = withdrawal.account.asset;
        let world = AccountName { kind: AccountKind::World, owner: None, ..withdrawal.account.clone() };
        let network_fees = AccountName { scope: Scope::House, kind: AccountKind::NetworkFees, asset, owner: None };
        // Settlement needs the last one. It is opened here, where the caller waits for an answer anyway.
        let names = vec![withdrawal.account.clone(), world, network_fees];
        let numbers: Vec<AccountId> =
            ledger.open_accounts(&Principal::System, names)?.into_iter().collect::<Result<_, _>>()?;
        let [account, world, _] = numbers[..] else { unreachable!("as many numbers as names") };
        let request = self.request(withdrawal, account, world)?;
        let id = withdrawal.id();
        let answer = ledger.apply(request)?;
        let effects = answer.effects()?;
        let hold = effects.holds.first().map(|change| change.hold.id).ok_or(Rejection::HoldNotFound)?;
        rows.write(hold_note(id.0.as_str(), effects).into_iter().collect())?;
        Ok(Intent::new(id, hold, self.policy.first_status(withdrawal.amount)))
    }

    /// The request to the books that makes the intent and its hold. `world` is the account that an exit moves out of.
    ///
    /// # Errors
    /// See [`InvalidWithdrawal`].
    pub fn request(
        &self,
        withdrawal: &WithdrawalRequest,
        account: AccountId,
        world: AccountId,
    ) -> Result<Request, InvalidWithdrawal> {
        intent_request(withdrawal, self.policy, account, world)
    }

    /// The request to the books of an exit that is not paid out. An exit id that is used for one that is paid out is
    /// rejected, and the other way round.
    ///
    /// # Errors
    /// See [`InvalidWithdrawal`].
    pub fn keep_request(kept: &KeptExit, account: AccountId, world: AccountId) -> Result<Request, InvalidWithdrawal> {
        kept_exit_request(kept, account, world)
    }

    /// Submits requests, any of which may make an intent. They must be built by [`Self::request`].
    ///
    /// # Errors
    /// If the writer does not accept them: nothing happened.
    pub fn submit(ledger: &Ledger, requests: Vec<Request>) -> Result<PendingIntents, SubmitRefusal> {
        let intents = requests.iter().enumerate();
        let intents = intents.filter_map(|(place, request)| Some((place, intent_of(request)?.to_owned()))).collect();
        let answers = ledger.submit(requests)?;
        Ok(PendingIntents { ledger: ledger.clone(), intents, answers })
    }

    /// Requests that a payout is stopped. The outcome shows later: it is paid or refunded, never both.
    ///
    /// # Errors
    /// See [`CancelError`].
    pub fn cancel(rows: &Rows, intent: &IntentId, now: Time) -> Result<(), CancelError> {
        rows::request_cancel(rows, intent, now)
    }
}

/// Requests that the writer has accepted and not answered yet.
#[derive(Debug)]
pub struct PendingIntents {
    ledger: Ledger,
    /// The places of requests that make intents, with the ids of those.
    intents: Vec<(usize, String)>,
    answers: PendingAnswer<Vec<Answer>>,
}

impl PendingIntents {
    /// Blocks this thread until the answers are there.
    ///
    /// # Errors
    /// If the writer could not carry the call out, or stopped before it could answer.
    pub fn wait(self) -> Result<Vec<Answer>, SubmitFailure> {
        let Self { ledger, intents, answers } = self;
        let answers = answers.wait()?;
        note_holds(&ledger, &intents, &answers);
        Ok(answers)
    }

    /// The same without blocking.
    ///
    /// # Errors
    /// If the writer could not carry the call out, or stopped before it could answer.
    pub async fn answered(self) -> Result<Vec<Answer>, SubmitFailure> {
        let Self { ledger, intents, answers } = self;
        let answers = answers.await?;
        note_holds(&ledger, &intents, &answers);
        Ok(answers)
    }
}

/// The id of the intent that a request makes, as its row states it.
fn intent_of(request: &Request) -> Option<&str> {
    let fact = request.facts.iter().find(|fact| fact.row.table == INTENTS_TABLE)?;
    match fact.row.columns.first()? {
        (_, ColumnValue::Text(id)) => Some(id),
        _ => None,
    }
}

/// Notes the holds of new intents in their rows. If this is lost, settlement finds the holds in the journal.
fn note_holds(ledger: &Ledger, intents: &[(usize, String)], answers: &[Answer]) {
    let notes = intents.iter().filter_map(|(place, id)| hold_note(id, answers.get(*place)?.effects().ok()?));
    let notes: Vec<_> = notes.collect();
    if !notes.is_empty() {
        let _ = ledger.write_rows(notes);
    }
}

/// The statement that notes the hold in the intent's row, so that settlement need not search the journal for it.
fn hold_note(id: &str, effects: &Effects) -> Option<Statement> {
    let hold = effects.holds.first()?.hold.id;
    let sql = "UPDATE withdrawal_requests SET hold = $1 WHERE id = $2 AND hold IS NULL";
    Some(any(sql, vec![int(hold.0), text(id)]))
}
