//! Data derived from the journal, lost or damaged in a database: the tests of `crash/derived_index.rs` again; and
//! tables are rebuilt only from a journal that the hash chain confirms.

use std::cell::Cell;

use bankroll_ledger::AccountKind;
use bankroll_store::{DatabaseUrl, StoreError};
use bankroll_testkit::postgres;

use super::cluster::Cluster;
use crate::{
    crash::derived_index::{
        Old, contents_of_the_key_index_damaged, damage_detected_in_a_batch_that_is_decided_twice,
        damage_detected_while_a_run_is_stored, holds_and_reversals_lost, quiet_account_lost, tables_of_accounts_lost,
        whole_rows_of_the_key_index_lost,
    },
    world::{World, moving},
};

/// A server with a database for each test.
struct Databases {
    cluster: Cluster,
    made: Cell<u32>,
}

impl Databases {
    fn start() -> Self {
        Self { cluster: Cluster::start(), made: Cell::new(0) }
    }

    fn world(&self, keys_in_memory_max: usize) -> World {
        self.made.set(self.made.get() + 1);
        let name = format!("world_{}", self.made.get());
        postgres::run(&self.cluster.url("postgres"), &format!("CREATE DATABASE {name}"));
        let location = DatabaseUrl::new(self.cluster.url(&name)).into();
        World::on_with(location, |options| options.keys_in_memory_max = keys_in_memory_max)
    }

    fn old(&self) -> Old {
        Old::of(self.world(32))
    }

    fn new_world(&self) -> World {
        self.world(1_024)
    }
}

#[test]
fn postgres_key_index_lost_or_damaged() {
    let databases = Databases::start();
    whole_rows_of_the_key_index_lost(databases.old());
    contents_of_the_key_index_damaged(databases.old());
    damage_detected_while_a_run_is_stored(databases.old());
    damage_detected_in_a_batch_that_is_decided_twice(databases.old());
}

#[test]
fn postgres_tables_of_accounts_lost() {
    let databases = Databases::start();
    tables_of_accounts_lost(|| databases.old());
    quiet_account_lost(databases.new_world());
    holds_and_reversals_lost(|| databases.new_world());
}

/// All balances would follow from it.
#[test]
fn postgres_tables_are_not_rebuilt_from_an_edited_journal() {
    let databases = Databases::start();
    let mut world = databases.new_world();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    for _ in 0..5 {
        world.submit(world.play(vec![moving(alice, arena, 1)]));
    }
    world.close();
    world.edit("DELETE FROM balances; UPDATE journal SET record = set_byte(record, 20, get_byte(record, 20) # 1) WHERE seq = 2");
    let opened = world.try_open();
    assert!(opened.as_ref().is_err_and(StoreError::is_unsound), "{opened:?}");
    assert_eq!(world.count("SELECT count(*) FROM balances"), 0, "something was made of it");
}
