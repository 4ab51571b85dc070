//! Crediting (role `books`): what is final and not booked is booked; what is booked and no longer canonical is taken back.
//!
//! Both are questions to the rows, not messages that could be missed: a step that died anywhere, or never ran, is made up
//! for by the next. Reversals come first, so that a deposit that was included again is taken back before it is credited
//! again.
//!
//! | phase | if the process dies behind it |
//! | --- | --- |
//! | what is due | nothing has happened |
//! | accounts are opened | they are there, empty |
//! | requests, each with its fact | what is committed is done; the rest is still due, under the same keys |
//! | refusals are written down | they are found again |

use std::collections::BTreeMap;

use bankroll_ledger::{AccountId, AccountName, BlockRef, Principal, Rejection, Request, Row};
use bankroll_store::{
    CallError, Ledger, Rows, Statement,
    columns::{BadRow, amount_of, any, int, maybe, number_of, parsed, text, text_of},
};

use crate::{
    DepositId, LedgerState, Purpose,
    credit::{Due, Lost, Servers, accounts, allocate, credit, credit_key, reversal},
    error::CreditError,
};

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Booked {
    /// Deposits that were credited, or went into suspense, each with its epoch.
    pub credited: Vec<(DepositId, u64)>,
    /// Deposits that were taken back.
    pub reversed: Vec<(DepositId, u64)>,
    /// Deposits that the books would not take, and why. A verdict that cannot change is written down, for a person; the
    /// others are tried again.
    pub refused: Vec<(DepositId, Rejection)>,
}

impl Booked {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.credited.is_empty() && self.reversed.is_empty() && self.refused.is_empty()
    }
}

/// One step, over so many reversals and so many credits at the most.
///
/// # Errors
/// See [`CreditError`]. Whatever it was, another step goes on where this one ended.
pub fn step(servers: &Servers, ledger: &Ledger, rows: &Rows, most: usize) -> Result<Booked, CreditError> {
    let mut booked = Booked::default();
    take_back(ledger, rows, most, &mut booked)?;
    give(servers, ledger, rows, most, &mut booked)?;
    Ok(booked)
}

fn take_back(ledger: &Ledger, rows: &Rows, most: usize, booked: &mut Booked) -> Result<(), CreditError> {
    let sql = format!(
        "SELECT id, custody, ledger_epoch, ledger_state, tx_hash FROM deposits
         WHERE ledger_state IN ('credited', 'suspense')
           AND (ledger_epoch <> epoch OR chain_state IN ('orphaned', 'orphaned_after_final'))
         ORDER BY block_number LIMIT {most}"
    );
    let mut lost = Vec::new();
    let mut requests = Vec::new();
    for row in rows.read(&sql, Vec::new())? {
        let credit = lost_of(&row)?;
        let entry = rows.reader().find_key(&credit_key(&credit.custody, &credit.id, credit.epoch))?;
        let entry =
            entry.ok_or_else(|| CreditError::NoSuchCredit { deposit: credit.id.to_string(), epoch: credit.epoch })?;
        requests.push(reversal(&credit, entry.seq));
        lost.push((credit.id, credit.epoch));
    }
    let (done, refused) = submit(ledger, requests, lost)?;
    booked.reversed = done;
    booked.refused.extend(refused.into_iter().map(|(id, _, rejection)| (id, rejection)));
    Ok(())
}

fn give(servers: &Servers, ledger: &Ledger, rows: &Rows, most: usize, booked: &mut Booked) -> Result<(), CreditError> {
    let sql = format!(
        "SELECT id, epoch, purpose, server, wallet, custody, amount, tx_hash, block_number, block_hash, ledger_state
         FROM deposits
         WHERE chain_state = 'final' AND ledger_state IN ('none', 'reversed')
           AND ledger_epoch <> epoch AND ledger_error_epoch <> epoch AND review_state = 'none' AND purpose <> 'internal'
         ORDER BY block_number LIMIT {most}"
    );
    let due: Vec<Due> = rows.read(&sql, Vec::new())?.iter().map(due_of).collect::<Result<_, _>>()?;
    let allocated: Vec<_> = due.iter().map(|due| (due, allocate(due, servers))).collect();
    let names = allocated.iter().flat_map(|(due, allocation)| accounts(due, allocation));
    let numbers = open(ledger, names.collect())?;
    let (mut requests, mut asked) = (Vec::new(), Vec::new());
    for (due, allocation) in &allocated {
        // An account that nobody may open is told when the request is refused; here there is none.
        match credit(due, allocation, &numbers) {
            Some(request) => {
                requests.push(request);
                asked.push((due.id.clone(), due.epoch));
            }
            None => booked.refused.push((due.id.clone(), Rejection::AccountNotFound)),
        }
    }
    let (done, refused) = submit(ledger, requests, asked)?;
    booked.credited = done;
    // What is remembered under the key of this inclusion will never be otherwise, and must not stand in the way of others.
    let for_good = refused.iter().filter(|(.., rejection)| rejection.is_remembered());
    let marks: Vec<_> = for_good.map(|(id, epoch, rejection)| mark(id, *epoch, *rejection)).collect();
    booked.refused.extend(refused.into_iter().map(|(id, _, rejection)| (id, rejection)));
    if !marks.is_empty() {
        rows.write(marks)?;
    }
    Ok(())
}

fn mark(id: &DepositId, epoch: u64, rejection: Rejection) -> Statement {
    any(
        "UPDATE deposits SET ledger_error = $1, ledger_error_epoch = $2 WHERE id = $3",
        vec![text(rejection.code()), int(epoch), text(id.as_str())],
    )
}

/// Inclusions that were done as asked.
type Done = Vec<(DepositId, u64)>;
/// Inclusions that were not, and why.
type Refused = Vec<(DepositId, u64, Rejection)>;

/// Asks, and waits for what became of it.
fn submit(ledger: &Ledger, requests: Vec<Request>, asked: Done) -> Result<(Done, Refused), CreditError> {
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    if requests.is_empty() {
        return Ok((done, refused));
    }
    let answers = ledger.submit(requests).map_err(CallError::from)?.wait().map_err(CallError::from)?;
    for ((id, epoch), answer) in asked.into_iter().zip(&answers) {
        match answer.effects() {
            Ok(_) => done.push((id, epoch)),
            // The row has moved on since it was read: by the chain, or by an answer that was lost. The next step sees it.
            Err(Rejection::GuardFailed | Rejection::FactRefused | Rejection::KeyReused) => {}
            Err(rejection) => refused.push((id, epoch, rejection)),
        }
    }
    Ok((done, refused))
}

/// The numbers of accounts, those that are missing opened.
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

fn due_of(row: &Row) -> Result<Due, BadRow> {
    let hash = text_of(row, "block_hash")?.to_owned();
    Ok(Due {
        id: DepositId::from_row(text_of(row, "id")?),
        epoch: number_of(row, "epoch")?,
        purpose: Purpose::from_row(text_of(row, "purpose")?).ok_or(BadRow { column: "purpose" })?,
        server: maybe(row, "server", parsed)?,
        wallet: maybe(row, "wallet", parsed)?,
        custody: parsed(row, "custody")?,
        amount: amount_of(row, "amount")?,
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
        block: BlockRef { number: number_of(row, "block_number")?, hash },
        ledger_state: ledger_state_of(row)?,
    })
}

fn lost_of(row: &Row) -> Result<Lost, BadRow> {
    Ok(Lost {
        id: DepositId::from_row(text_of(row, "id")?),
        custody: parsed(row, "custody")?,
        epoch: number_of(row, "ledger_epoch")?,
        ledger_state: ledger_state_of(row)?,
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
    })
}

fn ledger_state_of(row: &Row) -> Result<LedgerState, BadRow> {
    LedgerState::from_row(text_of(row, "ledger_state")?).ok_or(BadRow { column: "ledger_state" })
}
