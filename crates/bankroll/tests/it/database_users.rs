//! Database users of roles: each login can write what its role writes, and nothing else.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{Arc, Mutex},
};

use bankroll_chains_evm::{Address, ChainIdentity, FinalityMark, InProcessRpc, RpcNode};
use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedConfig, SimulatedKey, U256};
use bankroll_deposits::{
    DepositRules, Payer, ScanConfig, WatchList, WatchedAddress,
    crediting::{self, CreditRules},
    scanner,
};
use bankroll_ledger::{Asset, AssetId, Time, Unit};
use bankroll_roles::flows;
use bankroll_store::columns::one;
use bankroll_store::{DatabaseUrl, Ledger, LedgerOptions, NewInboxRow, PAYOUT_EVENTS, Rows, RowsLocation};
use bankroll_testkit::postgres::{Session, needed_database, pairs, run as run_sql};
use tempfile::TempDir;

use crate::program::{Run, folder, run_with};

const ROLES: [&str; 7] = ["books", "api", "indexer", "payouts", "notify", "reconciler", "drainer"];

/// Empty books in a database, and the logins of all roles.
struct Deployment {
    folder: TempDir,
    owner: DatabaseUrl,
}

impl Deployment {
    fn new() -> Self {
        let deployment = Self { folder: folder(), owner: needed_database() };
        deployment.run(&deployment.owner, &["init", "--users", "logins"]).ok();
        deployment
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, url: &DatabaseUrl, args: &[&str]) -> Run {
        run_with(self.path(), &[("BANKROLL__BOOKS__DATABASE", url.reveal())], args)
    }

    fn login(&self, role: &str) -> DatabaseUrl {
        let text = fs::read_to_string(self.path().join(format!("logins/{role}.url"))).unwrap();
        DatabaseUrl::new(text.trim())
    }

    fn refused(&self, role: &str, sql: &str) {
        let answer = Session::open(self.login(role).reveal()).try_run(sql);
        let error = answer.expect_err(&format!("{role} must not: {sql}"));
        assert!(error.contains("permission denied") || error.contains("must be owner"), "{role}: {sql}: {error}");
    }

    fn allowed(&self, role: &str, sql: &str) {
        let answer = Session::open(self.login(role).reveal()).try_run(sql);
        answer.unwrap_or_else(|error| panic!("{role}: {sql}: {error}"));
    }

    /// What `doctor` finds about the login of a node with these roles: whether it is well, and what it says.
    fn doctor(&self, url: &DatabaseUrl, roles: &str) -> (bool, String) {
        let args = ["doctor", "--json", "--set", &format!("node.roles={roles}")];
        let report = run_with(self.path(), &[("BANKROLL__BOOKS__DATABASE", url.reveal())], &args);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == "database user").unwrap();
        (check["ok"] == true, check.to_string())
    }
}

#[test]
fn the_logins_are_files_for_this_user_alone_and_a_second_run_keeps_them() {
    let deployment = Deployment::new();
    let before = ROLES.map(|role| deployment.login(role).reveal().to_owned());
    for role in ROLES {
        let mode = fs::metadata(deployment.path().join(format!("logins/{role}.url"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{role}");
    }
    let again = deployment.run(&deployment.owner, &["init", "--users", "logins", "--json"]).json();
    assert_eq!(again["users"].as_array().unwrap().len(), 7);
    assert_eq!(ROLES.map(|role| deployment.login(role).reveal().to_owned()), before);
    deployment.run(&deployment.owner, &["init"]).fails(1, &["there are books in this database already"]);
}

#[test]
fn no_login_but_that_of_the_books_writes_where_money_is_decided() {
    let deployment = Deployment::new();
    for role in ROLES.into_iter().filter(|role| *role != "books") {
        for sql in [
            "INSERT INTO books.journal (seq, record, checksum) VALUES (1000, '', 0)",
            "UPDATE books.balances SET balance = 1",
            "UPDATE books.ledger_head SET epoch = epoch + 1",
            "INSERT INTO withdrawal_requests (id) VALUES ('wd-1')",
            "UPDATE withdrawal_requests SET status = 'approved'",
            "UPDATE deposits SET ledger_state = 'credited'",
            "INSERT INTO deposits (id, ledger_state) VALUES ('d', 'credited')",
            "UPDATE servers SET buy_in = 1",
            "INSERT INTO audit_log (number) VALUES (99)",
            "INSERT INTO player_wallets (wallet) VALUES ('0x00')",
            "SELECT secret FROM session_keys",
            "INSERT INTO session_keys (id, secret, created_at) VALUES (9, '', 0)",
            "CREATE TABLE mine (id bigint)",
            "DROP TABLE deposits",
        ] {
            deployment.refused(role, sql);
        }
    }
    for sql in [
        "UPDATE books.journal SET record = ''",
        "DELETE FROM books.journal",
        "TRUNCATE books.journal",
        "DROP TRIGGER journal_keeps_what_it_has ON books.journal",
        "UPDATE deposits SET chain_state = 'final'",
        "UPDATE payout_attempts SET raw = ''",
        "UPDATE registry_changes SET changes = ''",
    ] {
        deployment.refused("books", sql);
    }
    for sql in ["SELECT record FROM books.journal", "SELECT * FROM deposits", "SELECT * FROM player_wallets"] {
        deployment.refused("api", sql);
    }
    deployment.allowed("api", "SELECT holder FROM books.ledger_head");
    deployment.refused("indexer", "UPDATE payout_nonces SET job = NULL");
    deployment.refused("payouts", "UPDATE chain_cursor SET block_number = 0");
    deployment.refused("payouts", "UPDATE withdrawal_queue SET to_address = '0x00', amount = 1");
    deployment.refused("payouts", "UPDATE payout_events SET state = 'applied'");
    deployment.allowed("payouts", "UPDATE withdrawal_queue SET status = 'pending'");
}

/// The books' login credits what the indexer's login has scanned; each writes its own columns of one row.
#[test]
fn a_deposit_is_scanned_and_credited_with_the_logins_of_two_roles() {
    let deployment = Deployment::new();
    let options = LedgerOptions { migrations: flows::migrations(), ..LedgerOptions::new(deployment.login("books")) };
    let ledger = Ledger::open(options).unwrap();
    let name = "eip155:1337".parse::<bankroll_ledger::Name>().unwrap();
    ledger.list_asset(Asset { chain: name.clone(), unit: Unit::Native, decimals: 18, symbol: "SIM".into() }).unwrap();

    let key = SimulatedKey::derived(11, 1);
    let chain = SimulatedChain::new(SimulatedConfig::new(11));
    let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.block(0).unwrap().hash };
    let chain = Arc::new(Mutex::new(chain));
    let node = RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&chain), 0)), identity);
    let hot = Address([0xaa; 20]);
    let custody = "@house/custody/1/hot".parse().unwrap();
    let watched = WatchedAddress {
        server: "arena".parse().unwrap(),
        custody,
        payer: Payer::Player("alice".parse().unwrap()),
        by_asset: BTreeMap::new(),
        since: 0,
    };
    let config = ScanConfig {
        rules: DepositRules { chain: name.clone(), coin: AssetId(1), confirmations: 1, agreement: None },
        watch: WatchList { addresses: BTreeMap::from([(hot, watched)]), ..WatchList::default() },
        start: 1,
        window: 16,
        blocks_per_step: 100,
        traces: false,
        finality: FinalityMark::Depth,
    };
    let rows = Rows::open(RowsLocation::Database(deployment.login("indexer"))).unwrap();
    scanner::step(&config, Time(1), &node, &rows).unwrap();
    {
        let mut chain = chain.lock().unwrap();
        chain.send(&key.sign(&Payment::new(1_337, 0, hot.0.into(), U256::from(1_125)))).unwrap();
        let time = chain.next_time();
        chain.mine(time);
    }
    scanner::step(&config, Time(2), &node, &rows).unwrap();
    // An indexer that freezes in the middle of a write locks the rows that the books want for a second, not for ever.
    let set = "UPDATE chain_cursor SET stopped = current_setting('idle_in_transaction_session_timeout')";
    rows.write(vec![one(set, Vec::new())]).unwrap();
    assert_eq!(pairs(&deployment.owner, "SELECT stopped, 1 FROM chain_cursor"), [("1s".to_owned(), "1".to_owned())]);
    // What stopped an indexer holds crediting up, too.
    rows.write(vec![one("UPDATE chain_cursor SET stopped = NULL", Vec::new())]).unwrap();
    let of_books = Rows::open(&ledger).unwrap();
    let watch = BTreeMap::from([(name, config.watch.clone())]);
    let rules = CreditRules { servers: &BTreeMap::new(), watch: &watch, standing: &crediting::no_exclusions };
    let booked = crediting::step(&rules, &ledger, &of_books, 10).unwrap();
    assert_eq!(booked.suspended.len(), 1, "{booked:?}");
    let stored = pairs(&deployment.owner, "SELECT ledger_state, invalid_reason FROM deposits");
    assert_eq!(stored, [("suspense".to_owned(), "unknown_server".to_owned())]);
    ledger.close();
}

#[test]
fn the_login_of_payouts_hands_an_outcome_over_as_often_as_it_likes() {
    let deployment = Deployment::new();
    let rows = Rows::open(RowsLocation::Database(deployment.login("payouts"))).unwrap();
    let outcome = NewInboxRow {
        id: "wd-1:final".into(),
        kind: "payout".into(),
        subject: "wd-1".into(),
        body: "{}".into(),
        node: "payouts-1".into(),
        created_at: Time(1),
    };
    rows.write(vec![PAYOUT_EVENTS.insert(&outcome)]).unwrap();
    rows.write(vec![PAYOUT_EVENTS.insert(&outcome)]).unwrap();
    assert_eq!(pairs(&deployment.owner, "SELECT id, state FROM payout_events").len(), 1);
}

#[test]
fn doctor_compares_the_rights_of_the_login_with_those_of_the_nodes_roles() {
    let deployment = Deployment::new();
    let (indexer, owner) = (deployment.login("indexer"), &deployment.owner);
    let (ok, said) = deployment.doctor(&indexer, "indexer");
    assert!(ok && said.contains("has the rights of indexer") && !said.contains("fix"), "{said}");
    let (ok, said) = deployment.doctor(owner, "indexer");
    assert!(ok && said.contains("is a superuser") && said.contains("init --users"), "{said}");
    let (ok, said) = deployment.doctor(&indexer, "payouts");
    assert!(!ok && said.contains("lacks") && said.contains("does not need, and has,"), "{said}");

    let database = owner.database().unwrap();
    run_sql(owner.reveal(), &format!("GRANT UPDATE (ledger_state) ON deposits TO {database}_indexer"));
    run_sql(owner.reveal(), &format!("REVOKE INSERT ON chain_events FROM {database}_indexer"));
    let (ok, said) = deployment.doctor(&indexer, "indexer");
    assert!(!ok && said.contains("lacks INSERT on chain_events"), "{said}");
    assert!(said.contains("UPDATE (ledger_state) on deposits"), "{said}");
    deployment.run(owner, &["init", "--users", "logins"]).ok();
    assert!(deployment.doctor(&indexer, "indexer").0, "repeating it makes the rights exact");
}

/// A database user that does not own the tables opens books that are up to date, and gets an error that names who can change them.
#[test]
fn only_the_owner_changes_tables() {
    let (url, folder) = (needed_database(), folder());
    let env = [("BANKROLL__BOOKS__DATABASE", url.reveal())];
    run_with(folder.path(), &env, &["init", "--users", "logins"]).ok();
    run_sql(url.reveal(), "DELETE FROM migrations WHERE owner = 'withdrawals'");
    let books = fs::read_to_string(folder.path().join("logins/books.url")).unwrap();
    let options =
        LedgerOptions { migrations: flows::migrations(), ..LedgerOptions::new(DatabaseUrl::new(books.trim())) };
    let error = Ledger::open(options).map(drop).unwrap_err();
    assert!(error.to_string().contains("`bankroll init --users`"), "{error}");
}
