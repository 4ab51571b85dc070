//! Consuming rows: new rows are read, interpreted by their flow, and applied with the money they cause.
//!
//! | step | if this process dies after it |
//! | --- | --- |
//! | read the new rows | nothing has happened |
//! | the flow says what each row means | nothing has happened |
//! | submit all requests, each with the fact that consumes its row | committed rows are consumed; the rest is new |
//! | mark the rows that were not applied | they are new, and retried with the same key and the same answer |

use bankroll_ledger::{Rejection, Request, Time};

use super::{
    source::InboxSource,
    table::{InboxRow, InboxTable},
};
use crate::{Answer, Ledger, Location, Statement, StoreError, SubmitError, SubmitRefusal};

/// How long a row is deferred at first, and at most, in microseconds.
const PAUSE: u64 = 250_000;
const PAUSE_MAX: u64 = 60_000_000;

/// What a row means, as its flow interprets it.
#[derive(Clone, Debug)]
pub enum RowMeaning {
    /// It moves money with this request. The same row must always give the same request.
    Money(Box<Request>),
    /// It needs no money.
    Nothing,
    /// It can never be applied, for this reason.
    Refused(String),
    /// Not yet, for this reason.
    Later(String),
}

/// The result of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxRound {
    /// Rows whose money moved, or that need none.
    pub applied: usize,
    /// Rows marked as refused, with a reason.
    pub refused: usize,
    /// Deferred rows.
    pub later: usize,
}

impl InboxRound {
    /// All rows of the round.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.applied + self.refused + self.later
    }
}

/// Why a round failed, or only did a part. The next round continues where it ended.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The writer did not accept the call, or has no answer.
    #[error("the writer did not complete the round")]
    Call(#[from] SubmitError),
    /// The inbox cannot be read.
    #[error("the inbox cannot be read")]
    Store(#[from] StoreError),
}

impl InboxError {
    /// Whether the writer has stopped, so that the next round needs a ledger that is opened again.
    #[must_use]
    pub fn is_writer_gone(&self) -> bool {
        let Self::Call(error) = self else { return false };
        matches!(
            error,
            SubmitError::Refused(SubmitRefusal::Stopped) | SubmitError::Failed(crate::SubmitFailure::Unknown)
        )
    }
}

/// Interprets rows. It must be pure: the same row gives the same meaning.
type Interpreter = Box<dyn Fn(&InboxRow) -> RowMeaning + Send>;

/// Consumes the rows of some kinds of one table.
pub struct InboxConsumer {
    table: InboxTable,
    kinds: Vec<String>,
    interpret: Interpreter,
    source: InboxSource,
    rows_max: usize,
}

impl InboxConsumer {
    /// Consumes rows of these kinds, at most `rows_max` in one round; other kinds stay for a program that knows them.
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

    /// Consumes the rows that are new and due, and waits until that is durable.
    ///
    /// # Errors
    /// See [`InboxError`].
    pub fn round(&mut self, ledger: &Ledger, now: Time) -> Result<InboxRound, InboxError> {
        let waiting = self.source.waiting(self.table, &self.kinds, now, self.rows_max)?;
        let (mut round, mut marks) = (InboxRound::default(), Vec::new());
        let (mut submitted, mut requests) = (Vec::new(), Vec::new());
        for row in waiting {
            match (self.interpret)(&row) {
                RowMeaning::Money(request) => {
                    let mut request = *request;
                    request.facts.push(self.table.consume(&row.id));
                    requests.push(request);
                    submitted.push(row);
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
            for (row, answer) in submitted.iter().zip(&answers) {
                self.note_answer(row, answer, now, &mut round, &mut marks);
            }
        }
        if !marks.is_empty() {
            // Each mark is guarded by `state = 'new'`; if the row has changed meanwhile, nothing happens.
            let _ = ledger.write_rows_in_turn(marks).map_err(SubmitError::from)?.wait().map_err(SubmitError::from)?;
        }
        Ok(round)
    }

    fn note_answer(
        &self,
        row: &InboxRow,
        answer: &Answer,
        now: Time,
        round: &mut InboxRound,
        marks: &mut Vec<Statement>,
    ) {
        match answer.effects() {
            Ok(_) if !answer.replayed => round.applied += 1,
            // The row was new a moment ago, so another row or request moved this money.
            Ok(_) => {
                let place = answer.seq.map_or_else(String::new, |seq| format!(" by record {seq}"));
                self.refuse(row, &format!("its money was moved before{place}"), round, marks);
            }
            // Transient rejections, which are not stored under the key.
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
        f.debug_struct("InboxConsumer").field("table", &self.table).field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
