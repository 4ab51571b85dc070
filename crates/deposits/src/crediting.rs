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

use bankroll_chains_evm::Address;
use bankroll_ledger::{AccountId, AccountName, Amount, AssetId, BlockRef, Name, Principal, Rejection, Request, Row};
use bankroll_store::{
    Ledger, Reader, Rows, Statement, SubmitError,
    columns::{BadRow, any, int, maybe, number_of, parsed, text, text_of},
};

use crate::{
    Attribution, DepositHistory, DepositId, EvidenceFault, LedgerState, Purpose, WatchList,
    credit::{
        Allocation, CreditDue, PlayerStanding, ReversalDue, Servers, accounts, allocate, credit, credit_key, reversal,
        unassignment,
    },
    error::CreditError,
    event_log::{self, expected_row},
    review_proof::{self, Review},
};

/// The watch list of each chain, as the registry has it: the books decide themselves whose a deposit is.
pub type WatchLists = BTreeMap<Name, WatchList>;

/// A deposit that was booked, or whose booking was reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookedDeposit {
    pub id: DepositId,
    /// Which inclusion, from 1.
    pub epoch: u64,
    pub asset: AssetId,
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
    /// Deposits whose rows the scanner's log does not prove. Nothing is booked and nothing taken back for them.
    pub unproven: Vec<(DepositId, EvidenceFault)>,
}

impl BookingOutcome {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.has_booked() && self.refused.is_empty() && self.unproven.is_empty()
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
    inclusions: Vec<BookedInclusion>,
    refused: Refusals,
    unproven: Vec<(DepositId, EvidenceFault)>,
    is_credit: bool,
}

/// What a request does if it is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BookedInclusion {
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

/// What the registry says, as crediting needs it.
#[derive(Clone, Copy)]
pub struct CreditRules<'a> {
    pub servers: &'a Servers,
    pub watch: &'a WatchLists,
    pub standing: StandingOf<'a>,
}

/// One step, over so many reversals and so many credits at the most.
///
/// # Errors
/// See [`CreditError`]. Whatever it was, another step goes on where this one ended.
pub fn step(rules: &CreditRules<'_>, ledger: &Ledger, rows: &Rows, most: usize) -> Result<BookingOutcome, CreditError> {
    let unassigned = submit(prepare_unassignments(rows, most)?, ledger, rows)?;
    let reversed = submit(prepare_reversals(rows, most)?, ledger, rows)?;
    let credited = submit(prepare_credits(rules, ledger, rows, most)?, ledger, rows)?;
    let refused = unassigned.refused.into_iter().chain(reversed.refused).chain(credited.refused).collect();
    let unproven = reversed.unproven.into_iter().chain(credited.unproven).collect();
    Ok(BookingOutcome { reversed: reversed.reversed, refused, unproven, ..credited })
}

/// What is booked and no longer canonical. The log decides; a row that somebody called orphaned has no such event and
/// is not even looked at.
const LOST: &str = "ledger_state IN ('credited', 'suspense')
   AND (ledger_epoch <> epoch OR chain_state IN ('orphaned', 'orphaned_after_final'))
   AND EXISTS (SELECT 1 FROM chain_events WHERE deposit_id = deposits.id AND chain_events.epoch = ledger_epoch
     AND change = 'orphaned')";

/// The requests that take back from players what people assigned to them and the chain dropped. What came out of
/// suspense goes back there first: reversing the credit alone would make the player's money a debt of suspense.
///
/// # Errors
/// See [`CreditError`]; nothing has happened.
pub fn prepare_unassignments(rows: &Rows, most: usize) -> Result<PreparedRequests, CreditError> {
    let sql = format!(
        "SELECT * FROM deposits WHERE {LOST} AND ledger_state = 'credited' AND assigned_by IS NOT NULL
         ORDER BY block_number LIMIT {most}"
    );
    let mut prepared = PreparedRequests::default();
    for (id, row, history) in proven_rows(rows, &sql)? {
        // What is not proven is reported with the reversals.
        let Some(lost) = history.and_then(|history| reversal_due_of(&row, id, &history)).ok().flatten() else {
            continue;
        };
        if let Ok(Some((by, record))) = review_proof::assignment(rows.reader(), &lost.id, &row)? {
            prepared.requests.push(unassignment(&lost, &by, record));
            prepared.inclusions.push(BookedInclusion { deposit: reversed(lost), state: LedgerState::Suspense });
        }
    }
    Ok(prepared)
}

/// The requests that reverse what is booked and no longer canonical.
///
/// # Errors
/// See [`CreditError`]; nothing has happened.
pub fn prepare_reversals(rows: &Rows, most: usize) -> Result<PreparedRequests, CreditError> {
    let sql = format!("SELECT * FROM deposits WHERE {LOST} ORDER BY block_number LIMIT {most}");
    let mut prepared = PreparedRequests::default();
    for (id, row, history) in proven_rows(rows, &sql)? {
        let due = history.and_then(|history| reversal_due_of(&row, id.clone(), &history));
        let lost = match due {
            Ok(Some(lost)) => lost,
            // Canonical again under the epoch that was booked: there is nothing to take back.
            Ok(None) => continue,
            Err(fault) => {
                prepared.unproven.push((id, fault));
                continue;
            }
        };
        let assignment = review_proof::assignment(rows.reader(), &lost.id, &row)?;
        match rows.reader().find_key(&credit_key(&lost.id, lost.epoch))? {
            // Taken back from its player first, in a step before this one.
            Some(_) if assignment.as_ref().is_ok_and(Option::is_some) => {}
            Some(_) if assignment.is_err() => prepared.unproven.extend(assignment.err().map(|fault| (lost.id, fault))),
            Some(entry) => {
                prepared.requests.push(reversal(&lost, entry.seq));
                prepared.inclusions.push(BookedInclusion { deposit: reversed(lost), state: LedgerState::Reversed });
            }
            None => prepared.unproven.push((lost.id, EvidenceFault::NoCredit { epoch: lost.epoch })),
        }
    }
    Ok(prepared)
}

/// The requests that credit what is final and not booked. Opens the accounts they need. Nothing of a chain whose scanner
/// has stopped is credited: which branch is right is not known.
///
/// # Errors
/// See [`CreditError`]; nothing is booked.
pub fn prepare_credits(
    rules: &CreditRules<'_>,
    ledger: &Ledger,
    rows: &Rows,
    most: usize,
) -> Result<PreparedRequests, CreditError> {
    let sql = format!(
        "SELECT * FROM deposits
         WHERE chain_state = 'final' AND ledger_state IN ('none', 'reversed')
           AND ledger_epoch <> epoch AND ledger_error_epoch <> epoch
           AND review_state IN ('none', 'cleared', 'released') AND purpose <> 'internal'
           AND NOT EXISTS (SELECT 1 FROM chain_cursor WHERE chain_cursor.chain = deposits.chain
             AND chain_cursor.stopped IS NOT NULL)
           AND (doubt IS NULL OR doubt = 'balance_mismatch' OR (review_state = 'released' AND review_epoch = epoch))
           AND EXISTS (SELECT 1 FROM chain_events WHERE deposit_id = deposits.id AND chain_events.epoch = deposits.epoch
             AND change = 'final')
         ORDER BY block_number LIMIT {most}"
    );
    let mut prepared = PreparedRequests { is_credit: true, ..PreparedRequests::default() };
    let mut due = Vec::new();
    for (id, row, history) in proven_rows(rows, &sql)? {
        let reviewed = match history {
            Ok(history) => review_proof::review(rows.reader(), &id, &row)?.map(|review| (history, review)),
            Err(fault) => Err(fault),
        };
        match reviewed.and_then(|(history, review)| credit_due_of(&row, &history, review, rules.watch)) {
            Ok(Some(credit)) => due.push(credit),
            Ok(None) => {}
            Err(fault) => prepared.unproven.push((id, fault)),
        }
    }
    for due in &mut due {
        if let Some(player) = &due.attribution.wallet {
            due.player = (rules.standing)(rows.reader(), player)?;
        }
    }
    let allocated: Vec<_> = due.iter().map(|due| (due, allocate(due, rules.servers))).collect();
    let names = allocated.iter().flat_map(|(due, allocation)| accounts(due, allocation));
    let numbers = open(ledger, names.collect())?;
    for (due, allocation) in &allocated {
        // `None`: one of the accounts could not be opened.
        match credit(due, allocation, &numbers) {
            Some(request) => {
                prepared.requests.push(request);
                let (deposit, state) = (booked(due, allocation), allocation.state);
                prepared.inclusions.push(BookedInclusion { deposit, state });
            }
            None => prepared.refused.push((due.id.clone(), due.epoch, Rejection::AccountNotFound)),
        }
    }
    Ok(prepared)
}

/// A deposit's row, and what the log proves about it.
type ProvenRow = (DepositId, Row, Result<DepositHistory, EvidenceFault>);

/// Rows of deposits with what the scanner's log proves about each.
fn proven_rows(rows: &Rows, sql: &str) -> Result<Vec<ProvenRow>, CreditError> {
    let found = rows.read(sql, Vec::new())?;
    let ids = found.iter().map(|row| text_of(row, "id").map(DepositId::from_row)).collect::<Result<Vec<_>, _>>()?;
    let mut histories = event_log::proven(rows.reader(), &ids)?;
    let with_history = |(id, row): (DepositId, Row)| {
        let history = histories.remove(&id).unwrap_or(Err(EvidenceFault::NoEvent)).and_then(|history| {
            let differs = expected_row(&history).into_iter().find(|(name, value)| row.get(*name) != Some(value));
            differs.map_or(Ok(history), |(column, _)| Err(EvidenceFault::RowDiffers { column }))
        });
        (id, row, history)
    };
    Ok(ids.into_iter().zip(found).map(with_history).collect())
}

/// Submits what was prepared, however long ago, and waits for the answers.
///
/// # Errors
/// See [`CreditError`]. The requests may have happened; preparing again finds out.
pub fn submit(prepared: PreparedRequests, ledger: &Ledger, rows: &Rows) -> Result<BookingOutcome, CreditError> {
    let PreparedRequests { requests, inclusions, refused: without_account, unproven, is_credit } = prepared;
    let (done, refused) = submit_all(ledger, requests, inclusions)?;
    // A refusal that is remembered under the key of this inclusion never changes, and must not block other deposits.
    let for_good = refused.iter().filter(|(.., rejection)| is_credit && rejection.is_remembered());
    let mut marks: Vec<_> = for_good.map(|(id, epoch, rejection)| mark(id, *epoch, rejection.code())).collect();
    // Not tried again, so that they cannot crowd out others; a row that is restored from the log loses the mark.
    if is_credit {
        marks.extend(unproven.iter().map(|(id, _)| mark_unproven(id)));
    }
    if !marks.is_empty() {
        rows.write(marks)?;
    }
    let refused = without_account.into_iter().chain(refused).map(|(id, _, rejection)| (id, rejection)).collect();
    let mut outcome = BookingOutcome { refused, unproven, ..BookingOutcome::default() };
    for BookedInclusion { deposit, state } in done {
        match state {
            LedgerState::Credited => outcome.credited.push(deposit),
            LedgerState::Suspense => outcome.suspended.push(deposit),
            _ => outcome.reversed.push(deposit),
        }
    }
    Ok(outcome)
}

fn booked(due: &CreditDue, allocation: &Allocation) -> BookedDeposit {
    let Attribution { purpose, server, wallet, custody } = due.attribution.clone();
    BookedDeposit {
        id: due.id.clone(),
        epoch: due.epoch,
        asset: custody.asset,
        amount: due.amount,
        from: due.from.clone(),
        purpose: Some(purpose),
        server: Some(server),
        wallet,
        reason: allocation.reason,
    }
}

fn reversed(lost: ReversalDue) -> BookedDeposit {
    let ReversalDue { id, epoch, asset, amount, from, .. } = lost;
    BookedDeposit { id, epoch, asset, amount, from, purpose: None, server: None, wallet: None, reason: None }
}

fn mark(id: &DepositId, epoch: u64, code: &str) -> Statement {
    any(
        "UPDATE deposits SET ledger_error = $1, ledger_error_epoch = $2 WHERE id = $3",
        vec![text(code), int(epoch), text(id.as_str())],
    )
}

/// The word for a deposit that the scanner's log does not prove.
pub const UNPROVEN: &str = "unproven";

fn mark_unproven(id: &DepositId) -> Statement {
    any(
        "UPDATE deposits SET ledger_error = $1, ledger_error_epoch = epoch WHERE id = $2",
        vec![text(UNPROVEN), text(id.as_str())],
    )
}

type Refusals = Vec<(DepositId, u64, Rejection)>;

fn submit_all(
    ledger: &Ledger,
    requests: Vec<Request>,
    inclusions: Vec<BookedInclusion>,
) -> Result<(Vec<BookedInclusion>, Refusals), CreditError> {
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

/// `None` if it is not to be credited now.
fn credit_due_of(
    row: &Row,
    history: &DepositHistory,
    review: Review,
    watch: &WatchLists,
) -> Result<Option<CreditDue>, EvidenceFault> {
    let inclusion = &history.inclusion;
    // People have let one inclusion through: the next one may be another transfer.
    let doubt = inclusion.doubt.filter(|_| !review.releases(inclusion.epoch));
    let is_held = doubt.is_some_and(crate::Doubt::is_held);
    let Ok(amount) = inclusion.value.amount() else { return Ok(None) };
    if is_held || history.state != crate::ChainState::Final {
        return Ok(None);
    }
    let address = |text: &str| text.parse::<Address>().map_err(|_| EvidenceFault::NotOurs);
    let chain = inclusion.deposit.chain();
    let (from, to) = (address(&inclusion.from)?, address(&inclusion.to)?);
    let watch = chain.parse().ok().and_then(|chain: Name| watch.get(&chain)).ok_or(EvidenceFault::NotOurs)?;
    let attribution = watch.attribute(inclusion.block.number, from, to, inclusion.asset);
    let attribution = attribution.ok_or(EvidenceFault::NotOurs)?;
    if attribution.purpose == Purpose::Internal {
        return Ok(None);
    }
    let hash = format!("{:#x}", inclusion.block.hash);
    Ok(Some(CreditDue {
        id: inclusion.deposit.clone(),
        epoch: inclusion.epoch,
        attribution,
        from: inclusion.from.clone(),
        amount,
        tx_hash: format!("{:#x}", inclusion.transaction),
        block: BlockRef { number: inclusion.block.number, hash },
        doubt,
        evidence: history.newest,
        ledger_state: ledger_state_of(row)?,
        review_state: review.state,
        player: PlayerStanding::default(),
    }))
}

/// `None` if the inclusion that was booked is still canonical.
fn reversal_due_of(row: &Row, id: DepositId, history: &DepositHistory) -> Result<Option<ReversalDue>, EvidenceFault> {
    let epoch = number_of(row, "ledger_epoch")?;
    if history.state.is_canonical() && history.inclusion.epoch == epoch {
        return Ok(None);
    }
    let inclusion = history.inclusion_of(epoch).ok_or(EvidenceFault::NoCredit { epoch })?;
    Ok(Some(ReversalDue {
        id,
        epoch,
        asset: inclusion.asset,
        amount: inclusion.value.amount().unwrap_or_default(),
        from: inclusion.from.clone(),
        tx_hash: format!("{:#x}", inclusion.transaction),
        evidence: history.newest,
        ledger_state: ledger_state_of(row)?,
        server: maybe(row, "credited_server", parsed)?,
        wallet: maybe(row, "credited_wallet", parsed)?,
    }))
}

fn ledger_state_of(row: &Row) -> Result<LedgerState, BadRow> {
    LedgerState::from_row(text_of(row, "ledger_state")?).ok_or(BadRow { column: "ledger_state" })
}
