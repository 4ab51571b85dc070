//! The table `wallet_balances`: the newest comparison of each wallet and asset.

use bankroll_ledger::{AssetId, ColumnValue, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::{
    Reader, Rows, RowsError, Statement,
    columns::{BadRow, any, int, number_of, parsed, text, text_of, time},
};

use super::{
    books_side::WalletAsset,
    terms::{BalanceDifference, BalanceTerms, WalletBalance},
};

/// From so many rounds in a row on a difference counts: one alone may be a provider that was wrong for a moment.
const ROUNDS: u64 = 2;

/// A comparison as its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBalance {
    pub chain: Name,
    pub wallet: Address,
    pub asset: AssetId,
    /// The wallet's name in the registry.
    pub name: String,
    pub block: u64,
    pub on_chain: String,
    pub difference: BalanceDifference,
    pub terms: BalanceTerms,
    /// In how many rounds in a row there was a difference.
    pub rounds: u64,
    /// When the present difference was first seen.
    pub since: Time,
    pub at: Time,
}

impl KnownBalance {
    /// Whether there is a difference that more than one round has seen.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.rounds >= ROUNDS && !self.difference.is_none()
    }
}

/// The newest comparisons of a chain.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn known(reader: &Reader, chain: &Name) -> anyhow::Result<Vec<KnownBalance>> {
    let sql = "SELECT * FROM wallet_balances WHERE chain = $1 ORDER BY wallet, asset";
    Ok(reader.rows(sql, vec![text(chain.as_str())])?.iter().map(known_of).collect::<Result<_, _>>()?)
}

/// Those of all chains with a difference that counts.
///
/// # Errors
/// If the rows cannot be read, or this program did not write them.
pub fn differing(reader: &Reader) -> anyhow::Result<Vec<KnownBalance>> {
    let sql = "SELECT * FROM wallet_balances WHERE rounds > 0 ORDER BY chain, wallet, asset LIMIT 1000";
    let found = reader.rows(sql, Vec::new())?.iter().map(known_of).collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().filter(KnownBalance::differs).collect())
}

/// Writes what a round found. A balance that is not known leaves its row as it was.
///
/// # Errors
/// If the rows were not written, or it is unknown whether they were.
pub fn write(
    rows: &Rows,
    chain: &Name,
    (number, hash): (u64, String),
    found: &[(WalletAsset, WalletBalance)],
    before: &[KnownBalance],
    now: Time,
) -> Result<(), RowsError> {
    let statements = found.iter().map(|(wallet, balance)| {
        let known = before.iter().find(|known| known.wallet == wallet.address && known.asset == wallet.asset);
        let difference = balance.difference();
        let (rounds, since) = match known.filter(|known| !known.difference.is_none()) {
            _ if difference.is_none() => (0, now),
            Some(known) => (known.rounds.saturating_add(1), known.since),
            None => (1, now),
        };
        let terms = serde_json::to_string(&balance.terms).unwrap_or_default();
        let values = vec![
            text(chain.as_str()),
            text(&wallet.address.to_string()),
            int(u64::from(wallet.asset.0)),
            text(wallet.name.as_str()),
            int(number),
            text(&hash),
            text(&balance.on_chain.to_string()),
            text(&difference.signed()),
            text(&terms),
            int(rounds),
            time(since),
            time(now),
        ];
        upsert(values)
    });
    let statements: Vec<Statement> = statements.collect();
    if !statements.is_empty() {
        rows.write(statements)?;
    }
    Ok(())
}

fn upsert(values: Vec<ColumnValue>) -> Statement {
    any(
        "INSERT INTO wallet_balances (chain, wallet, asset, name, block_number, block_hash, on_chain, difference, terms,
           rounds, since, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (chain, wallet, asset) DO UPDATE SET name = excluded.name, block_number = excluded.block_number,
           block_hash = excluded.block_hash, on_chain = excluded.on_chain, difference = excluded.difference,
           terms = excluded.terms, rounds = excluded.rounds, since = excluded.since, at = excluded.at",
        values,
    )
}

fn known_of(row: &Row) -> Result<KnownBalance, BadRow> {
    Ok(KnownBalance {
        chain: parsed(row, "chain")?,
        wallet: parsed(row, "wallet")?,
        asset: AssetId(u32::try_from(number_of(row, "asset")?).map_err(|_| BadRow { column: "asset" })?),
        name: text_of(row, "name")?.to_owned(),
        block: number_of(row, "block_number")?,
        on_chain: text_of(row, "on_chain")?.to_owned(),
        difference: BalanceDifference::of_signed(text_of(row, "difference")?).ok_or(BadRow { column: "difference" })?,
        terms: serde_json::from_str(text_of(row, "terms")?).map_err(|_| BadRow { column: "terms" })?,
        rounds: number_of(row, "rounds")?,
        since: Time(number_of(row, "since")?),
        at: Time(number_of(row, "at")?),
    })
}
