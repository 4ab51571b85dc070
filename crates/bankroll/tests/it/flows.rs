//! `deposits`, `withdrawals` and `explain`: every state of a payment is known, before the books have it too.

use std::path::Path;

use bankroll_ledger::{
    AccountId, Action, Amount, Asset, ColumnValue, IdempotencyKey, Leg, Namespace, Principal, References, Request,
    Scope, Unit,
};
use bankroll_store::{
    Ledger, Rows,
    columns::{int, one, text},
};
use bankroll_testkit::postgres::needed_database;
use bankroll_withdrawals::{ApprovalPolicy, GasPayer, Intents, WithdrawalRequest};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, folder, hold, run, run_with};

/// As wallets write it, and as the books do.
const PLAYER: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const NAME: &str = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
const STRANGER: &str = "0x00000000000000000000000000000000000000bb";
const WALLET: &str = "0x00000000000000000000000000000000000000aa";
/// 2026-11-15T08:00:00Z.
const MORNING: u64 = 1_794_729_600_000_000;

struct Casino {
    folder: TempDir,
    ledger: Ledger,
    rows: Rows,
}

impl Casino {
    /// Books with a player who has 1 ETH, held by a writer. The chain was read up to block 14.
    fn open() -> Self {
        let folder = folder();
        run(folder.path(), &["init"]).ok();
        let ledger = hold(folder.path());
        let chain = "eip155:31337".parse().unwrap();
        ledger.list_asset(Asset { chain, unit: Unit::Native, decimals: 18, symbol: "ETH".into() }).unwrap();
        let names = ["@house/custody/1/hot".to_owned(), format!("arena/funds/1/{NAME}")];
        let names = names.map(|name| name.parse().unwrap()).to_vec();
        ledger.open_accounts(&Principal::System, names).unwrap();
        let leg = Leg::Move { from: AccountId(1), to: AccountId(2), amount: Amount::new(1_000_000_000_000_000_000) };
        let key =
            IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: "the first credit".into() };
        let request = Request {
            key,
            principal: Principal::Indexer,
            confirmation: None,
            action: Action::Legs(vec![leg]),
            references: References::default(),
            facts: Vec::new(),
            events: Vec::new(),
        };
        ledger.apply(request).unwrap().effects().unwrap();
        let rows = Rows::open(&ledger).unwrap();
        let cursor = "INSERT INTO chain_cursor (chain, block_number, block_hash, updated_at, events, events_hash)
                      VALUES ('eip155:31337', 14, '0x0e', 0, 0, '')";
        rows.write(vec![one(cursor, Vec::new())]).unwrap();
        Self { folder, ledger, rows }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, args: &[&str]) -> Run {
        run(self.path(), args)
    }

    /// Rounds in the arena: the player enters with 0.01 ETH, and leaves with a little less.
    fn play(&self, rounds: u64) {
        let world = "arena/world/1".parse().unwrap();
        let world = self.ledger.open_accounts(&Principal::System, vec![world]).unwrap()[0].unwrap();
        let funds = AccountId(2);
        for round in 0..rounds {
            for (what, from, to, amount) in [("enter", funds, world, 100), ("leave", world, funds, 90)] {
                let amount = Amount::new(amount * 100_000_000_000_000);
                let text = format!("{what}-{round}");
                let request = Request {
                    key: IdempotencyKey {
                        namespace: Namespace::Client,
                        scope: Scope::Server("arena".parse().unwrap()),
                        text,
                    },
                    principal: Principal::GameServer("arena".parse().unwrap()),
                    confirmation: None,
                    action: Action::Legs(vec![Leg::Move { from, to, amount }]),
                    references: References::default(),
                    facts: Vec::new(),
                    events: Vec::new(),
                };
                self.ledger.apply(request).unwrap().effects().unwrap();
            }
        }
    }

    /// A deposit of 0.5 ETH in block 12, final after 12 blocks, in these states; number `n` was seen `n` seconds after
    /// eight. Returns its transaction.
    fn deposit(&self, n: u64, from: &str, states: [&str; 3], reason: Option<&str>) -> String {
        let tx = format!("0x{n:064x}");
        let wallet = if from == NAME { text(NAME) } else { ColumnValue::Null };
        let sql = "INSERT INTO deposits (id, chain, tx_hash, kind, position, asset, amount, amount_raw, from_address,
              to_address, purpose, server, wallet, custody, epoch, required_confirmations, needs_agreement, chain_state,
              review_state,
              ledger_state, ledger_epoch, ledger_error_epoch, first_seen_at, updated_at, block_number, block_hash,
              block_time, tx_index, invalid_reason)
            VALUES ($1, 'eip155:31337', $2, 'native', 0, 1, NULL, '500000000000000000', $3, $4, 'player', 'arena', $5,
              '@house/custody/1/hot', 1, 12, 0, $6, $7, $8, 0, 0, $9, $9, 12, '0x0c', 0, 0, $10)";
        let [chain, review, ledger] = states;
        let values = vec![
            text(&format!("eip155:31337:{tx}:native:0")),
            text(&tx),
            text(from),
            text(WALLET),
            wallet,
            text(chain),
            text(review),
            text(ledger),
            int(MORNING + n * 1_000_000),
            reason.map_or(ColumnValue::Null, text),
        ];
        self.rows.write(vec![one(sql, values)]).unwrap();
        tx
    }

    /// An approved payout of 0.25 ETH to the player's own wallet; returns its id.
    fn payout(&self, request: &str) -> String {
        let withdrawal = WithdrawalRequest {
            principal: Principal::GameServer("arena".parse().unwrap()),
            server: "arena".parse().unwrap(),
            request_id: request.parse().unwrap(),
            wallet: NAME.parse().unwrap(),
            account: format!("arena/funds/1/{NAME}").parse().unwrap(),
            chain: "eip155:31337".parse().unwrap(),
            to: PLAYER.parse().unwrap(),
            amount: Amount::new(250_000_000_000_000_000),
            gas: GasPayer::House,
            exit: None,
            consent: None,
        };
        let intents = Intents::new(ApprovalPolicy { at_once: Amount::MAX });
        intents.create(&withdrawal, &self.ledger, &self.rows).unwrap().id.to_string()
    }

    /// The work on a payout, in this stage, with this problem.
    fn job(&self, intent: &str, stage: &str, nonce: Option<u64>, problem: Option<&str>) {
        let sql = "INSERT INTO withdrawal_queue (id, withdrawal_request_id, chain, operation_wallet_address_id,
              to_address, amount, gas_payer, fee_cap, status, priority, nonce, cancel_asked, retry_count, error_message,
              scheduled_at, created_at, updated_at, version)
            VALUES ($1, $2, 'eip155:31337', $3, $4, $5, 'house', $6, $7, 1, $8, 0, 0, $9, 0, $10, $10, 1)";
        let values = vec![
            text(&format!("job-{intent}")),
            text(intent),
            text(WALLET),
            text(PLAYER),
            ColumnValue::Amount(Amount::new(250_000_000_000_000_000)),
            ColumnValue::Amount(Amount::ZERO),
            text(stage),
            nonce.map_or(ColumnValue::Null, int),
            problem.map_or(ColumnValue::Null, text),
            int(MORNING),
        ];
        self.rows.write(vec![one(sql, values)]).unwrap();
    }
}

fn states(page: &Value, list: &str) -> Vec<String> {
    page[list].as_array().unwrap().iter().map(|item| item["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn deposits_are_listed_newest_first_with_their_states() {
    let casino = Casino::open();
    casino.deposit(1, NAME, ["included", "none", "none"], None);
    casino.deposit(2, NAME, ["final", "none", "none"], None);
    casino.deposit(3, NAME, ["final", "held", "none"], None);
    casino.deposit(4, NAME, ["final", "none", "credited"], None);
    casino.deposit(5, STRANGER, ["final", "none", "suspense"], Some("unknown_player"));
    casino.deposit(6, NAME, ["orphaned", "none", "none"], None);
    casino.deposit(7, NAME, ["orphaned_after_final", "none", "reversed"], None);
    let list = |more: &[&str]| casino.run(&[&["deposits", "list", "--json"], more].concat()).json();
    let all = ["reversed", "orphaned", "suspense", "credited", "held", "final", "seen"];
    assert_eq!(states(&list(&[]), "deposits"), all);
    for state in all {
        assert_eq!(states(&list(&["--state", state]), "deposits"), [state]);
    }
    assert_eq!(states(&list(&["--player", PLAYER]), "deposits").len(), 6);
    assert_eq!(states(&list(&["--player", STRANGER]), "deposits"), ["suspense"], "by its sender");
    let mut seen = Vec::new();
    let mut page = list(&["--limit", "3"]);
    while let Some(after) = page["next_after"].as_str().map(str::to_owned) {
        seen.extend(states(&page, "deposits"));
        page = list(&["--limit", "3", "--after", &after]);
    }
    seen.extend(states(&page, "deposits"));
    assert_eq!(seen, all, "page by page");
    casino.run(&["deposits", "list", "--state", "lost"]).fails(2, &["the states are seen, final, held"]);
    casino.run(&["deposits", "list", "--after", "0x99"]).fails(3, &["there is no such deposit"]);
    casino.run(&["deposits", "show", "0x99"]).fails(3, &["there is no deposit 0x99", "deposits list --wide"]);
}

#[test]
fn a_deposit_that_is_seen_and_not_final_is_known() {
    let casino = Casino::open();
    let tx = casino.deposit(1, NAME, ["included", "none", "none"], None);
    let table = casino.run(&["deposits", "list"]).ok();
    assert!(table.contains("seen 3/12") && table.contains("0.5 ETH"), "{table}");
    for args in [["explain", &tx], ["explain", &format!("eip155:31337:{tx}:native:0")]] {
        let explained = casino.run(&args).ok();
        assert!(explained.contains("state        seen in block 12, 3 of 12 confirmations"), "{explained}");
    }
    let shown = casino.run(&["deposits", "show", &tx, "--json"]).json()["deposits"][0].clone();
    assert_eq!((&shown["confirmations"], &shown["required_confirmations"]), (&3.into(), &12.into()));
    assert_eq!((&shown["amount"], &shown["amount_decimal"]), (&"500000000000000000".into(), &"0.5".into()));
    let story = casino.run(&["explain", PLAYER]).ok();
    assert!(story.contains("2026-11-15 08:00:01  paid 0.5 ETH (seen in block 12, 3 of 12 confirmations)"), "{story}");
}

#[test]
fn the_sender_of_a_deposit_in_suspense_is_known() {
    let casino = Casino::open();
    casino.deposit(1, STRANGER, ["final", "none", "suspense"], Some("unknown_player"));
    let expected = "\
wallet 0x00000000000000000000000000000000000000bb
2026-11-15 08:00:01  paid 0.5 ETH (seen in block 12, final, in suspense: the
                       sender was not a known player)
now
  no accounts: this wallet is not a player
";
    assert_eq!(casino.run(&["explain", STRANGER]).ok(), expected);
}

#[test]
fn a_few_rounds_are_listed_one_by_one_and_many_are_summed_up() {
    let casino = Casino::open();
    casino.play(1);
    let story = casino.run(&["explain", PLAYER]).ok();
    let texts: Vec<&str> = story.lines().filter_map(|line| line.get(21..)).collect();
    let expected =
        ["paid 1 ETH (credited)", "entered arena with 0.01 ETH", "left arena with 0.009 ETH (lost 0.001 ETH)"];
    assert_eq!(texts[1..4], expected, "{story}");
    let casino = Casino::open();
    casino.play(20);
    let summed = casino.run(&["explain", PLAYER]).ok();
    for line in ["41 moves until ", "  entered arena 20 times with 0.2 ETH\n", "  left arena 20 times with 0.18 ETH\n"]
    {
        assert!(summed.contains(line), "{line:?} is not in: {summed}");
    }
    assert!(summed.ends_with("now\n  arena/funds/1        0.98 ETH\n"), "{summed}");
    let all = casino.run(&["explain", PLAYER, "--all"]).ok();
    assert_eq!(all.lines().filter(|line| line.starts_with('#')).count(), 42, "the opening, the credit, and each move");
}

#[test]
fn a_payout_says_how_far_it_is_and_why_it_waits() {
    let casino = Casino::open();
    let ids = ["exit-1", "exit-2", "exit-3"].map(|request| casino.payout(request));
    casino.job(&ids[1], "waiting_funds", None, Some("the wallet does not have enough"));
    casino.job(&ids[2], "broadcast", Some(7), None);
    let tx = format!("0x{:064x}", 77);
    let attempt =
        "INSERT INTO payout_attempts (job, number, order_id, meaning, manner, gas_limit, max_fee, priority_fee,
                     tx_hash, created_at, last_sent_at)
                   VALUES ($1, 1, $2, 'payout', 'dynamic', 21000, $3, $3, $4, $5, $5)";
    let fee = ColumnValue::Amount(Amount::new(3_000_000_000));
    let values = vec![text(&format!("job-{}", ids[2])), text("order"), fee, text(&tx), int(MORNING)];
    casino.rows.write(vec![one(attempt, values)]).unwrap();

    let list = |more: &[&str]| casino.run(&[&["withdrawals", "list", "--json"], more].concat()).json();
    assert_eq!(states(&list(&[]), "withdrawals"), ["sent", "waiting", "waiting"], "newest first");
    assert_eq!(states(&list(&["--state", "sent"]), "withdrawals"), ["sent"]);
    assert_eq!(states(&list(&["--player", PLAYER, "--limit", "2"]), "withdrawals"), ["sent", "waiting"]);
    let rest = list(&["--after", &ids[1]]);
    assert_eq!((rest["withdrawals"][0]["request_id"].as_str(), &rest["next_after"]), (Some("exit-1"), &Value::Null));
    let table = casino.run(&["withdrawals", "list"]).ok();
    assert!(table.ends_with("waiting: the wallet does not have enough\n"), "{table}");

    for what in [&ids[2], "exit-3", &tx] {
        let shown = casino.run(&["withdrawals", "show", what]).ok();
        for line in [
            "  state        sent (nonce 7), not in a block yet\n",
            "  to           0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n",
            "  gas          paid by the house\n",
            "pays; 21,000 gas, at most 3 gwei each; sent 2026-11-15 08:00:00\n",
        ] {
            assert!(shown.contains(line), "{line:?} is not in: {shown}");
        }
    }
    let explained = casino.run(&["explain", &ids[1]]).ok();
    let waits = "approved, not signed yet; waits: the wallet does not have enough";
    assert!(explained.contains(waits) && explained.contains("records of payout"), "{explained}");
    let story = casino.run(&["explain", PLAYER]).ok();
    assert!(story.contains("asked for a payout of 0.25 ETH:\n"), "{story}");
    let now = format!(
        "now
  arena/funds/1        1 ETH, of it 0.75 ETH held
  payout {} sent (nonce 7), not in a block
    yet
  payout {} approved, not signed yet; waits:
    the wallet does not have enough
  payout {} approved, not signed yet
",
        ids[2], ids[1], ids[0]
    );
    assert!(story.ends_with(&now), "{story}");
    casino.run(&["withdrawals", "list", "--state", "lost"]).fails(2, &["the states are awaiting_approval, waiting"]);
    casino.run(&["withdrawals", "show", "wd-1"]).fails(3, &["there is no payout wd-1", "withdrawals list"]);
}

#[test]
fn an_address_is_read_as_wallets_write_it_and_a_wrong_digit_is_refused() {
    let casino = Casino::open();
    let upper = format!("0x{}", NAME[2..].to_uppercase());
    for owner in [PLAYER, NAME, &upper] {
        let account = format!("arena/funds/1/{owner}");
        for args in [["balance", &account], ["statement", &account]] {
            let printed = casino.run(&args).ok();
            assert!(printed.starts_with(&format!("arena/funds/1/{NAME}")), "{printed}");
        }
        assert_eq!(casino.run(&["accounts", "show", &account, "--json"]).json()["owner"], NAME);
        let listed = casino.run(&["accounts", "list", "--owner", owner, "--json"]).json();
        assert_eq!(listed["accounts"].as_array().unwrap().len(), 1, "{listed}");
        casino.run(&["search", "--wallet", owner]).ok();
        casino.run(&["explain", owner]).ok();
    }
    let mistyped = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
    let account = format!("arena/funds/1/{mistyped}");
    let refused: [&[&str]; 8] = [
        &["balance", &account],
        &["statement", &account],
        &["accounts", "show", &account],
        &["accounts", "list", "--owner", mistyped],
        &["search", "--wallet", mistyped],
        &["explain", mistyped],
        &["deposits", "list", "--player", mistyped],
        &["withdrawals", "list", "--player", mistyped],
    ];
    for args in refused {
        casino.run(args).fails(2, &["its capital letters do not match its checksum"]);
    }
}

#[test]
fn books_without_flows_have_no_deposits_and_no_payouts() {
    let folder = folder();
    crate::casino::open(folder.path());
    assert_eq!(run(folder.path(), &["deposits", "list"]).ok(), "no deposits match\n");
    assert_eq!(run(folder.path(), &["withdrawals", "list"]).ok(), "no payouts match\n");
}

#[test]
fn both_engines_give_the_same_answers() {
    let casino = Casino::open();
    let tx = casino.deposit(1, NAME, ["included", "none", "none"], None);
    casino.deposit(2, STRANGER, ["final", "none", "suspense"], Some("unknown_player"));
    casino.deposit(3, NAME, ["final", "none", "credited"], None);
    let ids = ["exit-1", "exit-2"].map(|request| casino.payout(request));
    casino.job(&ids[0], "waiting_funds", None, Some("the wallet does not have enough"));
    let Casino { folder, ledger, rows } = casino;
    drop(rows);
    ledger.close();
    let url = needed_database();
    run(folder.path(), &["migrate-books", "--from", ".", "--to", url.reveal()]).ok();
    let commands: [&[&str]; 11] = [
        &["deposits", "list"],
        &["deposits", "list", "--state", "suspense"],
        &["deposits", "list", "--player", STRANGER],
        &["deposits", "list", "--limit", "1", "--after", &tx],
        &["deposits", "show", &tx],
        &["withdrawals", "list"],
        &["withdrawals", "list", "--state", "waiting", "--player", PLAYER],
        &["withdrawals", "list", "--after", &ids[1]],
        &["withdrawals", "show", &ids[0]],
        &["explain", PLAYER],
        &["explain", &ids[0]],
    ];
    let env = [("BANKROLL__BOOKS__DATABASE", url.reveal())];
    // An empty folder has no configuration: the database is all that is left.
    let elsewhere = crate::program::folder();
    for args in commands {
        let json = [args, &["--json"]].concat();
        assert_eq!(run_with(elsewhere.path(), &env, &json).json(), run(folder.path(), &json).json(), "{args:?}");
        assert_eq!(run_with(elsewhere.path(), &env, args).ok(), run(folder.path(), args).ok(), "{args:?}");
    }
}
