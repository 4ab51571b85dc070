//! Taking rows in: what is new is read, understood by its flow, and applied with the money it causes.
//!
//! | step | if this process dies behind it |
//! | --- | --- |
//! | read what is new | nothing has happened |
//! | the flow says what each row means | nothing has happened |
//! | the requests, each with the fact that consumes its row, are one call to the writer | what is committed is consumed; the rest is new |
//! | what was not applied is marked | it is new, asked again under the same key, and told the same |

use bankroll_ledger::{Rejection, Request, Time};

use super::{
    source::InboxSource,
    table::{InboxRow, InboxTable},
};
use crate::{Answer, Ledger, Location, Statement, StoreError, SubmitError, SubmitRefusal};

/// How long a row is put off at first, and at the most, in microseconds.
const PAUSE: u64 = 250_000;
const PAUSE_MAX: u64 = 60_000_000;

/// What a row means, as its flow says.
#[derive(Clone, Debug)]
pub enum RowMeaning {
    /// It moves money: this request, the same each time the row is looked at.
    Money(Box<Request>),
    /// It needs no money.
    Nothing,
    /// It can never be applied, for this reason.
    Refused(String),
    /// Not yet, for this reason.
    Later(String),
}

/// What one round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxRound {
    /// Rows whose money moved, or that needed none.
    pub applied: usize,
    /// Rows kept aside with a reason.
    pub refused: usize,
    /// Rows put off.
    pub later: usize,
}

impl InboxRound {
    /// How many rows were taken.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.applied + self.refused + self.later
    }
}

/// Why a round came to nothing, or only to a part. Another round goes on where it ended.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The writer did not take the call, or has no answer.
    #[error("the writer did not carry the round out")]
    Call(#[from] SubmitError),
    /// The inbox cannot be read.
    #[error("the inbox cannot be read")]
    Store(#[from] StoreError),
}

impl InboxError {
    /// Whether the writer is gone, so that another round needs another one.
    #[must_use]
    pub fn is_writer_gone(&self) -> bool {
        let Self::Call(error) = self else { return false };
        matches!(
            error,
            SubmitError::Refused(SubmitRefusal::Stopped) | SubmitError::Failed(crate::SubmitFailure::Unknown)
        )
    }
}

/// What says what rows mean. It decides, and does nothing: the same row is the same answer.
type Interpreter = Box<dyn Fn(&InboxRow) -> RowMeaning + Send>;

/// Takes in the rows of some kinds of one table.
pub struct InboxConsumer {
    table: InboxTable,
    kinds: Vec<String>,
    interpret: Interpreter,
    source: InboxSource,
    rows_max: usize,
}

impl InboxConsumer {
    /// For rows of these kinds; others are left for a program that knows them. At most so many in one round.
    pub fn new(
        table: InboxTable,
        kinds: &[&str],
        location: impl Into<Location>,
        rows_max: usize,
        interpret: impl Fn(&InboxRow) -> RowMeaning + Send + 'static,
    ) -> Self {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        Self { table, kinds, interpret: Box::new(interpret), source: InboxSource::new(location), rows_max }
    }

    /// Takes what is new and due, and waits until it is durable.
    ///
    /// # Errors
    /// See [`InboxError`].
    pub fn round(&mut self, ledger: &Ledger, now: Time) -> Result<InboxRound, InboxError> {
        let waiting = self.source.waiting(self.table, &self.kinds, now, self.rows_max)?;
        let (mut round, mut marks) = (InboxRound::default(), Vec::new());
        let (mut asked, mut requests) = (Vec::new(), Vec::new());
        for row in waiting {
            match (self.interpret)(&row) {
                RowMeaning::Money(request) => {
                    let mut request = *request;
                    request.facts.push(self.table.consume(&row.id));
                    requests.push(request);
                    asked.push(row);
                }
                RowMeaning::Nothing => {
                    round.applied += 1;
                    marks.push(self.table.mark_applied(&row.id));
                }
                RowMeaning::Refused(reason) => self.refuse(&row, &reason, &mut round, &mut marks),
                RowMeaning::Later(reason) => self.defer(&row, &reason, now, &mut round, &mut marks),
            }
        }
        if !requests.is_empty() {
            let answers =
                ledger.submit_in_turn(requests).map_err(SubmitError::from)?.wait().map_err(SubmitError::from)?;
            for (row, answer) in asked.iter().zip(&answers) {
                self.hear(row, answer, now, &mut round, &mut marks);
            }
        }
        if !marks.is_empty() {
            // The row says what was found; if it says something else meanwhile, nothing changes.
            let _ = ledger.write_rows_in_turn(marks).map_err(SubmitError::from)?.wait().map_err(SubmitError::from)?;
        }
        Ok(round)
    }

    fn hear(&self, row: &InboxRow, answer: &Answer, now: Time, round: &mut InboxRound, marks: &mut Vec<Statement>) {
        match answer.effects() {
            Ok(_) if !answer.replayed => round.applied += 1,
            // Its row was new a moment ago, so what moved this money was not this row.
            Ok(_) => {
                let place = answer.seq.map_or_else(String::new, |seq| format!(" by record {seq}"));
                self.refuse(row, &format!("its money was moved before{place}"), round, marks);
            }
            // What may pass; no key remembers these.
            Err(wait @ (Rejection::ServerPaused | Rejection::CustodyShort | Rejection::DebtAccountNotFound)) => {
                self.defer(row, wait.code(), now, round, marks)
            }
            Err(verdict) => self.refuse(row, verdict.code(), round, marks),
        }
    }

    fn refuse(&self, row: &InboxRow, reason: &str, round: &mut InboxRound, marks: &mut Vec<Statement>) {
        round.refused += 1;
        marks.push(self.table.mark_refused(&row.id, reason));
    }

    fn defer(&self, row: &InboxRow, reason: &str, now: Time, round: &mut InboxRound, marks: &mut Vec<Statement>) {
        round.later += 1;
        let pause = PAUSE.saturating_mul(1_u64.checked_shl(row.tries).unwrap_or(u64::MAX)).min(PAUSE_MAX);
        marks.push(self.table.mark_deferred(&row.id, reason, Time(now.0.saturating_add(pause))));
    }
}

impl std::fmt::Debug for InboxConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer").field("table", &self.table).field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
