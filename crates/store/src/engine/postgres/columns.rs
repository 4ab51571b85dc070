//! The changes of a batch as columns: one statement for each table, with an array for each column.

use std::collections::BTreeMap;

use bankroll_ledger::{Account, AccountPolicy, Unit};
use tokio_postgres::types::ToSql;

use super::{numeric::Numeric, source::sql_number};
use crate::engine::Commit;

const LAST_NUMBERS: &str = "UPDATE books.ledger_head SET last_account = greatest(last_account, $1),
                                                      last_asset = greatest(last_asset, $2)";
const NEW_ASSETS: &str = "INSERT INTO books.assets (id, chain, contract, decimals, symbol)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::text[])";
const NEW_ACCOUNTS: &str = "INSERT INTO books.accounts (id, name, may_deposit, may_withdraw, may_transfer, debt)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::smallint[], $5::smallint[], $6::bigint[])";
const NEW_BALANCES: &str =
    "INSERT INTO books.balances (id, balance, held) SELECT * FROM unnest($1::bigint[], $2::numeric[], $3::numeric[])";
const DEBT_LINKS: &str =
    "UPDATE books.accounts a SET debt = v.debt FROM unnest($1::bigint[], $2::bigint[]) AS v (id, debt)
                          WHERE a.id = v.id";
const BALANCES: &str = "UPDATE books.balances b SET balance = v.balance, held = v.held
                        FROM unnest($1::bigint[], $2::numeric[], $3::numeric[]) AS v (id, balance, held)
                        WHERE b.id = v.id";
const HOLDS: &str = "INSERT INTO books.holds (id, account, remaining, expires, settler, state)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::numeric[], $4::bigint[], $5::smallint[], $6::smallint[])
     ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state";
const REVERSALS: &str =
    "INSERT INTO books.reversals (original, reversal) SELECT * FROM unnest($1::bigint[], $2::bigint[])";
const OUTBOX: &str = "INSERT INTO books.outbox (seq, place, kind, resource, body)
     SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[])";

/// A statement with its values, ready to be sent.
pub(super) struct BoundStatement<'a> {
    pub sql: &'static str,
    pub values: Vec<&'a (dyn ToSql + Sync)>,
}

/// The columns of every table but the journal's and the key index's.
#[expect(clippy::type_complexity, reason = "a name for each tuple would say less than its statement")]
pub(super) struct Columns {
    last_numbers: (i64, i64),
    assets: (Vec<i64>, Vec<String>, Vec<String>, Vec<i16>, Vec<String>),
    accounts: (Vec<i64>, Vec<String>, [Vec<i16>; 3], Vec<Option<i64>>),
    opened: (Vec<Numeric>, Vec<Numeric>),
    debt_links: (Vec<i64>, Vec<i64>),
    balances: (Vec<i64>, Vec<Numeric>, Vec<Numeric>),
    holds: (Vec<i64>, Vec<i64>, Vec<Numeric>, Vec<Option<i64>>, Vec<i16>, Vec<i16>),
    reversals: (Vec<i64>, Vec<i64>),
    events: (Vec<i64>, Vec<i32>, Vec<String>, Vec<String>, Vec<String>),
}

impl Columns {
    pub fn of(commit: &Commit<'_>) -> Self {
        let account = |of: fn(&Account) -> i64| commit.accounts.iter().map(of).collect::<Vec<i64>>();
        let rights = |of: fn(&AccountPolicy) -> u8| {
            commit.accounts.iter().map(|account| i16::from(of(&account.policy))).collect()
        };
        let ids = account(|account| sql_number(account.id.0));
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
                    (i64::from(id.0), asset.chain.to_string(), contract, decimals, asset.symbol.clone())
                })
                .collect(),
            opened: commit
                .accounts
                .iter()
                .map(|account| (Numeric(account.balance.units()), Numeric(account.held.units())))
                .unzip(),
            accounts: (
                ids,
                commit.accounts.iter().map(|account| account.name.to_string()).collect(),
                [
                    rights(|policy| policy.deposit.bits()),
                    rights(|policy| policy.withdraw.bits()),
                    rights(|policy| policy.transfer.bits()),
                ],
                commit.accounts.iter().map(|account| account.debt.map(|debt| sql_number(debt.0))).collect(),
            ),
            debt_links: commit
                .debt_links
                .iter()
                .map(|(account, debt)| (sql_number(account.0), sql_number(debt.0)))
                .unzip(),
            balances: commit
                .balances
                .iter()
                .map(|now| (sql_number(now.id.0), Numeric(now.balance.units()), Numeric(now.held.units())))
                .collect(),
            holds: holds
                .into_values()
                .map(|hold| {
                    let (settler, state) = (i16::from(hold.settler as u8), i16::from(hold.state as u8));
                    let expires = hold.expires.map(|expires| sql_number(expires.0));
                    let remaining = Numeric(hold.remaining.units());
                    (sql_number(hold.id.0), sql_number(hold.account.0), remaining, expires, settler, state)
                })
                .collect(),
            reversals: commit.reversals.iter().map(|(original, by)| (sql_number(original.0), sql_number(by.0))).unzip(),
            events: commit
                .events
                .iter()
                .map(|(seq, place, event)| {
                    let (kind, resource) = (event.kind.to_string(), event.resource.clone());
                    (sql_number(seq.0), i32::from(*place), kind, resource, event.body.clone())
                })
                .collect(),
        }
    }

    /// New assets and accounts: rows that other statements of the same batch may change again.
    pub fn accounts(&self) -> Vec<BoundStatement<'_>> {
        let (assets, accounts, rights) = (&self.assets, &self.accounts, &self.accounts.2);
        let has_new = !assets.0.is_empty() || !accounts.0.is_empty();
        needed([
            (has_new, LAST_NUMBERS, vec![&self.last_numbers.0, &self.last_numbers.1]),
            (!assets.0.is_empty(), NEW_ASSETS, vec![&assets.0, &assets.1, &assets.2, &assets.3, &assets.4]),
            (
                !accounts.0.is_empty(),
                NEW_ACCOUNTS,
                vec![&accounts.0, &accounts.1, &rights[0], &rights[1], &rights[2], &accounts.3],
            ),
            (!accounts.0.is_empty(), NEW_BALANCES, vec![&accounts.0, &self.opened.0, &self.opened.1]),
            (!self.debt_links.0.is_empty(), DEBT_LINKS, vec![&self.debt_links.0, &self.debt_links.1]),
        ])
    }

    /// Balances, holds, reversals and events: no row is changed twice.
    pub fn money(&self) -> Vec<BoundStatement<'_>> {
        let (balances, holds, events) = (&self.balances, &self.holds, &self.events);
        needed([
            (!balances.0.is_empty(), BALANCES, vec![&balances.0, &balances.1, &balances.2]),
            (!holds.0.is_empty(), HOLDS, vec![&holds.0, &holds.1, &holds.2, &holds.3, &holds.4, &holds.5]),
            (!self.reversals.0.is_empty(), REVERSALS, vec![&self.reversals.0, &self.reversals.1]),
            (!events.0.is_empty(), OUTBOX, vec![&events.0, &events.1, &events.2, &events.3, &events.4]),
        ])
    }
}

type OptionalStatement<'a> = (bool, &'static str, Vec<&'a (dyn ToSql + Sync)>);

fn needed<'a, const N: usize>(all: [OptionalStatement<'a>; N]) -> Vec<BoundStatement<'a>> {
    let needed = all.into_iter().filter(|(is_needed, ..)| *is_needed);
    needed.map(|(_, sql, values)| BoundStatement { sql, values }).collect()
}
