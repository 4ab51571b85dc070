//! What the reading commands print fits a screen; whole values are one flag away.

use crate::program::{demo_folder, run};

/// The columns that text may have without `--wide`.
const COLUMNS: usize = 100;

#[test]
fn nothing_is_wider_than_a_screen_unless_it_is_asked_for() {
    let (folder, _) = demo_folder();
    let program = |args: &[&str]| run(folder.path(), &[args, &["--dir", "bankroll-demo"]].concat());
    let deposits = program(&["deposits", "list", "--state", "credited", "--json"]).json();
    let mut players = deposits["deposits"].as_array().unwrap().iter().filter(|deposit| !deposit["player"].is_null());
    let oldest = players.next_back().unwrap();
    let text = |key: &str| oldest[key].as_str().unwrap();
    let (wallet, tx, id) = (text("player"), text("tx_hash"), text("id"));
    let funds = format!("arena/funds/1/{wallet}");
    let commands: [&[&str]; 16] = [
        &["accounts", "list", "--limit", "1000"],
        &["accounts", "show", &funds],
        &["balance", &funds],
        &["statement", "@house/custody/1/hot", "--limit", "1000"],
        &["statement", "arena/world/1", "--limit", "1000", "--descending"],
        &["statement", &funds],
        &["search", "--wallet", wallet],
        &["search", "--tx", tx],
        &["explain", wallet],
        &["explain", wallet, "--all"],
        &["explain", tx],
        &["explain", id],
        &["deposits", "list", "--limit", "1000"],
        &["deposits", "show", id],
        &["withdrawals", "list", "--limit", "1000"],
        &["accounts", "list", "--owner", wallet],
    ];
    for args in commands {
        let printed = program(args).ok();
        for line in printed.lines() {
            assert!(line.chars().count() <= COLUMNS, "{args:?} prints {} columns: {line}", line.chars().count());
        }
    }
    let wide = program(&["search", "--tx", tx, "--wide"]).ok();
    assert!(wide.contains(wallet) && wide.contains(tx) && !wide.contains('…'), "{wide}");
    let listed = program(&["accounts", "list", "--owner", wallet, "--wide"]).ok();
    assert!(listed.contains(&funds) && listed.contains("BASE UNITS"), "{listed}");
}

#[test]
fn help_of_the_reading_commands_fits_too() {
    let folder = crate::program::folder();
    for command in
        ["accounts", "balance", "statement", "search", "explain", "export", "receipt", "deposits", "withdrawals"]
    {
        let help = run(folder.path(), &[command, "--help"]).ok();
        for line in help.lines() {
            assert!(line.chars().count() <= COLUMNS, "{command}: {line}");
        }
    }
}
