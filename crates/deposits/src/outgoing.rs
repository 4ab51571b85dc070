//! The transactions that our own wallets sent, each as its block has it: what a payout really cost, whether it failed,
//! and whether another transaction than ours used a key of ours.
//!
//! To recover the sender of every transaction is too expensive, so the node's own claim is a filter, and what passes
//! is recovered. A node that hides one is caught by the wallet's number of transactions: it differs from what was seen, and
//! the scanner then recovers every sender of its blocks.
//!
//! It does not know payouts: whether a job made a transaction, the role `books` finds out ([`note_makers`]).

use bankroll_chains_evm::{Address, B256, Block, BlockTag, Disagreement, RpcError, RpcNode, Transaction, U256};
use bankroll_ledger::{ColumnValue, Name, Row, Time};
use bankroll_store::{
    Reader, Rows, Statement,
    columns::{BadRow, any, int, maybe, number_of, parsed, text, text_of, time},
};

use crate::{ScanError, WatchList, event_log::places, follower::BlockPoint, view::DepositViewError};

/// Rows in one query.
const AT_ONCE: usize = 400;

/// A transaction that one of our wallets sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingTransaction {
    pub hash: B256,
    pub wallet: Address,
    pub nonce: u64,
    /// `None` creates a contract.
    pub to: Option<Address>,
    /// In wei; it moved only if the transaction succeeded.
    pub value: U256,
    pub fee: U256,
    pub succeeded: bool,
    pub block: BlockPoint,
}

/// The same as its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingView {
    pub chain: String,
    pub tx_hash: String,
    pub wallet: Address,
    pub nonce: u64,
    pub to: Option<Address>,
    pub value: U256,
    pub fee: U256,
    pub succeeded: bool,
    pub block: u64,
    /// Whether its block is still on the chain.
    pub is_canonical: bool,
    pub first_seen_at: Time,
}

/// A wallet's number of transactions is not explained by the transactions that the node showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnexplainedNonce {
    pub wallet: Address,
    /// The last block of the step.
    pub block: u64,
    /// How many more there are than were seen.
    pub hidden: u64,
}

/// Whose word counts about a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderSearch {
    /// Only what the node calls ours is recovered, and what it says nothing about.
    ByClaim,
    /// Everything is recovered.
    Recover,
}

/// The transactions of a block that our wallets sent.
pub(crate) fn find(
    watch: &WatchList,
    block: &Block,
    search: SenderSearch,
) -> Result<Vec<OutgoingTransaction>, Disagreement> {
    let mut found = Vec::new();
    for transaction in &block.transactions {
        let is_claimed = transaction.claimed_sender.is_none_or(|sender| watch.is_ours(sender));
        if search == SenderSearch::ByClaim && !is_claimed {
            continue;
        }
        let wallet = transaction.sender()?;
        if watch.is_ours(wallet) {
            found.push(outgoing(transaction, wallet, BlockPoint::from(&block.header)));
        }
    }
    Ok(found)
}

fn outgoing(transaction: &Transaction, wallet: Address, block: BlockPoint) -> OutgoingTransaction {
    OutgoingTransaction {
        hash: transaction.hash,
        wallet,
        nonce: transaction.nonce,
        to: transaction.to,
        value: transaction.value.units(),
        fee: transaction.fee().units(),
        succeeded: transaction.succeeded,
        block,
    }
}

/// Everything that our wallets sent in these blocks, which continue `fork`; and what stays unexplained.
pub(crate) fn search(
    watch: &WatchList,
    chain: &Name,
    node: &RpcNode,
    store: &Rows,
    fork: BlockPoint,
    blocks: &[&Block],
) -> Result<(Vec<OutgoingTransaction>, Vec<UnexplainedNonce>), ScanError> {
    let all = |search| -> Result<Vec<OutgoingTransaction>, ScanError> {
        let found = blocks.iter().map(|block| find(watch, block, search)).collect::<Result<Vec<_>, _>>();
        Ok(found.map_err(RpcError::from)?.concat())
    };
    let (mut found, mut is_complete) = (all(SenderSearch::ByClaim)?, false);
    let Some(last) = blocks.last().map(|block| BlockPoint::from(&block.header)) else {
        return Ok((found, Vec::new()));
    };
    let mut unexplained = Vec::new();
    for wallet in &watch.paying {
        let Some(after) = nonce_at(node, *wallet, last)? else { continue };
        let stored = next_nonce(store.reader(), chain, *wallet, fork.number)?;
        if stored.is_some_and(|before| is_explained(&found, *wallet, before, after)) {
            continue;
        }
        let Some(before) = nonce_at(node, *wallet, fork)? else { continue };
        if !is_explained(&found, *wallet, before, after) && !is_complete {
            (found, is_complete) = (all(SenderSearch::Recover)?, true);
        }
        if !is_explained(&found, *wallet, before, after) {
            let seen = count_of(&found, *wallet);
            let hidden = after.saturating_sub(before).saturating_sub(seen);
            unexplained.push(UnexplainedNonce { wallet: *wallet, block: last.number, hidden });
        }
    }
    Ok((found, unexplained))
}

fn is_explained(found: &[OutgoingTransaction], wallet: Address, before: u64, after: u64) -> bool {
    before.checked_add(count_of(found, wallet)) == Some(after)
}

fn count_of(found: &[OutgoingTransaction], wallet: Address) -> u64 {
    u64::try_from(found.iter().filter(|sent| sent.wallet == wallet).count()).unwrap_or(u64::MAX)
}

/// A node without the state of that block has not said anything: that is no failure of the step.
fn nonce_at(node: &RpcNode, wallet: Address, at: BlockPoint) -> Result<Option<u64>, ScanError> {
    match node.nonce(wallet, BlockTag::Hash(at.hash)) {
        Ok(nonce) => Ok(Some(nonce)),
        Err(RpcError::Refused(_) | RpcError::Malformed(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The nonce after those that are known up to a block; `None` if none is.
fn next_nonce(reader: &Reader, chain: &Name, wallet: Address, block: u64) -> Result<Option<u64>, ScanError> {
    let sql = "SELECT nonce FROM withdrawals_chain WHERE chain = $1 AND wallet = $2 AND block_number <= $3
               AND is_canonical = 1 ORDER BY nonce DESC LIMIT 1";
    let rows = reader.rows(sql, vec![text(chain.as_str()), text(&wallet.lower_hex()), int(block)])?;
    let nonce = rows.first().map(|row| number_of(row, "nonce")).transpose()?;
    Ok(nonce.map(|nonce| nonce.saturating_add(1)))
}

/// What a step writes about blocks that are no longer canonical.
pub(crate) fn unwound(chain: &Name, above: u64, now: Time) -> Statement {
    any(
        "UPDATE withdrawals_chain SET is_canonical = 0, updated_at = $1
         WHERE chain = $2 AND block_number > $3 AND is_canonical = 1",
        vec![time(now), text(chain.as_str()), int(above)],
    )
}

/// What a step writes about a transaction in a block: the same one may be included again, in another block.
pub(crate) fn included(chain: &Name, sent: &OutgoingTransaction, now: Time) -> Statement {
    let to = sent.to.map_or(ColumnValue::Null, |to| text(&to.lower_hex()));
    any(
        "INSERT INTO withdrawals_chain (chain, tx_hash, wallet, nonce, to_address, value_raw, fee_raw, succeeded,
           block_number, block_hash, first_seen_at, updated_at, epoch, is_canonical)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, 1, 1)
         ON CONFLICT (chain, tx_hash) DO UPDATE SET fee_raw = excluded.fee_raw, succeeded = excluded.succeeded,
           block_number = excluded.block_number, block_hash = excluded.block_hash, updated_at = excluded.updated_at,
           epoch = withdrawals_chain.epoch + 1, is_canonical = 1",
        vec![
            text(chain.as_str()),
            text(&format!("{:#x}", sent.hash)),
            text(&sent.wallet.lower_hex()),
            int(sent.nonce),
            to,
            text(&sent.value.to_string()),
            text(&sent.fee.to_string()),
            int(u64::from(sent.succeeded)),
            int(sent.block.number),
            text(&format!("{:#x}", sent.block.hash)),
            time(now),
        ],
    )
}

const COLUMNS: &str = "SELECT chain, tx_hash, wallet, nonce, to_address, value_raw, fee_raw, succeeded, block_number,
    is_canonical, first_seen_at FROM withdrawals_chain";

/// Those of which no job is known, of one chain or of all, oldest first: newly seen ones, and those that no job made.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn without_maker(
    reader: &Reader,
    chain: Option<&Name>,
    most: usize,
) -> Result<Vec<OutgoingView>, DepositViewError> {
    let (of_chain, values) = match chain {
        Some(chain) => ("AND chain = $1", vec![text(chain.as_str())]),
        None => ("", Vec::new()),
    };
    let sql = format!("{COLUMNS} WHERE made_by IS NULL {of_chain} ORDER BY first_seen_at, tx_hash LIMIT {most}");
    views(reader, &sql, values)
}

/// Those of a chain with these hashes.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn with_hashes(reader: &Reader, chain: &Name, hashes: &[String]) -> Result<Vec<OutgoingView>, DepositViewError> {
    let mut found = Vec::new();
    for some in hashes.chunks(AT_ONCE) {
        let sql = format!("{COLUMNS} WHERE chain = $1 AND tx_hash IN ({})", places(some.len(), 2));
        let mut values = vec![text(chain.as_str())];
        values.extend(some.iter().map(|hash| text(hash)));
        found.extend(views(reader, &sql, values)?);
    }
    Ok(found)
}

/// Those of a chain that a reorganisation dropped, and that are in no other block.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn dropped(reader: &Reader, chain: &Name) -> Result<Vec<OutgoingView>, DepositViewError> {
    views(reader, &format!("{COLUMNS} WHERE chain = $1 AND is_canonical = 0"), vec![text(chain.as_str())])
}

/// Those of a chain in blocks after this one.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn above(reader: &Reader, chain: &Name, block: u64) -> Result<Vec<OutgoingView>, DepositViewError> {
    let sql = format!("{COLUMNS} WHERE chain = $1 AND block_number > $2 AND is_canonical = 1");
    views(reader, &sql, vec![text(chain.as_str()), int(block)])
}

/// Notes which job made a transaction (role `books`), so that what no job made stays.
#[must_use]
pub fn note_makers(makers: &[(OutgoingView, String)]) -> Vec<Statement> {
    let note = |(sent, job): &(OutgoingView, String)| {
        any(
            "UPDATE withdrawals_chain SET made_by = $1 WHERE chain = $2 AND tx_hash = $3 AND made_by IS NULL",
            vec![text(job), text(&sent.chain), text(&sent.tx_hash)],
        )
    };
    makers.iter().map(note).collect()
}

fn views(reader: &Reader, sql: &str, values: Vec<ColumnValue>) -> Result<Vec<OutgoingView>, DepositViewError> {
    Ok(reader.rows(sql, values)?.iter().map(view_of).collect::<Result<_, _>>()?)
}

fn view_of(row: &Row) -> Result<OutgoingView, BadRow> {
    let amount = |column| text_of(row, column)?.parse::<U256>().map_err(|_| BadRow { column });
    Ok(OutgoingView {
        chain: text_of(row, "chain")?.to_owned(),
        tx_hash: text_of(row, "tx_hash")?.to_owned(),
        wallet: parsed(row, "wallet")?,
        nonce: number_of(row, "nonce")?,
        to: maybe(row, "to_address", parsed)?,
        value: amount("value_raw")?,
        fee: amount("fee_raw")?,
        succeeded: number_of(row, "succeeded")? == 1,
        block: number_of(row, "block_number")?,
        is_canonical: number_of(row, "is_canonical")? == 1,
        first_seen_at: Time(number_of(row, "first_seen_at")?),
    })
}

impl OutgoingView {
    /// What left the wallet: the value if it moved, and the fee in any case.
    #[must_use]
    pub fn left(&self) -> U256 {
        let value = if self.succeeded { self.value } else { U256::ZERO };
        value.saturating_add(self.fee)
    }
}
