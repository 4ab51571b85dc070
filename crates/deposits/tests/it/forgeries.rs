//! Rows that somebody edited, made up or exchanged: nothing is credited or taken back by them, the audit names them, and
//! every other deposit goes its way.

use bankroll_deposits::audit;
use bankroll_ledger::ColumnValue;
use bankroll_testkit::checksums;

use crate::world::{ALICE, BOB, World};

const MONEY: [&str; 5] = [
    "arena/funds/1/alice",
    "arena/funds/1/bob",
    "arena/unallocated/1/alice",
    "@house/suspense/1",
    "@house/custody/1/hot",
];

/// Three deposits: Alice's is credited, Bob's is final, one more of Alice's is in a block.
fn world() -> World {
    let mut world = World::new();
    world.pay(ALICE, 1_125);
    world.settle(3);
    world.pay(BOB, 1_130);
    world.mine(2);
    world.pay(ALICE, 1_200);
    world.mine(1);
    world.scan_all();
    world
}

/// What somebody with the database does.
pub fn edit(world: &World, sql: &str) {
    checksums::edit(world.ledger().location(), sql);
}

/// Every column of every table of this flow, each edited in one row.
fn edits(world: &World) -> Vec<String> {
    let mut edits = Vec::new();
    for (table, rows) in [
        ("deposits", "ledger_state = 'credited'"),
        ("deposits", "chain_state = 'final' AND ledger_state = 'none'"),
        ("deposits", "chain_state = 'included'"),
        ("chain_events", "number = 2"),
        ("chain_events", "number = 4"),
        ("chain_cursor", "chain IS NOT NULL"),
        ("block_headers", "number = 4"),
    ] {
        let found = world.rows().read(&format!("SELECT * FROM {table} WHERE {rows} LIMIT 1"), vec![]).unwrap();
        let row = found.first().unwrap_or_else(|| panic!("{table} has no row where {rows}"));
        // What no column of a block says, and no decision depends on.
        let free = ["updated_at", "stopped", "time"];
        for (column, value) in row {
            let is_free = table != "deposits" && free.contains(&column.as_str());
            if is_free {
                continue;
            }
            let numbers = ["is_valid_for_server_config", "config_version", "reorged_at"];
            let set = match (column.as_str(), value) {
                ("chain_state", _) => "CASE chain_state WHEN 'final' THEN 'orphaned' ELSE 'final' END".into(),
                ("ledger_state", _) => "CASE ledger_state WHEN 'none' THEN 'credited' ELSE 'none' END".into(),
                ("review_state", _) => "CASE review_state WHEN 'none' THEN 'released' ELSE 'none' END".into(),
                ("change", _) => "CASE change WHEN 'final' THEN 'orphaned' ELSE 'final' END".into(),
                ("kind", _) => "'token'".into(),
                ("purpose", _) => "'treasury'".into(),
                (_, ColumnValue::Int(number)) => format!("{}", number + 1_000),
                (_, ColumnValue::Amount(_)) if world.is_on_postgres() => "7".into(),
                (_, ColumnValue::Amount(_)) => format!("x'{:032x}'", 7),
                (_, ColumnValue::Text(text)) => format!("'{text}1'"),
                (name, _) if numbers.contains(&name) => "1".into(),
                _ => "'1'".to_owned(),
            };
            edits.push(format!("UPDATE {table} SET {column} = {set} WHERE {rows}"));
        }
        edits.push(format!("DELETE FROM {table} WHERE {rows}"));
    }
    edits
}

#[test]
fn an_edit_of_any_column_moves_no_money_and_the_audit_names_it() {
    let all = edits(&world());
    assert!(all.len() > 100, "{}", all.len());
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(5);
    let is_soak = std::env::var("BANKROLL_SOAK_SECONDS").is_ok();
    let mut random = fastrand::Rng::with_seed(seed);
    let tried: Vec<&String> = all.iter().filter(|_| is_soak || random.u8(..4) == 0).collect();
    println!("BANKROLL_TEST_SEED={seed}: {} of {} edits", tried.len(), all.len());
    for sql in tried {
        let world = world();
        let before = world.balances(MONEY);
        assert_eq!(before, [1_000, 0, 0, 0, 1_125], "{sql}");
        edit(&world, sql);
        assert!(audited(&world).is_err(), "not noticed: {sql}");
        // Whatever the books do now, they credit at most what the chain has, to whom it belongs.
        for _ in 0..3 {
            let _ = world.try_book();
        }
        let after = world.balances(MONEY);
        let honest = [[1_000, 0, 0, 0, 1_125], [1_000, 1_000, 0, 0, 2_255]];
        assert!(honest.contains(&after), "{sql}: {after:?}");
    }
}

/// What `bankroll audit` does.
pub fn audited(world: &World) -> Result<(), String> {
    let reader = bankroll_store::Reader::open(world.ledger().location()).unwrap();
    audit::run(&reader).map_err(|finding| finding.to_string())?;
    bankroll_store::Audit::new(reader).run(|_| {}).map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_deposit_that_was_made_up_credits_nothing_and_others_are_credited() {
    let mut world = world();
    edit(
        &world,
        "INSERT INTO deposits SELECT 'eip155:1337:0xfeed:native:0', chain, '0xfeed', kind, position, asset, amount, amount_raw,
           from_address, to_address, purpose, server, wallet, doubt, custody, 1, block_number, block_hash, block_time,
           tx_index, required_confirmations, needs_agreement, 'final', 'none', 'none', 0, NULL, NULL, NULL, NULL, NULL, NULL, 0,
           NULL, NULL, 0,
           first_seen_at, updated_at, NULL FROM deposits WHERE ledger_state = 'credited'",
    );
    world.settle(3);
    assert_eq!(world.balances(MONEY), [2_000, 1_000, 75, 0, 3_455]);
    let found = audited(&world).unwrap_err();
    assert_eq!(found, "deposit eip155:1337:0xfeed:native:0: no event of the scanner names it");
}

#[test]
fn a_deposit_that_somebody_calls_orphaned_is_not_taken_back() {
    let mut world = world();
    edit(&world, "UPDATE deposits SET chain_state = 'orphaned_after_final' WHERE ledger_state = 'credited'");
    world.settle(3);
    assert_eq!(world.balances(MONEY), [2_000, 1_000, 75, 0, 3_455]);
    assert!(audited(&world).unwrap_err().contains("column chain_state is not what the scanner saw"));
}

#[test]
fn two_deposits_whose_players_were_exchanged_are_both_left_alone() {
    let mut world = world();
    world.mine(3);
    world.scan_all();
    let exchange = "UPDATE deposits SET wallet = CASE wallet WHEN 'alice' THEN 'bob' ELSE 'alice' END";
    edit(&world, &format!("{exchange} WHERE ledger_state = 'none'"));
    let booked = world.book();
    assert_eq!((booked.credited.len(), booked.unproven.len()), (0, 2));
    assert_eq!(world.balances(MONEY), [1_000, 0, 0, 0, 1_125]);
}

#[test]
fn a_log_that_was_written_anew_is_not_the_one_that_the_journal_names() {
    let world = world();
    // Somebody who has the whole database changes a credited deposit's sender, and computes every hash again.
    let events = world.events();
    edit(&world, "DELETE FROM chain_events");
    world.append_events(events, |event| event.inclusion.from = "0x00000000000000000000000000000000000000ff".into());
    edit(&world, "UPDATE deposits SET from_address = '0x00000000000000000000000000000000000000ff'");
    let found = audited(&world).unwrap_err();
    assert!(found.contains("was edited"), "{found}");
}
