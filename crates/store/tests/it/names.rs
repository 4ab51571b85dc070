//! Names lead to their own accounts, or to an error: never to another player's account, never to a second one.

use bankroll_ledger::{AccountId, AccountName, Principal};
use bankroll_store::{Ledger, StoreError};

use crate::{
    edited::{damaged, edit},
    pages::{books_file, index_page},
    world::World,
};

fn funds(owner: &str) -> AccountName {
    format!("arena/funds/1/{owner}").parse().unwrap()
}

#[test]
fn a_name_is_looked_up_in_two_indexes_before_an_account_is_opened() {
    let mut world = World::new();
    let alice = world.player("alice", 100);
    world.reopen();
    edit(&world, &format!("UPDATE accounts SET name_hash = name_hash + 1 WHERE id = {alice}"));
    damaged(world.reader().account_named(&funds("alice")), "accounts", "by name");
    world.ledger().open_accounts(&Principal::System, vec![funds("alice")]).unwrap_err();
    let why = world.ledger().stopped_by();
    assert!(matches!(why.as_deref(), Some(StoreError::RowDamaged { table: "accounts", .. })), "{why:?}");
}

#[test]
fn names_that_both_indexes_agree_on_are_found_or_not() {
    let world = World::new();
    let (alice, bob) = (world.player("alice", 100), world.player("bob", 0));
    let found = |owner: &str| world.reader().account_named(&funds(owner)).unwrap().map(|account| account.id);
    assert_eq!((found("alice"), found("bob"), found("carol")), (Some(alice), Some(bob), None));
    let names = vec![funds("alice"), funds("carol"), funds("alice")];
    let opened = world.ledger().open_accounts(&Principal::System, names).unwrap();
    assert_eq!(opened, [Ok(alice), Ok(AccountId(bob.0 + 1)), Ok(alice)]);
}

/// Changes a byte in the entry of a name in SQLite's own index of names; `at` counts from the name's begin.
fn change_entry(world: &World, owner: &str, at: usize, change: impl Fn(u8) -> u8) {
    let file = books_file(world);
    let (mut bytes, page) = (std::fs::read(&file).unwrap(), index_page(world, "sqlite_autoindex_accounts_1"));
    let name = funds(owner).to_string();
    let begin = bytes[page.clone()].windows(name.len()).position(|part| part == name.as_bytes()).unwrap();
    let place = page.start + begin + at;
    bytes[place] = change(bytes[place]);
    std::fs::write(file, bytes).unwrap();
}

/// Failure 2 of the review: one bit of the number behind a name.
#[test]
fn one_bit_in_the_index_of_names_does_not_give_another_players_account() {
    let mut world = World::in_folder(|_| {});
    let (alice, bob) = (world.player("alice", 100), world.player("bob", 7));
    assert_eq!((alice, bob), (AccountId(2), AccountId(3)));
    world.ledger.take().unwrap().close();
    change_entry(&world, "alice", funds("alice").to_string().len(), |number| number ^ 1);
    damaged(world.reader().account_named(&funds("alice")), "accounts", "another number");
    assert_eq!(world.reader().account(alice).unwrap().unwrap().name, funds("alice"));
    // The account was opened lately, so opening the books compares it.
    let opened = Ledger::open(world.options.clone());
    assert!(matches!(opened, Err(StoreError::RowDamaged { table: "accounts", .. })), "{opened:?}");
}

#[test]
fn a_name_that_one_index_has_lost_is_not_missing() {
    let mut world = World::in_folder(|_| {});
    world.player("alice", 100);
    world.ledger.take().unwrap().close();
    // Now it reads "alica".
    change_entry(&world, "alice", funds("alice").to_string().len() - 1, |letter| letter - 4);
    damaged(world.reader().account_named(&funds("alice")), "accounts", "a lost name");
    let opened = Ledger::open(world.options.clone());
    assert!(opened.as_ref().is_err_and(StoreError::is_derived_damage), "{opened:?}");
}
