//! Reads the memory: what it has about an order, and the hash at a given length.

use bankroll_money::{Amount, Time};
use bankroll_orders::{IntentId, Order, Slot};
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::{
    Memory, MemoryError,
    log::{MemoryEntry, token_column},
};
use crate::judge::{LimitUsage, OrderHistory, SigningPromise, TransactionFields};

/// A promise's number and body, and the body of its signature.
type Bodies = (u64, Vec<u8>, Option<Vec<u8>>);

impl Memory {
    /// Everything about an order; `since` is the start of the limits' window.
    ///
    /// # Errors
    /// It cannot be read. The signer must not decide then.
    pub fn recall(&mut self, order: &Order, since: Time) -> Result<OrderHistory, MemoryError> {
        let mut recalled = self.recall_intent(&order.intent)?;
        let Slot { chain, wallet, nonce } = order.slot;
        let slot = params![chain.0.to_be_bytes(), wallet.0, nonce.to_be_bytes()];
        recalled.of_slot = self.promises("p.chain = ? AND p.wallet = ? AND p.nonce = ?", slot)?;
        let same_id = self.promises("p.order_id = ?", params![order.id.to_string()])?;
        recalled.same_id = same_id.into_iter().next().map(|promise| promise.order);
        // Content that was promised before is counted already, and the window may be long.
        if !recalled.of_slot.iter().any(|promise| promise.order.content() == order.content()) {
            recalled.spent = self.spent(order, since)?;
        }
        Ok(recalled)
    }

    /// Everything about an intent alone.
    ///
    /// # Errors
    /// As [`Memory::recall`].
    pub fn recall_intent(&mut self, intent: &IntentId) -> Result<OrderHistory, MemoryError> {
        let name = intent.to_string();
        let of_intent = self.promises("p.intent = ? AND p.nonce IS NOT NULL", params![name])?;
        let revoked = self.ready()?.query_row(
            "SELECT EXISTS (SELECT 1 FROM log WHERE intent = ? AND nonce IS NULL)",
            [name],
            |row| row.get(0),
        );
        Ok(OrderHistory { revoked: revoked.map_err(|error| self.broken(error))?, of_intent, ..OrderHistory::default() })
    }

    /// The hash after the first `count` entries; `None` if there are fewer.
    ///
    /// # Errors
    /// As [`Memory::recall`].
    pub fn hash_at(&mut self, count: u64) -> Result<Option<[u8; 32]>, MemoryError> {
        let Ok(seq) = i64::try_from(count) else { return Ok(None) };
        let hash = self.ready()?.query_row("SELECT hash FROM log WHERE seq = ?", [seq], |row| row.get(0)).optional();
        hash.map_err(|error| self.broken(error))
    }

    fn promises(&mut self, which: &str, params: impl Params) -> Result<Vec<SigningPromise>, MemoryError> {
        let rows = self.rows(which, params).map_err(|error| self.broken(error))?;
        let read = rows.into_iter().map(|(seq, body, signed)| promise(seq, &body, signed.as_deref()));
        read.collect::<Result<_, _>>().inspect_err(|_| self.failed = true)
    }

    fn rows(&mut self, which: &str, params: impl Params) -> rusqlite::Result<Vec<Bodies>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT p.seq, p.body, s.body FROM log p LEFT JOIN log s ON s.promise = p.seq WHERE {which} ORDER BY p.seq"
        ))?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?, row.get(2)?));
        statement.query_map(params, read)?.collect()
    }

    /// The sums of promises since then, saturating at the largest amount.
    fn spent(&mut self, order: &Order, since: Time) -> Result<LimitUsage, MemoryError> {
        let sum = |connection: &Connection| {
            let mut statement = connection.prepare_cached(
                "SELECT token, paid, fees FROM log WHERE chain = ? AND wallet = ? AND at > ? AND nonce IS NOT NULL",
            )?;
            let Slot { chain, wallet, .. } = order.slot;
            let mut rows = statement.query(params![chain.0.to_be_bytes(), wallet.0, since.0.to_be_bytes()])?;
            let (token, mut spent) = (token_column(order.meaning.token()), LimitUsage::default());
            while let Some(row) = rows.next()? {
                let amount = |index| row.get(index).map(Amount::from_sortable);
                let add = |sum: Amount, more: Amount| sum.checked_add(more).unwrap_or(Amount::MAX);
                spent.fees = add(spent.fees, amount(2)?);
                if row.get_ref(0)?.as_blob()? == token {
                    spent.paid = add(spent.paid, amount(1)?);
                }
            }
            Ok(spent)
        };
        sum(self.ready()?).map_err(|error| self.broken(error))
    }

    fn ready(&self) -> Result<&Connection, MemoryError> {
        if self.failed { Err(MemoryError::Failed(None)) } else { Ok(&self.connection) }
    }

    /// After a failed read the memory must be reopened.
    fn broken(&mut self, error: rusqlite::Error) -> MemoryError {
        self.failed = true;
        MemoryError::Failed(Some(error))
    }
}

fn promise(seq: u64, body: &[u8], signed: Option<&[u8]>) -> Result<SigningPromise, MemoryError> {
    let diverged = || MemoryError::Diverged { seq };
    let Ok(MemoryEntry::Promised { order, .. }) = MemoryEntry::decode(body) else { return Err(diverged()) };
    let transaction = |body: &[u8]| match MemoryEntry::decode(body) {
        Ok(MemoryEntry::Signed { promise, transaction }) if promise == seq => Ok(transaction),
        _ => Err(diverged()),
    };
    let signed: Option<TransactionFields> = signed.map(transaction).transpose()?;
    Ok(SigningPromise { seq, order, signed })
}
