//! Statements: every change of an account, line by line. A line names the other account of its leg, and has balance and
//! held amount after it.

use std::ops::RangeInclusive;

use bankroll_ledger::{
    AccountId, Action, Amount, HoldChange, HoldId, IdempotencyKey, Leg, Principal, Record, References, Seq, Time,
    Verdict,
};

use super::{BalanceAt, Cursor, HistoryView, PAGE_MAX, Page};
use crate::{Reader, StoreError, history::index::Term};

/// Which lines of an account to read.
#[derive(Clone, Debug)]
pub struct StatementQuery {
    pub account: AccountId,
    /// Only from this time on.
    pub from: Option<Time>,
    /// Only until this time, included.
    pub to: Option<Time>,
    /// Newest first.
    pub descending: bool,
    /// Continue after this cursor.
    pub after: Option<Cursor>,
    /// The size of the page; never more than [`PAGE_MAX`].
    pub most: usize,
}

impl StatementQuery {
    /// The whole statement, oldest first.
    #[must_use]
    pub fn of(account: AccountId) -> Self {
        Self { account, from: None, to: None, descending: false, after: None, most: PAGE_MAX }
    }

    fn query_text(&self) -> String {
        format!("statement {} {}", self.account, if self.descending { "descending" } else { "ascending" })
    }
}

/// One line of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// The record of the line.
    pub seq: Seq,
    /// Its number among the lines of this record in this statement.
    pub line: u16,
    pub at: Time,
    pub change: StatementChange,
    /// How much was moved, held or freed.
    pub amount: Amount,
    /// The balance after it.
    pub balance: Amount,
    /// The held amount after it.
    pub held: Amount,
    /// The key of the request; an expiry has none.
    pub key: Option<IdempotencyKey>,
    /// The principal of the request.
    pub by: Option<Principal>,
    /// What it is about.
    pub references: References,
    /// The transfer that this one reversed.
    pub reverses: Option<Seq>,
    /// The transfer that reversed this one.
    pub reversed_by: Option<Seq>,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementChange {
    /// Money moved between this account and another.
    Moved {
        /// As seen from this account.
        direction: Direction,
        /// The other account of the leg.
        other: AccountId,
    },
    /// An amount was held.
    Held(HoldId),
    /// Part of a hold, or its whole rest, was paid out; the move has its own line.
    Posted(HoldId),
    /// The rest of a hold was freed.
    Released(HoldId),
    /// The hold expired.
    Expired(HoldId),
}

/// The direction of a move. On the credit side `In` adds to a balance, on the debit side `Out` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into this account.
    In,
    /// Out of it.
    Out,
}

impl Reader {
    /// A page of an account's statement.
    ///
    /// # Errors
    /// If the books cannot be read, or the cursor belongs to another query.
    pub fn statement(&self, query: &StatementQuery) -> Result<Page<StatementLine>, StoreError> {
        let after = query.after.as_ref().map(|cursor| cursor.read(&query.query_text())).transpose()?;
        self.in_view(|view| {
            let most = query.most.clamp(1, PAGE_MAX);
            let range = view.range(query, after)?;
            let terms = [Term::posted(query.account), Term::held_in(query.account)];
            // One more record for the cursor's own, one more to know whether there is another page.
            let mut places = view.places(&terms, range, query.descending, most + 2)?;
            places.sort_unstable();
            let Some(first) = places.first() else { return Ok(Page { items: Vec::new(), next: None }) };
            let mut running = view.balance_after(query.account, Seq(first.0 - 1))?;
            let mut lines = Vec::new();
            for place in &places {
                lines.extend(view.lines_of(*place, query.account, &mut running)?);
            }
            if query.descending {
                lines.reverse();
            }
            let is_after_cursor = |line: &StatementLine| match (after, (line.seq, line.line)) {
                (None, _) => true,
                (Some(cursor), line) if query.descending => line < cursor,
                (Some(cursor), line) => line > cursor,
            };
            lines.retain(is_after_cursor);
            let more = lines.len() > most;
            lines.truncate(most);
            let next = lines.last().filter(|_| more);
            let next = next.map(|line| Cursor::new(&query.query_text(), line.seq, line.line));
            Ok(Page { items: lines, next })
        })
    }
}

impl HistoryView<'_> {
    /// The range of places for a page.
    fn range(&self, query: &StatementQuery, after: Option<(Seq, u16)>) -> Result<RangeInclusive<u64>, StoreError> {
        let mut low = match query.from.map(|from| from.0.checked_sub(1)) {
            Some(Some(before)) => self.batches.last_until(Time(before))?.0.saturating_add(1),
            Some(None) | None => 1,
        };
        let mut high = query.to.map_or(Ok(self.head.seq), |to| self.batches.last_until(to))?.0;
        match after {
            Some((seq, _)) if query.descending => high = high.min(seq.0),
            Some((seq, _)) => low = low.max(seq.0),
            None => {}
        }
        Ok(low..=high)
    }

    /// The lines of a record in the statement of an account; updates the running balance.
    fn lines_of(
        &self,
        seq: Seq,
        account: AccountId,
        running: &mut BalanceAt,
    ) -> Result<Vec<StatementLine>, StoreError> {
        let entry = self.entry(seq)?;
        let steps = steps_of(&entry.record, account, running.held);
        let (key, by, references, reverses) = match entry.record {
            Record::Decided { request, verdict } => {
                let reverses = if let Verdict::Applied(effects) = verdict { effects.reverses } else { None };
                (Some(request.key), Some(request.principal), request.references, reverses)
            }
            _ => (None, None, References::default(), None),
        };
        let reversed_by = self.source.reversal_of(seq)?;
        let mut line = StatementLine {
            seq,
            line: 0,
            at: entry.at,
            change: StatementChange::Held(HoldId(0)),
            amount: Amount::ZERO,
            balance: running.balance,
            held: running.held,
            key,
            by,
            references,
            reverses,
            reversed_by,
        };
        let mut lines = Vec::with_capacity(steps.len());
        for (step, number) in steps.into_iter().zip(0..) {
            (line.line, line.change) = (number, step.change);
            match step.change {
                StatementChange::Moved { .. } => (line.amount, line.balance) = (step.amount, step.after),
                _ => {
                    line.amount = difference(line.held, step.after);
                    line.held = step.after;
                }
            }
            lines.push(line.clone());
        }
        (running.seq, running.balance, running.held) = (Some(seq), line.balance, line.held);
        Ok(lines)
    }
}

/// One change of an account by a record: `after` is the balance after a move, the held amount after anything else.
struct LineStep {
    change: StatementChange,
    amount: Amount,
    after: Amount,
}

/// The steps of a record in an account: releases first, then moves, then holds. In this order no line shows a held
/// amount above the balance.
fn steps_of(record: &Record, account: AccountId, held: Amount) -> Vec<LineStep> {
    let held_step = |change, of: &HoldChange| LineStep { change, amount: Amount::ZERO, after: of.held_after };
    let (request, effects) = match record {
        Record::HoldExpired(expired) => return vec![held_step(StatementChange::Expired(expired.hold.id), expired)],
        Record::Decided { request, verdict: Verdict::Applied(effects) } => (request, effects),
        _ => return Vec::new(),
    };
    let moves = effects.postings.iter().filter_map(|posting| {
        let moved = |direction, other, after| {
            Some(LineStep { change: StatementChange::Moved { direction, other }, amount: posting.amount, after })
        };
        match account {
            _ if posting.from == account => moved(Direction::Out, posting.to, posting.from_after),
            _ if posting.to == account => moved(Direction::In, posting.from, posting.to_after),
            _ => None,
        }
    });
    let legs = if let Action::Legs(legs) = &request.action { legs.as_slice() } else { &[] };
    // Each leg about a hold has one change, in order.
    let about_holds = legs.iter().filter(|leg| !matches!(leg, Leg::Move { .. }));
    let own = about_holds.zip(&effects.holds).filter(|(_, change)| change.hold.account == account);
    let changes: Vec<LineStep> = own
        .map(|(leg, change)| match leg {
            Leg::Post { hold, .. } => held_step(StatementChange::Posted(*hold), change),
            Leg::Release { hold } => held_step(StatementChange::Released(*hold), change),
            Leg::Hold { .. } | Leg::Move { .. } => held_step(StatementChange::Held(change.hold.id), change),
        })
        .collect();
    // Each change has its held amount after it, so changes keep their order; they go before the moves if they free more
    // than they hold.
    let frees = changes.last().is_some_and(|last| last.after < held);
    if frees { changes.into_iter().chain(moves).collect() } else { moves.chain(changes).collect() }
}

fn difference(one: Amount, other: Amount) -> Amount {
    one.checked_sub(other).or_else(|| other.checked_sub(one)).unwrap_or(Amount::ZERO)
}
