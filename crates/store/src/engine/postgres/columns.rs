//! The changes of a batch as columns: one statement for each table, with an array for each column.

use std::collections::BTreeMap;

use bankroll_ledger::{Account, AccountPolicy, Unit};
use tokio_postgres::types::ToSql;

use super::{numeric::Numeric, source::sql_number};
use crate::engine::{BalanceRow, Commit, checksum};

const LAST_NUMBERS: &str = "UPDATE books.ledger_head SET last_account = greatest(last_account, $1),
                                                      last_asset = greatest(last_asset, $2)";
const NEW_ASSETS: &str = "INSERT INTO books.assets (id, chain, contract, decimals, symbol, checksum)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::integer[])";
const NEW_ACCOUNTS: &str =
    "INSERT INTO books.accounts (id, name, may_deposit, may_withdraw, may_transfer, debt, name_hash, checksum)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::smallint[], $5::smallint[], $6::bigint[],
                          $7::bigint[], $8::integer[])";
const NEW_BALANCES: &str = "INSERT INTO books.balances (id, balance, held, checksum)
     SELECT * FROM unnest($1::bigint[], $2::numeric[], $3::numeric[], $4::integer[])";
pub(super) const DEBT_LINKS: &str = "UPDATE books.accounts a SET debt = v.debt, checksum = v.checksum
                          FROM unnest($1::bigint[], $2::bigint[], $3::integer[]) AS v (id, debt, checksum)
                          WHERE a.id = v.id";
pub(super) const BALANCES: &str =
    "UPDATE books.balances b SET balance = v.balance, held = v.held, checksum = v.checksum
                        FROM unnest($1::bigint[], $2::numeric[], $3::numeric[], $4::integer[])
                             AS v (id, balance, held, checksum)
                        WHERE b.id = v.id RETURNING b.id";
const HOLDS: &str = "INSERT INTO books.holds (id, account, remaining, expires, settler, state, checksum)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::numeric[], $4::bigint[], $5::smallint[], $6::smallint[],
                          $7::integer[])
     ON CONFLICT (id) DO UPDATE
     SET remaining = excluded.remaining, state = excluded.state, checksum = excluded.checksum";
const REVERSALS: &str = "INSERT INTO books.reversals (original, reversal, checksum)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[])";
const OUTBOX: &str = "INSERT INTO books.outbox (seq, place, kind, resource, body, checksum)
     SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::integer[])";

/// A statement with its values, ready to be sent.
pub(super) struct BoundStatement<'a> {
    pub sql: &'static str,
    pub values: Vec<&'a (dyn ToSql + Sync)>,
}

/// The columns of every table but the journal's and the key index's.
#[expect(clippy::type_complexity, reason = "a name for each tuple would say less than its statement")]
pub(super) struct Columns {
    last_numbers: (i64, i64),
    assets: (Vec<i64>, Vec<String>, Vec<String>, Vec<i16>, Vec<String>, Vec<i32>),
    accounts: (Vec<i64>, Vec<String>, [Vec<i16>; 3], Vec<Option<i64>>, Vec<i64>, Vec<i32>),
    opened: (Vec<Numeric>, Vec<Numeric>, Vec<i32>),
    debt_links: (Vec<i64>, Vec<Option<i64>>, Vec<i32>),
    balances: (Vec<i64>, Vec<Numeric>, Vec<Numeric>, Vec<i32>),
    holds: (Vec<i64>, Vec<i64>, Vec<Numeric>, Vec<Option<i64>>, Vec<i16>, Vec<i16>, Vec<i32>),
    reversals: (Vec<i64>, Vec<i64>, Vec<i32>),
    events: (Vec<i64>, Vec<i32>, Vec<String>, Vec<String>, Vec<String>, Vec<i32>),
}

impl Columns {
    pub fn of(commit: &Commit<'_>) -> Self {
        let account = |of: fn(&Account) -> i64| commit.accounts.iter().map(of).collect::<Vec<i64>>();
        let rights = |of: fn(&AccountPolicy) -> u8| {
            commit.accounts.iter().map(|account| i16::from(of(&account.policy))).collect()
        };
        let ids = account(|account| sql_number(account.id.0));
        let names: Vec<String> = commit.accounts.iter().map(|account| account.name.to_string()).collect();
        let (hashes, checksums) =
            commit.accounts.iter().zip(&names).map(|(account, name)| hashed(account, name)).unzip();
        let last_asset = commit.assets.iter().map(|(id, _)| i64::from(id.0)).max().unwrap_or(0);
        // A hold that changed more than once in the batch is stored in its last state.
        let holds: BTreeMap<_, _> = commit.holds.iter().map(|hold| (hold.id, hold)).collect();
        Self {
            last_numbers: (ids.iter().copied().max().unwrap_or(0), last_asset),
            assets: commit
                .assets
                .iter()
                .map(|(id, asset)| {
                    let contract = match &asset.unit {
                        Unit::Native => String::new(),
                        Unit::Token(contract) => contract.to_string(),
                    };
                    let decimals = i16::from(asset.decimals);
                    let checksum = checksum::asset(*id, asset);
                    (i64::from(id.0), asset.chain.to_string(), contract, decimals, asset.symbol.clone(), checksum)
                })
                .collect(),
            opened: commit
                .accounts
                .iter()
                .map(|account| {
                    let checksum = checksum::balance(account.id, account.balance, account.held);
                    (Numeric(account.balance.units()), Numeric(account.held.units()), checksum)
                })
                .collect(),
            accounts: (
                ids,
                names,
                [
                    rights(|policy| policy.deposit.bits()),
                    rights(|policy| policy.withdraw.bits()),
                    rights(|policy| policy.transfer.bits()),
                ],
                commit.accounts.iter().map(|account| account.debt.map(|debt| sql_number(debt.0))).collect(),
                hashes,
                checksums,
            ),
            debt_links: commit
                .debt_links
                .iter()
                .map(|account| {
                    let (_, checksum) = hashed(account, &account.name.to_string());
                    (sql_number(account.id.0), account.debt.map(|debt| sql_number(debt.0)), checksum)
                })
                .collect(),
            balances: commit
                .balances
                .iter()
                .map(|BalanceRow { id, balance, held }| {
                    let checksum = checksum::balance(*id, *balance, *held);
                    (sql_number(id.0), Numeric(balance.units()), Numeric(held.units()), checksum)
                })
                .collect(),
            holds: holds
                .into_values()
                .map(|hold| {
                    let (settler, state) = (i16::from(hold.settler as u8), i16::from(hold.state as u8));
                    let expires = hold.expires.map(|expires| sql_number(expires.0));
                    let remaining = Numeric(hold.remaining.units());
                    let (id, account) = (sql_number(hold.id.0), sql_number(hold.account.0));
                    (id, account, remaining, expires, settler, state, checksum::hold(hold))
                })
                .collect(),
            reversals: commit
                .reversals
                .iter()
                .map(|(of, by)| (sql_number(of.0), sql_number(by.0), checksum::reversal(*of, *by)))
                .collect(),
            events: commit
                .events
                .iter()
                .map(|(seq, place, event)| {
                    let (kind, resource) = (event.kind.to_string(), event.resource.clone());
                    let checksum = checksum::event(*seq, *place, &kind, &resource, &event.body);
                    (sql_number(seq.0), i32::from(*place), kind, resource, event.body.clone(), checksum)
                })
                .collect(),
        }
    }

    /// New assets and accounts: rows that other statements of the same batch may change again.
    pub fn accounts(&self) -> Vec<BoundStatement<'_>> {
        let (assets, accounts, rights) = (&self.assets, &self.accounts, &self.accounts.2);
        let links = &self.debt_links;
        let has_new = !assets.0.is_empty() || !accounts.0.is_empty();
        needed([
            (has_new, LAST_NUMBERS, vec![&self.last_numbers.0, &self.last_numbers.1]),
            (!assets.0.is_empty(), NEW_ASSETS, vec![&assets.0, &assets.1, &assets.2, &assets.3, &assets.4, &assets.5]),
            (
                !accounts.0.is_empty(),
                NEW_ACCOUNTS,
                vec![
                    &accounts.0,
                    &accounts.1,
                    &rights[0],
                    &rights[1],
                    &rights[2],
                    &accounts.3,
                    &accounts.4,
                    &accounts.5,
                ],
            ),
            (!accounts.0.is_empty(), NEW_BALANCES, vec![&accounts.0, &self.opened.0, &self.opened.1, &self.opened.2]),
            (!links.0.is_empty(), DEBT_LINKS, vec![&links.0, &links.1, &links.2]),
        ])
    }

    /// Balances, holds, reversals and events: no row is changed twice.
    pub fn money(&self) -> Vec<BoundStatement<'_>> {
        let (balances, holds, reversals, events) = (&self.balances, &self.holds, &self.reversals, &self.events);
        needed([
            (!balances.0.is_empty(), BALANCES, vec![&balances.0, &balances.1, &balances.2, &balances.3]),
            (!holds.0.is_empty(), HOLDS, vec![&holds.0, &holds.1, &holds.2, &holds.3, &holds.4, &holds.5, &holds.6]),
            (!reversals.0.is_empty(), REVERSALS, vec![&reversals.0, &reversals.1, &reversals.2]),
            (!events.0.is_empty(), OUTBOX, vec![&events.0, &events.1, &events.2, &events.3, &events.4, &events.5]),
        ])
    }
}

/// The hash of an account's name, and the checksum of its row.
fn hashed(account: &Account, name: &str) -> (i64, i32) {
    let hash = checksum::name_hash(name);
    (hash, checksum::account(account, name, hash))
}

type OptionalStatement<'a> = (bool, &'static str, Vec<&'a (dyn ToSql + Sync)>);

fn needed<'a, const N: usize>(all: [OptionalStatement<'a>; N]) -> Vec<BoundStatement<'a>> {
    let needed = all.into_iter().filter(|(is_needed, ..)| *is_needed);
    needed.map(|(_, sql, values)| BoundStatement { sql, values }).collect()
}
