//! Crediting (role `books`): credits what is final and not booked; reverses what is booked and no longer canonical.
//!
//! Both are queries on the rows, not messages that could be lost: the next step does what a step that died, or
//! never ran, left over. Reversals come first, so that a deposit that was included again is reversed before it is
//! credited again.
//!
//! | phase | if the process dies after it |
//! | --- | --- |
//! | read what is due | nothing has happened |
//! | open accounts | they exist, empty |
//! | submit requests, each with its fact | what is committed is done; the rest is still due, under the same keys |
//! | record refusals | the next step finds them again |

use std::collections::BTreeMap;

use bankroll_ledger::{AccountId, AccountName, Amount, BlockRef, Name, Principal, Rejection, Request, Row};
use bankroll_store::{
    Ledger, Reader, Rows, Statement, SubmitError,
    columns::{BadRow, amount_of, any, int, maybe, number_of, parsed, text, text_of},
};

use crate::{
    DepositId, LedgerState, Purpose,
    credit::{
        Allocation, CreditDue, PlayerStanding, ReversalDue, Servers, accounts, allocate, credit, credit_key, reversal,
    },
    error::CreditError,
};

/// A deposit that was booked, or whose booking was reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookedDeposit {
    pub id: DepositId,
    /// Which inclusion, from 1.
    pub epoch: u64,
    pub amount: Amount,
    /// The sender's address.
    pub from: String,
    pub purpose: Option<Purpose>,
    pub server: Option<Name>,
    pub wallet: Option<Name>,
    /// Why it is not a buy-in.
    pub reason: Option<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookingOutcome {
    pub credited: Vec<BookedDeposit>,
    /// Booked in suspense: no player has them.
    pub suspended: Vec<BookedDeposit>,
    pub reversed: Vec<BookedDeposit>,
    /// Deposits that the books refuse, and why. A refusal that cannot change is recorded in the row and needs an
    /// operator; the others are retried.
    pub refused: Vec<(DepositId, Rejection)>,
}

impl BookingOutcome {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.has_booked() && self.refused.is_empty()
    }

    /// Whether money was moved.
    #[must_use]
    pub fn has_booked(&self) -> bool {
        !(self.credited.is_empty() && self.suspended.is_empty() && self.reversed.is_empty())
    }
}

/// Requests that are built and not submitted. Their rows may change before they are: each request is guarded by its
/// row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreparedRequests {
    /// The requests, each about one inclusion.
    pub requests: Vec<Request>,
    inclusions: Vec<Inclusion>,
    refused: Refusals,
    is_credit: bool,
}

/// What a request does if it is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inclusion {
    deposit: BookedDeposit,
    state: LedgerState,
}

/// What the registry says about a player, asked once for each deposit of theirs.
pub type StandingOf<'a> = &'a dyn Fn(&Reader, &Name) -> Result<PlayerStanding, CreditError>;

/// Where there is no registry no player is excluded.
///
/// # Errors
/// Never.
pub fn no_exclusions(_: &Reader, _: &Name) -> Result<PlayerStanding, CreditError> {
    Ok(PlayerStanding::default())
}

/// One step, over so many reversals and so many credits at the most.
///
/// # Errors
/// See [`CreditError`]. Whatever it was, another step goes on where this one ended.
pub fn step(
    servers: &Servers,
    standing: StandingOf<'_>,
    ledger: &Ledger,
    rows: &Rows,
    most: usize,
) -> Result<BookingOutcome, CreditError> {
    let reversed = submit(prepare_reversals(rows, most)?, ledger, rows)?;
    let credited = submit(prepare_credits(servers, standing, ledger, rows, most)?, ledger, rows)?;
    let refused = reversed.refused.into_iter().chain(credited.refused).collect();
    Ok(BookingOutcome { reversed: reversed.reversed, refused, ..credited })
}

/// The requests that reverse what is booked and no longer canonical.
///
/// # Errors
/// See [`CreditError`]; nothing has happened.
pub fn prepare_reversals(rows: &Rows, most: usize) -> Result<PreparedRequests, CreditError> {
    let sql = format!(
        "SELECT id, custody, ledger_epoch, ledger_state, server, wallet, from_address, amount, tx_hash FROM deposits
         WHERE ledger_state IN ('credited', 'suspense')
           AND (ledger_epoch <> epoch OR chain_state IN ('orphaned', 'orphaned_after_final'))
         ORDER BY block_number LIMIT {most}"
    );
    let mut prepared = PreparedRequests::default();
    for row in rows.read(&sql, Vec::new())? {
        let credit = reversal_due_of(&row)?;
        let entry = rows.reader().find_key(&credit_key(&credit.custody, &credit.id, credit.epoch))?;
        let entry =
            entry.ok_or_else(|| CreditError::NoSuchCredit { deposit: credit.id.to_string(), epoch: credit.epoch })?;
        prepared.requests.push(reversal(&credit, entry.seq));
        prepared.inclusions.push(Inclusion { deposit: reversed(credit), state: LedgerState::Reversed });
    }
    Ok(prepared)
}

/// The requests that credit what is final and not booked. Opens the accounts they need.
///
/// # Errors
/// See [`CreditError`]; nothing is booked.
pub fn prepare_credits(
    servers: &Servers,
    standing: StandingOf<'_>,
    ledger: &Ledger,
    rows: &Rows,
    most: usize,
) -> Result<PreparedRequests, CreditError> {
    let sql = format!(
        "SELECT id, epoch, purpose, server, wallet, custody, from_address, amount, tx_hash, block_number, block_hash,
           ledger_state
         FROM deposits
         WHERE chain_state = 'final' AND ledger_state IN ('none', 'reversed')
           AND ledger_epoch <> epoch AND ledger_error_epoch <> epoch AND review_state = 'none' AND purpose <> 'internal'
         ORDER BY block_number LIMIT {most}"
    );
    let mut due: Vec<CreditDue> = rows.read(&sql, Vec::new())?.iter().map(credit_due_of).collect::<Result<_, _>>()?;
    for due in &mut due {
        if let Some(player) = &due.wallet {
            due.player = standing(rows.reader(), player)?;
        }
    }
    let allocated: Vec<_> = due.iter().map(|due| (due, allocate(due, servers))).collect();
    let names = allocated.iter().flat_map(|(due, allocation)| accounts(due, allocation));
    let numbers = open(ledger, names.collect())?;
    let mut prepared = PreparedRequests { is_credit: true, ..PreparedRequests::default() };
    for (due, allocation) in &allocated {
        // `None`: one of the accounts could not be opened.
        match credit(due, allocation, &numbers) {
            Some(request) => {
                prepared.requests.push(request);
                prepared.inclusions.push(Inclusion { deposit: booked(due, allocation), state: allocation.state });
            }
            None => prepared.refused.push((due.id.clone(), due.epoch, Rejection::AccountNotFound)),
        }
    }
    Ok(prepared)
}

/// Submits what was prepared, however long ago, and waits for the answers.
///
/// # Errors
/// See [`CreditError`]. The requests may have happened; preparing again finds out.
pub fn submit(prepared: PreparedRequests, ledger: &Ledger, rows: &Rows) -> Result<BookingOutcome, CreditError> {
    let PreparedRequests { requests, inclusions, refused: without_account, is_credit } = prepared;
    let (done, refused) = submit_all(ledger, requests, inclusions)?;
    // A refusal that is remembered under the key of this inclusion never changes, and must not block other deposits.
    let for_good = refused.iter().filter(|(.., rejection)| is_credit && rejection.is_remembered());
    let marks: Vec<_> = for_good.map(|(id, epoch, rejection)| mark(id, *epoch, *rejection)).collect();
    if !marks.is_empty() {
        rows.write(marks)?;
    }
    let refused = without_account.into_iter().chain(refused).map(|(id, _, rejection)| (id, rejection)).collect();
    let mut outcome = BookingOutcome { refused, ..BookingOutcome::default() };
    for Inclusion { deposit, state } in done {
        match state {
            LedgerState::Credited => outcome.credited.push(deposit),
            LedgerState::Suspense => outcome.suspended.push(deposit),
            LedgerState::Reversed | LedgerState::None => outcome.reversed.push(deposit),
        }
    }
    Ok(outcome)
}

fn booked(due: &CreditDue, allocation: &Allocation) -> BookedDeposit {
    BookedDeposit {
        id: due.id.clone(),
        epoch: due.epoch,
        amount: due.amount,
        from: due.from.clone(),
        purpose: Some(due.purpose),
        server: due.server.clone(),
        wallet: due.wallet.clone(),
        reason: allocation.reason,
    }
}

fn reversed(lost: ReversalDue) -> BookedDeposit {
    let ReversalDue { id, epoch, amount, from, .. } = lost;
    BookedDeposit { id, epoch, amount, from, purpose: None, server: None, wallet: None, reason: None }
}

fn mark(id: &DepositId, epoch: u64, rejection: Rejection) -> Statement {
    any(
        "UPDATE deposits SET ledger_error = $1, ledger_error_epoch = $2 WHERE id = $3",
        vec![text(rejection.code()), int(epoch), text(id.as_str())],
    )
}

type Refusals = Vec<(DepositId, u64, Rejection)>;

fn submit_all(
    ledger: &Ledger,
    requests: Vec<Request>,
    inclusions: Vec<Inclusion>,
) -> Result<(Vec<Inclusion>, Refusals), CreditError> {
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    if requests.is_empty() {
        return Ok((done, refused));
    }
    let answers = ledger.submit_in_turn(requests).map_err(SubmitError::from)?.wait().map_err(SubmitError::from)?;
    for (inclusion, answer) in inclusions.into_iter().zip(&answers) {
        match answer.effects() {
            Ok(_) => done.push(inclusion),
            // The row has changed since it was read: by the chain, or by an answer that was lost. The next step
            // sees it.
            Err(Rejection::GuardFailed | Rejection::FactRefused | Rejection::KeyReused) => {}
            Err(rejection) => refused.push((inclusion.deposit.id, inclusion.deposit.epoch, rejection)),
        }
    }
    Ok((done, refused))
}

/// The numbers of these accounts. Opens those that do not exist.
fn open(ledger: &Ledger, mut names: Vec<AccountName>) -> Result<BTreeMap<AccountName, AccountId>, CreditError> {
    names.sort_unstable();
    names.dedup();
    let mut numbers = BTreeMap::new();
    for some in names.chunks(1_000) {
        let opened = ledger.open_accounts(&Principal::System, some.to_vec())?;
        let known = some.iter().zip(opened).filter_map(|(name, opened)| Some((name.clone(), opened.ok()?)));
        numbers.extend(known);
    }
    Ok(numbers)
}

fn credit_due_of(row: &Row) -> Result<CreditDue, BadRow> {
    let hash = text_of(row, "block_hash")?.to_owned();
    Ok(CreditDue {
        id: DepositId::from_row(text_of(row, "id")?),
        epoch: number_of(row, "epoch")?,
        purpose: Purpose::from_row(text_of(row, "purpose")?).ok_or(BadRow { column: "purpose" })?,
        server: maybe(row, "server", parsed)?,
        wallet: maybe(row, "wallet", parsed)?,
        custody: parsed(row, "custody")?,
        from: text_of(row, "from_address")?.to_owned(),
        amount: amount_of(row, "amount")?,
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
        block: BlockRef { number: number_of(row, "block_number")?, hash },
        ledger_state: ledger_state_of(row)?,
        player: PlayerStanding::default(),
    })
}

fn reversal_due_of(row: &Row) -> Result<ReversalDue, BadRow> {
    Ok(ReversalDue {
        id: DepositId::from_row(text_of(row, "id")?),
        custody: parsed(row, "custody")?,
        epoch: number_of(row, "ledger_epoch")?,
        ledger_state: ledger_state_of(row)?,
        server: maybe(row, "server", parsed)?,
        wallet: maybe(row, "wallet", parsed)?,
        from: text_of(row, "from_address")?.to_owned(),
        amount: amount_of(row, "amount")?,
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
    })
}

fn ledger_state_of(row: &Row) -> Result<LedgerState, BadRow> {
    LedgerState::from_row(text_of(row, "ledger_state")?).ok_or(BadRow { column: "ledger_state" })
}
