//! Rows of the registry are facts: an edit by SQL is reported.

use bankroll_ledger::{Amount, ColumnValue};
use bankroll_store::columns::{one, text};

use crate::world::{ALICE, STRANGER, World, address};

/// Runs one edit in a world with a server and a player; the audit must name the table.
fn is_reported(table: &str, sql: &str, values: Vec<ColumnValue>) {
    let mut world = World::with_server();
    world.sign_in(ALICE).unwrap();
    world.audit().unwrap();
    world.ledger.write_rows(vec![one(sql, values)]).unwrap().wait().unwrap().unwrap();
    let report = world.audit().unwrap_err().to_string();
    assert!(report.contains(table), "{sql}: {report}");
}

#[test]
fn a_fee_raised_by_sql_is_reported() {
    is_reported("servers", "UPDATE servers SET developer_bps = 9000", vec![]);
}

#[test]
fn a_deposit_address_replaced_by_sql_is_reported() {
    let stranger = address(STRANGER).lower_hex();
    is_reported("servers", "UPDATE servers SET deposit_address = $1", vec![text(&stranger)]);
}

#[test]
fn a_key_unrevoked_or_widened_by_sql_is_reported() {
    let amount = ColumnValue::Amount(Amount::new(u128::MAX));
    is_reported("server_keys", "UPDATE server_keys SET buy_in_max = $1", vec![amount]);
}

#[test]
fn a_wallet_given_to_another_player_by_sql_is_reported() {
    is_reported("player_wallets", "UPDATE player_wallets SET player = $1", vec![text("mallory")]);
}

#[test]
fn a_nonce_deleted_by_sql_is_reported() {
    is_reported("used_nonces", "DELETE FROM used_nonces WHERE purpose = $1", vec![text("sign_in")]);
}

#[test]
fn an_unpaused_server_and_a_rewritten_version_are_reported() {
    is_reported("servers", "UPDATE servers SET disabled = 1", vec![]);
    is_reported("server_versions", "UPDATE server_versions SET changed_by = $1", vec![text("key:0x0")]);
}
