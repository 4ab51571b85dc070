//! The loops of the roles: the same in a node of `bankroll serve` and in `bankroll demo`.
//!
//! | file | role | what it does |
//! | --- | --- | --- |
//! | `setup` | | the settings of one chain, its wallet and its server |
//! | `profile` | | what that chain is like: finality, tracer, gas, agreement |
//! | `rpc` | | the URLs of the chain's RPC nodes |
//! | `indexer` | `indexer` | follows the chain |
//! | `heads_socket` | `indexer` | wakes the indexer when a node announces a block |
//! | `deposit_log` | | what the log says about a deposit |
//! | `booking` | `books` | credits what is final, reverses what is orphaned; settles payouts |
//! | `heads` | `books` | publishes signed heads of the journal |
//! | `payouts` | `payouts` | has intents signed, sends them and watches them |
//! | `notify` | `notify` | delivers events to webhooks; `books` disables endpoints that were given up |
//! | `probe` | | asks once whether chain, indexer and signer work |
//! | `threads` | | the threads of a process |
//! | `pace` | | the pace of a loop, and which failures are logged |
//!
//! The steps belong to the flows (`bankroll-deposits`, `bankroll-withdrawals`) and have neither clock nor thread;
//! here they get both. Guarantees: no failure of an RPC node, a signer or a database ends a loop. Each counts as
//! "unknown", is logged once, and retried less and less often. A loop ends at once when a stop is requested; the
//! next start continues its work.
//!
//! A process follows and pays on several chains: each has loops of its own, so that one that is unreachable, lies or
//! lags holds up no other. Crediting is one loop for all of them: it asks no node, and the books have one writer.

mod booking;
mod deposit_log;
mod heads;
mod heads_socket;
mod indexer;
#[cfg(test)]
mod many_chains;
mod notify;
pub(crate) mod pace;
mod payouts;
mod probe;
mod profile;
mod rpc;
mod setup;
mod threads;

use bankroll_alerts::{ALERTS, ALERTS_GRANTS};
use bankroll_deposits::{DEPOSITS, DEPOSITS_GRANTS};
use bankroll_heads::{HEADS, HEADS_GRANTS};
use bankroll_notify::{NOTIFY, NOTIFY_GRANTS};
use bankroll_registry::{REGISTRY, REGISTRY_GRANTS};
use bankroll_spawns::{SPAWNS, SPAWNS_GRANTS};
use bankroll_store::{BOOKS_GRANTS, INBOX_GRANTS, Migrations, TableGrants};
use bankroll_withdrawals::{WITHDRAWALS, WITHDRAWALS_GRANTS};

use crate::reconciliation::{RECONCILIATION, RECONCILIATION_GRANTS};
pub use bankroll_store::RowsLocation;
pub use booking::prepare_books;
pub use heads::HeadSettings;
#[cfg(test)]
pub(crate) use many_chains::one_chain;
pub use notify::NotifySetup;
pub use pace::StopFlag;
pub use probe::{ChainFinding, ProbeResult, ProbeTrouble};
pub use profile::{AgreementRule, ChainProfile};
pub use rpc::RpcUrls;
pub(crate) use rpc::without_keys;
pub use setup::{FlowSetup, HOT_WALLET, RpcEndpoint};
pub use threads::FlowThreads;

/// The tables of all flows: every ledger of this program has them.
pub fn migrations() -> Vec<Migrations> {
    vec![REGISTRY, HEADS, DEPOSITS, SPAWNS, WITHDRAWALS, NOTIFY, ALERTS, RECONCILIATION]
}

/// What each role may do with each table on Postgres.
pub fn grants() -> Vec<TableGrants> {
    [
        BOOKS_GRANTS,
        INBOX_GRANTS,
        REGISTRY_GRANTS,
        HEADS_GRANTS,
        DEPOSITS_GRANTS,
        SPAWNS_GRANTS,
        WITHDRAWALS_GRANTS,
        NOTIFY_GRANTS,
        ALERTS_GRANTS,
        RECONCILIATION_GRANTS,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use bankroll_store::TableRight;

    use super::*;

    #[test]
    fn every_table_of_a_flow_says_which_role_may_write_it() {
        let sql: String = migrations().iter().flat_map(|set| set.postgres).copied().collect();
        let made = sql.lines().filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split(' ').next());
        let declared: Vec<&str> = grants().iter().map(|table| table.table).collect();
        let undeclared: Vec<&str> = made.filter(|table| !declared.contains(table)).collect();
        assert_eq!(undeclared, [""; 0]);
    }

    #[test]
    fn no_role_but_books_writes_where_money_is_decided() {
        for table in ["books.journal", "books.balances", "books.ledger_head", "withdrawal_requests"] {
            let grants = grants().into_iter().find(|grants| grants.table == table).expect("a declared table");
            for grant in grants.grants.iter().filter(|grant| grant.role != "books") {
                let is_reading = |right: &TableRight| matches!(right, TableRight::Read | TableRight::ReadOnly(_));
                assert!(grant.rights.iter().all(is_reading), "{} on {table}", grant.role);
            }
        }
    }
}
